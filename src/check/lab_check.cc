#include "check/lab_check.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "check/lab_measures.h"
#include "check/lab_watch.h"
#include "check/single_acks.h"
#include "check/transactions.h"
#include "core/ids.h"
#include "history/operations_ahead.h"
#include "history/retold.h"
#include "track/ledger.h"
#include "track/recorder.h"

namespace sp::check {
namespace {

using history::Dialect;
using history::Function;
using history::Member;
using history::Operation;

constexpr int kTicksInDeadline = 64;  // acknowledgements are known to so small a part of their deadline
constexpr std::size_t kExpected = 16;       // operations ahead whose memory is brought near
constexpr std::uint64_t kRowsAtOnce = 2'048;  // folded while they are in a near cache
static_assert(kRowsInDelta % kRowsAtOnce == 0);
constexpr Nanoseconds kTickMin = std::chrono::milliseconds{1};

class Lab {
 public:
  Lab(history::Reader& reader, const history::Vocabulary& vocabulary, const LabOptions& options)
      : reader_(reader), vocabulary_(vocabulary), options_(options), recorder_(core::kHistorySource, core::RunId{}),
        watch_(vocabulary, reader.meta()) {}

  Result<report::Report> run();

 private:
  Result<void> begin(std::span<const Operation> first);
  Result<void> take(const Operation& operation);
  void expect(const Operation& operation) const;
  Result<void> tell(const Operation& operation);
  [[nodiscard]] bool leaves_out(const Operation& operation);
  Result<void> hand_over();
  void fold();
  Result<void> pass_ticks(MonotonicTime now);
  Result<void> tick(MonotonicTime now);
  Result<void> close(MonotonicTime now);
  Result<void> end();
  void describe();
  void look_at_budgets(judge::LabFacts& facts) const;
  void tell_times();
  void number_from_one(std::vector<judge::Finding>& findings) const;

  history::Reader& reader_;
  const history::Vocabulary& vocabulary_;
  const LabOptions& options_;
  track::Recorder recorder_;
  LabWatch watch_;
  std::optional<LabMeasures> measures_;
  std::optional<history::Retold> retold_;
  std::optional<Transactions> transactions_;
  std::optional<SingleAcks> single_acks_;
  bool reads_uncommitted_ = false;         // within a pass over the log that shows what was not committed
  std::unique_ptr<track::Ledger> ledger_;
  Promise promise_;
  core::Contract contract_;
  report::Report report_;
  std::uint64_t uncut_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t dropped_ = 0;              // operations that whoever wrote the file left out
  std::uint64_t ticks_ = 0;
  std::optional<MonotonicTime> next_tick_;
  std::optional<MonotonicTime> first_;     // time of the first operation, and of the first attempt
  std::optional<MonotonicTime> load_begin_;
  MonotonicTime last_{};
  bool closed_ = false;
};

Result<report::Report> Lab::run() {
  std::uint64_t told = 0;
  for (bool first = true;; first = false) {
    const auto operations = reader_.next();
    if (!operations) return tl::unexpected(operations.error());
    if (first) {
      if (auto begun = begin(*operations); !begun) return fail_up(std::move(begun), reader_.name());
    }
    if (operations->empty()) break;
    for (std::size_t at = 0; at < operations->size(); ++at) {
      if (at + kExpected < operations->size()) expect((*operations)[at + kExpected]);
      if (auto taken = take((*operations)[at]); !taken) return fail_up(std::move(taken), reader_.name());
    }
    operations_ += operations->size();
    if (!options_.progress || operations_ - told < kOperationsBetweenProgress) continue;
    told = operations_;
    options_.progress(operations_);
  }
  if (auto ended = end(); !ended) return fail_up(std::move(ended), reader_.name());
  return std::move(report_);
}

// What is promised must be known before the first record: whether records have keys is seen at the first of them.
Result<void> Lab::begin(std::span<const Operation> first) {
  const history::Meta& meta = reader_.meta();
  const bool driftlab = meta.dialect == Dialect::kDriftlab;
  if (options_.promise) {
    promise_ = *options_.promise;
  } else if (driftlab) {
    promise_ = driftlab_promise();
  } else if (meta.contract.empty()) {
    promise_ = default_promise();
  } else {
    auto read = read_promise(meta.contract, "'contract' of the meta record");
    if (!read) return tl::unexpected(std::move(read).error());
    promise_ = *read;
  }
  if (!meta.raw_read) promise_.contract.raw_read = core::RawReadScope::kNone;
  promise_.contract.topic_created = meta.topics == history::Meta::Topics::kCreated;
  promise_.contract.partition_change = std::ranges::find(meta.faults, "partition-change") != meta.faults.end();
  const auto record = std::ranges::find(first, Function::kPublish, &Operation::function);
  if (!promise_.order && record != first.end() && !record->has(Member::kKey)) promise_.order = core::Order::kPartition;
  if (!promise_.order) promise_.order = core::Order::kKey;
  const bool individual = promise_.contract.acknowledgement == core::Acknowledgement::kIndividual;
  contract_ = promise_.settle({.has_key = true});
  if (individual) single_acks_.emplace(vocabulary_, promise_.ack_wait);
  retold_.emplace(vocabulary_, history::Retold::Lab{meta.dialect, &recorder_.keys(), individual});
  transactions_.emplace(vocabulary_, contract_.isolation == core::Isolation::kReadUncommitted);
  measures_.emplace(vocabulary_, contract_.timeout);
  track::LedgerOptions ledger;
  ledger.contract = contract_;
  ledger.groups.clear();
  ledger_ = std::make_unique<track::Ledger>(std::move(ledger));
  ledger_->expect(core::kHistorySource);
  return {};
}

Result<void> Lab::take(const Operation& operation) {
  if (operation.function == Function::kIncomplete) {
    dropped_ += operation.number;
    return {};
  }
  const MonotonicTime now{Nanoseconds(operation.time_ns)};
  const bool reads =
      operation.function == Function::kRead || operation.function == Function::kReadBegin || operation.function == Function::kReadEnd;
  if (reads && !closed_) {
    if (auto closed = close(now); !closed) return closed;
  }
  if (!closed_ && contract_.timeout.count() > 0 && operation.has(Member::kTime)) {
    if (auto passed = pass_ticks(now); !passed) return passed;
  }
  if (leaves_out(operation)) return {};
  return transactions_->concerns(operation) ? transactions_->see(operation, *retold_, [this](const Operation& told) { return tell(told); })
                                            : tell(operation);
}

// A pass over the log that is not read committed tells nothing of what is there, where there are transactions.
bool Lab::leaves_out(const Operation& operation) {
  if (!transactions_->any() || contract_.isolation == core::Isolation::kReadUncommitted) return false;
  const bool bounds = operation.function == Function::kReadBegin || operation.function == Function::kReadEnd;
  const bool uncommitted = bounds && operation.has(Member::kIsolation) && operation.details->isolation == "read-uncommitted";
  const bool out = uncommitted || (operation.function == Function::kRead && reads_uncommitted_);
  if (bounds) reads_uncommitted_ = uncommitted && operation.function == Function::kReadBegin;
  return out;
}

Result<void> Lab::tell(const Operation& operation) {
  const MonotonicTime now{Nanoseconds(operation.time_ns)};
  if (auto told = retold_->tell(operation, recorder_); !told) return told;
  if (auto seen = watch_.see(operation, *retold_); !seen) return seen;
  if (!closed_) measures_->see(operation, *retold_);
  if (single_acks_ && !closed_) single_acks_->see(operation, *retold_);
  if (retold_->is_shared() && !contract_.shared) {
    // Who was handed what of a shared subscription follows no order.
    promise_.contract.shared = contract_.shared = true;
    ledger_->share();
  }
  if (operation.has(Member::kTime)) {
    if (!first_) first_ = now;
    if (!load_begin_ && operation.function == Function::kPublish) load_begin_ = now;
    last_ = std::max(last_, now);
  }
  if (++uncut_ >= kRowsInDelta) return hand_over();
  if (uncut_ % kRowsAtOnce == 0) fold();
  return {};
}

void Lab::expect(const Operation& operation) const {
  if (!operation.has(Member::kKey)) return;
  retold_->expect(operation);
  if (operation.function == Function::kPublish) watch_.expect(operation);
}

Result<void> Lab::hand_over() {
  uncut_ = 0;
  const auto& groups = retold_->groups();
  if (groups.size() > track::Ledger::kGroupsMax) {
    return fail(ErrorCode::kFull, fmt::format("{} groups, or consumers without one: at most {} can be judged", groups.size(),
                                              track::Ledger::kGroupsMax));
  }
  fold();
  return {};
}

// What there is so far; with too many groups nothing, hand_over() says so.
void Lab::fold() {
  const auto& groups = retold_->groups();
  if (groups.size() > track::Ledger::kGroupsMax) return;
  while (ledger_->group_count() < groups.size()) ledger_->add_group(groups[ledger_->group_count()]);
  if (auto delta = recorder_.hand_over(false)) ledger_->apply(std::move(*delta));
}

// Before the next operation, at `now`: what was acknowledged so far is known at the time of the last one, and what has not come until just
// before now is late.
Result<void> Lab::pass_ticks(MonotonicTime now) {
  const Nanoseconds step = std::max(kTickMin, contract_.timeout / kTicksInDeadline);
  if (!next_tick_) next_tick_ = now + step;
  if (now < *next_tick_) return {};
  next_tick_ = now + step;
  if (auto passed = tick(last_); !passed) return passed;
  const MonotonicTime before = now - Nanoseconds{1};
  return before > last_ ? tick(before) : Result<void>();
}

Result<void> Lab::tick(MonotonicTime now) {
  core::Observation tick;
  tick.event = core::Event::kTick;
  tick.number = ++ticks_;
  recorder_.observe(tick);
  if (auto handed = hand_over(); !handed) return handed;
  ledger_->tick(ticks_, now);
  static_cast<void>(ledger_->take_alarms());
  return {};
}

// The final read begins: what is produced or handed over from now on does not count.
Result<void> Lab::close(MonotonicTime now) {
  if (std::exchange(closed_, true)) return {};
  if (auto told = transactions_->close([this](const Operation& operation) { return tell(operation); }); !told) return told;
  measures_->close(now);
  if (auto handed = hand_over(); !handed) return handed;
  for (const auto& [key, sequences] : watch_.never_attempted()) ledger_->never_attempted(key, sequences);
  ledger_->close_load();
  transactions_->prove(*ledger_, false);
  ledger_->close_consumers(std::max(last_, now));
  return {};
}

Result<void> Lab::end() {
  const history::Meta& meta = reader_.meta();
  if (auto closed = close(last_); !closed) return closed;
  const auto bounds = watch_.bounds();
  if (meta.dialect == Dialect::kDriftlab) {
    // It has no line that says how far the final read went: up to the last that was found.
    for (const auto& range : bounds) {
      core::Observation read;
      read.event = core::Event::kRawEnd;
      read.partition = range.partition;
      read.offset = range.begin;
      read.end = range.end;
      read.reached = true;
      recorder_.observe(read);
    }
  }
  if (auto handed = hand_over(); !handed) return handed;
  static_cast<void>(ledger_->raw_targets(bounds, core::RawReadScope::kFull));
  ledger_->finish();
  transactions_->prove(*ledger_, true);
  transactions_->tell_committed(*ledger_);
  // The order was settled at the first record.
  contract_ =
      promise_.settle({.has_key = true, .has_group = retold_->has_stated_group(), .starts_late = retold_->starts_late()});
  if (transactions_->any()) contract_.gaps_markers = true;  // a commit is a position that holds no record
  describe();
  judge::RunFacts& facts = report_.facts;
  watch_.tell(contract_, facts);
  if (transactions_->any_unknown()) facts.held_back = watch_.reach();
  facts.lab = watch_.finish(*ledger_, contract_);
  transactions_->finish(retold_->groups(), retold_->is_stream(), *facts.lab);
  if (single_acks_) single_acks_->finish(retold_->groups(), *facts.lab);
  look_at_budgets(*facts.lab);
  if (dropped_ > 0)
    facts.lab->invalid.push_back(fmt::format("{} operations are missing: whoever wrote the file could not keep up", dropped_));
  if (reader_.torn_line() != 0) {
    facts.lab->invalid.push_back(fmt::format("the file is cut off in line {}: what came before is judged", reader_.torn_line()));
  }
  tell_times();
  report_.progress = ledger_->progress();
  report_.judgement = judge::judge(*ledger_, contract_, facts, options_.judging);
  if (meta.dialect == Dialect::kDriftlab) number_from_one(report_.judgement.findings);
  return {};
}

void Lab::describe() {
  const history::Meta& meta = reader_.meta();
  report::Lab& lab = report_.lab.emplace();
  lab.file = std::filesystem::path(reader_.name()).filename().string();
  lab.run = meta.run;
  lab.api = meta.api;
  lab.server = meta.server;
  lab.scenario = meta.scenario;
  lab.faults = meta.faults;
  lab.operations = operations_;
  lab.contract = contract_;
  lab.promise = contract_text(contract_);
  lab.groups = retold_->groups().size();
  lab.stream = retold_->is_stream();
  lab.measures = measures_->take(retold_->groups());
  report_.driver = meta.driver;
  report_.client = meta.client;
  report_.ticks = ticks_;
  report_.proof.groups = static_cast<std::uint32_t>(std::max<std::size_t>(1, retold_->groups().size()));
  report_.proof.raw_read = contract_.raw_read;
  report_.proof.at_least_once = contract_.at_least_once;
  report_.proof.ordering = contract_.ordering;
  report_.proof.exactly_once = contract_.exactly_once;
  if (meta.started_wall_ns && *meta.started_wall_ns <= static_cast<std::uint64_t>(history::Retold::kTimeMax)) {
    report_.started = WallTime(Nanoseconds(static_cast<std::int64_t>(*meta.started_wall_ns)));
  }
}

void Lab::look_at_budgets(judge::LabFacts& facts) const {
  const auto& measures = report_.lab->measures;
  if (!measures && (promise_.recovery_max || promise_.staleness_max)) {
    facts.invalid.emplace_back("the contract has budgets, but the file has no times");
  }
  if (!measures) return;
  for (const auto& group : measures->groups) {
    if (promise_.staleness_max && group.staleness > *promise_.staleness_max) {
      facts.slow.push_back(fmt::format("{} was stale for {}, more than staleness_ms {}", group.group, human_duration(group.staleness),
                                       promise_.staleness_max->count() / 1'000'000));
    }
    if (!promise_.recovery_max) continue;
    const auto limit = promise_.recovery_max->count() / 1'000'000;
    if (group.never_recovered) {
      facts.slow.push_back(fmt::format("{} never caught up after the faults, within recovery_ms {} or at all", group.group, limit));
    } else if (group.recovery && *group.recovery > *promise_.recovery_max) {
      facts.slow.push_back(fmt::format("{} caught up {} after the faults, more than recovery_ms {}", group.group,
                                       human_duration(*group.recovery), limit));
    }
  }
}

void Lab::tell_times() {
  if (!first_ || last_ == *first_) return;  // a file may have no times
  report_.load_begin = load_begin_.value_or(*first_);
  report_.facts.times = judge::RunTimes{.begin = *first_, .begin_wall = report_.started, .load_begin = report_.load_begin, .judged = last_};
}

void Lab::number_from_one(std::vector<judge::Finding>& findings) const {
  for (auto& finding : findings) {
    if (!finding.nameless) continue;
    ++finding.first;
    ++finding.last;
  }
}

}  // namespace

Result<report::Report> check_lab(history::Reader& reader, const history::Vocabulary& vocabulary, const LabOptions& options) {
  return Lab(reader, vocabulary, options).run();
}

Result<report::Report> check_lab(const std::filesystem::path& file, const LabOptions& options) {
  history::Vocabulary vocabulary;
  auto reader = history::Reader::open(file, vocabulary,
                                            {.accept_torn = options.salvage, .threads = options.threads, .bytes_read = options.bytes_read});
  if (!reader) return tl::unexpected(reader.error());
  const bool may_wait_for_ever = file == "-";
  if (!options.threads || may_wait_for_ever) return check_lab(**reader, vocabulary, options);
  history::OperationsAhead ahead(std::move(*reader));
  return check_lab(ahead, vocabulary, options);
}

}  // namespace sp::check

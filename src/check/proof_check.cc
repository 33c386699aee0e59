#include "check/proof_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/document.h"
#include "control/proof_history.h"
#include "control/proof_ledger.h"
#include "history/retold.h"
#include "proof/fields.h"
#include "report/facts.h"
#include "track/recorder.h"

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;

constexpr int kRoundsMax = 4;
constexpr std::uint64_t kTicksMax = std::uint64_t{1} << 40U;
constexpr std::size_t kProofBytesMax = std::size_t{64} << 20U;

// One worker's incarnation: its file, and the recorder that it had.
struct Source {
  core::SourceId id;
  history::Retold retold;
  std::unique_ptr<track::Recorder> recorder;
  std::uint64_t uncut = 0;
  bool expected = false;
  std::vector<bool> own_keys = {};         // by number of their names: seen before, and its own
};

class Replay {
 public:
  Replay(history::Merge& merge, const history::Vocabulary& vocabulary, const CheckOptions& options)
      : merge_(merge), vocabulary_(vocabulary), options_(options) {}

  Result<report::Report> run();

 private:
  Result<void> begin();
  Result<void> read_proof(const history::Meta& meta);
  Result<void> add_source(const history::Merge::Source& file);
  Result<void> evidence(Source& source, const Operation& operation);
  Result<void> coordinator(const Operation& operation);
  Result<void> check_numbers(const Operation& operation);
  Result<void> check_owned(Source& source, const Operation& operation);
  void hand_over(Source& source);
  void barrier(const Operation& operation);
  void expect(Source& source);
  void lose(const Operation& operation);
  void tick(const Operation& operation);
  void stage(std::string_view name, MonotonicTime now);
  void bounds(const Operation& operation);
  Result<void> end(const Operation& operation);
  void close_load();
  void close_consumers(MonotonicTime now);
  void take_alarms(MonotonicTime now);
  void look_at_files();
  void finish();
  // Evidence that the coordinator had is not in the files.
  void lacking(std::string sentence) {
    if (std::ranges::find(lacking_, sentence) == lacking_.end()) lacking_.push_back(std::move(sentence));
  }
  void lack_file(std::string_view name) { lacking(fmt::format("the history of {} is not among the files", name)); }
  void conclude_nothing();
  [[nodiscard]] std::string_view file_of(std::uint32_t source) const { return merge_.sources()[source].file; }

  history::Merge& merge_;
  const history::Vocabulary& vocabulary_;
  const CheckOptions& options_;
  proof::Division division_;
  report::Report report_;
  std::unique_ptr<track::Ledger> ledger_;
  std::vector<Source> sources_;            // as the merge numbers them; the coordinator is none
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::set<std::uint32_t> lost_;
  std::vector<std::string> lacking_;       // a sentence for each
  std::map<std::string, std::uint64_t> dropped_;  // operations that were left out, by whose history lacks them
  std::vector<judge::Noticed> noticed_;
  std::array<MonotonicTime, 3> tick_times_{};
  MonotonicTime now_{};
  bool load_closed_ = false;
  bool consumers_closed_ = false;
  bool ended_ = false;
};

Result<report::Report> Replay::run() {
  if (auto begun = begin(); !begun) return tl::unexpected(std::move(begun).error());
  const auto coordinator_number = static_cast<std::uint32_t>(merge_.sources().size() - 1);
  std::uint64_t operations = 0;
  std::uint64_t told = 0;
  while (true) {
    const auto given = merge_.next();
    if (!given) return tl::unexpected(given.error());
    if (given->operations.empty()) break;
    for (const Operation& operation : given->operations) {
      auto done = given->source == coordinator_number ? coordinator(operation) : evidence(sources_[given->source], operation);
      if (!done) return fail_up(std::move(done), std::string(file_of(given->source)));
    }
    operations += given->operations.size();
    if (!options_.progress || operations - told < kOperationsBetweenProgress) continue;
    told = operations;
    options_.progress(operations);
  }
  finish();
  return std::move(report_);
}

Result<void> Replay::begin() {
  const auto& files = merge_.sources();
  const history::Meta& meta = files.back().meta;
  if (meta.process != history::kCoordinator || meta.kind != history::Meta::Kind::kProof) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: there is no coordinator's file of a proof among them: name the folder that "
                                                 "--history wrote, or all its files",
                                                 files.front().file));
  }
  if (auto read = read_proof(meta); !read) return fail_up(std::move(read), std::string(files.back().file));
  division_ = proof::divide(report_.proof);
  ledger_ = control::proof_ledger(report_.proof, report_.run, false, track::LedgerLimits{});
  for (std::size_t i = 0; i + 1 < files.size(); ++i) {
    if (auto added = add_source(files[i]); !added) return fail_up(std::move(added), std::string(files[i].file));
  }
  for (std::uint32_t worker = 0; worker < std::max(1U, report_.proof.workers); ++worker) {
    const auto first = std::ranges::find(sources_, core::SourceId{worker, 1}, &Source::id);
    if (first != sources_.end()) {
      expect(*first);
    } else {
      lack_file(history::source_name(control::worker_name(worker), 1));
    }
  }
  return {};
}

Result<void> Replay::read_proof(const history::Meta& meta) {
  if (!core::is_run_text(meta.run)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("'run' of the meta record is '{}'; it must be a run of this program", printable(meta.run)));
  }
  if (meta.proof.empty()) return fail(ErrorCode::kInvalid, "the meta record has no 'proof', so nothing says what was promised");
  const auto document = codec::parse_document(meta.proof, {.name = "proof", .bytes_max = kProofBytesMax});
  if (!document) return tl::unexpected(document.error());
  auto reading = proof::read_proof(*document, "proof");
  if (!reading.faults.empty()) return tl::unexpected(proof::to_error(reading.faults));
  report_.proof = std::move(reading.proof);
  const std::uint64_t groups = std::max(1U, report_.proof.groups);
  if (report_.proof.keys > options_.keys_max / groups) {
    return fail(ErrorCode::kFull, fmt::format("'proof' of the meta record has {} keys in {} groups; at most {} are judged",
                                              report_.proof.keys, groups, options_.keys_max));
  }
  report_.run = core::run_of_text(meta.run);
  // As far as it is known without the end of the file, which has it all.
  report_.driver = meta.driver;
  report_.client = meta.client;
  report_.topic = report_.proof.topic.empty() ? "sp-" + meta.run : report_.proof.topic;
  if (meta.started_wall_ns) report_.started = WallTime(Nanoseconds(static_cast<std::int64_t>(*meta.started_wall_ns)));
  return {};
}

Result<void> Replay::add_source(const history::Merge::Source& file) {
  const auto worker = control::worker_number(file.meta.process);
  const std::uint64_t incarnation = file.meta.incarnation.value_or(0);
  if (!worker || *worker >= report_.proof.workers || incarnation == 0 || incarnation > ~std::uint32_t{0}) {
    return fail(ErrorCode::kInvalid, fmt::format("process '{}' incarnation {} is no worker of this proof, which has {}",
                                                 file.meta.process, incarnation, report_.proof.workers));
  }
  by_name_.emplace(history::source_name(file.meta.process, incarnation), static_cast<std::uint32_t>(sources_.size()));
  const core::SourceId id{*worker, static_cast<std::uint32_t>(incarnation)};
  sources_.push_back({id, history::Retold(vocabulary_, control::group_names(report_.proof, report_.run)),
                      std::make_unique<track::Recorder>(id, report_.run)});
  return {};
}

// ── evidence ──

Result<void> Replay::evidence(Source& source, const Operation& operation) {
  if (operation.function == Function::kIncomplete) {
    dropped_[fmt::format("the history of worker {}", source.id.worker)] += operation.number;
    return {};
  }
  if (operation.function == Function::kPublish) {
    if (auto owned = check_owned(source, operation); !owned) return owned;
  }
  if (auto told = source.retold.tell(operation, *source.recorder); !told) return told;
  if (++source.uncut >= kRowsInDelta) hand_over(source);
  return {};
}

// A worker issues records of the keys that the proof gave to its producers, and of no others.
Result<void> Replay::check_owned(Source& source, const Operation& operation) {
  if (!operation.has(Member::kKey)) return {};  // refused elsewhere
  if (operation.key >= source.own_keys.size()) source.own_keys.resize(operation.key + std::size_t{1});
  if (source.own_keys[operation.key]) return {};
  const std::string_view name = vocabulary_.keys.text(operation.key);
  core::KeySpace& keys = source.recorder->keys();
  const auto ref = core::is_name_of(report_.run, name) ? keys.find(name) : std::nullopt;
  const bool made = ref && ref->block != core::KeySpace::kLiteralBlock && keys.identity(ref->block).source == source.id;
  const bool owned = made && std::ranges::any_of(division_.producers, [&](const proof::ProducerShare& share) {
    return share.worker == source.id.worker && share.producer == keys.identity(ref->block).producer && ref->index < share.keys;
  });
  if (!owned) {
    return fail(ErrorCode::kParse, fmt::format("line {}: publish: key '{}' is none that the proof gave to this worker", operation.line,
                                               printable(name)));
  }
  source.own_keys[operation.key] = true;
  return {};
}

void Replay::hand_over(Source& source) {
  source.uncut = 0;
  if (auto delta = source.recorder->hand_over(false)) ledger_->apply(std::move(*delta));
}

// ── what the coordinator did ──

Result<void> Replay::coordinator(const Operation& operation) {
  if (auto sane = check_numbers(operation); !sane) return sane;
  now_ = std::max(now_, MonotonicTime(Nanoseconds(operation.time_ns)));
  if (operation.has(Member::kSeen)) barrier(operation);
  const Function function = operation.function;
  if (function == Function::kTick) tick(operation);
  if (function == Function::kStage) stage(operation.details->stage, now_);
  if (function == Function::kReadBegin) bounds(operation);
  if (function == Function::kEnd) return end(operation);
  if (function == Function::kIncomplete) {
    dropped_["the coordinator's history"] += operation.number;
  }
  return {};  // faults and clocks: for people
}

Result<void> Replay::check_numbers(const Operation& operation) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kParse, fmt::format("line {}: {}: {}", operation.line, history::function_name(operation.function), why));
  };
  if (operation.time_ns > history::Retold::kTimeMax || operation.time_ns < -history::Retold::kTimeMax) {
    return refuse("its 'time_ns' is out of range");
  }
  if (operation.function == Function::kTick && operation.number > kTicksMax) return refuse("there are not so many ticks");
  if (operation.function != Function::kReadBegin) return {};
  for (const auto& target : operation.details->target) {
    if (target.partition >= history::Retold::kPartitionsMax) return refuse("there are not so many partitions");
  }
  return {};
}

// Everything that the coordinator had seen by now.
void Replay::barrier(const Operation& operation) {
  for (const auto& [name, index] : operation.details->seen) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      lack_file(name);
      continue;
    }
    expect(sources_[found->second]);
    hand_over(sources_[found->second]);
  }
  lose(operation);
  ledger_->round();
  take_alarms(now_);
}

void Replay::expect(Source& source) {
  if (std::exchange(source.expected, true)) return;
  control::declare_worker(*ledger_, division_, source.id);
}

void Replay::lose(const Operation& operation) {
  std::set<std::uint32_t> lost;
  if (operation.has(Member::kLostIncarnations)) {
    for (const auto& name : operation.details->lost_incarnations) {
      if (const auto found = by_name_.find(name); found != by_name_.end()) lost.insert(found->second);
    }
  }
  for (const std::uint32_t number : lost) {
    if (lost_.contains(number)) continue;
    const core::SourceId id = sources_[number].id;
    expect(sources_[number]);
    const bool succeeded = std::ranges::any_of(sources_, [&](const Source& other) {
      return other.id.worker == id.worker && other.id.incarnation > id.incarnation;
    });
    ledger_->lose(id, !succeeded);
  }
  lost_ = std::move(lost);
}

void Replay::tick(const Operation& operation) {
  // The coordinator had asked everybody often enough to decide on each delivery that nobody had issued.
  for (int round = 0; round < kRoundsMax && !ledger_->answered(operation.number); ++round) ledger_->round();
  if (!ledger_->answered(operation.number)) {
    lacking("the coordinator completed a tick that not every worker's history answers");
    return;
  }
  ledger_->tick(operation.number, now_);
  ++report_.ticks;
  std::rotate(tick_times_.begin(), tick_times_.end() - 1, tick_times_.end());
  tick_times_.front() = now_;
  take_alarms(now_);
}

void Replay::stage(std::string_view name, MonotonicTime now) {
  if (name == "final-wait") close_load();
  if (name == "raw-read" || name == "judge") close_consumers(now);
}

void Replay::close_load() {
  if (!std::exchange(load_closed_, true)) ledger_->close_load();
}

void Replay::close_consumers(MonotonicTime now) {
  close_load();
  if (!std::exchange(consumers_closed_, true)) ledger_->close_consumers(now);
}

void Replay::bounds(const Operation& operation) {
  std::vector<track::RawRange> ranges;
  for (const auto& target : operation.details->target) {
    ranges.push_back({core::PartitionId{target.partition}, core::Offset{target.start}, core::Offset{target.end}});
  }
  static_cast<void>(ledger_->raw_targets(ranges, report_.proof.raw_read));
}

Result<void> Replay::end(const Operation& operation) {
  ended_ = true;
  if (!operation.has(Member::kDetail)) return {};
  if (auto read = report::read_facts(operation.details->detail, report_); !read) {
    return fail_up(std::move(read), fmt::format("line {}: 'detail' of the coordinator's end", operation.line));
  }
  return {};
}

void Replay::take_alarms(MonotonicTime now) {
  for (const auto& alarm : ledger_->take_alarms()) {
    ++report_.alarms;
    noticed_.push_back({alarm.code, alarm.group, alarm.key, alarm.sequence.value(), alarm.position, tick_times_.back(), now});
  }
}

// ── the end ──

void Replay::look_at_files() {
  if (options_.merge.all_evidence) {
    report_.facts.warnings.emplace_back("evidence that the coordinator never saw is used: the verdict may differ from the run's");
  }
  for (const auto& [whose, operations] : dropped_) {
    lacking(fmt::format("{} lacks {} operations: the disk could not keep up", whose, operations));
  }
  const auto& files = merge_.sources();
  for (std::size_t i = 0; i + 1 < files.size(); ++i) {
    const auto& file = files[i];
    if (file.torn_line != 0 && file.short_of_seen) {
      lacking(fmt::format("{} is cut off in line {}, before what the coordinator had seen of it", file.file, file.torn_line));
    } else if (file.short_of_seen) {
      lacking(fmt::format("{} ends before what the coordinator had seen of it", file.file));
    }
  }
  if (files.back().torn_line != 0) lacking(fmt::format("{} is cut off in line {}", files.back().file, files.back().torn_line));
}

// What is missing looks like loss, and what it would have explained like a fault: no count means anything.
void Replay::conclude_nothing() {
  judge::Judgement& judgement = report_.judgement;
  judgement.status = judge::Status::kInconclusive;
  judgement.reasons = std::move(lacking_);
  judgement.findings.clear();
  judgement.findings_left_out = 0;
  judgement.undecided = 0;
  judgement.counts = {};
  judgement.allowed = {};
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    judgement.coverage.not_checked.emplace(core::code_row(static_cast<core::Code>(i)).name, judgement.coverage.acked);
  }
}

void Replay::finish() {
  look_at_files();
  auto& facts = report_.facts;
  if (!ended_) {
    facts.missing.emplace_back("the coordinator's history does not end: it was killed, so nothing says what it still had to see");
    facts.interrupted = true;
  }
  if (!report_.failure.empty()) return;
  close_consumers(now_);
  ledger_->finish();
  take_alarms(now_);
  facts.noticed = std::move(noticed_);
  report_.progress = ledger_->progress();
  report_.judgement = judge::judge(*ledger_, report_.proof.contract(report_.idempotent), facts, options_.judging);
  facts.noticed.clear();
  if (!lacking_.empty()) conclude_nothing();
}

}  // namespace

Result<report::Report> check_proof(history::Merge& merge, const history::Vocabulary& vocabulary, const CheckOptions& options) {
  return Replay(merge, vocabulary, options).run();
}

Result<report::Report> check_proof(const std::vector<std::filesystem::path>& files, const CheckOptions& options) {
  history::Vocabulary vocabulary;
  auto merge = history::Merge::open(files, vocabulary, options.merge);
  if (!merge) return tl::unexpected(std::move(merge).error());
  return check_proof(**merge, vocabulary, options);
}

}  // namespace sp::check

#include "model/lab.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/prng.h"

namespace sp::model {
namespace {

using core::Code;
using What = LabLine::What;

constexpr core::SourceId kSource{0, 1};

std::string_view yes_or_no(bool yes) { return yes ? "true" : "false"; }

class Scribe {
 public:
  Scribe(const History& world, std::uint64_t seed) : world_(world), prng_(seed * 7919 + 13) {}

  LabFile write() {
    History& flat = file_.flat;
    flat.run = world_.run;
    flat.contract = world_.contract;
    flat.contract.timeout = Nanoseconds{0};
    flat.contract.raw_read = world_.log.outcome == RawOutcome::kUnavailable ? core::RawReadScope::kNone : core::RawReadScope::kFull;
    flat.groups = world_.groups;
    flat.key_counts = world_.key_counts;
    flat.reader = kSource;
    flat.log = world_.log;
    file_.declares_fault = prng_.chance(0.3);
    file_.ends = prng_.chance(0.95);
    // One key without a name, and one number line instead of one partition.
    if (!world_.key_counts.empty() && prng_.chance(0.3)) nameless_ = Key{world_.key_counts.begin()->first, 0, {}};
    flat.homeless = nameless_;
    stream_ = world_.log.bounds.size() == 1 && prng_.chance(0.5);
    if (prng_.chance(0.3)) plan_transactions();
    choose_contract();
    add(StepKind::kJoin);
    for (const Step& step : world_.steps) {
      if (prng_.chance(0.03)) fault();
      if (step.kind == StepKind::kObserve) observe(step);
    }
    close();
    read();
    if (file_.ends) put({}, R"("process":"driver","type":"ok","f":"end","reason":"done")");
    file_.text = meta() + body_;
    return std::move(file_);
  }

 private:
  Step& add(StepKind kind) {
    Step& step = file_.flat.steps.emplace_back();
    step.kind = kind;
    step.source = kSource;
    return step;
  }

  void put(const LabLine& line, std::string_view members) {
    body_ += fmt::format("{{\"index\":{},\"time_ns\":{},{}}}\n", file_.lines.size(), file_.lines.size() * 1000, members);
    file_.lines.push_back(line);
  }

  void choose_contract() {
    auto& contract = file_.flat.contract;
    file_.at_most_once = !contract.exactly_once && prng_.chance(0.1);
    contract.at_least_once = !contract.exactly_once && !file_.at_most_once;
    const auto redelivery = prng_.below(4);
    file_.never_again = redelivery == 0;
    file_.once_again = redelivery == 1;
    if (prng_.chance(0.2)) contract.start = core::Start::kLatest;
    redelivery_ = redelivery == 0   ? R"(,"redelivery":"never")"
                  : redelivery == 1 ? R"(,"redelivery":"after-lineage-change")"
                  : redelivery == 2 ? R"(,"redelivery":"any")"
                                    : "";
  }

  std::string meta() const {
    const auto& contract = file_.flat.contract;
    std::string gaps;
    if (contract.gaps_compaction) gaps += "\"compaction\"";
    if (contract.gaps_retention) gaps += fmt::format("{}\"retention\"", gaps.empty() ? "" : ",");
    return fmt::format(
        R"({{"type":"meta","version":1,"driver":"model","client":"model@1","scenario":"random","faults":[{}],"topics":"{}","raw_read":{},)"
        R"("contract":{{"delivery":"{}","order":"{}","idempotent":{},"gaps":[{}]{}}}}})"
        "\n",
        file_.declares_fault ? "\"cut\"" : "", contract.topic_created ? "created" : "reused",
        yes_or_no(contract.raw_read != core::RawReadScope::kNone),
        contract.exactly_once ? "exactly-once" : file_.at_most_once ? "at-most-once" : "at-least-once",
        contract.ordering ? "key" : "none", yes_or_no(contract.idempotent), gaps,
        redelivery_ + (contract.start == core::Start::kLatest ? R"(,"start":"latest")" : ""));
  }

  void fault() {
    if (!file_.declares_fault) return;
    const std::string type = prng_.chance(0.4) ? "invoke" : prng_.chance(0.5) ? "info" : "ok";
    LabLine line = line_of(What::kFault, "nemesis");
    line.type = type;
    put(line, fmt::format(R"("process":"nemesis","type":"{}","f":"cut")", type));
  }

  std::string record_members(const Key& key, std::uint64_t sequence) const {
    if (nameless_ == key) return fmt::format(R"("value":{})", sequence);
    return fmt::format(R"("key":"{}","value":{})", key_text(world_.run, key), sequence);
  }
  std::string key_members(const Seen& seen) const { return record_members(seen.key, seen.value.sequence.value()); }
  static LabLine line_of(What what, std::string process, std::string group = {}) {
    LabLine line;
    line.what = what;
    line.process = std::move(process);
    line.group = std::move(group);
    return line;
  }
  std::string position_member(const core::Position& position) const {
    if (stream_) return fmt::format(R"(,"position":{{"seq":{}}})", position.offset.value());
    return fmt::format(R"(,"position":{{"partition":{},"offset":{}}})", position.partition.value(), position.offset.value());
  }
  static std::string content_members(core::Content content, std::uint32_t asked) {
    std::string text;
    if (content == core::Content::kIntact) text += R"(,"checksum":"ok")";
    if (content == core::Content::kDamaged) text += R"(,"checksum":"bad")";
    if (content == core::Content::kOtherRun) text += R"(,"run":"r0000000z")";
    if (asked != ~std::uint32_t{0}) text += fmt::format(R"(,"asked":{})", asked);
    return text;
  }

  void observe(const Step& step) {
    Seen seen = step.seen;
    auto& value = seen.value;
    if (value.event <= core::Event::kInfo) {
      attempt(seen);
      if (transactional_) return;  // what the judge is told is another matter
    } else if (value.event <= core::Event::kCommitInfo) {
      consume(seen, step.source);
    } else {
      return;
    }
    Step& copy = add(StepKind::kObserve);
    copy.seen = seen;
  }

  // ── transactions: each attempt of a file that has them is in one that ends as it does ──

  using Record = std::pair<Key, std::uint64_t>;
  struct Open {
    std::size_t number = 0;
    bool asked = false;
    std::size_t answers = 0;         // of its attempts
    std::vector<Seen> outcomes;      // that the judge is told when it ends
  };

  void plan_transactions() {
    transactional_ = true;
    for (const Step& step : world_.steps) {
      const auto& value = step.seen.value;
      const Record record{step.seen.key, value.sequence.value()};
      if (step.kind != StepKind::kObserve || value.event > core::Event::kInfo) continue;
      if (value.event == core::Event::kInvoke) {
        planned_.try_emplace(record, core::Event::kInfo);
      } else {
        planned_[record] = value.event;
      }
    }
  }

  std::string name_of(std::size_t number) const { return fmt::format("t{}", number); }
  void boundary(std::string_view type, std::string_view f, std::size_t number, std::string_view more = "") {
    LabLine line = line_of(f == "commit" && type == "invoke" ? What::kAskedForCommit : What::kOther, "producer");
    if (line.what == What::kAskedForCommit) line.transaction = number;
    put(line, fmt::format(R"("process":"producer","type":"{}","f":"{}","txn":"{}"{})", type, f, name_of(number), more));
  }

  Open& open_for(core::Event outcome) {
    const auto [at, is_new] = open_.try_emplace(outcome);
    if (!is_new) return at->second;
    at->second.number = file_.transactions.size();
    LabTransaction& made = file_.transactions.emplace_back();
    made.ended = outcome == core::Event::kOk     ? LabTransaction::Ended::kCommitted
                 : outcome == core::Event::kFail ? LabTransaction::Ended::kAborted
                                                 : LabTransaction::Ended::kUnknown;
    boundary("invoke", "begin", at->second.number);
    boundary("ok", "begin", at->second.number);
    if (outcome != core::Event::kFail && prng_.chance(0.7)) ask(at->second);
    return at->second;
  }
  void ask(Open& open) {
    if (!open.asked) boundary("invoke", "commit", open.number);
    open.asked = true;
  }

  void attempt_within(const Seen& seen) {
    const auto& value = seen.value;
    const Record record{seen.key, value.sequence.value()};
    const auto planned = planned_.find(record);
    Open& open = open_for(planned->second);
    const std::string head = fmt::format(R"("process":"producer","f":"publish","txn":"{}",{})", name_of(open.number), key_members(seen));
    if (value.event == core::Event::kInvoke) {
      file_.transactions[open.number].records.push_back(record);
      written_[record] = open.number;
      put(line_of(What::kAttempt, "producer"), fmt::format(R"({},"type":"invoke")", head));
      add(StepKind::kObserve).seen = seen;
      return;
    }
    LabLine line = line_of(value.event == core::Event::kOk ? What::kAck : What::kOther, "producer");
    std::string position;
    if (value.event == core::Event::kOk && value.has_position) {
      line.position = core::Position{value.partition, value.offset};
      line.transaction = open.number;
      position = position_member(*line.position);
    }
    // What becomes of the attempt says nothing of what becomes of the transaction, unless it failed itself.
    const bool sent = value.event == core::Event::kOk || prng_.chance(0.5);
    put(line, fmt::format(R"({}{},"type":"{}")", head, position, sent ? "ok" : "info"));
    open.outcomes.push_back(seen);
    ++open.answers;
    if (open.answers == file_.transactions[open.number].records.size() && prng_.chance(0.4)) end(planned->second);
  }

  void end(core::Event outcome) {
    const auto at = open_.find(outcome);
    if (at == open_.end()) return;
    Open open = std::move(at->second);
    open_.erase(at);
    if (outcome == core::Event::kOk) {
      ask(open);
      boundary("ok", "commit", open.number);
      for (const Seen& seen : open.outcomes) add(StepKind::kObserve).seen = seen;
      return;
    }
    if (outcome == core::Event::kFail) {
      boundary("invoke", "abort", open.number);
      if (prng_.chance(0.5)) {
        boundary("ok", "abort", open.number);
      } else {
        boundary("info", "abort", open.number, R"(,"error":"fenced")");
      }
      later_.insert(later_.end(), open.outcomes.begin(), open.outcomes.end());
      return;
    }
    if (open.asked && prng_.chance(0.5)) boundary("info", "commit", open.number);
  }

  [[nodiscard]] bool was_handed_over(const Record& record) const {
    return std::ranges::any_of(world_.steps, [&](const Step& step) {
      const auto& value = step.seen.value;
      const bool readable = value.content == core::Content::kIntact || value.content == core::Content::kUnchecked;
      return step.kind == StepKind::kObserve && value.event == core::Event::kDeliver && readable && step.seen.key == record.first &&
             value.sequence.value() == record.second;
    });
  }
  [[nodiscard]] bool is_in_log(const Record& record) const {
    if (world_.log.outcome != RawOutcome::kComplete) return false;
    return std::ranges::any_of(world_.log.records, [&](const LogRecord& one) {
      const bool readable = one.content == core::Content::kIntact || one.content == core::Content::kUnchecked;
      return readable && is_read(one.position) && one.key == record.first && one.sequence == record.second;
    });
  }
  [[nodiscard]] bool is_read(const core::Position& at) const {
    return std::ranges::any_of(world_.log.bounds, [&](const track::RawRange& bound) {
      return at.partition == bound.partition && at.offset >= bound.begin && at.offset < bound.end;
    });
  }

  // Nothing is produced or handed over any more: what was held back, and what is known of transactions whose outcome is not. What was
  // handed over proves all of one; what only the log holds proves what the log lacks.
  void settle() {
    for (const auto outcome : {core::Event::kOk, core::Event::kFail, core::Event::kInfo}) end(outcome);
    for (const Seen& seen : later_) add(StepKind::kObserve).seen = seen;
    for (LabTransaction& one : file_.transactions) {
      if (one.ended != LabTransaction::Ended::kUnknown) continue;
      const bool all = std::ranges::any_of(one.records, [&](const Record& record) { return was_handed_over(record); });
      const bool some = std::ranges::any_of(one.records, [&](const Record& record) { return is_in_log(record); });
      one.proven = all || some;
      for (const Record& record : one.records) {
        Seen seen;
        seen.key = record.first;
        seen.value.sequence = core::Sequence{record.second};
        const bool known = all || (some && !is_in_log(record));
        seen.value.event = known ? core::Event::kOk : core::Event::kInfo;
        one.known_later += known ? 1 : 0;
        add(StepKind::kObserve).seen = seen;
      }
    }
    const bool unknown = std::ranges::any_of(file_.transactions, [](const LabTransaction& one) {
      return one.ended == LabTransaction::Ended::kUnknown && !one.proven;
    });
    if (!unknown) return;
    for (const auto& bound : world_.log.bounds) {
      const bool complete = world_.log.outcome == RawOutcome::kComplete;
      file_.flat.facts.held_back[bound.partition.value()] = complete ? bound.end.value() : bound.begin.value();
    }
  }

  void attempt(const Seen& seen) {
    if (transactional_) return attempt_within(seen);
    const auto& value = seen.value;
    const bool acks = value.event == core::Event::kOk;
    const std::string_view type = value.event == core::Event::kInvoke ? "invoke"
                                  : acks                              ? "ok"
                                  : value.event == core::Event::kFail ? "fail"
                                                                      : "info";
    LabLine line = line_of(acks ? What::kAck : value.event == core::Event::kInvoke ? What::kAttempt : What::kOther, "producer");
    std::string members = fmt::format(R"("process":"producer","type":"{}","f":"publish",{})", type, key_members(seen));
    if (acks && value.has_position) {
      line.position = core::Position{value.partition, value.offset};
      members += position_member(*line.position);
    }
    put(line, members);
  }

  void consume(Seen& seen, core::SourceId source) {
    auto& value = seen.value;
    const auto [at, is_new] = consumers_.try_emplace({source, value.process, value.group.value()}, consumers_.size());
    value.process = static_cast<std::uint32_t>(at->second);
    const std::string name = fmt::format("consumer-{}", value.process);
    const std::string& group = world_.groups[value.group.value()];
    if (is_new) {
      put(line_of(What::kSubscribe, name, group),
          fmt::format(R"("process":"{}","type":"ok","f":"subscribe","start":"committed","group":"{}")", name, group));
    }
    LabLine line = line_of(What::kOther, name, group);
    const std::string head = fmt::format(R"("process":"{}",)", name);
    if (value.event == core::Event::kAssign || value.event == core::Event::kRevoke) {
      possession(seen, line, head);
    } else if (value.event == core::Event::kDeliver) {
      deliver(seen, line, head);
    } else {
      const std::string_view type = value.event == core::Event::kCommitInvoke ? "invoke"
                                    : value.event == core::Event::kCommitOk   ? "ok"
                                    : value.event == core::Event::kCommitFail ? "fail"
                                                                              : "info";
      put(line, fmt::format(R"({}"type":"{}","f":"commit"{})", head, type, position_member({value.partition, value.offset})));
    }
  }

  void possession(Seen& seen, LabLine line, const std::string& head) {
    auto& value = seen.value;
    const bool opens = value.event == core::Event::kAssign;
    line.what = opens ? What::kAssign : What::kRevoke;
    line.partition = value.partition;
    std::string members =
        fmt::format(R"({}"type":"ok","f":"{}","partitions":[{}])", head, opens ? "assign" : "revoke", value.partition.value());
    if (value.has_generation) members += fmt::format(R"(,"generation":{})", value.generation.value());
    if (opens) {
      seen.member = line.process;  // who is whom in a file is told by its process
      if (value.has_start)
        members += fmt::format(R"(,"starts":[{{"partition":{},"offset":{}}}])", value.partition.value(), value.start.value());
      members += fmt::format(R"(,"protocol":"{}")", value.classic ? "classic" : "consumer");
      if (!seen.instance.empty()) members += fmt::format(R"(,"instance":"{}")", seen.instance);
    } else if (value.close == core::LineageClose::kLost) {
      members += R"(,"lost":true)";
    } else if (value.close == core::LineageClose::kClosed) {
      members += R"(,"closed":true)";
    }
    put(line, members);
  }

  void deliver(const Seen& seen, LabLine line, const std::string& head) {
    const auto& value = seen.value;
    line.what = What::kDeliver;
    line.leftover = value.content == core::Content::kOtherRun && !world_.contract.topic_created;
    if (value.content == core::Content::kIntact || value.content == core::Content::kUnchecked) {
      line.record = Record{seen.key, value.sequence.value()};
      const auto written = written_.find(*line.record);
      if (written != written_.end()) line.transaction = written->second;
    }
    std::string members = fmt::format(R"({}"type":"ok","f":"deliver",{})", head, key_members(seen));
    if (value.has_position) {
      line.position = core::Position{value.partition, value.offset};
      members += position_member(*line.position);
    }
    put(line, members + content_members(value.content, value.asked_partition.value()));
  }

  // One tick knows everything, so that with a deadline of 0 every acked record is past it.
  void close() {
    settle();
    add(StepKind::kAnswer).number = 1;
    add(StepKind::kComplete).number = 1;
    add(StepKind::kCloseLoad);
    add(StepKind::kCloseConsumers);
  }

  std::string target(bool reached, bool ends) const {
    std::string text;
    for (const auto& bound : world_.log.bounds) {
      text += fmt::format(R"({}{{"partition":{},"start":{},"end":{}{}}})", text.empty() ? "" : ",", bound.partition.value(),
                          bound.begin.value(), bound.end.value(), ends ? fmt::format(",\"reached\":{}", yes_or_no(reached)) : "");
    }
    return text;
  }

  void read() {
    if (world_.log.outcome == RawOutcome::kUnavailable) return;
    const bool complete = world_.log.outcome == RawOutcome::kComplete;
    put({}, fmt::format(R"("process":"final-read","type":"ok","f":"read-begin","target":[{}])", target(complete, false)));
    for (const auto& bound : world_.log.bounds) {
      file_.raw.parts.push_back({bound, complete});
      for (const auto& record : world_.log.records) {
        const auto& at = record.position;
        if (!complete || at.partition != bound.partition || at.offset < bound.begin || at.offset >= bound.end) continue;
        file_.raw.records.push_back(record);
        LabLine line = line_of(What::kRead, "final-read");
        line.position = at;
        put(line,
            fmt::format(R"("process":"final-read","type":"ok","f":"read",{}{}{})", record_members(record.key, record.sequence),
                        position_member(at), content_members(record.content, record.asked.value_or(~std::uint32_t{0}))));
      }
    }
    put({}, fmt::format(R"("process":"final-read","type":"ok","f":"read-end","target":[{}])", target(complete, true)));
  }

  const History& world_;
  Prng prng_;
  LabFile file_;
  bool transactional_ = false;
  std::map<Record, core::Event> planned_;            // the outcome of each attempt
  std::map<core::Event, Open> open_;                 // the transaction of attempts with that outcome
  std::map<Record, std::size_t> written_;            // by which transaction
  std::vector<Seen> later_;                          // outcomes that are told at the end of the load
  std::optional<Key> nameless_;
  bool stream_ = false;
  std::string body_;
  std::string redelivery_;
  std::map<std::tuple<core::SourceId, std::uint32_t, std::uint32_t>, std::size_t> consumers_;
};

// ── the judge ──

class LabJudge {
 public:
  explicit LabJudge(const LabFile& file) : file_(file) {}

  LabVerdict judge() {
    const ReferenceVerdict shared = reference_judge(file_.flat, file_.raw);
    LabVerdict verdict;
    verdict.counts = shared.counts;
    verdict.allowed = shared.allowed;
    verdict.undecided = shared.undecided;
    verdict.acked = shared.acked;
    verdict.unknown = shared.unknown;
    for (const LabTransaction& one : file_.transactions) {
      verdict.acked -= one.known_later;
      verdict.unknown += one.known_later;
      if (is_torn(one, shared)) ++verdict.counts[Code::kTornTransaction];
    }
    verdict.counts[Code::kPrecommittedRead] = read_too_early();
    verdict.counts[Code::kG0] = written_in_each_others_midst();
    if (file_.never_again || file_.at_most_once) verdict.allowed[Code::kDuplicateDelivery] = 0;
    for (const auto& [partition, goal] : goals()) {
      stall(verdict, partition, goal);
      sub_death(verdict, partition, goal);
    }
    const bool invalid = verdict.undecided > 0 || shared.acked == 0 || !file_.ends || read_is_bad() || has_hole() || untested();
    verdict.status = invalid ? "invalid" : broken(verdict) ? "failed" : "clean";
    return verdict;
  }

 private:
  [[nodiscard]] bool reads() const { return file_.flat.log.outcome != RawOutcome::kUnavailable; }
  [[nodiscard]] bool read_is_bad() const { return file_.flat.log.outcome == RawOutcome::kFails; }

  using Record = std::pair<Key, std::uint64_t>;
  // Where the whole log was read: the record is there; else: some group was handed it.
  [[nodiscard]] bool is_visible(const Record& record) const {
    if (file_.flat.log.outcome != RawOutcome::kComplete) {
      return std::ranges::any_of(file_.lines, [&](const LabLine& line) { return line.what == What::kDeliver && line.record == record; });
    }
    return std::ranges::any_of(file_.raw.records, [&](const LogRecord& one) {
      return one.content != core::Content::kOtherRun && one.key == record.first && one.sequence == record.second;
    });
  }
  [[nodiscard]] bool is_torn(const LabTransaction& one, const ReferenceVerdict& shared) const {
    if (one.ended == LabTransaction::Ended::kAborted || (one.ended == LabTransaction::Ended::kUnknown && !one.proven)) return false;
    const bool some = std::ranges::any_of(one.records, [&](const Record& record) { return is_visible(record); });
    return some && std::ranges::any_of(one.records, [&](const Record& record) {
      return !is_visible(record) && shared.lost.contains(record);
    });
  }
  [[nodiscard]] bool is_committed(const LabTransaction& one) const {
    return one.ended == LabTransaction::Ended::kCommitted || one.proven;
  }
  // Sets of committed transactions that reach each other by going from one to whoever wrote next in a partition.
  [[nodiscard]] std::uint64_t written_in_each_others_midst() const {
    std::map<core::Position, std::set<std::size_t>> writers;
    for (const LabLine& line : file_.lines) {
      if (line.what == What::kAck && line.transaction) writers[*line.position].insert(*line.transaction);
    }
    for (std::size_t number = 0; number < file_.transactions.size(); ++number) {
      for (const auto& found : file_.raw.records) {
        const bool readable = found.content == core::Content::kIntact || found.content == core::Content::kUnchecked;
        const auto& own = file_.transactions[number].records;
        if (readable && std::ranges::find(own, Record{found.key, found.sequence}) != own.end()) writers[found.position].insert(number);
      }
    }
    const std::size_t count = file_.transactions.size();
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
    std::optional<std::pair<core::PartitionId, std::size_t>> before;
    for (auto& [position, all] : writers) {
      std::erase_if(all, [&](std::size_t number) { return !is_committed(file_.transactions[number]); });
      if (all.empty()) continue;
      if (before && before->first == position.partition) reaches[before->second][*all.begin()] = true;
      before = {position.partition, *all.begin()};
    }
    for (std::size_t by = 0; by < count; ++by) {
      for (std::size_t from = 0; from < count; ++from) {
        for (std::size_t to = 0; to < count; ++to) reaches[from][to] = reaches[from][to] || (reaches[from][by] && reaches[by][to]);
      }
    }
    std::uint64_t sets = 0;
    for (std::size_t one = 0; one < count; ++one) {
      bool lowest = true;
      bool any = false;
      for (std::size_t other = 0; other < count; ++other) {
        if (other == one || !reaches[one][other] || !reaches[other][one]) continue;
        any = true;
        lowest = lowest && one < other;
      }
      sets += any && lowest ? 1 : 0;
    }
    return sets;
  }
  [[nodiscard]] std::uint64_t read_too_early() const {
    std::set<std::size_t> asked;
    std::uint64_t early = 0;
    for (const LabLine& line : file_.lines) {
      if (line.what == What::kAskedForCommit) asked.insert(*line.transaction);
      if (line.what != What::kDeliver || !line.transaction) continue;
      const bool aborted = file_.transactions[*line.transaction].ended == LabTransaction::Ended::kAborted;
      if (!aborted && !asked.contains(*line.transaction)) ++early;
    }
    return early;
  }

  [[nodiscard]] std::set<std::uint64_t> offsets(What what, core::PartitionId partition) const {
    std::set<std::uint64_t> found;
    for (const auto& line : file_.lines) {
      if (line.what == what && line.position && line.position->partition == partition) found.insert(line.position->offset.value());
    }
    return found;
  }

  [[nodiscard]] bool has_hole() const {
    const auto& contract = file_.flat.contract;
    if (contract.gaps_compaction || contract.gaps_retention || !reads() || !file_.transactions.empty()) return false;
    for (const auto& bound : file_.flat.log.bounds) {
      const auto read = offsets(What::kRead, bound.partition);
      const auto acked = offsets(What::kAck, bound.partition);
      for (std::uint64_t at = bound.begin.value(); at < bound.end.value(); ++at) {
        if (!read.contains(at) && !acked.contains(at)) return true;
      }
    }
    return false;
  }

  // The highest acknowledged position of each partition that the final read holds.
  [[nodiscard]] std::map<core::PartitionId, std::uint64_t> goals() const {
    std::map<core::PartitionId, std::uint64_t> goals;
    for (const auto& bound : file_.flat.log.bounds) {
      const auto read = offsets(What::kRead, bound.partition);
      for (const std::uint64_t at : offsets(What::kAck, bound.partition)) {
        if (read.contains(at)) goals[bound.partition] = at;
      }
    }
    return goals;
  }

  void stall(LabVerdict& verdict, core::PartitionId partition, std::uint64_t goal) const {
    std::set<std::string> groups;
    for (const auto& line : file_.lines) {
      if (!line.group.empty()) groups.insert(line.group);
    }
    for (const auto& group : groups) {
      if (owes_nothing(group, partition, goal)) continue;
      const bool there = std::ranges::any_of(file_.lines, [&](const LabLine& line) {
        return line.what == What::kDeliver && line.group == group && !line.leftover && line.position &&
               line.position->partition == partition && line.position->offset.value() >= goal;
      });
      if (!there) ++verdict.counts[Code::kStall];
    }
  }

  // A group that starts at the end of the log, and said so above the goal, or never said where.
  [[nodiscard]] bool owes_nothing(const std::string& group, core::PartitionId partition, std::uint64_t goal) const {
    if (file_.flat.contract.start != core::Start::kLatest) return false;
    std::optional<std::uint64_t> start;
    for (const auto& step : file_.flat.steps) {
      const auto& value = step.seen.value;
      if (step.kind != StepKind::kObserve || value.event != core::Event::kAssign || value.partition != partition) continue;
      if (file_.flat.groups[value.group.value()] != group) continue;
      start = value.has_start ? std::optional(value.start.value()) : std::nullopt;
    }
    return !start || *start > goal;
  }

  struct Hand {
    std::size_t at = 0;
    std::uint64_t offset = 0;
  };
  // The first hand-over of its highest position.
  [[nodiscard]] std::optional<Hand> highest(const std::string& process, core::PartitionId partition) const {
    std::optional<Hand> found;
    for (std::size_t at = 0; at < file_.lines.size(); ++at) {
      const LabLine& line = file_.lines[at];
      if (line.what != What::kDeliver || line.process != process || !line.position || line.position->partition != partition) continue;
      if (!found || line.position->offset.value() > found->offset) found = Hand{at, line.position->offset.value()};
    }
    return found;
  }

  // Since when the consumer has held the partition, if it still did at the end.
  [[nodiscard]] std::optional<std::size_t> held_since(const std::string& process, const std::string& group,
                                                      core::PartitionId partition) const {
    std::optional<std::size_t> since;
    bool known = false;
    std::set<std::string> others;  // of its group, that have been seen at the partition
    for (std::size_t at = 0; at < file_.lines.size(); ++at) {
      const LabLine& line = file_.lines[at];
      if (line.group != group) continue;
      const bool delivers = line.what == What::kDeliver && line.position && line.position->partition == partition;
      const bool assigned = line.what == What::kAssign && line.partition == partition;
      if (line.process == process) {
        if (assigned || (delivers && !known)) since = at;
        known = known || assigned || delivers;
        if (line.what == What::kRevoke && line.partition == partition) since.reset();
      } else if (assigned || (delivers && !others.contains(line.process))) {
        since.reset();  // somebody else of the group took it
        others.insert(line.process);
      }
    }
    return since;
  }

  void sub_death(LabVerdict& verdict, core::PartitionId partition, std::uint64_t goal) const {
    std::map<std::string, std::string> consumers;  // and their groups
    for (const auto& line : file_.lines) {
      if (!line.group.empty()) consumers[line.process] = line.group;
    }
    for (const auto& [process, group] : consumers) {
      const auto since = held_since(process, group, partition);
      const auto own = highest(process, partition);
      if (!since || (own && own->offset >= goal)) continue;
      const std::size_t from = std::max(*since, own ? own->at : 0);
      const bool outlived = std::ranges::any_of(consumers, [&](const auto& other) {
        const auto theirs = highest(other.first, partition);
        return other.first != process && theirs && (!own || theirs->offset > own->offset) && theirs->at > from;
      });
      if (outlived) ++verdict.counts[Code::kSubDeath];
    }
  }

  // The fault was declared, and no line says that it was felt while records were under way.
  [[nodiscard]] bool untested() const {
    if (!file_.declares_fault) return false;
    std::optional<std::size_t> first;
    std::size_t last = 0;
    for (std::size_t at = 0; at < file_.lines.size(); ++at) {
      const What what = file_.lines[at].what;
      if (what == What::kAttempt && !first) first = at;
      if (what == What::kAttempt || what == What::kDeliver) last = at;
    }
    std::vector<std::size_t> begun;  // of those that are going on
    for (std::size_t at = 0; at < file_.lines.size(); ++at) {
      const LabLine& line = file_.lines[at];
      if (line.what != What::kFault) continue;
      if (line.type == "invoke" || begun.empty()) begun.push_back(at);
      if (line.type == "info" && first && at > *first && at < last) return false;
      if (line.type == "ok") begun.pop_back();
    }
    return true;
  }

  [[nodiscard]] bool broken(const LabVerdict& verdict) const {
    const auto& contract = file_.flat.contract;
    std::set<Code> forbidden = {Code::kPhantom, Code::kCorrupt, Code::kMisplaced, Code::kInconsistentPosition, Code::kBeforeStart};
    if (contract.at_least_once || contract.exactly_once) {
      forbidden.insert({Code::kLost, Code::kCommitAhead, Code::kStall, Code::kSubDeath});
    }
    if (contract.ordering) forbidden.insert({Code::kReorderedWrite, Code::kReorderedDelivery, Code::kSkip, Code::kDualOwner});
    if (contract.exactly_once || file_.at_most_once) forbidden.insert(Code::kDuplicateWrite);
    if (contract.exactly_once) forbidden.insert({Code::kTornTransaction, Code::kPrecommittedRead});
    if (contract.exactly_once || file_.at_most_once || file_.never_again || file_.once_again) {
      forbidden.insert({Code::kDuplicateDelivery, Code::kRewind});
    }
    return std::ranges::any_of(forbidden, [&](Code code) { return verdict.counts[code] > verdict.allowed[code]; });
  }

  const LabFile& file_;
};

}  // namespace

LabFile lab_of(const History& world, std::uint64_t seed) { return Scribe(world, seed).write(); }

LabVerdict lab_judge(const LabFile& file) { return LabJudge(file).judge(); }

}  // namespace sp::model

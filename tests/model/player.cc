#include "model/player.h"

#include <map>
#include <memory>
#include <utility>

#include "base/prng.h"
#include "track/recorder.h"

namespace sp::model {

std::string key_text(core::RunId run, const Key& key) {
  if (!key.foreign.empty()) return key.foreign;
  core::KeySpace space(run);
  return space.name({space.block(key.block), key.index});
}

namespace {

struct Worker {
  std::unique_ptr<track::Recorder> recorder;
  std::uint64_t sent = 0;
  bool held = false;
  bool dead = false;
};

class Player {
 public:
  Player(const History& history, const PlayOptions& options)
      : history_(history),
        options_(options),
        ledger_(ledger_options(history, options)),
        prng_(options.seed) {}

  Played run() {
    for (const auto& step : history_.steps) take(step);
    raw_read();
    for (auto& [source, worker] : workers_) {
      if (worker.dead || worker.held) continue;
      core::Observation end;
      end.event = core::Event::kEnd;
      worker.recorder->observe(end);
      cut(worker);
    }
    flush();
    ledger_.round();
    ledger_.round();
    ledger_.finish();
    return judged();
  }

 private:
  static track::LedgerOptions ledger_options(const History& history,
                                             const PlayOptions& options) {
    track::LedgerOptions made;
    made.run = history.run;
    made.contract = history.contract;
    made.groups = history.groups;
    made.quiet_paths = options.quiet_paths;
    made.limits.slots_first = options.slots_first;
    made.limits.slots_max = options.slots_max;
    made.limits.named_max = options.named_max;
    made.limits.outstanding_max = options.outstanding_max;
    return made;
  }

  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::kJoin:
        for (const auto& [block, count] : history_.key_counts) {
          if (block.source == step.source) ledger_.declare(block, count);
        }
        ledger_.expect(step.source);
        workers_[step.source].recorder =
            std::make_unique<track::Recorder>(step.source, history_.run);
        return;
      case StepKind::kObserve:
        return observe(step);
      case StepKind::kAnswer: {
        core::Observation tick;
        tick.event = core::Event::kTick;
        tick.number = step.number;
        Worker& worker = workers_[step.source];
        worker.recorder->observe(tick);
        cut(worker);
        return;
      }
      case StepKind::kComplete:
        return complete(step);
      case StepKind::kHold:
        flush();
        cut(workers_[step.source]);
        workers_[step.source].held = true;
        return;
      case StepKind::kRelease:
        workers_[step.source].held = false;
        ledger_.expect(step.source);
        send(workers_[step.source]);
        return;
      case StepKind::kDie:
        flush();
        workers_[step.source].dead = true;
        ledger_.lose(step.source, false);
        return;
      case StepKind::kAway:
        ledger_.lose(step.source, true);
        return;
      case StepKind::kCloseLoad:
        settle();
        ledger_.close_load();
        return;
      case StepKind::kCloseConsumers:
        settle();
        played_.alarms = ledger_.take_alarms();
        played_.alarms_at_ticks = played_.alarms.size();
        ledger_.close_consumers(step.now);
        played_.progress = ledger_.progress();
        return;
    }
  }

  void observe(const Step& step) {
    Worker& worker = workers_[step.source];
    if (worker.dead) return;
    core::Observation value = step.seen.value;
    const std::string name = key_text(history_.run, step.seen.key);
    value.name = name;
    if (value.event == core::Event::kAssign) {
      value.text = step.seen.member;
      value.instance = step.seen.instance;
    }
    worker.recorder->observe(value);
    if (options_.cut_each) cut(worker);
  }

  void complete(const Step& step) {
    constexpr int kRoundsMax = 500;  // a delivery that came before its attempt waits for two
                                     // rounds, and the answer behind it too
    for (int round = 0; round < kRoundsMax && (round == 0 || !ledger_.answered(step.number));
         ++round)
      settle();
    if (!ledger_.answered(step.number)) {
      unanswered_ = true;
      return;
    }
    ledger_.tick(step.number, step.now);
  }

  // Everything that was seen so far is at the coordinator, and each live source was asked again.
  void settle() {
    for (auto& [source, worker] : workers_) {
      if (!worker.dead && !worker.held) cut(worker);
    }
    flush();
    ledger_.round();
  }

  void cut(Worker& worker) {
    if (worker.dead) return;
    worker.recorder->cut(false);
    if (!worker.held) send(worker);
  }

  void send(Worker& worker) {
    for (const track::Delta* delta : worker.recorder->pending(worker.sent)) {
      worker.sent = delta->number;
      under_way_.push_back(*delta);
      if (options_.repeat && prng_.chance(0.3)) under_way_.push_back(*delta);
    }
    if (!options_.shuffle) flush();
  }

  void flush() {
    if (options_.shuffle) {
      for (std::size_t i = under_way_.size(); i > 1; --i) {
        std::swap(under_way_[i - 1], under_way_[prng_.below(i)]);
      }
    }
    for (auto& delta : under_way_) ledger_.apply(std::move(delta));
    under_way_.clear();
  }

  void raw_read() {
    const Log& log = history_.log;
    if (log.outcome == RawOutcome::kUnavailable ||
        history_.contract.raw_read == core::RawReadScope::kNone)
      return;
    const bool complete = log.outcome == RawOutcome::kComplete;
    Worker& worker = workers_[history_.reader];
    for (const auto& range : ledger_.raw_targets(log.bounds, history_.contract.raw_read)) {
      core::Observation bound;
      bound.event = core::Event::kRawBegin;
      bound.partition = range.partition;
      bound.offset = range.begin;
      bound.end = range.end;
      worker.recorder->observe(bound);
      for (const auto& record : log.records) {
        const auto& at = record.position;
        if (!complete || at.partition != range.partition || at.offset < range.begin ||
            at.offset >= range.end)
          continue;
        raw_record(worker, record);
      }
      bound.event = core::Event::kRawEnd;
      bound.reached = complete;
      worker.recorder->observe(bound);
      played_.raw.parts.push_back({range, complete});
    }
  }

  void raw_record(Worker& worker, const LogRecord& record) {
    core::Observation raw;
    raw.event = core::Event::kRaw;
    raw.content = record.content;
    raw.has_position = true;
    raw.partition = record.position.partition;
    raw.offset = record.position.offset;
    raw.sequence = core::Sequence{record.sequence};
    if (record.asked) raw.asked_partition = core::PartitionId{*record.asked};
    const std::string name = key_text(history_.run, record.key);
    raw.name = name;
    worker.recorder->observe(raw);
    played_.raw.records.push_back(record);
  }

  Played judged() {
    judge::RunFacts facts = history_.facts;
    facts.raw_read_available = history_.log.outcome != RawOutcome::kUnavailable;
    facts.raw_read_complete = history_.log.outcome == RawOutcome::kComplete;
    if (history_.log.outcome == RawOutcome::kFails)
      facts.raw_read_problem = "the raw read could not complete";
    if (unanswered_)
      facts.missing.emplace_back(
          "a tick was completed though a source had not answered: a bad history");
    played_.judgement = judge::judge(ledger_, history_.contract, facts, options_.judge);
    played_.live = ledger_.counts_so_far();
    auto rest = ledger_.take_alarms();
    played_.alarms.insert(played_.alarms.end(), rest.begin(), rest.end());
    return std::move(played_);
  }

  const History& history_;  // outlives this
  const PlayOptions& options_;
  track::Ledger ledger_;
  Prng prng_;
  std::map<core::SourceId, Worker> workers_;
  std::vector<track::Delta> under_way_;
  bool unanswered_ = false;
  Played played_;
};

}  // namespace

Played play(const History& history, const PlayOptions& options) {
  return Player(history, options).run();
}

}  // namespace sp::model

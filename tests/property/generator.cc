#include "property/generator.h"

#include <algorithm>
#include <deque>
#include <vector>

#include <fmt/core.h>

#include "base/prng.h"
#include "model/builder.h"

namespace sp::property {
namespace {

using core::Content;
using core::Position;
using model::Key;
using model::Stored;

// One reader of one partition for one group, and where it stands.
struct Reader {
  model::Consumer consumer;
  std::uint64_t next = 0;  // offset
  std::vector<std::uint64_t> handed;
};

struct Assignment {  // of a partition to a group
  std::uint64_t generation = 0;
  std::uint64_t committed = 0;
  std::vector<Reader> readers;  // the last is the owner, the others are zombies
};

struct Outcome {  // that is still to come
  Key key;
  std::uint64_t sequence = 0;
  std::optional<Position> position;
};

struct LateStore {
  Stored record;
  std::uint32_t partition = 0;
};

class World {
 public:
  World(std::uint64_t seed, const WorldOptions& options)
      : prng_(seed), honest_(options.honest), owners_(options.owners), dense_(options.dense) {}

  model::History make() {
    set_up();
    const std::uint64_t steps = prng_.between(10, 120);
    for (std::uint64_t i = 0; i < steps; ++i) step();
    finish();
    return std::move(builder_.history);
  }

 private:
  bool mutate(double p) { return !honest_ && wild_ && prng_.chance(dense_ ? std::min(0.5, 3 * p) : p); }

  void set_up() {
    wild_ = prng_.chance(0.75);
    asks_ = prng_.chance(0.3);
    sources_ = static_cast<std::uint32_t>(prng_.between(1, 3));
    partitions_ = static_cast<std::uint32_t>(prng_.between(1, 3));
    const auto groups = static_cast<std::uint32_t>(prng_.between(1, 2));
    auto& history = builder_.history;
    history.groups.clear();
    for (std::uint32_t g = 0; g < groups; ++g) history.groups.push_back(fmt::format("g{}", g));
    set_up_contract();
    for (std::uint32_t s = 0; s < sources_; ++s) builder_.join({s, 1});
    if (owners_ && sources_ > 1) builder_.join({1, 2});
    history.reader = {0, 1};
    const std::uint64_t keys = prng_.between(1, dense_ ? 2 : 4);
    for (std::uint64_t i = 0; i < keys; ++i) {
      Key key;
      key.block = {{static_cast<std::uint32_t>(prng_.below(sources_)), 1},
                   static_cast<std::uint32_t>(prng_.below(2))};
      key.index = history.key_counts[key.block]++;
      keys_.push_back(key);
      homes_.push_back(static_cast<std::uint32_t>(prng_.below(partitions_)));
      issued_.push_back(0);
    }
    assignments_.resize(groups);
    for (std::uint32_t g = 0; g < groups; ++g) {
      assignments_[g].resize(partitions_);
      for (std::uint32_t p = 0; p < partitions_; ++p) {
        builder_.logs()[core::PartitionId{p}];
        open(g, p, 0);
      }
    }
  }

  void set_up_contract() {
    auto& contract = builder_.history.contract;
    contract.at_least_once = prng_.chance(0.8);
    contract.ordering = prng_.chance(0.8);
    contract.exactly_once = prng_.chance(0.2);
    contract.idempotent = prng_.chance(0.2);
    contract.topic_created = prng_.chance(0.7);
    contract.gaps_retention = prng_.chance(0.1);
    contract.gaps_compaction = prng_.chance(0.1);
    contract.timeout = std::chrono::seconds(30);
    const auto scope = prng_.below(10);
    contract.raw_read = scope < 5   ? core::RawReadScope::kHoles
                        : scope < 9 ? core::RawReadScope::kFull
                                    : core::RawReadScope::kNone;
  }

  void step() {
    const auto choice = prng_.below(100);
    if (choice < 34) {
      produce();
    } else if (choice < 44) {
      outcome_comes();
    } else if (choice < 74) {
      read(false);
    } else if (choice < 78) {
      read(true);
    } else if (choice < 84) {
      commit();
    } else if (choice < 88) {
      rebalance();
    } else if (choice < 91) {
      store_late();
    } else {
      answer();
    }
  }

  // ---- producers

  void produce() {
    const auto k = prng_.below(keys_.size());
    const Key& key = keys_[k];
    Stored record{key, issued_[k]++, Content::kIntact, std::nullopt};
    if (asks_) record.asked = homes_[k];
    builder_.issue(key.block.source, key, record.sequence);
    if (prng_.chance(0.05)) return refuse(record, homes_[k]);
    if (prng_.chance(0.08)) return lose_track(record, homes_[k]);
    std::uint32_t partition = homes_[k];
    if (asks_ && mutate(0.02) && partitions_ > 1) partition = (partition + 1) % partitions_;
    if (mutate(0.05) && prng_.chance(0.5)) {  // stored behind what comes after it
      late_acked_.push_back({record, partition});
      return;
    }
    const Position position = builder_.store(core::PartitionId{partition}, record);
    if (mutate(0.04)) builder_.store(core::PartitionId{partition}, record);
    if (mutate(0.03)) late_.push_back({record, partition});
    if (mutate(0.04)) builder_.log(position.partition).erase(position.offset.value());
    waiting_.push_back(
        {key, record.sequence, prng_.chance(0.05) ? std::nullopt : std::optional(position)});
    if (prng_.chance(0.7)) outcome_comes();
  }
  void refuse(const Stored& record, std::uint32_t partition) {
    if (mutate(0.2)) builder_.store(core::PartitionId{partition}, record);
    builder_.refuse(record.key.block.source, record.key, record.sequence);
  }
  void lose_track(const Stored& record, std::uint32_t partition) {
    if (prng_.chance(0.3))
      builder_.store(core::PartitionId{partition}, record);
    else if (prng_.chance(0.5))
      late_.push_back({record, partition});
    builder_.lose_track(record.key.block.source, record.key, record.sequence);
  }
  void outcome_comes() {
    if (waiting_.empty()) return;
    const auto i = prng_.below(waiting_.size());
    const Outcome outcome = waiting_[i];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (dense_ && mutate(0.03)) return builder_.refuse(outcome.key.block.source, outcome.key, outcome.sequence);
    builder_.ack(outcome.key.block.source, outcome.key, outcome.sequence, outcome.position);
  }
  void store_late() {
    if (!late_acked_.empty()) {
      const LateStore late = late_acked_.front();
      late_acked_.pop_front();
      waiting_.push_back({late.record.key, late.record.sequence,
                          builder_.store(core::PartitionId{late.partition}, late.record)});
      return;
    }
    if (!late_.empty()) {
      builder_.store(core::PartitionId{late_.front().partition}, late_.front().record);
      late_.pop_front();
      return;
    }
    const auto partition = core::PartitionId{static_cast<std::uint32_t>(prng_.below(partitions_))};
    if (mutate(0.3)) {  // a record that nobody issued
      const auto k = prng_.below(keys_.size());
      builder_.store(partition, {keys_[k], 1000 + strange_++, Content::kIntact, std::nullopt});
    } else if (mutate(0.3)) {
      Key foreign;
      foreign.foreign = fmt::format("other-run.{}", strange_);
      builder_.store(partition, {foreign, strange_++, Content::kOtherRun, std::nullopt});
    }
  }

  // ---- consumers

  void open(std::uint32_t group, std::uint32_t partition, std::uint64_t start) {
    Assignment& assignment = assignments_[group][partition];
    Reader reader;
    reader.consumer = {{static_cast<std::uint32_t>(prng_.below(sources_)), 1},
                       consumers_++,
                       core::GroupIndex{group},
                       core::PartitionId{partition}};
    reader.next = start;
    model::Opening opening;
    opening.generation = ++assignment.generation;
    if (prng_.chance(0.8)) opening.start = start;
    opening.member = fmt::format("m{}", consumers_);
    if (owners_) whoever(reader.consumer, opening);
    builder_.open(reader.consumer, opening);
    assignment.readers.push_back(std::move(reader));
  }

  // Somebody who may have been there before, in the generation that there was or in none.
  void whoever(model::Consumer& consumer, model::Opening& opening) {
    Assignment& assignment = assignments_[consumer.group.value()][consumer.partition.value()];
    if (assignment.generation > 1 && prng_.chance(0.7)) opening.generation = --assignment.generation;
    if (prng_.chance(0.1)) opening.generation = std::nullopt;
    if (prng_.chance(0.1)) opening.classic = false;
    if (prng_.chance(0.3)) opening.instance = fmt::format("i{}", prng_.below(2));
    if (prng_.chance(0.3)) opening.member = fmt::format("m{}", prng_.below(consumers_) + 1);
    if (sources_ > 1) consumer.source.incarnation = 1 + static_cast<std::uint32_t>(consumer.source.worker == 1 && prng_.chance(0.3));
  }

  Assignment& some_assignment() {
    return assignments_[prng_.below(assignments_.size())][prng_.below(partitions_)];
  }

  void read(bool zombie) {
    Assignment& assignment = some_assignment();
    if (zombie && assignment.readers.size() < 2) return;
    Reader& reader = assignment.readers[zombie ? prng_.below(assignment.readers.size() - 1)
                                               : assignment.readers.size() - 1];
    for (std::uint64_t i = prng_.between(1, 6); i > 0; --i) {
      if (mutate(0.03) && !reader.handed.empty())
        hand(reader, reader.handed[prng_.below(reader.handed.size())]);
      if (mutate(0.03)) next_offset(reader);  // jumped over
      const auto offset = next_offset(reader);
      if (!offset) return;
      if (mutate(0.03)) {
        if (const auto swapped = next_offset(reader)) hand(reader, *swapped);
      }
      hand(reader, *offset);
    }
  }
  std::optional<std::uint64_t> next_offset(Reader& reader) {
    const auto& log = builder_.log(reader.consumer.partition);
    const auto found = log.lower_bound(reader.next);
    if (found == log.end()) return std::nullopt;
    reader.next = found->first + 1;
    return found->first;
  }
  void hand(Reader& reader, std::uint64_t offset) {
    Stored record = builder_.log(reader.consumer.partition).at(offset);
    if (record.content == Content::kIntact && mutate(0.01)) record.content = Content::kDamaged;
    reader.handed.push_back(offset);
    builder_.deliver(reader.consumer, record, core::Offset{offset});
  }

  void commit() {
    Assignment& assignment = some_assignment();
    Reader& reader = assignment.readers.back();
    std::uint64_t next = reader.next;
    if (mutate(0.1)) next += prng_.between(1, 3);
    if (prng_.chance(0.2)) next -= std::min(next, prng_.below(4));
    builder_.commit_begin(reader.consumer, next);
    if (prng_.chance(0.1)) return;  // no answer
    const auto luck = prng_.below(10);
    const auto outcome = luck < 8    ? track::CommitOutcome::kOk
                         : luck == 8 ? track::CommitOutcome::kFail
                                     : track::CommitOutcome::kInfo;
    if (outcome == track::CommitOutcome::kOk) assignment.committed = next;
    builder_.commit_end(reader.consumer, next, outcome);
  }

  void rebalance() {
    const auto group = static_cast<std::uint32_t>(prng_.below(assignments_.size()));
    const auto partition = static_cast<std::uint32_t>(prng_.below(partitions_));
    Assignment& assignment = assignments_[group][partition];
    const bool zombie = prng_.chance(0.3);
    if (!zombie) {
      const Reader leaving = assignment.readers.back();
      assignment.readers.pop_back();
      const auto how = prng_.chance(0.7) ? core::LineageClose::kRevoked : core::LineageClose::kLost;
      if (owners_ && prng_.chance(0.3)) open(group, partition, assignment.committed);  // before the other has left
      std::optional<std::uint64_t> generation;
      if (owners_ && prng_.chance(0.5)) {
        generation = assignment.generation + prng_.below(3) - std::min<std::uint64_t>(1, assignment.generation);
      }
      builder_.close(leaving.consumer, how, generation);
      if (owners_ && !assignment.readers.empty() && prng_.chance(0.5)) return;
    }
    std::uint64_t start = assignment.committed;
    if (mutate(0.15)) start -= std::min(start, prng_.below(6));
    if (mutate(0.05)) start += prng_.below(3);
    open(group, partition, start);
  }

  // ---- time and the end

  void answer() {
    const auto source = static_cast<std::uint32_t>(prng_.below(sources_));
    answered_ |= 1U << source;
    builder_.answer({source, 1});
    if (owners_ && source == 1) builder_.answer({1, 2});
    if (answered_ + 1U != (1U << sources_)) return;
    answered_ = 0;
    const auto luck = prng_.below(10);
    builder_.complete(luck < 6   ? std::chrono::seconds(1)
                      : luck < 9 ? std::chrono::seconds(12)
                                 : std::chrono::seconds(31));
  }

  void finish() {
    const bool drain = prng_.chance(0.7);
    if (drain) {
      while (!late_acked_.empty() || !late_.empty()) store_late();
      while (!waiting_.empty()) outcome_comes();
    }
    const bool patient = drain && prng_.chance(0.85);
    if (prng_.chance(0.8)) builder_.tick(std::chrono::seconds(1));
    builder_.close_load();
    if (patient) {
      for (auto& group : assignments_) {
        for (auto& assignment : group) {
          while (const auto offset = next_offset(assignment.readers.back()))
            hand(assignment.readers.back(), *offset);
        }
      }
    }
    builder_.now += prng_.chance(0.6) ? std::chrono::seconds(40) : std::chrono::seconds(3);
    if (prng_.chance(0.3)) builder_.tick(std::chrono::seconds(1));
    for (auto& group : assignments_) {
      for (auto& assignment : group) {
        for (auto& reader : assignment.readers)
          builder_.close(reader.consumer, core::LineageClose::kClosed);
      }
    }
    builder_.close_consumers();
    std::map<core::PartitionId, std::uint64_t> begins;
    if (!honest_ && prng_.chance(0.05))
      begins[core::PartitionId{0}] = prng_.below(builder_.log_end(core::PartitionId{0}) + 1);
    if (mutate(0.05)) lose_durability();
    builder_.write_log(begins);
    builder_.history.log.outcome =
        prng_.chance(0.9) ? model::RawOutcome::kComplete : model::RawOutcome::kFails;
    builder_.history.facts.stopped = prng_.chance(0.1);
  }
  void lose_durability() {
    auto& log =
        builder_.log(core::PartitionId{static_cast<std::uint32_t>(prng_.below(partitions_))});
    if (log.empty()) return;
    auto victim = log.begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(prng_.below(log.size())));
    log.erase(victim);
  }

  Prng prng_;
  bool honest_ = false;
  bool owners_ = false;
  bool dense_ = false;
  bool wild_ = false;
  bool asks_ = false;  // payloads say which partition they were meant for
  model::Builder builder_;
  std::uint32_t sources_ = 1;
  std::uint32_t partitions_ = 1;
  std::uint32_t consumers_ = 0;
  std::uint32_t answered_ = 0;
  std::uint64_t strange_ = 0;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> homes_;
  std::vector<std::uint64_t> issued_;
  std::vector<Outcome> waiting_;
  std::deque<LateStore> late_;
  std::deque<LateStore> late_acked_;
  std::vector<std::vector<Assignment>> assignments_;  // [group][partition]
};

std::string describe_seen(const model::History& history, const model::Step& step) {
  const core::Observation& value = step.seen.value;
  const std::string record =
      fmt::format("{} #{}", model::key_text(history.run, step.seen.key), value.sequence.value());
  const std::string reader =
      fmt::format("c{} g{} p{}", value.process, value.group.value(), value.partition.value());
  const std::string at = value.has_position
                             ? fmt::format("@p{}:{}", value.partition.value(), value.offset.value())
                             : "";
  switch (value.event) {
    case core::Event::kInvoke:
      return "issue " + record;
    case core::Event::kOk:
      return "ack " + record + " " + at;
    case core::Event::kFail:
      return "fail " + record;
    case core::Event::kInfo:
      return "info " + record;
    case core::Event::kAssign:
      return fmt::format("open {} gen={} start={}", reader, value.generation.value(),
                         value.has_start ? std::to_string(value.start.value()) : "none");
    case core::Event::kRevoke:
      return fmt::format("close {} {}", reader, static_cast<int>(value.close));
    case core::Event::kDeliver:
      return fmt::format("  deliver {} {} {}{}", reader, record, at,
                         value.content == core::Content::kIntact
                             ? ""
                             : fmt::format(" content={}", static_cast<int>(value.content)));
    case core::Event::kCommitInvoke:
      return fmt::format("commit? {} {}", reader, value.offset.value());
    case core::Event::kCommitOk:
      return fmt::format("commit-ok {} {}", reader, value.offset.value());
    case core::Event::kCommitFail:
    case core::Event::kCommitInfo:
      return fmt::format("commit-not {} {}", reader, value.offset.value());
    case core::Event::kRawBegin:
    case core::Event::kRaw:
    case core::Event::kRawEnd:
    case core::Event::kClientError:
    case core::Event::kDisconnect:
    case core::Event::kReconnect:
    case core::Event::kTick:
    case core::Event::kEnd:
      return "?";
  }
  return "?";
}

std::string describe_step(const model::History& history, const model::Step& step) {
  const std::string who = fmt::format("w{}", step.source.worker);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(step.now.time_since_epoch()).count();
  switch (step.kind) {
    case model::StepKind::kJoin:
      return who + " joins";
    case model::StepKind::kObserve:
      return who + " " + describe_seen(history, step);
    case model::StepKind::kAnswer:
      return fmt::format("{} answers {}", who, step.number);
    case model::StepKind::kComplete:
      return fmt::format("-- tick {} complete at {} s", step.number, seconds);
    case model::StepKind::kHold:
      return who + " held";
    case model::StepKind::kRelease:
      return who + " released";
    case model::StepKind::kDie:
      return who + " dies";
    case model::StepKind::kAway:
      return who + " away";
    case model::StepKind::kCloseLoad:
      return "-- load closed";
    case model::StepKind::kCloseConsumers:
      return fmt::format("-- consumers closed at {} s", seconds);
  }
  return "?";
}

}  // namespace

model::History make_history(std::uint64_t seed, const WorldOptions& options) {
  return World(seed, options).make();
}

std::string describe(const model::History& history) {
  std::string text = fmt::format("scope {} created {} compaction {} retention {} idempotent {}\n",
                                 static_cast<int>(history.contract.raw_read),
                                 history.contract.topic_created, history.contract.gaps_compaction,
                                 history.contract.gaps_retention, history.contract.idempotent);
  for (const auto& step : history.steps) text += describe_step(history, step) + "\n";
  for (const auto& bound : history.log.bounds) {
    text += fmt::format("log p{} [{},{}):", bound.partition.value(), bound.begin.value(),
                        bound.end.value());
    for (const auto& record : history.log.records) {
      if (record.position.partition != bound.partition) continue;
      text += fmt::format(" {}={}#{}", record.position.offset.value(),
                          model::key_text(history.run, record.key), record.sequence);
    }
    text += history.log.outcome == model::RawOutcome::kComplete ? "\n" : " (read fails)\n";
  }
  return text;
}

}  // namespace sp::property

// The end of a run: what the raw read is to look at, and what follows when no evidence comes any more.
#include <algorithm>
#include <utility>

#include "track/fold.h"
#include "track/ledger.h"
#include "track/state.h"

namespace sp::track {
namespace {

constexpr std::uint64_t kMargin = 4;         // positions read on each side of a hole
constexpr std::size_t kTargetsMax = 10'000;  // of a partition; more are read as one

// Positions of the partition that some group was not handed, or whose record is not fully known.
core::RangeSet holes_of(const State& state, const RawRange& bounds) {
  core::RangeSet all;
  all.insert_range(bounds.begin.value(), bounds.end.value());
  core::RangeSet holes;
  const std::uint32_t number = bounds.partition.value();
  for (const Group& group : state.groups) {
    holes.insert_all(number < group.partitions.size() ? all.minus(group.partitions[number].handed) : all);
  }
  for (const Lineage& lineage : state.lineages) {
    if (lineage.partition != number) continue;
    for (const AheadGap& gap : lineage.ahead) holes.insert_range(gap.begin, gap.end);
  }
  core::RangeSet widened;
  for (const auto& range : holes.ranges()) {
    widened.insert_range(range.begin - std::min(range.begin, kMargin), range.end + kMargin);
  }
  return widened.clip(bounds.begin.value(), bounds.end.value());
}

// An ack that names a position which the raw read saw empty although the log holds the record elsewhere.
void refute_empty_acks(State& state) {
  struct Empty {
    std::uint32_t partition;
    std::uint64_t offset;
    Slot slot;
  };
  std::vector<Empty> empty;
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    PartitionState& partition = state.partitions[number];
    const auto look = [&](std::uint64_t offset, const Slot& slot) {
      if (!slot.named() || (slot.seen & kSeenAck) == 0 || (slot.seen & (kSeenHanded | kSeenRaw)) != 0) return;
      if (!partition.raw_covered.contains(offset) || partition.raw_present.contains(offset)) return;
      empty.push_back({number, offset, slot});
    };
    for (const auto& [offset, slot] : partition.log.unfinished) look(offset, slot);
    for (std::uint64_t offset = partition.log.tail(); offset < partition.log.head(); ++offset) {
      look(offset, *partition.log.in_ring(offset));
    }
  }
  std::sort(empty.begin(), empty.end(), [](const Empty& a, const Empty& b) {
    return std::pair(a.partition, a.offset) < std::pair(b.partition, b.offset);
  });
  Fold fold(state);
  for (const Empty& e : empty) {
    bool elsewhere = state.raw_seen.contains(e.slot.key, e.slot.sequence);
    for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
      elsewhere = elsewhere || state.received(group, e.slot.key, e.slot.sequence);
    }
    if (elsewhere) fold.refute_ack(e.partition, e.offset);
  }
}

}  // namespace

void Ledger::committed_transaction(std::string name, const TransactionRecords& records) {
  Transaction& transaction = state_->transactions.emplace_back();
  transaction.name = std::move(name);
  for (const auto& [key, sequences] : records) {
    if (const auto ref = state_->keys.find(key)) transaction.records.emplace_back(*ref, sequences);
  }
}

void Ledger::prove_committed(const TransactionRecords& records) {
  Fold fold(*state_);
  for (const auto& [key, sequences] : records) {
    if (const auto ref = state_->keys.find(key)) fold.proven(*ref, sequences);
  }
}

std::uint64_t Ledger::count_received(const TransactionRecords& records) const {
  State& state = *state_;
  std::uint64_t received = 0;
  for (const auto& [key, sequences] : records) {
    const auto ref = state.keys.find(key);
    if (!ref || state.key(*ref) == nullptr) continue;
    core::RangeSet seen;
    for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
      seen.insert_all(state.received_set(state.group_key(group, *ref)).clip(sequences.begin, sequences.end));
    }
    received += seen.size();
  }
  return received;
}

Ledger::TransactionRecords Ledger::absent_from_raw_read(const TransactionRecords& records) const {
  State& state = *state_;
  TransactionRecords absent;
  for (const auto& [key, sequences] : records) {
    core::RangeSet missing{sequences};
    if (const auto ref = state.keys.find(key)) {
      if (const auto* raw = state.raw_seen.find(*ref)) missing = missing.minus(*raw);
      if (const auto* raw = state.raw_damaged.find(*ref)) missing = missing.minus(*raw);
    }
    for (const auto& range : missing.ranges()) absent.emplace_back(key, range);
  }
  return absent;
}

std::vector<RawRange> Ledger::raw_targets(const std::vector<RawRange>& bounds, core::RawReadScope scope) {
  std::vector<RawRange> targets;
  for (const RawRange& range : bounds) {
    const std::uint32_t number = range.partition.value();
    Fold(*state_).partition(number);
    state_->partitions[number].log_begin = range.begin.value();
    state_->partitions[number].log_end = range.end.value();
    if (scope == core::RawReadScope::kNone || range.begin == range.end) continue;
    const core::RangeSet holes = holes_of(*state_, range);
    if (scope == core::RawReadScope::kFull) {
      targets.push_back(range);
    } else if (holes.range_count() > kTargetsMax) {
      targets.push_back({range.partition, core::Offset{holes.first()}, core::Offset{holes.last() + 1}});
    } else {
      for (const auto& hole : holes.ranges()) {
        targets.push_back({range.partition, core::Offset{hole.begin}, core::Offset{hole.end}});
      }
    }
  }
  return targets;
}

std::map<core::PartitionId, core::Offset> Ledger::acked_ends() const {
  std::map<core::PartitionId, core::Offset> ends;
  for (std::uint32_t number = 0; number < state_->partitions.size(); ++number) {
    const std::uint64_t end = state_->partitions[number].acked_end;
    if (end != 0) ends[core::PartitionId{number}] = core::Offset{end};
  }
  return ends;
}

void Ledger::finish() {
  State& state = *state_;
  if (state.finished) return;
  drain();
  for (auto& [id, source] : state.sources) {
    if (source.away) lose(id, false);  // it stayed away: its keys are unknown, never absent
  }
  close_attempts();  // also of rows that waited for a tick when the load was closed
  state.load_closed = true;
  Fold fold(state);
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    fold.sweep(number, state.partitions[number].log.head());
  }
  state.raw_found.sort();
  refute_empty_acks(state);
  fold.judge_logs(true);
  fold.settle();
  state.finished = true;
}

}  // namespace sp::track

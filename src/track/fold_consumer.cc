// The consumer side: lineages, hand-overs, commits.
#include <algorithm>

#include "base/check.h"
#include "track/fold.h"

namespace sp::track {
namespace {

constexpr std::size_t kMarksMax = 64;        // periods of a lineage whose beginnings are remembered
constexpr std::size_t kBackwardMax = 10'000;  // hand-overs of a lineage below its highest, whose period is remembered

void begin_at(Lineage& lineage, std::uint64_t offset) {
  lineage.first_handed = offset;
  if (!lineage.start) lineage.next = offset;
}

std::uint32_t group_bit(std::uint32_t group) { return 1U << std::min(group, 31U); }

}  // namespace

void Fold::opened(Source& source, const Delta& delta, const Row& row) {
  const LineageOpen& open = delta.opens[row.sequence];
  const auto number = static_cast<std::uint32_t>(state_.lineages.size());
  Lineage& lineage = state_.lineages.emplace_back();
  lineage.source = source.id;
  lineage.consumer = open.consumer;
  lineage.group = std::min<std::uint32_t>(open.group.value(), static_cast<std::uint32_t>(state_.groups.size() - 1));
  lineage.partition = open.partition.value();
  if (open.generation) lineage.generation = open.generation->value();
  if (open.start) lineage.start = open.start->value();
  lineage.next = lineage.start.value_or(0);
  lineage.classic = open.classic;
  lineage.member = open.member;
  lineage.instance = open.instance;
  lineage.opened_period = source.answered + 1;
  lineage.opened_order = source.rows_folded;
  auto& partitions = state_.groups[lineage.group].partitions;
  if (partitions.size() <= lineage.partition) partitions.resize(lineage.partition + 1);
  partition(lineage.partition);
  partitions[lineage.partition].lineages.push_back(number);
  if (source.lineages.size() <= row.which) source.lineages.resize(row.which + 1, kNone);
  source.lineages[row.which] = number;
}

void Fold::closed(const Source& source, const Row& row) {
  Lineage& lineage = state_.lineages[source.lineages[row.which]];
  lineage.open = false;
  lineage.close = static_cast<core::LineageClose>(row.sequence);
  if ((row.flags & kHasOffset) != 0) lineage.left_generation = row.offset;
  lineage.closed_period = source.answered + 1;
  lineage.closed_order = source.rows_folded;
}

void Fold::committed(const Source& source, const Delta& delta, const Row& row) {
  const CommitFact& fact = delta.commits[row.sequence];
  Lineage& lineage = state_.lineages[source.lineages[row.which]];
  if (fact.outcome != CommitOutcome::kOk) return;
  const std::uint64_t next = fact.next.value();
  const std::uint64_t period = source.answered + 1;
  // Within a period only the last commit can matter to another source; to its own, all before an opening do.
  if (!lineage.commits.empty() && lineage.commits.back().period == period && lineage.open) {
    lineage.commits.back() = {next, period, source.rows_folded};
  } else {
    lineage.commits.push_back({next, period, source.rows_folded});
  }
  lineage.committed = std::max(lineage.committed, next);
  auto& partition_state = state_.groups[lineage.group].partitions[lineage.partition];
  partition_state.committed = std::max(partition_state.committed, next);
  if (!lineage.start && fact.handed_end_at_invoke == 0) return;  // where it stood is not known
  const std::uint64_t stood = std::max(lineage.start.value_or(0), fact.handed_end_at_invoke);
  if (next > stood) lineage.ahead.push_back({stood, next});
}

bool Fold::went_on(Lineage& lineage, std::uint64_t offset) {
  if (offset < lineage.next) return false;
  if (offset > lineage.next) jumped(lineage, lineage.next, offset);
  lineage.next = offset + 1;
  std::uint64_t& reached = state_.groups[lineage.group].partitions[lineage.partition].reached;
  reached = std::max(reached, lineage.next);
  return true;
}

Fold::Handing Fold::hand_over(const Source& source, std::uint32_t number, std::uint64_t offset) {
  Lineage& lineage = state_.lineages[number];
  GroupPartition& group = state_.groups[lineage.group].partitions[lineage.partition];
  const std::uint64_t period = source.answered + 1;
  Handing handing;
  handing.repeat = !group.handed.insert(offset);
  handing.inner = !lineage.handed.insert(offset);
  if (lineage.first_handed == kNoOffset) begin_at(lineage, offset);
  if (lineage.marks.empty() || lineage.marks.back().period != period) {
    lineage.marks.push_back({period, lineage.next});
    if (lineage.marks.size() > kMarksMax) lineage.marks.pop_front();
  }
  handing.backward = !went_on(lineage, offset);
  if (handing.backward) {
    if (!handing.inner && lineage.backward.size() < kBackwardMax) lineage.backward.emplace(offset, period);
  }
  return handing;
}

void Fold::repeated(std::uint32_t number, const Named& named, const Handing& handing) {
  Lineage& lineage = state_.lineages[number];
  Group& group = state_.groups[lineage.group];
  ++group.partitions[lineage.partition].repeats;
  if (handing.inner) ++lineage.inner_repeats;
  auto& names = handing.inner ? lineage.inner : lineage.repeats;
  if (names.size() < state_.options.limits.named_max) names.push_back(named);
  if (!lineage.committed_before) {
    const auto order = in_order(state_, group.partitions[lineage.partition].lineages);
    lineage.committed_before = committed_before(state_, order, lineage);
  }
  if (handing.inner || named.offset < *lineage.committed_before) {
    state_.alarm(core::Code::kDuplicateDelivery, named);
  }
}

// A record of another run in a topic that this run did not make: passed over, and counted once.
void Fold::delivered_leftover(Lineage& lineage, const Row& row) {
  if ((row.flags & kHasOffset) == 0) {
    ++state_.foreign;
    return;
  }
  if (lineage.first_handed == kNoOffset) begin_at(lineage, row.offset);
  went_on(lineage, row.offset);
  if (partition(lineage.partition).foreign.insert(row.offset)) ++state_.foreign;
}

void Fold::delivered_damaged(const Source& source, std::uint32_t number, const Row& row) {
  Lineage& lineage = state_.lineages[number];
  Named named{.partition = lineage.partition, .lineage = kNone, .group = lineage.group};
  named.key.index = kNone;
  bool is_new = true;
  if ((row.flags & kHasOffset) != 0) {
    const Handing handing = hand_over(source, number, row.offset);
    if (!handing.inner) {
      lineage.damaged.insert(row.offset);
      lineage.damaged_order.emplace(row.offset, source.rows_folded);
    }
    named.offset = row.offset;
    named.lineage = number;
    is_new = state_.groups[lineage.group].partitions[lineage.partition].damaged.insert(row.offset);
    partition(lineage.partition).damaged.insert(row.offset);
    sight_damaged(lineage.partition, row.offset, kSeenHanded, group_bit(lineage.group));
    const Slot* slot = state_.partitions[lineage.partition].log.find(row.offset);
    if (slot != nullptr && slot->named()) {
      named.key = slot->key;
      named.sequence = slot->sequence;
      if (state_.key(slot->key) != nullptr &&
          !receive(lineage.group, slot->key, slot->sequence, row.offset, kNone)) {
        handed_again(named, source.answered + 1, source.rows_folded);
      }
    } else if (row.offset < state_.partitions[lineage.partition].log.tail()) {
      handed_forgotten(named, source.answered + 1, source.rows_folded);
    }
    if (handing.repeat) repeated(number, named, handing);
  }
  if (!is_new) return;
  state_.groups[lineage.group].corrupt.add(named, state_.options.limits.named_max);
  state_.alarm(core::Code::kCorrupt, named);
}

void Fold::delivered_foreign(const Lineage& lineage, const Row& row, core::KeyRef ref, bool is_new) {
  if (!is_new) return;
  Named named{.key = ref, .sequence = row.sequence, .partition = lineage.partition, .group = lineage.group};
  if ((row.flags & kOtherRun) != 0) named.key.index = kNone;
  if ((row.flags & kHasOffset) != 0) named.offset = row.offset;
  state_.groups[lineage.group].foreign_phantoms.add(named, state_.options.limits.named_max);
  state_.alarm(core::Code::kPhantom, named);
}

void Fold::delivered(const Source& source, const Row& row) {
  if (state_.consumers_closed) return;  // deliveries after step 3 of the end do not count
  const std::uint32_t number = source.lineages[row.which];
  Lineage& lineage = state_.lineages[number];
  Group& group = state_.groups[lineage.group];
  ++group.deliveries;
  const bool placed = (row.flags & kHasOffset) != 0;
  if ((row.flags & kDamaged) != 0) return delivered_damaged(source, number, row);
  if ((row.flags & kOtherRun) != 0 && !state_.options.contract.topic_created) return delivered_leftover(lineage, row);
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = seen_key(source, ref);
  Named named{.key = ref, .sequence = row.sequence, .partition = lineage.partition, .lineage = number,
              .group = lineage.group};
  if (placed) named.offset = row.offset;
  const bool nobodys = key == nullptr || (row.flags & kOtherRun) != 0;
  const bool phantom = !nobodys && is_phantom(ref, *key, row.sequence);
  Handing handing;
  if (placed) {
    const bool was_handed = group.partitions[lineage.partition].handed.contains(row.offset);
    const Slot* slot = was_handed ? state_.partitions[lineage.partition].log.find(row.offset) : nullptr;
    if (slot != nullptr && (slot->seen & kSeenDamaged) != 0 && !slot->named() && !nobodys && !phantom) {
      // The first hand-over was damaged; now it has a name, and this is a repeat of it.
      sight(lineage.partition, row.offset,
            {.ref = ref, .sequence = row.sequence, .how = kSeenHanded, .groups = group_bit(lineage.group),
             .placement = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition))});
    }
    if (was_handed && !nobodys && !phantom && !state_.received(lineage.group, ref, row.sequence)) {
      inconsistent(lineage.partition, row.offset, ref, row.sequence);  // another record's position: no repeat of it
    } else {
      handing = hand_over(source, number, row.offset);
      if (handing.repeat) repeated(number, named, handing);
    }
    if (lineage.start && row.offset < *lineage.start) {
      group.before_start.add(named, state_.options.limits.named_max);
      state_.alarm(core::Code::kBeforeStart, named);
    }
  }
  if (nobodys) return delivered_foreign(lineage, row, ref, !handing.repeat);
  if ((row.flags & kUnchecked) != 0) ++state_.unchecked;
  GroupKey& group_key = state_.group_key(lineage.group, ref);
  // Behind what it had handed over, not only below where it said that it starts.
  if (state_.options.contract.order == core::Order::kPartition && handing.backward && !handing.inner && !phantom &&
      lineage.handed.last() > row.offset) {
    reordered(group_key, named);
  }
  if (phantom) {
    const auto said = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition));
    if (placed && said != 0) place(lineage.partition, row.offset, {.ref = ref, .sequence = row.sequence, .placement = said});
    if (state_.group_details.get(group_key.detail).phantoms.insert(row.sequence)) {
      ++group.phantoms;
      state_.alarm(core::Code::kPhantom, named);
    }
    return;
  }
  const bool was_damaged = placed && lineage.damaged.erase(row.offset);
  const bool again = handing.inner && !was_damaged;
  const bool first = receive(lineage.group, ref, row.sequence, named.offset, number);
  if (placed && !state_.options.contract.shared) {
    order(named, {.handing = handing, .again = again, .first = first, .period = source.answered + 1, .order = source.rows_folded});
  }
  group_key.high = group_key.lineage == number ? std::max(group_key.high, row.sequence) : row.sequence;
  group_key.lineage = number;
  if (key->detail != kNone) landed(ref, row.sequence);
  if (placed) {
    sight(lineage.partition, row.offset,
          {.ref = ref, .sequence = row.sequence, .how = kSeenHanded, .groups = group_bit(lineage.group),
           .placement = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition))});
  }
}

bool Fold::is_phantom(core::KeyRef ref, KeyState& key, std::uint64_t sequence) {
  if (sequence >= key.issued_end) {
    if (state_.blocks[ref.block].open_ended) {
      issued(key, sequence);  // its producer died: what it did after its last report is unknown
      close_attempts(ref);
    } else if (!state_.owner_reports(ref.block)) {
      issue_provisionally(key, sequence);
    }
  }
  if (sequence >= key.issued_end) return true;
  const KeyDetail* detail = state_.key_details.find(key.detail);
  return detail != nullptr && detail->failed.contains(sequence);
}

void Fold::arrived(Group& group, GroupDetail* detail, const Named& named) {
  ++group.received;
  if (state_.consumers_closed) return;  // the raw read named what had been handed over damaged: nothing arrives any more
  if (detail == nullptr || !detail->late.contains(named.sequence) || !detail->arrived_late.insert(named.sequence)) return;
  ++group.late;
  state_.alarm(core::Code::kLate, named);
}

void Fold::landed(core::KeyRef ref, std::uint64_t sequence) {
  KeyDetail* detail = state_.key_details.find(state_.key(ref)->detail);
  if (detail != nullptr && detail->unknown.contains(sequence)) detail->landed.insert(sequence);
}

bool Fold::receive(std::uint32_t group_number, core::KeyRef ref, std::uint64_t sequence, std::uint64_t offset,
                   std::uint32_t lineage) {
  Group& group = state_.groups[group_number];
  GroupKey& group_key = state_.group_key(group_number, ref);
  const Named named{.key = ref, .sequence = sequence,
                    .partition = lineage == kNone ? kNone : state_.lineages[lineage].partition, .offset = offset,
                    .lineage = lineage, .group = group_number};
  if (sequence >= group_key.top) {
    if (sequence > group_key.top) {
      state_.group_details.get(group_key.detail).holes.push_back({group_key.top, sequence, offset, lineage});
    }
    group_key.top = sequence + 1;
    arrived(group, state_.group_details.find(group_key.detail), named);
    return true;
  }
  GroupDetail* detail = state_.group_details.find(group_key.detail);
  const auto missing = [&](const Hole& hole) { return hole.begin <= sequence && sequence < hole.end; };
  if (detail != nullptr) {
    const auto found = std::find_if(detail->holes.begin(), detail->holes.end(), missing);
    if (found != detail->holes.end()) {
      const Hole hole = *found;
      auto place_in = detail->holes.erase(found);
      if (sequence + 1 < hole.end) place_in = detail->holes.insert(place_in, {sequence + 1, hole.end, hole.higher_offset, hole.lineage});
      if (hole.begin < sequence) detail->holes.insert(place_in, {hole.begin, sequence, hole.higher_offset, hole.lineage});
      arrived(group, detail, named);
      filled(hole, group_key, named);
      return true;
    }
  }
  if (lineage != kNone && offset == kNoOffset) {
    group.repeats_unplaced.add(named, state_.options.limits.named_max);
    state_.alarm(core::Code::kDuplicateDelivery, named);
  }
  return false;
}

// A record that the group had not been handed comes after a higher sequence of its key. Where both have positions, these decide.
void Fold::filled(const Hole& hole, GroupKey& group_key, const Named& named) {
  const auto& contract = state_.options.contract;
  if (contract.shared || hole.lineage == kNone || named.lineage == kNone) return;
  const Lineage& jumper = state_.lineages[hole.lineage];
  const Lineage& own = state_.lineages[named.lineage];
  const bool both_placed = named.offset != kNoOffset && hole.higher_offset != kNoOffset;
  if (both_placed) {
    if (jumper.partition != own.partition && contract.partition_change) ++state_.pairs_not_judged;
  } else if (hole.lineage == named.lineage || ordered_before(jumper, own)) {
    reordered(group_key, named);
  }
}

void Fold::reordered(GroupKey& group_key, const Named& named) {
  if (!state_.group_details.get(group_key.detail).reordered.insert(named.sequence)) return;
  state_.alarm(core::Code::kReorderedDelivery, named);
}

bool Fold::must_wait(const Source& source, const Row& row) const {
  if (source.id == core::kHistorySource) return false;  // what comes before is before
  if (row.kind != RowKind::kDelivered || (row.flags & (kDamaged | kOtherRun)) != 0) return false;
  if (state_.load_closed && state_.finished) return false;
  const core::KeyRef ref = map_key(source, row.key);
  const KeyState* key = state_.key(ref);
  if (key != nullptr && row.sequence < key->issued_end) return false;
  if (ref.block == core::KeySpace::kLiteralBlock) {
    const auto owner = state_.literal_owner.find(ref.index);
    return owner == state_.literal_owner.end() || owner->second != source.id;
  }
  if (key == nullptr || state_.blocks[ref.block].open_ended || !state_.owner_reports(ref.block)) return false;
  return state_.blocks[ref.block].identity.source != source.id;
}

void Fold::row(Source& source, const Delta& delta, const Row& row) {
  switch (row.kind) {
    case RowKind::kIssued: {
      const core::KeyRef ref = map_key(source, row.key);
      if (KeyState* key = producer_key(source, ref)) issued(*key, row.sequence);
      return;
    }
    case RowKind::kAcked: return acked(source, row);
    case RowKind::kFailed: return failed(source, row);
    case RowKind::kUnknown: return unknown(source, row);
    case RowKind::kDelivered: return delivered(source, row);
    case RowKind::kOpen: return opened(source, delta, row);
    case RowKind::kClose: return closed(source, row);
    case RowKind::kCommit: return committed(source, delta, row);
    case RowKind::kRaw: return raw(source, row);
    case RowKind::kRawRange: return raw_range(row);
    case RowKind::kEnd: source.ended = true; return;
    case RowKind::kTick: return;  // the ledger's
  }
}

}  // namespace sp::track

// The log side: which record stands where, and what follows for copies and order.
#include <algorithm>

#include "base/check.h"
#include "track/fold.h"

namespace sp::track {
namespace {

constexpr std::size_t kPartitionsMax = 1U << 20U;

bool scan_contains(const KeyState& key, const KeyDetail* detail, std::uint64_t sequence) {
  if (detail != nullptr && detail->misplaced_only.contains(sequence)) return true;
  if (sequence >= key.scan_end) return false;
  if (detail == nullptr) return true;
  return std::none_of(detail->scan_holes.begin(), detail->scan_holes.end(), [sequence](const ScanHole& hole) {
    return hole.begin <= sequence && sequence < hole.end;
  });
}

}  // namespace

PartitionState& Fold::partition(std::uint32_t number) {
  if (number >= state_.partitions.size()) {
    CHECK(number < kPartitionsMax, "the ledger drops rows of partitions beyond the limit");
    const std::uint32_t groups = static_cast<std::uint32_t>(state_.groups.size());
    const std::size_t had = state_.partitions.size();
    state_.partitions.resize(number + 1);
    for (std::size_t at = had; at <= number; ++at) {
      state_.partitions[at].log.all_groups = groups >= 32 ? ~0U : (1U << groups) - 1;
    }
  }
  return state_.partitions[number];
}

bool Fold::handed_to_any(std::uint32_t number, std::uint64_t offset) const {
  return std::any_of(state_.groups.begin(), state_.groups.end(), [&](const Group& group) {
    return number < group.partitions.size() && group.partitions[number].handed.contains(offset);
  });
}

void Fold::sight(std::uint32_t number, std::uint64_t offset, const Sighting& sighting) {
  PartitionLog& log = partition(number).log;
  if (offset >= log.tail()) {
    if (offset - log.tail() >= PartitionLog::kSlotsMax) sweep(number, log.head());
    std::uint64_t retain = log.frontier();
    for (const Group& group : state_.groups) {
      retain = std::min(retain, number < group.partitions.size() ? group.partitions[number].committed : 0);
    }
    Slot& slot = log.reach(offset, retain);
    if (log.frontier() < log.tail()) log.set_frontier(log.tail());
    merge(number, offset, slot, sighting);
    if (offset == log.frontier()) advance(number);
    return;
  }
  const auto unfinished = log.unfinished.find(offset);
  if (unfinished != log.unfinished.end()) {
    merge(number, offset, unfinished->second, sighting);
    if (log.finished(unfinished->second)) log.unfinished.erase(unfinished);
    return;
  }
  if (log.scanned.contains(offset)) {  // finished and forgotten: the record must be one the log is known to hold
    const KeyState* key = state_.key(sighting.ref);
    if (key != nullptr && !scan_contains(*key, state_.key_details.find(key->detail), sighting.sequence)) {
      inconsistent(number, offset, sighting.ref, sighting.sequence);
    }
    return;
  }
  if (log.unfinished.size() >= state_.options.limits.outstanding_max) {
    ++state_.not_checked["inconsistent-position"];
    scan(number, offset, sighting.ref, sighting.sequence, sighting.placement);
    return;
  }
  merge(number, offset, log.unfinished[offset], sighting);
}

void Fold::merge(std::uint32_t number, std::uint64_t offset, Slot& slot, const Sighting& sighting) {
  if (slot.named()) {
    if (!slot.is(sighting.ref, sighting.sequence)) return conflict(number, offset, slot, sighting);
    if (sighting.placement == kRightPartition) place_right(number, sighting.ref, sighting.sequence);
    slot.seen |= sighting.how;
    slot.groups |= sighting.groups;
    return;
  }
  const bool was_damaged = (slot.seen & kSeenDamaged) != 0;
  slot.key = sighting.ref;
  slot.sequence = sighting.sequence;
  slot.seen |= sighting.how | kNamed;
  slot.groups |= sighting.groups;
  if (was_damaged) name_damaged(number, offset, sighting.ref, sighting.sequence);
  if (was_damaged && state_.key(sighting.ref) != nullptr) {  // the damaged hand-over was of this record
    for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
      const auto& partitions = state_.groups[group].partitions;
      if (number < partitions.size() && partitions[number].damaged.contains(offset)) {
        receive(group, sighting.ref, sighting.sequence, offset, kNone, nullptr);
      }
    }
  }
  // Passed over before it was known, or in a partition that is not its own: not in the order of the scan.
  if (offset < state_.partitions[number].log.frontier() || sighting.placement == kWrongPartition) {
    slot.seen |= kScanned;
    scan(number, offset, sighting.ref, sighting.sequence, sighting.placement);
  }
}

// The payload says that the record stands where it belongs: what was concluded from the acks of its key is taken back.
void Fold::place_right(std::uint32_t number, core::KeyRef ref, std::uint64_t sequence) {
  KeyState* key = state_.key(ref);
  if (key == nullptr) return;
  KeyDetail* detail = state_.key_details.find(key->detail);
  if (detail == nullptr || !detail->misplaced_inferred.erase(sequence)) return;
  key->partition = number;
  detail->misplaced.erase(sequence);
  --state_.misplaced;
  std::erase_if(state_.misplaced_named.items, [&](const Named& named) { return named.key == ref && named.sequence == sequence; });
}

// What was handed over or read damaged there has a name now.
void Fold::name_damaged(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, std::uint64_t sequence) {
  const auto name = [&](NamedList& list) {
    for (Named& named : list.items) {
      if (named.partition != number || named.offset != offset) continue;
      named.key = ref;
      named.sequence = sequence;
    }
  };
  name(state_.raw_corrupt);
  for (Group& group : state_.groups) name(group.corrupt);
}

void Fold::sight_damaged(std::uint32_t number, std::uint64_t offset, std::uint8_t how, std::uint32_t groups) {
  PartitionLog& log = partition(number).log;
  Slot* slot = log.find(offset);
  if (slot == nullptr && offset >= log.tail()) {
    if (offset - log.tail() >= PartitionLog::kSlotsMax) sweep(number, log.head());
    slot = &log.reach(offset, log.frontier());
    if (log.frontier() < log.tail()) log.set_frontier(log.tail());
  }
  if (slot == nullptr) return;
  slot->seen |= how | kSeenDamaged;
  slot->groups |= groups;
}

void Fold::inconsistent(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, std::uint64_t sequence) {
  if (!state_.inconsistent_positions.emplace(number, offset).second) return;
  const Named named{.key = ref, .sequence = sequence, .partition = number, .offset = offset};
  state_.inconsistent.add(named, state_.options.limits.named_max);
  state_.alarm(core::Code::kInconsistentPosition, named);
}

void Fold::conflict(std::uint32_t number, std::uint64_t offset, Slot& slot, const Sighting& sighting) {
  inconsistent(number, offset, sighting.ref, sighting.sequence);
  const bool only_acked = (slot.seen & (kSeenHanded | kSeenRaw)) == 0;
  if (only_acked && sighting.how != kSeenAck) {
    // What was read is what the log holds; the ack named a place that is another's, so it adds no copy.
    if ((slot.seen & kScanned) != 0) {
      unscan(slot.key, slot.sequence);
      scan(number, offset, sighting.ref, sighting.sequence, sighting.placement);
    }
    slot.key = sighting.ref;
    slot.sequence = sighting.sequence;
  }
  slot.seen |= sighting.how;
  slot.groups |= sighting.groups;
}

void Fold::refute_ack(std::uint32_t number, std::uint64_t offset, const Slot& slot) {
  inconsistent(number, offset, slot.key, slot.sequence);
  if ((slot.seen & kScanned) != 0) unscan(slot.key, slot.sequence);
}

void Fold::advance(std::uint32_t number) {
  PartitionLog& log = state_.partitions[number].log;
  while (log.frontier() < log.head()) {
    Slot* slot = log.in_ring(log.frontier());
    if (slot == nullptr || !slot->named()) break;
    const std::uint64_t offset = log.frontier();
    log.set_frontier(offset + 1);
    if ((slot->seen & kScanned) != 0) continue;
    slot->seen |= kScanned;
    scan(number, offset, slot->key, slot->sequence, 0);
  }
}

void Fold::sweep(std::uint32_t number, std::uint64_t limit) {
  PartitionLog& log = partition(number).log;
  while (log.frontier() < std::min(limit, log.head())) {
    advance(number);
    if (log.frontier() < std::min(limit, log.head())) log.set_frontier(log.frontier() + 1);
  }
  advance(number);
}

void Fold::scan(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, std::uint64_t sequence,
                std::uint8_t placement) {
  state_.partitions[number].log.scanned.insert(offset);
  KeyState* key = state_.key(ref);
  if (key == nullptr || sequence >= key->issued_end) return;  // nobody's: a phantom takes no part
  if (key->partition == kNone && placement != kWrongPartition) key->partition = number;
  if (key->detail == kNone && key->partition == number && sequence == key->scan_end && placement != kWrongPartition &&
      (offset >= key->scan_offset || key->scan_end == 0)) {  // the quiet way
    key->scan_end = sequence + 1;
    key->scan_offset = offset;
    return;
  }
  const Named named{.key = ref, .sequence = sequence, .partition = number, .offset = offset};
  KeyDetail* detail = state_.key_details.find(key->detail);
  if (detail != nullptr && detail->failed.contains(sequence)) return;
  const bool misplaced = placement == kWrongPartition || (placement == 0 && key->partition != number);
  if (misplaced && !state_.options.contract.partition_change) {
    KeyDetail& own = state_.key_details.get(key->detail);
    if (own.misplaced.insert(sequence)) {
      if (placement == 0) own.misplaced_inferred.insert(sequence);
      ++state_.misplaced;
      state_.misplaced_named.add(named, state_.options.limits.named_max);
      state_.alarm(core::Code::kMisplaced, named);
    }
    detail = &own;
  }
  if (scan_contains(*key, detail, sequence)) return second_copy(named);
  if (misplaced) {
    state_.key_details.get(key->detail).misplaced_only.insert(sequence);
    return;
  }
  if (sequence < key->scan_end) return scan_below(number, offset, ref, *key, sequence);
  if (sequence > key->scan_end) {
    state_.key_details.get(key->detail)
        .scan_holes.push_back({key->scan_end, sequence, offset, key->scan_end == 0 ? kNoOffset : key->scan_offset});
  }
  if (key->scan_end != 0 && offset < key->scan_offset) invert_lower(number, offset, ref, *key, sequence);
  key->scan_end = sequence + 1;
  key->scan_offset = offset;
}

// A sequence below the highest of its key is found in the log: in order if it stands below the higher ones.
void Fold::scan_below(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, KeyState& key,
                      std::uint64_t sequence) {
  auto& holes = state_.key_details.get(key.detail).scan_holes;
  const auto found = std::find_if(holes.begin(), holes.end(), [sequence](const ScanHole& hole) {
    return hole.begin <= sequence && sequence < hole.end;
  });
  CHECK(found != holes.end(), "what is below the top and not scanned is in a hole");
  const ScanHole hole = *found;
  const auto place = holes.erase(found);
  if (sequence + 1 < hole.end) {
    holes.insert(place, {sequence + 1, hole.end, hole.higher_offset, std::max(offset, hole.lower_offset + 1) - 1});
  }
  if (hole.begin < sequence) {
    const auto again = std::find_if(holes.begin(), holes.end(), [&](const ScanHole& h) { return h.begin > hole.begin; });
    holes.insert(again, {hole.begin, sequence, std::min(hole.higher_offset, offset), hole.lower_offset});
  }
  if (hole.higher_offset < offset) {
    inverted(key, {.key = ref, .sequence = sequence, .partition = number, .offset = offset});
  }
  if (hole.lower_offset != kNoOffset && offset < hole.lower_offset) {
    invert_lower(number, offset, ref, key, sequence);
  }
}

void Fold::unscan(core::KeyRef ref, std::uint64_t sequence) {
  KeyState* key = state_.key(ref);
  if (key == nullptr) return;
  // One copy less of it; if it has others, it was counted as a copy beyond the first.
  auto& named = state_.second_copies.items;
  const auto copy = std::find_if(named.begin(), named.end(), [&](const Named& n) {
    return n.key == ref && n.sequence == sequence;
  });
  if (copy != named.end()) {
    const Named first = *copy;
    named.erase(copy);
    --state_.second_copies.count;
    --state_.duplicate_writes;
    return invert_if_behind(first);
  }
  KeyDetail& detail = state_.key_details.get(key->detail);
  if (detail.misplaced_only.erase(sequence) || sequence >= key->scan_end) return;
  if (sequence + 1 == key->scan_end && detail.scan_holes.empty()) {
    key->scan_end = sequence;  // scan_offset stays an upper bound of what is below
    return;
  }
  const auto place = std::find_if(detail.scan_holes.begin(), detail.scan_holes.end(), [&](const ScanHole& hole) {
    return hole.begin > sequence;
  });
  detail.scan_holes.insert(place, {sequence, sequence + 1, key->scan_offset, kNoOffset});
}

// The copy became the first one of its record: it may stand behind higher sequences.
void Fold::invert_if_behind(const Named& named) {
  const PartitionLog& log = state_.partitions[named.partition].log;
  for (std::uint64_t at = log.tail(); at < std::min(named.offset, log.head()); ++at) {
    const Slot* slot = log.in_ring(at);
    if (slot->named() && slot->key == named.key && slot->sequence > named.sequence) return inverted(*state_.key(named.key), named);
  }
  if (log.tail() > 0) ++state_.not_checked["reordered-write"];
}

// `sequence` turned out to stand below positions of lower sequences: those are behind it in the log.
void Fold::invert_lower(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, KeyState& key,
                        std::uint64_t sequence) {
  const PartitionLog& log = state_.partitions[number].log;
  if (offset < log.tail()) ++state_.not_checked["reordered-write"];
  core::RangeSet first_copies;  // a lower sequence counts by its first copy, which the scan upwards meets first
  for (std::uint64_t at = std::max(offset + 1, log.tail()); at < log.head(); ++at) {
    const Slot* slot = log.in_ring(at);
    if (slot == nullptr || !slot->named() || (slot->seen & kScanned) == 0) continue;
    if (slot->key != ref || slot->sequence >= sequence || !first_copies.insert(slot->sequence)) continue;
    const KeyDetail* detail = state_.key_details.find(key.detail);
    if (detail != nullptr && detail->inverted.contains(slot->sequence)) continue;
    inverted(key, {.key = ref, .sequence = slot->sequence, .partition = number, .offset = at});
  }
}

void Fold::inverted(KeyState& key, const Named& named) {
  if (!state_.key_details.get(key.detail).inverted.insert(named.sequence)) return;
  ++state_.inverted;
  state_.inverted_named.add(named, state_.options.limits.named_max);
  state_.alarm(core::Code::kReorderedWrite, named);
}

void Fold::second_copy(const Named& named) {
  ++state_.duplicate_writes;
  state_.second_copies.add(named, state_.options.limits.named_max);
  state_.alarm(core::Code::kDuplicateWrite, named);
}

void Fold::raw_range(const Row& row) {
  PartitionState& log = partition(row.which);
  log.raw_covered.insert_range(row.offset, row.sequence);
  if ((row.flags & kReached) == 0) log.raw_incomplete = true;
}

void Fold::raw(const Source& source, const Row& row) {
  const bool handed = handed_to_any(row.which, row.offset);
  partition(row.which).raw_present.insert(row.offset);
  const core::KeyRef ref = map_key(source, row.key);
  Named named{.key = ref, .sequence = row.sequence, .partition = row.which, .offset = row.offset};
  const std::size_t named_max = state_.options.limits.named_max;
  if ((row.flags & kDamaged) != 0) {
    if (state_.partitions[row.which].damaged.insert(row.offset)) state_.raw_corrupt.add(named, named_max);
    sight_damaged(row.which, row.offset, kSeenRaw, 0);
    return;
  }
  KeyState* key = state_.key(ref);
  const bool of_other_run = (row.flags & kOtherRun) != 0;
  if (of_other_run && !state_.options.contract.topic_created) {
    if (state_.partitions[row.which].foreign.insert(row.offset)) ++state_.foreign;
    return;
  }
  if (of_other_run || key == nullptr) {
    if (!handed) {
      ++state_.raw_phantoms;
      named.key.index = of_other_run ? kNone : ref.index;
      state_.raw_phantoms_named.add(named, named_max);
    }
    return;
  }
  state_.raw_seen[ref].insert(row.sequence);
  if (is_phantom(ref, *key, row.sequence)) {
    bool known = handed;
    for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
      const auto* own = state_.group_details.find(state_.group_key(group, ref).detail);
      known = known || (own != nullptr && own->phantoms.contains(row.sequence));
    }
    if (!known && state_.key_details.get(key->detail).raw_phantoms.insert(row.sequence)) {
      ++state_.raw_phantoms;
      state_.raw_phantoms_named.add(named, named_max);
    }
    return;
  }
  landed(ref, row.sequence);
  sight(row.which, row.offset,
        {.ref = ref, .sequence = row.sequence, .how = kSeenRaw, .placement = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition))});
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    if (state_.received(group, ref, row.sequence)) continue;
    if (state_.raw_found.size() < state_.options.limits.outstanding_max) {
      state_.raw_found.try_emplace({ref, row.sequence},
                                   core::Position{core::PartitionId{row.which}, core::Offset{row.offset}});
    }
  }
}

}  // namespace sp::track

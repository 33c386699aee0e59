// The log side: which record stands where, and what follows for copies and order.
#include <algorithm>

#include "base/check.h"
#include "track/fold.h"

namespace sp::track {

bool Fold::log_holds(core::KeyRef ref, std::uint64_t sequence) const {
  const KeyState& key = *state_.key(ref);
  const KeyDetail* detail = state_.key_details.find(key.detail);
  if (detail != nullptr && detail->log != nullptr) return detail->log->found.contains(sequence);
  if (sequence >= key.scan_end) return false;
  if (detail == nullptr) return true;
  return std::none_of(detail->scan_holes.begin(), detail->scan_holes.end(), [sequence](const ScanHole& hole) {
    return hole.begin <= sequence && sequence < hole.end;
  });
}

PartitionState& Fold::partition(std::uint32_t number) {
  if (number >= state_.partitions.size()) {
    CHECK(number < kPartitionsMax, "the ledger drops rows of partitions beyond the limit");
    const std::size_t had = state_.partitions.size();
    state_.partitions.resize(number + 1);
    for (std::size_t at = had; at <= number; ++at) {
      state_.partitions[at].log.all_groups = all_groups_of(state_.groups.size());
      state_.partitions[at].log.slots_first = state_.options.limits.slots_first;
      state_.partitions[at].log.slots_max = state_.options.limits.slots_max;
      state_.partitions[at].log.watched = !state_.disturbed.empty();
    }
  }
  return state_.partitions[number];
}

bool Fold::handed_to_any(std::uint32_t number, std::uint64_t offset) const {
  return std::any_of(state_.lineages.begin(), state_.lineages.end(), [&](const Lineage& lineage) {
    return lineage.partition == number && lineage.handed.contains(offset) && !lineage.damaged.contains(offset);
  });
}

Slot& Fold::reach(std::uint32_t number, std::uint64_t offset, std::uint64_t retain_from) {
  PartitionLog& log = state_.partitions[number].log;
  if (log.overwhelmed_by(offset)) sweep(number, log.head());
  Slot& slot = log.reach(offset, retain_from);
  if (!log.left.empty()) absorb(number);
  if (log.frontier() < log.tail()) log.set_frontier(log.tail());
  return slot;
}

void Fold::sight(std::uint32_t number, std::uint64_t offset, const Sighting& sighting) {
  PartitionLog& log = partition(number).log;
  place(number, offset, sighting);
  if (offset >= log.tail()) {
    std::uint64_t retain = log.frontier();
    for (const Group& group : state_.groups) {
      retain = std::min(retain, number < group.partitions.size() ? group.partitions[number].committed : 0);
    }
    merge(number, offset, reach(number, offset, retain), sighting);
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
    if (state_.key(sighting.ref) != nullptr && !log_holds(sighting.ref, sighting.sequence)) {
      inconsistent(number, offset, sighting.ref, sighting.sequence);
    }
    return;
  }
  if (log.unfinished.size() >= state_.options.limits.outstanding_max) {
    ++state_.not_checked["inconsistent-position"];
    Slot passing{.key = sighting.ref, .sequence = sighting.sequence};
    scan(number, offset, passing);
    return;
  }
  merge(number, offset, log.unfinished[offset], sighting);
}

void Fold::merge(std::uint32_t number, std::uint64_t offset, Slot& slot, const Sighting& sighting) {
  if (slot.named()) {
    if (!slot.is(sighting.ref, sighting.sequence)) return conflict(number, offset, slot, sighting);
    slot.seen |= sighting.how;
    slot.groups |= sighting.groups;
    return;
  }
  const bool was_damaged = (slot.seen & kSeenDamaged) != 0;
  slot.key = sighting.ref;
  slot.sequence = sighting.sequence;
  slot.seen |= sighting.how | kNamed;
  slot.groups |= sighting.groups;
  if (was_damaged && state_.key(sighting.ref) != nullptr) {  // the damaged hand-over was of this record
    for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
      const auto& partitions = state_.groups[group].partitions;
      if (number < partitions.size() && partitions[number].damaged.contains(offset)) {
        if (receive(group, sighting.ref, sighting.sequence, offset, kNone)) continue;
        handed_damaged(group, {.key = sighting.ref, .sequence = sighting.sequence, .partition = number, .offset = offset});
      }
    }
  }
  if (offset < state_.partitions[number].log.frontier()) scan(number, offset, slot);  // passed over before it was known
}

void Fold::sight_damaged(std::uint32_t number, std::uint64_t offset, std::uint8_t how, std::uint32_t groups) {
  PartitionLog& log = partition(number).log;
  Slot* slot = log.find(offset);
  if (slot == nullptr && offset >= log.tail()) slot = &reach(number, offset, log.frontier());
  if (slot == nullptr && !log.scanned.contains(offset) && log.unfinished.size() < state_.options.limits.outstanding_max) {
    slot = &log.unfinished[offset];  // an ack may still name it
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
    withdraw(number, offset, slot);
    slot.key = sighting.ref;
    slot.sequence = sighting.sequence;
    if (offset < state_.partitions[number].log.frontier()) scan(number, offset, slot);
  }
  slot.seen |= sighting.how;
  slot.groups |= sighting.groups;
}

void Fold::refute_ack(std::uint32_t number, std::uint64_t offset) {
  PartitionLog& log = state_.partitions[number].log;
  Slot* slot = log.find(offset);
  inconsistent(number, offset, slot->key, slot->sequence);
  withdraw(number, offset, *slot);
  *slot = Slot{};
  log.unfinished.erase(offset);
}

void Fold::advance(std::uint32_t number) {
  PartitionLog& log = state_.partitions[number].log;
  while (log.frontier() < log.head()) {
    Slot* slot = log.in_ring(log.frontier());
    if (slot == nullptr || !slot->named()) break;
    const std::uint64_t offset = log.frontier();
    log.set_frontier(offset + 1);
    if ((slot->seen & kScanned) == 0) scan(number, offset, *slot);
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

void Fold::scan(std::uint32_t number, std::uint64_t offset, Slot& slot) {
  PartitionLog& log = state_.partitions[number].log;
  log.scanned.insert(offset);
  KeyState* key = state_.key(slot.key);
  if (key == nullptr || slot.sequence >= key->issued_end) return;  // nobody's: a phantom takes no part
  KeyDetail* detail = state_.key_details.find(key->detail);
  const bool disturbed = detail != nullptr && detail->log != nullptr;
  if (!disturbed && key->partition == number) {
    if (slot.sequence >= key->scan_end && (key->scan_end == 0 || offset > key->scan_offset)) {
      if (slot.sequence > key->scan_end) {
        state_.key_details.get(key->detail)
            .scan_holes.push_back({key->scan_end, slot.sequence, offset, key->scan_end == 0 ? kNoOffset : key->scan_offset});
      }
      key->scan_end = slot.sequence + 1;
      key->scan_offset = offset;
      slot.seen |= kScanned;
      return;
    }
    if (detail != nullptr && slot.sequence < key->scan_end && fill(*detail, slot.sequence, offset)) {
      slot.seen |= kScanned;
      return;
    }
  }
  const auto overtaken_by = disturbed ? std::nullopt : overtaker(*key, number, slot.sequence, offset);
  if (!disturbed) disturb(slot.key, *key);
  if (offset >= log.tail()) return;  // judged when it leaves the ring, or at the end
  late_copy({.key = slot.key, .sequence = slot.sequence, .partition = number, .offset = offset},
            *state_.key_details.find(key->detail), overtaken_by);
  slot.seen |= kScanned;
}

std::optional<std::uint64_t> Fold::overtaker(const KeyState& key, std::uint32_t number, std::uint64_t sequence,
                                              std::uint64_t offset) const {
  const KeyDetail* detail = state_.key_details.find(key.detail);
  if (detail == nullptr || key.partition != number) return std::nullopt;
  for (const ScanHole& hole : detail->scan_holes) {
    if (hole.begin <= sequence && sequence < hole.end && hole.higher_offset < offset) return hole.end;
  }
  return std::nullopt;
}

bool Fold::fill(KeyDetail& detail, std::uint64_t sequence, std::uint64_t offset) {
  auto& holes = detail.scan_holes;
  const auto found = std::find_if(holes.begin(), holes.end(), [sequence](const ScanHole& hole) {
    return hole.begin <= sequence && sequence < hole.end;
  });
  if (found == holes.end()) return false;
  const ScanHole hole = *found;
  if (offset > hole.higher_offset || (hole.lower_offset != kNoOffset && offset < hole.lower_offset)) return false;
  auto place_in = holes.erase(found);
  if (sequence + 1 < hole.end) place_in = holes.insert(place_in, {sequence + 1, hole.end, hole.higher_offset, offset});
  if (hole.begin < sequence) holes.insert(place_in, {hole.begin, sequence, offset, hole.lower_offset});
  return true;
}

}  // namespace sp::track

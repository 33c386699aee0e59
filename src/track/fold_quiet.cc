// The healthy rows, folded in one go. Each condition names what row() would have to look at; if one fails, it does.
#include "track/fold.h"

namespace sp::track {

bool Fold::quiet(const Source& source, const Row& row) {
  if (row.kind == RowKind::kIssued) return quiet_issue(source, row);
  if (row.kind == RowKind::kAcked) return quiet_ack(source, row);
  if (row.kind == RowKind::kDelivered) return quiet_delivery(source, row);
  return row.kind == RowKind::kRaw && quiet_raw(source, row);
}

bool Fold::quiet_issue(const Source& source, const Row& row) {
  KeyState* key = state_.key(map_key(source, row.key));
  if (key == nullptr || row.sequence != key->issued_end || row.sequence == ~std::uint64_t{0}) return false;
  ++key->issued_end;
  ++state_.issued;
  return true;
}

Slot* Fold::append(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, KeyState& key, std::uint64_t sequence) {
  const bool in_order = key.partition == number && sequence == key.scan_end && (key.scan_end == 0 || offset > key.scan_offset);
  PartitionLog& log = state_.partitions[number].log;
  if (!in_order || offset != log.head() || offset != log.frontier()) return nullptr;
  Slot* slot = log.append(offset);
  if (slot == nullptr) return nullptr;
  *slot = {.key = ref, .sequence = sequence, .groups = 0, .seen = static_cast<std::uint8_t>(kNamed | kScanned)};
  log.set_frontier(offset + 1);
  log.scanned.insert(offset);
  ++key.scan_end;
  key.scan_offset = offset;
  return slot;
}

bool Fold::quiet_ack(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = state_.key(ref);
  if (key == nullptr || row.flags != kHasOffset || row.which >= state_.partitions.size()) return false;
  if (row.sequence != key->outcome_top || key->detail != kNone || row.sequence > key->issued_end) return false;
  PartitionState& partition = state_.partitions[row.which];
  if (Slot* slot = partition.log.in_ring(row.offset)) {
    // Handed over before its acknowledgement was reported: the log has been told.
    const bool told = slot->is(ref, row.sequence) && (slot->seen & (kNamed | kScanned)) == (kNamed | kScanned);
    if (!told || key->partition != row.which || row.sequence == key->issued_end) return false;
    slot->seen |= kSeenAck;
  } else {
    slot = append(row.which, row.offset, ref, *key, row.sequence);
    if (slot == nullptr) return false;
    slot->seen |= kSeenAck;
    if (row.sequence == key->issued_end) {
      ++key->issued_end;
      ++state_.issued;
    }
  }
  ++key->outcome_top;
  ++state_.acked;
  if (partition.acked_end <= row.offset) partition.acked_end = row.offset + 1;
  return true;
}

bool Fold::quiet_delivery(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = state_.key(ref);
  if (key == nullptr || state_.consumers_closed || row.which >= source.lineages.size()) return false;
  const std::uint32_t number = source.lineages[row.which];
  if (number == kNone) return false;  // of a lineage that was left out
  Lineage& lineage = state_.lineages[number];
  const std::uint8_t flags = row.flags & static_cast<std::uint8_t>(~kUnchecked);
  const bool intact = flags == kHasOffset || (flags == (kHasOffset | kRightPartition) && key->partition == lineage.partition);
  if (!intact || lineage.marks.empty() || lineage.marks.back().period != source.answered + 1) return false;
  if (row.offset != lineage.next || lineage.first_handed == kNoOffset || !lineage.suspects.empty()) return false;
  Group& group = state_.groups[lineage.group];
  GroupKey& own = state_.group_key(lineage.group, ref);
  if (own.top != row.sequence || own.detail != kNone || row.sequence >= key->issued_end || key->detail != kNone) return false;
  GroupPartition& handed = group.partitions[lineage.partition];
  if (handed.reached != row.offset) return false;
  // Acknowledged or handed to another group before, so that the log has nothing to learn from the delivery; or at its end, in order.
  Slot* slot = state_.partitions[lineage.partition].log.in_ring(row.offset);
  if (slot == nullptr) {
    slot = append(lineage.partition, row.offset, ref, *key, row.sequence);
  } else if (!slot->is(ref, row.sequence) || (slot->seen & (kNamed | kScanned | kSeenDamaged)) != (kNamed | kScanned)) {
    return false;
  }
  if (slot == nullptr) return false;
  slot->seen |= kSeenHanded;
  slot->groups |= 1U << (lineage.group < 31 ? lineage.group : 31);
  handed.handed.insert(row.offset);
  lineage.handed.insert(row.offset);
  lineage.next = row.offset + 1;
  handed.reached = lineage.next;
  ++own.top;
  own.high = row.sequence;
  own.lineage = number;
  ++group.deliveries;
  ++group.received;
  if ((row.flags & kUnchecked) != 0) ++state_.unchecked;
  return true;
}

bool Fold::quiet_raw(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  const KeyState* key = state_.key(ref);
  if (key == nullptr || (row.flags & ~(kUnchecked | kRightPartition)) != kHasOffset || row.which >= state_.partitions.size()) return false;
  // Its key's log is in order and known to hold it, and nothing is said of its attempt but that it was acknowledged, or not yet.
  if (key->detail != kNone || key->partition != row.which || row.sequence >= key->scan_end || row.sequence >= key->issued_end) return false;
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    const GroupKey& own = state_.group_key(group, ref);
    if (row.sequence >= own.top || own.detail != kNone) return false;
  }
  PartitionState& partition = state_.partitions[row.which];
  PartitionLog& log = partition.log;
  if (Slot* slot = log.in_ring(row.offset)) {
    const bool scanned = (slot->seen & (kNamed | kScanned)) == (kNamed | kScanned) && row.offset < log.frontier();
    if (!scanned || !slot->is(ref, row.sequence)) return false;
    slot->seen |= kSeenRaw;
  } else {
    // Finished and forgotten.
    if (row.offset >= log.tail() || !log.scanned.contains(row.offset)) return false;
    if (!log.unfinished.empty() && log.unfinished.contains(row.offset)) return false;
  }
  partition.raw_present.insert(row.offset);
  state_.raw_seen.of(ref).insert(row.sequence);
  return true;
}

}  // namespace sp::track

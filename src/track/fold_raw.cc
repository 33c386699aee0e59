// The raw read: what an independent client found at which position.
#include <algorithm>

#include "track/fold.h"

namespace sp::track {

void Fold::raw_range(const Row& row) {
  PartitionState& log = partition(row.which);
  if ((row.flags & kReached) != 0) {
    log.raw_covered.insert_range(row.offset, row.sequence);
  } else {
    log.raw_incomplete = true;  // what it did not show there may stand there
  }
}

void Fold::raw(const Source& source, const Row& row) {
  partition(row.which).raw_present.insert(row.offset);
  const core::KeyRef ref = map_key(source, row.key);
  Named named{.key = ref, .sequence = row.sequence, .partition = row.which, .offset = row.offset};
  const std::size_t named_max = state_.options.limits.named_max;
  if ((row.flags & kDamaged) != 0) {
    if (state_.partitions[row.which].damaged.insert(row.offset)) state_.raw_corrupt.add(named, named_max);
    sight_damaged(row.which, row.offset, kSeenRaw, 0);
    const Slot* slot = state_.partitions[row.which].log.find(row.offset);
    if (slot != nullptr && slot->named()) state_.raw_damaged.of(slot->key).insert(slot->sequence);
    return;
  }
  KeyState* key = seen_key(source, ref);
  const bool of_other_run = (row.flags & kOtherRun) != 0;
  if (of_other_run && !state_.options.contract.topic_created) {
    if (state_.partitions[row.which].foreign.insert(row.offset)) ++state_.foreign;
    return;
  }
  if (of_other_run || key == nullptr) {
    if (!handed_to_any(row.which, row.offset)) {
      ++state_.raw_phantoms;
      named.key.index = of_other_run ? kNone : ref.index;
      state_.raw_phantoms_named.add(named, named_max);
    }
    return;
  }
  state_.raw_seen.of(ref).insert(row.sequence);
  if (is_phantom(ref, *key, row.sequence)) {
    const auto said = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition));
    if (said != 0) place(row.which, row.offset, {.ref = ref, .sequence = row.sequence, .placement = said});
    bool known = false;
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
        {.ref = ref, .sequence = row.sequence, .how = kSeenRaw,
         .placement = static_cast<std::uint8_t>(row.flags & (kRightPartition | kWrongPartition))});
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    if (state_.received(group, ref, row.sequence)) continue;
    if (state_.raw_found.size() < state_.options.limits.outstanding_max) {
      state_.raw_found.add(ref, row.sequence, row.which, row.offset);
    }
    break;
  }
}

}  // namespace sp::track

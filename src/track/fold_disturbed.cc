// Keys whose log is not in order: copies, inversions, records in the wrong partition. What stands at a position is counted when
// the position leaves the ring, or at the end: by then its neighbours are known, whoever reported first.
#include <algorithm>
#include <unordered_map>

#include "track/fold.h"

namespace sp::track {
namespace {

constexpr std::size_t kAboveRangesMax = 16;  // of an inversion

KeyLog::Part& part_of(std::vector<KeyLog::Part>& parts, std::uint32_t partition) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& part) { return part.partition == partition; });
  if (found != parts.end()) return *found;
  KeyLog::Part& made = parts.emplace_back();
  made.partition = partition;
  return made;
}

struct Aside {  // sequences of a key
  core::RangeSet failed;     // phantoms, if they stand in the log
  core::RangeSet misplaced;  // take no part in the order, as phantoms do
};

// What is found in the logs that are not in order.
struct Found {
  NamedList& copies;
  std::vector<Inversion>& inversions;
};

// The next record of the key in the order of the log. Which records take part in the order only the end shows.
void count_copy(KeyLog& log, const Named& named, Found found, std::size_t named_max) {
  if (!log.found.insert(named.sequence)) found.copies.add(named, named_max);
  KeyLog::Part& part = part_of(log.parts, named.partition);
  if (!part.ordered.empty() && part.ordered.last() > named.sequence && !part.ordered.contains(named.sequence)) {
    Inversion inversion{.record = named, .above = part.ordered.clip(named.sequence + 1, kNoOffset).minus(part.unplaced)};
    inversion.more = inversion.above.range_count() > kAboveRangesMax;
    if (inversion.more) {
      const auto ranges = inversion.above.ranges();
      inversion.above = inversion.above.clip(ranges[ranges.size() - kAboveRangesMax].begin, kNoOffset);
    }
    found.inversions.push_back(std::move(inversion));
  }
  part.ordered.insert(named.sequence);
}

Aside set_aside(const State& state, const KeyState& key) {
  const KeyDetail* detail = state.key_details.find(key.detail);
  return {detail == nullptr ? core::RangeSet{} : detail->failed, state.misplaced_set(key)};
}

enum class Holds : std::uint8_t { kNo, kYes, kUnknown };
Holds holds(const Inversion& inversion, const Aside& aside) {
  const auto takes_part = [&](std::uint64_t s) { return !aside.failed.contains(s) && !aside.misplaced.contains(s); };
  if (!takes_part(inversion.record.sequence)) return Holds::kNo;
  if (!inversion.above.minus(aside.failed).minus(aside.misplaced).empty()) return Holds::kYes;
  return inversion.more ? Holds::kUnknown : Holds::kNo;
}

bool is_phantom_now(const State& state, const Named& named) {
  const KeyState* key = state.key(named.key);
  if (key == nullptr || named.sequence >= key->issued_end) return true;
  const KeyDetail* detail = state.key_details.find(key->detail);
  return detail != nullptr && detail->failed.contains(named.sequence);
}

// What was handed over or read damaged is called what the log holds there, whichever of the two was known first; a phantom is
// not told by its position.
void name_damaged(State& state, std::uint32_t partition, Named& named) {
  const Slot* slot = state.partitions[partition].log.find(named.offset);
  if (slot != nullptr && slot->named()) {
    named.key = slot->key;
    named.sequence = slot->sequence;
  }
  if (named.key.index != kNone && !is_phantom_now(state, named)) return;
  named.key = {core::KeySpace::kLiteralBlock, kNone};
  named.sequence = 0;
}

void name_damaged(State& state) {
  const auto name_all = [&](NamedList& list) {
    for (Named& named : list.items) {
      if (named.offset != kNoOffset) name_damaged(state, named.partition, named);
    }
  };
  name_all(state.raw_corrupt);
  for (Group& group : state.groups) name_all(group.corrupt);
  for (Lineage& lineage : state.lineages) {
    const core::RangeSet& damaged = state.groups[lineage.group].partitions[lineage.partition].damaged;
    for (auto* list : {&lineage.repeats, &lineage.inner}) {
      for (Named& named : *list) {
        if (damaged.contains(named.offset)) name_damaged(state, lineage.partition, named);
      }
    }
  }
}

struct JudgedLog {  // of a key, with what is in the ring
  KeyLog log;
  Aside aside;
  core::RangeSet inverted;
};

// Calls `visit(partition, offset, slot)` for every named slot in the rings, by partition and position.
template <typename Visit>
void for_each_slot(State& state, const Visit& visit) {
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    PartitionLog& log = state.partitions[number].log;
    for (std::uint64_t offset = log.tail(); offset < log.head(); ++offset) {
      Slot* slot = log.in_ring(offset);
      if (slot->named()) visit(number, offset, *slot);
    }
  }
}

}  // namespace

void Fold::disturb(core::KeyRef ref, KeyState& key) {
  KeyDetail& detail = state_.key_details.get(key.detail);
  if (detail.log != nullptr) return;
  detail.log = std::make_unique<KeyLog>();
  state_.disturbed.push_back(ref);
  if (state_.disturbed.size() == 1) {
    for (PartitionState& partition : state_.partitions) partition.log.watched = true;
  }
  core::RangeSet& found = detail.log->found;
  found.insert_range(0, key.scan_end);
  for (const ScanHole& hole : detail.scan_holes) found.erase_range(hole.begin, hole.end);
  detail.scan_holes.clear();
  if (key.partition == kNone) return;
  PartitionLog& log = state_.partitions[key.partition].log;
  for (std::uint64_t offset = log.tail(); offset < log.head(); ++offset) {
    Slot* slot = log.in_ring(offset);
    if (slot->key != ref || (slot->seen & kScanned) == 0) continue;
    found.erase(slot->sequence);
    slot->seen &= static_cast<std::uint8_t>(~kScanned);
  }
  if (!found.empty()) detail.log->parts.push_back({key.partition, found, {}});
}

void Fold::withdraw(std::uint32_t number, std::uint64_t offset, Slot& slot) {
  KeyState* key = state_.key(slot.key);
  if (key == nullptr) return;
  const bool counted = (slot.seen & kScanned) != 0;
  disturb(slot.key, *key);
  slot.seen &= static_cast<std::uint8_t>(~kScanned);
  part_of(state_.key_details.find(key->detail)->strays, number).ordered.erase(slot.sequence);
  if (!counted || offset >= state_.partitions[number].log.tail()) return;
  KeyLog& log = *state_.key_details.find(key->detail)->log;
  KeyLog::Part& part = part_of(log.parts, number);
  auto& copies = state_.second_copies;
  const auto copy = std::find_if(copies.items.begin(), copies.items.end(), [&](const Named& named) {
    return named.key == slot.key && named.sequence == slot.sequence;
  });
  if (copy != copies.items.end()) {  // one copy less; another one stands elsewhere, here or in another partition
    copies.items.erase(copy);
    --copies.count;
    part.unplaced.insert(slot.sequence);
    ++state_.not_checked["reordered-write"];
  } else {
    log.found.erase(slot.sequence);
    part.ordered.erase(slot.sequence);
  }
  std::erase_if(state_.inversions, [&](Inversion& inversion) {
    if (inversion.record.key != slot.key || inversion.record.partition != number) return false;
    inversion.above.erase(slot.sequence);
    return inversion.record.sequence == slot.sequence;
  });
}

void Fold::absorb(std::uint32_t number) {
  const std::size_t named_max = state_.options.limits.named_max;
  auto& left = state_.partitions[number].log.left;
  for (const auto& [offset, slot] : left) {
    const KeyState* key = state_.key(slot.key);
    KeyDetail* detail = key == nullptr ? nullptr : state_.key_details.find(key->detail);
    if (detail == nullptr || detail->log == nullptr || slot.sequence >= key->issued_end) continue;
    count_copy(*detail->log, {.key = slot.key, .sequence = slot.sequence, .partition = number, .offset = offset},
               {state_.second_copies, state_.inversions}, named_max);
    if (state_.inversions.size() > named_max) {  // no room: judged by what is known now
      if (holds(state_.inversions.back(), set_aside(state_, *key)) == Holds::kYes && detail->inverted.insert(slot.sequence)) {
        state_.inverted.add(state_.inversions.back().record, 0);
      }
      state_.inversions.pop_back();
    }
    const auto kept = state_.partitions[number].log.unfinished.find(offset);
    if (kept != state_.partitions[number].log.unfinished.end()) kept->second.seen |= kScanned;
  }
  left.clear();
}

// It stands below the ring: what it stands behind is not remembered, nor which copy is its first, unless the log was in order.
void Fold::late_copy(const Named& named, KeyDetail& detail, std::optional<std::uint64_t> overtaken_by) {
  KeyLog& log = *detail.log;
  if (!log.found.insert(named.sequence)) state_.second_copies.add(named, state_.options.limits.named_max);
  core::RangeSet& ordered = part_of(log.parts, named.partition).ordered;
  const bool alone = ordered.empty();
  const bool known = !ordered.insert(named.sequence);
  if (alone) return;
  if (overtaken_by && state_.inversions.size() < state_.options.limits.named_max) {
    core::RangeSet above;
    above.insert(*overtaken_by);
    state_.inversions.push_back({.record = named, .above = std::move(above), .more = true});
    return;
  }
  if (known) {  // what was told by the other copy need not hold
    std::erase_if(state_.inversions, [&](const Inversion& inversion) {
      const Named& record = inversion.record;
      return record.key == named.key && record.sequence == named.sequence && record.partition == named.partition;
    });
  }
  if (!detail.failed.contains(named.sequence)) ++state_.not_checked["reordered-write"];
}

// What payload and position say of the record's partition.
void Fold::place(std::uint32_t number, std::uint64_t offset, const Sighting& sighting) {
  KeyState* key = state_.key(sighting.ref);
  if (key == nullptr) return;
  if (sighting.placement == kWrongPartition) {
    KeyDetail& detail = state_.key_details.get(key->detail);
    if (!detail.misplaced_said.insert(sighting.sequence)) return;
    disturb(sighting.ref, *key);
    const Named named{.key = sighting.ref, .sequence = sighting.sequence, .partition = number, .offset = offset};
    state_.misplaced.add(named, state_.options.limits.named_max);
    if (!state_.options.contract.partition_change) state_.alarm(core::Code::kMisplaced, named);
    return;
  }
  KeyDetail* detail = state_.key_details.find(key->detail);
  const bool tells = sighting.placement == kRightPartition && !has_no_home(sighting.ref);
  if (detail != nullptr && tells) detail->home_guessed = false;
  if (key->partition == number) return;
  if (key->partition == kNone) {
    key->partition = number;
    if (!tells) state_.key_details.get(key->detail).home_guessed = true;
  } else if (tells) {
    move_key(sighting.ref, *key, number);
  } else {
    stray(number, offset, sighting.ref, *key, sighting.sequence);
  }
}

void Fold::stray(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, KeyState& key, std::uint64_t sequence) {
  disturb(ref, key);
  if (!part_of(state_.key_details.get(key.detail).strays, number).ordered.insert(sequence)) return;
  state_.misplaced.add({.key = ref, .sequence = sequence, .partition = number, .offset = offset},
                       state_.options.limits.named_max);
}

// A payload or the first ack says where the key belongs: what was taken for its partition is another.
void Fold::move_key(core::KeyRef ref, KeyState& key, std::uint32_t number) {
  disturb(ref, key);
  const std::uint32_t before = key.partition;
  const core::RangeSet forgotten = part_of(state_.key_details.get(key.detail).log->parts, before).ordered;
  for (const auto& range : forgotten.ranges()) {
    for (std::uint64_t s = range.begin; s < range.end; ++s) stray(before, kNoOffset, ref, key, s);
  }
  PartitionLog& log = state_.partitions[before].log;
  for (std::uint64_t offset = log.tail(); offset < log.head(); ++offset) {
    const Slot* slot = log.in_ring(offset);
    if (slot->named() && slot->key == ref) stray(before, offset, ref, key, slot->sequence);
  }
  key.partition = number;
}

void Fold::judge_logs(bool last) {
  if (state_.disturbed.empty()) return;
  std::unordered_map<core::KeyRef, JudgedLog, KeyHash> judged;
  for (const core::KeyRef ref : state_.disturbed) {
    const KeyDetail& detail = *state_.key_details.find(state_.key(ref)->detail);
    JudgedLog& key = judged[ref];
    key.log.found = detail.log->found;
    key.log.parts = detail.log->parts;
    key.aside = set_aside(state_, *state_.key(ref));
    key.inverted = detail.inverted;
  }
  const std::size_t named_max = state_.options.limits.named_max;
  NamedList copies = state_.second_copies;
  std::vector<Inversion> in_ring;
  for_each_slot(state_, [&](std::uint32_t number, std::uint64_t offset, const Slot& slot) {
    const auto found = judged.find(slot.key);
    if (found == judged.end() || slot.sequence >= state_.key(slot.key)->issued_end) return;
    count_copy(found->second.log, {.key = slot.key, .sequence = slot.sequence, .partition = number, .offset = offset},
               {copies, in_ring}, named_max);
  });
  std::erase_if(copies.items, [&](const Named& copy) {
    const bool phantom = judged.at(copy.key).aside.failed.contains(copy.sequence);
    if (phantom) --copies.count;
    return phantom;
  });
  NamedList inverted = state_.inverted;
  for (const auto* inversions : {&state_.inversions, &in_ring}) {
    for (const Inversion& inversion : *inversions) {
      JudgedLog& key = judged.at(inversion.record.key);
      const Holds held = holds(inversion, key.aside);
      if (held == Holds::kYes && key.inverted.insert(inversion.record.sequence)) inverted.add(inversion.record, named_max);
      if (held == Holds::kUnknown && last) ++state_.not_checked["reordered-write"];
    }
  }
  raise(copies, core::Code::kDuplicateWrite, &KeyLog::alarmed_copies);
  raise(inverted, core::Code::kReorderedWrite, &KeyLog::alarmed_inverted);
  state_.copies_now = copies.count;
  state_.inverted_now = inverted.count;
  if (!last) return;
  state_.second_copies = std::move(copies);
  state_.inverted = std::move(inverted);
  for (auto& [ref, key] : judged) state_.key_details.find(state_.key(ref)->detail)->inverted = std::move(key.inverted);
}

// An alarm for each that had none.
void Fold::raise(const NamedList& list, core::Code code, core::RangeSet KeyLog::*alarmed) {
  for (const Named& named : list.items) {
    KeyDetail& detail = *state_.key_details.find(state_.key(named.key)->detail);
    if (((*detail.log).*alarmed).insert(named.sequence)) state_.alarm(code, named);
  }
}

bool Fold::copy_forgotten(const Lineage& lineage, const Named& named) const {
  const std::uint64_t tail = state_.partitions[lineage.partition].log.tail();
  const KeyDetail* detail = state_.key_details.find(state_.key(named.key)->detail);
  if (detail == nullptr || detail->log == nullptr || !detail->log->found.contains(named.sequence)) return false;
  if (lineage.handed.empty() || lineage.handed.first() >= tail) return false;
  return named.offset >= tail || has_copy(named);
}

bool Fold::has_copy(const Named& named) const {
  const auto& copies = state_.second_copies.items;
  return std::any_of(copies.begin(), copies.end(),
                     [&](const Named& copy) { return copy.key == named.key && copy.sequence == named.sequence; });
}

void Fold::acquit(const Lineage& lineage, Suspect& suspect) {
  const PartitionLog& log = state_.partitions[lineage.partition].log;
  for (std::uint64_t at = log.tail(); at < std::min(lineage.next, log.head()) && !suspect.handed; ++at) {
    const Slot* slot = log.in_ring(at);
    suspect.handed = slot->named() && slot->is(suspect.record.key, suspect.record.sequence) && lineage.handed.contains(at);
  }
  if (suspect.handed || !copy_forgotten(lineage, suspect.record)) return;
  suspect.handed = true;
  ++state_.not_checked["skip"];
}

void Fold::settle() {
  NamedList misplaced;
  for (std::uint32_t block = 0; block < state_.blocks.size(); ++block) {
    for (const KeyState& key : state_.blocks[block].keys) misplaced.count += state_.misplaced_set(key).size();
  }
  std::unordered_map<core::KeyRef, core::RangeSet, KeyHash> named;
  for (const Named& candidate : state_.misplaced.items) {
    if (!state_.misplaced_set(*state_.key(candidate.key)).contains(candidate.sequence)) continue;
    if (named[candidate.key].insert(candidate.sequence)) misplaced.items.push_back(candidate);
  }
  state_.misplaced = std::move(misplaced);
  name_damaged(state_);
  for (Lineage& lineage : state_.lineages) {
    for (auto& [ref, suspects] : lineage.suspects) {
      for (Suspect& suspect : suspects) acquit(lineage, suspect);
    }
  }
  say_forgotten();
}

void Fold::say_forgotten() {
  const auto only_forgotten = [&](const auto& candidate) {
    const Named& record = candidate.record;
    return candidate.forgotten && state_.takes_part(record.key, record.sequence) &&
           !state_.any_takes_part(record.key, candidate.above);
  };
  for (const Lineage& lineage : state_.lineages) {
    for (const auto& [ref, suspects] : lineage.suspects) {
      for (const Suspect& suspect : suspects) {
        if (!suspect.handed && !lineage.handed.contains(suspect.record.offset) && only_forgotten(suspect)) ++state_.not_checked["skip"];
      }
    }
  }
  for (const Group& group : state_.groups) {
    for (const Overtaken& overtaken : group.overtaken) {
      if (only_forgotten(overtaken)) ++state_.not_checked["reordered-delivery"];
    }
    for (const auto& [id, overtaken] : group.overtaken_across) {
      if (only_forgotten(overtaken)) ++state_.not_checked["reordered-delivery"];
    }
  }
}

}  // namespace sp::track

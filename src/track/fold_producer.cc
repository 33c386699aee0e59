// The producer side of a key: issued, acked, failed, unknown.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "track/fold.h"

namespace sp::track {

void Fold::make_keys(std::uint32_t block, std::size_t count) {
  if (state_.blocks.size() <= block) state_.blocks.resize(block + 1);
  Block& owner = state_.blocks[block];
  if (owner.keys.size() >= count) return;
  owner.keys.resize(count);
  for (std::size_t number = 1; number < state_.groups.size(); ++number) {
    Group& group = state_.groups[number];
    if (group.keys.size() <= block) group.keys.resize(block + 1);
    group.keys[block].resize(count);
  }
}

KeyState* Fold::producer_key(const Source& source, core::KeyRef key) {
  if (key.index == kNone) return nullptr;
  if (KeyState* known = state_.key(key)) return known;
  // A key that nobody declared and somebody issues: a history's. One more than needed doubles, as vectors do.
  const std::size_t had = key.block < state_.blocks.size() ? state_.blocks[key.block].keys.size() : 0;
  make_keys(key.block, std::max<std::size_t>(key.index + 1ULL, had * 2));
  if (key.block == core::KeySpace::kLiteralBlock) state_.literal_owner.try_emplace(key.index, source.id);
  return state_.key(key);
}

KeyState* Fold::seen_key(const Source& source, core::KeyRef key) {
  return source.id == core::kHistorySource ? producer_key(source, key) : state_.key(key);
}

bool Fold::has_no_home(core::KeyRef ref) const {
  return ref.block == core::KeySpace::kLiteralBlock && state_.keys.literal_name(ref.index).empty();
}

void Fold::issued(KeyState& key, std::uint64_t sequence) {
  if (sequence < key.issued_end) {
    if (KeyDetail* detail = state_.key_details.find(key.detail)) detail->provisional.erase(sequence);
    return;
  }
  state_.issued += sequence + 1 - key.issued_end;
  key.issued_end = sequence + 1;
}

bool Fold::decide(KeyState& key, std::uint64_t sequence) {
  issued(key, sequence);
  if (sequence == key.outcome_top) {
    ++key.outcome_top;
    return true;
  }
  if (sequence > key.outcome_top) {
    state_.key_details.get(key.detail).open.insert_range(key.outcome_top, sequence);
    key.outcome_top = sequence + 1;
    return true;
  }
  KeyDetail* detail = state_.key_details.find(key.detail);
  return detail != nullptr && detail->open.erase(sequence);
}

void Fold::acked(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = producer_key(source, ref);
  if (key == nullptr) return;
  if (decide(*key, row.sequence)) {
    ++state_.acked;
  } else if (KeyDetail* detail = state_.key_details.find(key->detail);
             detail != nullptr && detail->unknown.erase(row.sequence)) {  // it became known after all
    detail->landed.erase(row.sequence);
    --state_.unknown;
    ++state_.acked;
  }
  if ((row.flags & kHasOffset) == 0) {
    ++state_.unpositioned;
    return;
  }
  PartitionState& log = partition(row.which);
  log.acked_end = std::max(log.acked_end, row.offset + 1);
  if (key->partition == kNone) {
    key->partition = row.which;
    if (has_no_home(ref)) state_.key_details.get(key->detail).home_guessed = true;
  }
  KeyDetail* detail = state_.key_details.find(key->detail);
  const bool guessed = detail != nullptr && detail->home_guessed && !has_no_home(ref);
  if (guessed && std::exchange(detail->home_guessed, false) && key->partition != row.which) move_key(ref, *key, row.which);
  sight(row.which, row.offset, {.ref = ref, .sequence = row.sequence, .how = kSeenAck});
}

void Fold::failed(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = producer_key(source, ref);
  if (key == nullptr) return;
  if (!decide(*key, row.sequence)) {
    KeyDetail* detail = state_.key_details.find(key->detail);
    if (detail == nullptr || !detail->unknown.erase(row.sequence)) return;
    detail->landed.erase(row.sequence);  // it became known after all
    --state_.unknown;
  }
  ++state_.failed;
  KeyDetail& detail = state_.key_details.get(key->detail);
  detail.failed.insert(row.sequence);
  const auto why = static_cast<core::Failure>(row.which);
  if (why == core::Failure::kAborted) detail.aborted.insert(row.sequence);
  if (why == core::Failure::kFenced) detail.fenced.insert(row.sequence);
  failed_but_seen(ref, row.sequence);
}

// The delivery was folded before the report of the failure.
void Fold::failed_but_seen(core::KeyRef ref, std::uint64_t sequence) {
  bool handed = false;
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    if (!state_.received(group, ref, sequence) || !handed_intact_to(group, ref, sequence)) continue;
    handed = true;
    GroupKey& group_key = state_.group_key(group, ref);
    if (!state_.group_details.get(group_key.detail).phantoms.insert(sequence)) continue;
    ++state_.groups[group].phantoms;
    --state_.groups[group].received;
    state_.alarm(core::Code::kPhantom, {.key = ref, .sequence = sequence, .group = group});
  }
  if (!handed && state_.raw_seen.contains(ref, sequence)) {
    KeyDetail& detail = state_.key_details.get(state_.key(ref)->detail);
    if (detail.raw_phantoms.insert(sequence)) ++state_.raw_phantoms;
  }
}

void Fold::unknown(const Source& source, const Row& row) {
  const core::KeyRef ref = map_key(source, row.key);
  KeyState* key = producer_key(source, ref);
  if (key == nullptr || !decide(*key, row.sequence)) return;
  make_unknown(ref, *key, row.sequence);
}

void Fold::make_unknown(core::KeyRef ref, KeyState& key, std::uint64_t sequence) {
  ++state_.unknown;
  KeyDetail& detail = state_.key_details.get(key.detail);
  detail.unknown.insert(sequence);
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    if (state_.received(group, ref, sequence)) detail.landed.insert(sequence);
  }
  if (state_.raw_seen.contains(ref, sequence)) detail.landed.insert(sequence);
}

void Fold::make_unknown(core::KeyRef ref, KeyState& key, const core::Range& sequences) {
  state_.unknown += sequences.size();
  KeyDetail& detail = state_.key_details.get(key.detail);
  detail.unknown.insert_range(sequences.begin, sequences.end);
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    detail.landed.insert_all(state_.received_set(state_.group_key(group, ref)).clip(sequences.begin, sequences.end));
  }
  if (const auto* raw = state_.raw_seen.find(ref)) detail.landed.insert_all(raw->clip(sequences.begin, sequences.end));
}

void Fold::issue_provisionally(KeyState& key, std::uint64_t sequence) {
  if (sequence < key.issued_end) return;
  state_.key_details.get(key.detail).provisional.insert_range(key.issued_end, sequence + 1);
  state_.issued += sequence + 1 - key.issued_end;
  key.issued_end = sequence + 1;
}

// The owner is back and did not report them: nobody issued them.
void Fold::withdraw_provisional(core::KeyRef ref, KeyState& key) {
  KeyDetail* detail = state_.key_details.find(key.detail);
  if (detail == nullptr || detail->provisional.empty()) return;
  const core::RangeSet never = detail->provisional;
  detail->provisional.clear();
  for (const auto& range : never.ranges()) never_attempted(ref, range);
}

void Fold::never_attempted(core::KeyRef ref, const core::Range& sequences) {
  KeyState* key = state_.key(ref);
  if (key == nullptr || sequences.begin >= sequences.end) return;
  KeyDetail& detail = state_.key_details.get(key->detail);
  core::RangeSet never = detail.open.clip(sequences.begin, sequences.end);
  detail.open.erase_range(sequences.begin, sequences.end);
  if (sequences.end > key->outcome_top) {
    const std::uint64_t from = std::max(sequences.begin, key->outcome_top);
    never.insert_range(from, sequences.end);
    detail.open.insert_range(key->outcome_top, from);
    key->outcome_top = sequences.end;
  }
  state_.issued -= never.size();
  detail.failed.insert_all(never);
  core::RangeSet seen;
  for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
    seen.insert_all(state_.received_set(state_.group_key(group, ref)).intersect(never));
  }
  if (const auto* raw = state_.raw_seen.find(ref)) seen.insert_all(raw->intersect(never));
  for (const auto& range : seen.ranges()) {
    for (std::uint64_t s = range.begin; s < range.end; ++s) failed_but_seen(ref, s);
  }
}

void Fold::proven(core::KeyRef ref, const core::Range& sequences) {
  KeyState* key = state_.key(ref);
  KeyDetail* detail = key == nullptr ? nullptr : state_.key_details.find(key->detail);
  if (detail == nullptr) return;
  const std::uint64_t known = detail->unknown.erase_range(sequences.begin, sequences.end);
  state_.unknown -= known;
  state_.acked += known;
  state_.proven += known;
}

void Fold::close_attempts(core::KeyRef ref) {
  KeyState* key = state_.key(ref);
  if (key == nullptr) return;
  if (state_.owner_reports(ref.block)) withdraw_provisional(ref, *key);
  KeyDetail* detail = state_.key_details.find(key->detail);
  if (detail != nullptr && !detail->open.empty()) {
    const core::RangeSet open = detail->open;
    detail->open.clear();
    for (const auto& range : open.ranges()) make_unknown(ref, *key, range);
  }
  if (key->outcome_top < key->issued_end) make_unknown(ref, *key, {std::exchange(key->outcome_top, key->issued_end), key->issued_end});
}

}  // namespace sp::track

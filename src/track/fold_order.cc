// Order of hand-overs by position: skips, and records handed over after later ones of their key. What a lineage had handed over
// before is read from its set of positions and the log's ring, so it does not matter whose evidence came first.
#include <algorithm>

#include "track/fold.h"

namespace sp::track {
namespace {

constexpr std::size_t kSuspectsMax = 10'000;  // of a lineage

bool handed_intact(const Lineage& lineage, std::uint64_t offset) {
  return lineage.handed.contains(offset) && !lineage.damaged.contains(offset);
}

// The period in which the lineage first handed over the position; of what is remembered no more, the earliest remembered.
std::uint64_t period_of(const Lineage& lineage, std::uint64_t offset) {
  const auto below = lineage.backward.find(offset);
  if (below != lineage.backward.end()) return below->second;
  const auto after = std::upper_bound(lineage.marks.begin(), lineage.marks.end(), offset,
                                      [](std::uint64_t at, const PeriodMark& mark) { return at < mark.next; });
  return after == lineage.marks.begin() ? lineage.marks.front().period : std::prev(after)->period;
}

// True if what `earlier` did in its period was certainly before what `later` did in its.
bool certainly_before(const Lineage& earlier, std::uint64_t period, const Lineage& later, std::uint64_t later_period) {
  return earlier.source == later.source || period + 2 <= later_period;
}

}  // namespace

void Fold::order(const Named& named, const Ordering& how) {
  Lineage& lineage = state_.lineages[named.lineage];
  const auto suspects = lineage.suspects.find(named.key);
  if (suspects != lineage.suspects.end()) {
    for (Suspect& suspect : suspects->second) {
      if (suspect.record.sequence == named.sequence) suspect.handed = true;
      if (suspect.record.sequence < named.sequence && suspect.record.offset < named.offset) suspect.above.insert(named.sequence);
    }
  }
  const bool below_top = named.sequence + 1 < state_.group_key(named.group, named.key).top;
  if (how.handing.backward && !how.again && below_top) overtaken_within(named, how.first);
  if (!how.first) {
    handed_again(named, how.period, how.order);
  } else if (below_top) {
    overtaken_across(named, how);
  }
  const GroupPartition& group = state_.groups[named.group].partitions[named.partition];
  if (!how.again && named.offset + 1 < group.reached) suspect_others(named.lineage, named);
}

void Fold::overtaken_within(const Named& named, bool first) {
  const Lineage& lineage = state_.lineages[named.lineage];
  if (handed_intact_elsewhere(lineage, named)) return;  // only its first hand-over of the record counts
  core::RangeSet above = handed_above(lineage, named, [](std::uint64_t) { return true; });
  GroupKey& group_key = state_.group_key(named.group, named.key);
  const bool forgotten = handed_and_forgotten(lineage, named);
  if (above.empty() && !forgotten) return;
  if (!first && lineage.handed.first() < state_.partitions[named.partition].log.tail()) {
    ++state_.not_checked["reordered-delivery"];  // it may have handed over another copy before, which is forgotten
    return;
  }
  if (above.empty()) {
    // Forgotten, but it was a higher sequence: it stands higher too, if the log is in order.
    const bool higher = group_key.lineage == named.lineage && group_key.high > named.sequence;
    if (!higher || !stands_in_order(named)) {
      ++state_.not_checked["reordered-delivery"];
      return;
    }
    above.insert(group_key.high);
  }
  auto& overtaken = state_.groups[named.group].overtaken;
  if (overtaken.size() >= state_.options.limits.named_max) return reordered(group_key, named);
  overtaken.push_back({.record = named, .above = std::move(above), .forgotten = forgotten});
  state_.alarm(core::Code::kReorderedDelivery, named);
}

void Fold::overtaken_across(const Named& named, const Ordering& how) {
  const Lineage& own = state_.lineages[named.lineage];
  core::RangeSet above;
  bool forgotten = false;
  for (const std::uint32_t other : state_.groups[named.group].partitions[named.partition].lineages) {
    const Lineage& lineage = state_.lineages[other];
    if (other == named.lineage || lineage.handed.empty() || !ordered_before(lineage, own)) continue;
    above.insert_all(handed_above(lineage, named, [&](std::uint64_t offset) {
      return certainly_before(lineage, period_of(lineage, offset), own, how.period);
    }));
    forgotten = forgotten || handed_and_forgotten(lineage, named);
  }
  if (above.empty()) {
    if (forgotten) ++state_.not_checked["reordered-delivery"];
    return;
  }
  auto& overtaken = state_.groups[named.group].overtaken_across;
  if (overtaken.size() >= state_.options.limits.named_max) return reordered(state_.group_key(named.group, named.key), named);
  overtaken.emplace(RecordId{named.key, named.sequence},
                    Overtaken{.record = named, .above = std::move(above), .forgotten = forgotten, .period = how.period,
                              .order = how.order});
  state_.alarm(core::Code::kReorderedDelivery, named);
}

void Fold::handed_again(const Named& named, std::uint64_t period, std::uint64_t order) {
  auto& overtaken = state_.groups[named.group].overtaken_across;
  if (overtaken.empty()) return;
  const auto found = overtaken.find({named.key, named.sequence});
  if (found == overtaken.end()) return;
  const Overtaken& first = found->second;
  const bool same_source = state_.lineages[first.record.lineage].source == state_.lineages[named.lineage].source;
  const bool certainly_after = same_source ? first.order < order : first.period + 2 <= period;
  if (!certainly_after) overtaken.erase(found);
}

void Fold::handed_forgotten(const Named& place, std::uint64_t period, std::uint64_t order) {
  std::vector<Named> candidates;
  for (const auto& [id, overtaken] : state_.groups[place.group].overtaken_across) {
    Named named = overtaken.record;
    const bool there = named.partition == place.partition && named.offset == place.offset;
    if (!there && !has_copy(named)) continue;
    if (!there) ++state_.not_checked["reordered-delivery"];
    named.lineage = place.lineage;
    candidates.push_back(named);
  }
  for (const Named& named : candidates) handed_again(named, period, order);
}

void Fold::handed_damaged(std::uint32_t group, const Named& named) {
  for (const std::uint32_t number : state_.groups[group].partitions[named.partition].lineages) {
    const Lineage& lineage = state_.lineages[number];
    if (!lineage.damaged.contains(named.offset)) continue;
    Named again = named;
    again.group = group;
    again.lineage = number;
    handed_again(again, period_of(lineage, named.offset), lineage.damaged_order.at(named.offset));
  }
}

bool Fold::handed_intact_to(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence) {
  bool damaged = false;
  bool forgotten = false;
  for (const Lineage& lineage : state_.lineages) {
    if (lineage.group != group || lineage.handed.empty()) continue;
    if (handed_intact_elsewhere(lineage, {.key = ref, .sequence = sequence})) return true;
    for (const auto& range : lineage.damaged.ranges()) {
      for (std::uint64_t at = range.begin; at < range.end; ++at) {
        const Slot* slot = state_.partitions[lineage.partition].log.find(at);
        damaged = damaged || (slot != nullptr && slot->named() && slot->is(ref, sequence));
      }
    }
    forgotten = forgotten || lineage.handed.first() < state_.partitions[lineage.partition].log.tail();
  }
  if (damaged && forgotten) ++state_.not_checked["phantom"];  // another copy may have been intact
  return !damaged;
}

bool Fold::handed_and_forgotten(const Lineage& lineage, const Named& named) const {
  const std::uint64_t tail = state_.partitions[lineage.partition].log.tail();
  return named.offset + 1 < tail && lineage.handed.count_in(named.offset + 1, tail) > 0;
}

bool Fold::stands_in_order(const Named& named) const {
  const KeyDetail* detail = state_.key_details.find(state_.key(named.key)->detail);
  return (detail == nullptr || detail->log == nullptr) && log_holds(named.key, named.sequence) &&
         state_.partitions[named.partition].log.scanned.contains(named.offset);
}

core::RangeSet Fold::handed_above(const Lineage& lineage, const Named& named,
                                  const std::function<bool(std::uint64_t)>& counts) const {
  core::RangeSet above;
  const PartitionLog& log = state_.partitions[lineage.partition].log;
  for (std::uint64_t at = std::max(named.offset + 1, log.tail()); at < std::min(lineage.next, log.head()); ++at) {
    const Slot* slot = log.in_ring(at);
    if (!slot->named() || slot->key != named.key || slot->sequence <= named.sequence) continue;
    if (handed_intact(lineage, at) && counts(at)) above.insert(slot->sequence);
  }
  return above;
}

bool Fold::handed_intact_elsewhere(const Lineage& lineage, const Named& named) const {
  const PartitionLog& log = state_.partitions[lineage.partition].log;
  for (std::uint64_t at = std::max(lineage.handed.first(), log.tail()); at < std::min(lineage.next, log.head()); ++at) {
    const Slot* slot = log.in_ring(at);
    if (at != named.offset && slot->named() && slot->is(named.key, named.sequence) && handed_intact(lineage, at)) return true;
  }
  return false;
}

void Fold::suspect(Lineage& lineage, const Named& named) {
  if (lineage.suspect_count >= kSuspectsMax) {
    ++state_.not_checked["skip"];
    return;
  }
  auto& suspects = lineage.suspects[named.key];
  const bool known = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
    return suspect.record.sequence == named.sequence && suspect.record.offset == named.offset;
  });
  if (known) return;
  ++lineage.suspect_count;
  suspects.push_back({.record = named, .above = handed_above(lineage, named, [](std::uint64_t) { return true; }),
                      .forgotten = handed_and_forgotten(lineage, named)});
}

// The lineage went on past [begin, end). What the group had been handed there before, it may have skipped.
void Fold::jumped(Lineage& lineage, std::uint64_t begin, std::uint64_t end) {
  const GroupPartition& group = state_.groups[lineage.group].partitions[lineage.partition];
  const core::RangeSet known = group.handed.clip(begin, end);
  if (known.empty() || state_.options.contract.shared) return;
  const PartitionLog& log = state_.partitions[lineage.partition].log;
  std::size_t looked_at = 0;
  for (const auto& range : known.ranges()) {
    for (std::uint64_t at = range.begin; at < range.end; ++at) {
      const Slot* slot = log.in_ring(at);
      if (at < log.tail() || ++looked_at > kSuspectsMax) {
        ++state_.not_checked["skip"];
      } else if (slot != nullptr && slot->named()) {  // else it was damaged, or nobody's
        suspect(lineage, {.key = slot->key, .sequence = slot->sequence, .partition = lineage.partition, .offset = at,
                          .group = lineage.group});
      }
    }
  }
}

void Fold::suspect_others(std::uint32_t number, const Named& named) {
  for (const std::uint32_t other : state_.groups[named.group].partitions[named.partition].lineages) {
    Lineage& lineage = state_.lineages[other];
    const bool went_past = other != number && lineage.first_handed != kNoOffset && lineage.begin() <= named.offset &&
                           named.offset < lineage.next && !lineage.handed.contains(named.offset);
    if (went_past) suspect(lineage, named);
  }
}

}  // namespace sp::track

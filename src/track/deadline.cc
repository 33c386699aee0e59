#include "track/deadline.h"

#include <algorithm>

namespace sp::track {
namespace {

struct Pass {
  State& state;
  MonotonicTime now;
  std::optional<Places> positions;  // made when the first record is late
  bool newly_late = false;
  std::uint64_t outstanding = 0;
  std::uint64_t verified = 0;

  const Places& where() {
    if (!positions) positions = outstanding_positions(state);
    return *positions;
  }
};

void expire_unknown(Pass& pass, KeyDetail& detail) {
  if (detail.unknown.empty() && detail.unknown_cohorts.empty()) return;
  core::RangeSet fresh = detail.unknown.minus(detail.unknown_settled);
  for (const Cohort& cohort : detail.unknown_cohorts) fresh = fresh.minus(cohort.sequences);
  if (!fresh.empty()) detail.unknown_cohorts.push_back({fresh, pass.now + pass.state.options.contract.timeout, pass.state.now});
  std::erase_if(detail.unknown_cohorts, [&](const Cohort& cohort) {
    if (cohort.deadline > pass.now) return false;
    detail.unknown_settled.insert_all(cohort.sequences);
    return true;
  });
}

void miss(Pass& pass, std::uint32_t group, core::KeyRef ref, const core::RangeSet& late, MonotonicTime since) {
  pass.newly_late = true;
  for (const auto& range : late.ranges()) {
    if (pass.state.overdue.size() < pass.state.options.limits.named_max) {
      pass.state.overdue.push_back({group, ref, range, since, pass.now});
    }
    for (std::uint64_t s = range.begin; s < range.end; ++s) {
      for (const auto& [id, place] : pass.where().of(ref, s)) {
        if (!passed(pass.state, group, place)) continue;
        pass.state.alarm(core::Code::kLost, {.key = ref, .sequence = s, .partition = place.partition.value(),
                                             .offset = place.offset.value(), .group = group});
        break;
      }
    }
  }
}

// The records of the key that are acked and not received by the group; their deadlines.
void expire_group(Pass& pass, std::uint32_t group, core::KeyRef ref, const core::RangeSet& acked, GroupKey& key) {
  const core::RangeSet outstanding = acked.minus(pass.state.received_set(key));
  pass.outstanding += outstanding.size();
  GroupDetail* detail = pass.state.group_details.find(key.detail);
  if (outstanding.empty() && detail == nullptr) return;
  GroupDetail& own = pass.state.group_details.get(key.detail);
  core::RangeSet fresh = outstanding.minus(own.late);
  for (const Cohort& cohort : own.cohorts) fresh = fresh.minus(cohort.sequences);
  if (!fresh.empty()) own.cohorts.push_back({fresh, pass.now + pass.state.options.contract.timeout, pass.state.now});
  std::erase_if(own.cohorts, [&](const Cohort& cohort) {
    if (cohort.deadline > pass.now) return false;
    const core::RangeSet late = cohort.sequences.intersect(outstanding);
    if (!late.empty()) {
      own.late.insert_all(late);
      miss(pass, group, ref, late, cohort.since);
    }
    return true;
  });
}

// One above the watermark: all below is settled.
std::uint64_t settled_end(const State& state, const KeyState& key, const GroupKey& group_key) {
  const KeyDetail* detail = state.key_details.find(key.detail);
  const GroupDetail* group_detail = state.group_details.find(group_key.detail);
  std::uint64_t decided = key.outcome_top;
  if (detail != nullptr && !detail->open.empty()) decided = detail->open.first();
  if (detail == nullptr && group_detail == nullptr) return std::min(decided, group_key.top);
  core::RangeSet settled = state.received_set(group_key);
  if (detail != nullptr) {
    settled.insert_all(detail->failed);
    settled.insert_all(detail->unknown_settled);
  }
  if (group_detail != nullptr) settled.insert_all(group_detail->late);  // declared missing: nothing waits for it
  return std::min(decided, settled.end_of_run(0));
}

void pass_key(Pass& pass, core::KeyRef ref, KeyState& key) {
  State& state = pass.state;
  bool quiet = key.detail == kNone;
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    const GroupKey& own = state.group_key(group, ref);
    quiet = quiet && own.detail == kNone && own.top == key.outcome_top;
  }
  if (quiet) {
    pass.verified += key.outcome_top;
    return;
  }
  if (KeyDetail* detail = state.key_details.find(key.detail)) expire_unknown(pass, *detail);
  const core::RangeSet acked = state.acked_set(key);
  std::uint64_t verified = ~std::uint64_t{0};
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    GroupKey& own = state.group_key(group, ref);
    expire_group(pass, group, ref, acked, own);
    verified = std::min(verified, settled_end(state, key, own));
    const GroupDetail* detail = state.group_details.find(own.detail);
    if (detail != nullptr && detail->empty()) state.group_details.release(own.detail);
  }
  pass.verified += verified;
  const KeyDetail* detail = state.key_details.find(key.detail);
  if (detail != nullptr && detail->empty()) state.key_details.release(key.detail);
}

void measure_stall(State& state, MonotonicTime now, const Pass& pass) {
  Progress& progress = state.progress;
  const bool rose = pass.verified > state.verified_best;
  state.verified_best = std::max(state.verified_best, pass.verified);
  if (!state.ticked || rose || pass.outstanding == 0) {
    // What had stalled until now counts up to now, unless nothing was outstanding.
    if (state.ticked && pass.outstanding != 0) progress.stall_max = std::max(progress.stall_max, progress.stall);
    state.verified_rose = now;
    progress.stall = Nanoseconds{0};
  } else {
    progress.stall = now - state.verified_rose;
    progress.stall_max = std::max(progress.stall_max, progress.stall);
  }
  state.ticked = true;
}

}  // namespace

void pass_deadlines(State& state, MonotonicTime now, bool last) {
  Pass pass{.state = state, .now = now, .positions = std::nullopt};
  for (std::uint32_t block = 0; block < state.blocks.size(); ++block) {
    auto& keys = state.blocks[block].keys;
    for (std::uint32_t index = 0; index < keys.size(); ++index) pass_key(pass, {block, index}, keys[index]);
  }
  state.now = now;
  state.progress.outstanding = pass.outstanding;
  state.progress.verified = pass.verified;
  if (pass.newly_late && !last) ++state.progress.timeouts;
  if (!last) measure_stall(state, now, pass);
}

Places outstanding_positions(const State& state) {
  Places places;
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    const PartitionLog& log = state.partitions[number].log;
    const auto add = [&](std::uint64_t offset, const Slot& slot) {
      if (!slot.named() || (slot.groups & log.all_groups) == log.all_groups) return;
      places.add(slot.key, slot.sequence, number, offset);
    };
    for (const auto& [offset, slot] : log.unfinished) add(offset, slot);
    for (std::uint64_t offset = log.tail(); offset < log.head(); ++offset) add(offset, *log.in_ring(offset));
  }
  places.sort();
  return places;
}

bool passed(const State& state, std::uint32_t group, const core::Position& position) {
  const auto& partitions = state.groups[group].partitions;
  if (position.partition.value() >= partitions.size()) return false;
  if (state.options.contract.acknowledgement != core::Acknowledgement::kCumulative) return false;
  const std::uint64_t offset = position.offset.value();
  const auto latest = latest_lineages(state, partitions[position.partition.value()].lineages);
  return !latest.empty() && std::all_of(latest.begin(), latest.end(), [&](std::uint32_t number) {
    const Lineage& lineage = state.lineages[number];
    return lineage.next > offset + 1 || (lineage.next == offset + 1 && !lineage.handed.contains(offset)) ||
           lineage.committed > offset || lineage.start.value_or(0) > offset;
  });
}

}  // namespace sp::track

#include "track/state.h"

#include <algorithm>
#include <tuple>

namespace sp::track {

bool KeyDetail::empty() const {
  return open.empty() && failed.empty() && unknown.empty() && landed.empty() && unknown_settled.empty() &&
         unknown_cohorts.empty() && scan_holes.empty() && log == nullptr && inverted.empty() && misplaced_said.empty() &&
         strays.empty() && provisional.empty() && raw_phantoms.empty() && !home_guessed;
}

bool GroupDetail::empty() const {
  return holes.empty() && phantoms.empty() && reordered.empty() && late.empty() && arrived_late.empty() &&
         cohorts.empty();
}

State::State(LedgerOptions ledger_options) : options(std::move(ledger_options)), keys(options.run) {
  blocks.resize(1);
  for (const auto& name : options.groups) {
    Group& group = groups.emplace_back();
    group.name = name;
    group.keys.resize(1);
  }
}

void Places::sort() {
  std::sort(entries_.begin(), entries_.end());
  entries_.erase(std::unique(entries_.begin(), entries_.end()), entries_.end());
}

std::span<const Places::Entry> Places::of(core::KeyRef ref, std::uint64_t sequence) const {
  const RecordId id{ref, sequence};
  const auto begin = std::lower_bound(entries_.begin(), entries_.end(), id,
                                      [](const Entry& entry, const RecordId& wanted) { return entry.first < wanted; });
  auto end = begin;
  while (end != entries_.end() && end->first == id) ++end;
  return {begin, end};
}

bool State::received(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence) const {
  const GroupKey& state = group_key(group, ref);
  if (sequence >= state.top) return false;
  const GroupDetail* detail = group_details.find(state.detail);
  if (detail == nullptr) return true;
  return std::none_of(detail->holes.begin(), detail->holes.end(), [sequence](const Hole& hole) {
    return hole.begin <= sequence && sequence < hole.end;
  });
}

core::RangeSet State::acked_set(const KeyState& key_state) const {
  core::RangeSet ok;
  ok.insert_range(0, key_state.outcome_top);
  if (const KeyDetail* detail = key_details.find(key_state.detail)) {
    ok = ok.minus(detail->open).minus(detail->failed).minus(detail->unknown);
  }
  return ok;
}

core::RangeSet State::received_set(const GroupKey& group_key_state) const {
  core::RangeSet received_sequences;
  received_sequences.insert_range(0, group_key_state.top);
  if (const GroupDetail* detail = group_details.find(group_key_state.detail)) {
    for (const Hole& hole : detail->holes) received_sequences.erase_range(hole.begin, hole.end);
  }
  return received_sequences;
}

core::RangeSet State::misplaced_set(const KeyState& key_state) const {
  const KeyDetail* detail = key_details.find(key_state.detail);
  if (detail == nullptr || options.contract.partition_change) return {};
  core::RangeSet misplaced_sequences = detail->misplaced_said;
  if (detail->home_guessed) return misplaced_sequences;
  for (const KeyLog::Part& stray : detail->strays) {
    if (stray.partition != key_state.partition) misplaced_sequences.insert_all(stray.ordered);
  }
  return misplaced_sequences;
}

bool State::takes_part(core::KeyRef ref, std::uint64_t sequence) const {
  const KeyState* key_state = key(ref);
  if (key_state == nullptr || sequence >= key_state->issued_end) return false;
  const KeyDetail* detail = key_details.find(key_state->detail);
  return detail == nullptr || (!detail->failed.contains(sequence) && !misplaced_set(*key_state).contains(sequence));
}

bool State::any_takes_part(core::KeyRef ref, const core::RangeSet& sequences) const {
  const KeyState* key_state = key(ref);
  if (key_state == nullptr) return false;
  const KeyDetail* detail = key_details.find(key_state->detail);
  const core::RangeSet issued_ones = sequences.clip(0, key_state->issued_end);
  return !(detail == nullptr ? issued_ones : issued_ones.minus(detail->failed).minus(misplaced_set(*key_state))).empty();
}

void State::alarm(core::Code code, const Named& named) {
  if (alarms.size() >= options.limits.named_max) return;
  Alarm& alarm = alarms.emplace_back();
  alarm.code = code;
  if (named.group != kNone) alarm.group = core::GroupIndex{named.group};
  alarm.key = named.key;
  alarm.sequence = core::Sequence{named.sequence};
  if (named.offset != kNoOffset && named.partition != kNone) {
    alarm.position = core::Position{core::PartitionId{named.partition}, core::Offset{named.offset}};
  }
}

bool State::owner_reports(std::uint32_t block) const {
  if (block == core::KeySpace::kLiteralBlock) return true;
  const auto owner = sources.find(blocks[block].identity.source);
  return owner != sources.end() && !owner->second.lost && !owner->second.away;
}

bool ordered_before(const Lineage& a, const Lineage& b) {
  if (a.generation && b.generation && *a.generation != *b.generation) return *a.generation < *b.generation;
  if (a.source == b.source) return a.opened_order < b.opened_order;
  // X before P answered tick n, Y after Q answered tick n+1: then X before Y; all else is concurrent.
  return a.opened_period + 2 <= b.opened_period;
}

bool lineage_less(const Lineage& a, const Lineage& b) {
  const auto rank = [](const Lineage& lineage) {
    return std::tuple(lineage.generation.value_or(0), lineage.opened_period, lineage.source, lineage.opened_order);
  };
  return rank(a) < rank(b);
}

namespace {

// The last commit of `earlier` that counts for a lineage that opens as `lineage` did; nullopt if it has none.
std::optional<std::uint64_t> last_commit(const Lineage& earlier, const Lineage& lineage) {
  if (earlier.commits.empty()) return std::nullopt;
  const bool later_generation =
      earlier.generation && lineage.generation && *earlier.generation < *lineage.generation;
  if (later_generation) return earlier.commits.back().next;
  for (auto commit = earlier.commits.rbegin(); commit != earlier.commits.rend(); ++commit) {
    const bool before = earlier.source == lineage.source ? commit->order < lineage.opened_order
                                                         : commit->period + 2 <= lineage.opened_period;
    if (before) return commit->next;
  }
  return std::nullopt;
}

}  // namespace

bool LineageOrder::surely_over(const Lineage& a, const Lineage& b) const {
  if (!alike) return false;
  if (a.generation != b.generation) return a.generation < b.generation;
  return a.opened_period + 2 <= b.opened_period;
}

LineageOrder in_order(const State& state, std::vector<std::uint32_t> lineages) {
  LineageOrder order{std::move(lineages)};
  std::sort(order.numbers.begin(), order.numbers.end(),
            [&](std::uint32_t a, std::uint32_t b) { return lineage_less(state.lineages[a], state.lineages[b]); });
  const auto tells = [&](std::uint32_t number) { return state.lineages[number].generation.has_value(); };
  const auto telling = std::count_if(order.numbers.begin(), order.numbers.end(), tells);
  order.alike = telling == 0 || static_cast<std::size_t>(telling) == order.numbers.size();
  return order;
}

std::uint64_t committed_before(const State& state, const LineageOrder& order, const Lineage& lineage) {
  std::vector<std::pair<const Lineage*, std::uint64_t>> commits;  // of those that may be the latest, the highest in the order first
  for (auto number = order.numbers.rbegin(); number != order.numbers.rend(); ++number) {
    const Lineage& earlier = state.lineages[*number];
    if (&earlier == &lineage || !ordered_before(earlier, lineage)) continue;
    if (!commits.empty() && order.surely_over(earlier, *commits.front().first)) break;  // so are all that come now
    if (const auto commit = last_commit(earlier, lineage)) commits.emplace_back(&earlier, *commit);
  }
  std::optional<std::uint64_t> lowest;
  for (const auto& own : commits) {
    const auto later = [&](const auto& other) { return ordered_before(*own.first, *other.first); };
    if (std::none_of(commits.begin(), commits.end(), later)) lowest = std::min(lowest.value_or(own.second), own.second);
  }
  return lowest.value_or(0);
}

std::vector<std::uint32_t> latest_lineages(const State& state, const std::vector<std::uint32_t>& lineages) {
  std::vector<std::uint32_t> latest;
  for (const std::uint32_t number : lineages) {
    const Lineage& own = state.lineages[number];
    const auto after_own = [&](std::uint32_t other) { return ordered_before(own, state.lineages[other]); };
    if (std::any_of(latest.begin(), latest.end(), after_own)) continue;
    std::erase_if(latest, [&](std::uint32_t other) { return ordered_before(state.lineages[other], own); });
    latest.push_back(number);
  }
  std::erase_if(latest, [&](std::uint32_t own) {  // where some tell no generation, one that went may have been after one that stayed
    return std::any_of(lineages.begin(), lineages.end(),
                       [&](std::uint32_t other) { return ordered_before(state.lineages[own], state.lineages[other]); });
  });
  return latest;
}

}  // namespace sp::track

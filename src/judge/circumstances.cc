#include "judge/circumstances.h"

#include <algorithm>
#include <tuple>

namespace sp::judge {
namespace {

auto place(const track::Overdue& overdue) { return std::tuple(overdue.group, overdue.key, overdue.sequences.begin); }
auto place(const Noticed& noticed) {
  return std::tuple(noticed.code, noticed.group, noticed.key, noticed.sequence, noticed.position);
}

std::string_view close_name(const track::Lineage& lineage) {
  if (lineage.open) return "open";
  if (lineage.source_lost) return "died";
  switch (lineage.close) {
    case core::LineageClose::kRevoked: return "revoked";
    case core::LineageClose::kLost: return "lost";
    case core::LineageClose::kClosed: return "closed";
  }
  return "";
}

LineageFact fact_of(const track::Lineage& lineage) {
  LineageFact fact;
  fact.consumer = consumer_text(lineage);
  fact.partition = core::PartitionId{lineage.partition};
  if (lineage.generation) fact.generation = core::Generation{*lineage.generation};
  if (lineage.start) fact.start = core::Offset{*lineage.start};
  if (lineage.first_handed != track::kNoOffset) {
    fact.first = core::Offset{lineage.first_handed};
    fact.next = core::Offset{lineage.next};
  }
  if (!lineage.commits.empty()) fact.committed = core::Offset{lineage.committed};
  fact.closed = close_name(lineage);
  return fact;
}

// How far the positions that the lineage read are from this one.
std::uint64_t distance(const track::Lineage& lineage, std::uint64_t offset) {
  if (lineage.begin() == track::kNoOffset) return track::kNoOffset;  // it read nothing and did not say where
  if (offset < lineage.begin()) return lineage.begin() - offset;
  return offset < lineage.next ? 0 : offset - lineage.next + 1;
}

// When its effects were over; nothing: nobody saw that.
std::optional<MonotonicTime> felt_until(const core::FaultRecord& fault) {
  if (!fault.end || !fault.took_effect()) return fault.end;
  if (!fault.recovered) return std::nullopt;
  return std::max(*fault.end, *fault.recovered);
}

}  // namespace

void Circumstances::Span::add(MonotonicTime from, MonotonicTime to) {
  since = since ? std::min(*since, from) : from;
  at = at ? std::min(*at, to) : to;
  last = std::max(last, to);
}

Circumstances::Circumstances(const track::State& state, const RunFacts& facts)
    : state_(state), facts_(facts), overdue_(state.overdue), noticed_(facts.noticed) {
  const auto less = [](const auto& a, const auto& b) { return place(a) < place(b); };
  std::sort(overdue_.begin(), overdue_.end(), less);
  std::sort(noticed_.begin(), noticed_.end(), less);
}

void Circumstances::tell(std::span<const Collector::Item> items, Finding& finding) {
  const Collector::Item& head = items.front();
  if (facts_.times) {
    const RunTimes& times = *facts_.times;
    Span span = span_of(items);
    if (!span.at) span.add(span.since.value_or(times.load_begin), times.judged);
    finding.time = *span.at - times.begin;
    if (times.begin_wall) finding.wall = *times.begin_wall + *finding.time;
    tell_faults(*span.since, span.last, finding);
  }
  if (head.group != track::kNone) tell_lineages(head, finding);
}

Circumstances::Span Circumstances::span_of(std::span<const Collector::Item> items) const {
  Span span;
  for (const Collector::Item& item : items) {
    if (item.code == core::Code::kLost || item.code == core::Code::kLate) {
      look_overdue(item, span);
      if (!span.at) look_waiting(item, span);
    } else {
      look_noticed(item, span);
    }
  }
  return span;
}

void Circumstances::look_overdue(const Collector::Item& item, Span& span) const {
  const auto key = std::pair(item.group, item.key);
  auto found = std::upper_bound(overdue_.begin(), overdue_.end(), std::tuple(item.group, item.key, item.first),
                                [](const auto& at, const track::Overdue& one) { return at < place(one); });
  if (found != overdue_.begin()) --found;  // the range before may reach into this one
  for (; found != overdue_.end() && std::pair(found->group, found->key) <= key; ++found) {
    if (std::pair(found->group, found->key) != key || found->sequences.end <= item.first) continue;
    if (found->sequences.begin > item.last) break;
    span.add(found->since, found->at);
  }
}

// Acknowledged and not received, but its deadline had not come: since when it was waited for.
void Circumstances::look_waiting(const Collector::Item& item, Span& span) const {
  const track::GroupDetail* detail = state_.group_details.find(state_.group_key(item.group, item.key).detail);
  if (detail == nullptr) return;
  for (const track::Cohort& cohort : detail->cohorts) {
    if (!cohort.sequences.contains(item.first)) continue;
    span.since = span.since ? std::min(*span.since, cohort.since) : cohort.since;
  }
}

void Circumstances::look_noticed(const Collector::Item& item, Span& span) const {
  const auto group = item.group == track::kNone ? std::nullopt : std::optional(core::GroupIndex{item.group});
  Noticed from;
  from.code = item.code;
  from.group = group;
  from.key = item.key;
  from.sequence = item.first;
  const bool keyless = item.key.index == track::kNone;
  for (auto found = std::lower_bound(noticed_.begin(), noticed_.end(), from,
                                     [](const auto& a, const auto& b) { return place(a) < place(b); });
       found != noticed_.end(); ++found) {
    if (std::tuple(found->code, found->group, found->key) != std::tuple(item.code, group, item.key)) break;
    if (found->sequence > item.last) break;
    if (!keyless || found->position == item.position) span.add(found->since, found->at);
  }
}

void Circumstances::tell_faults(MonotonicTime since, MonotonicTime until, Finding& finding) const {
  for (const auto& fault : facts_.faults) {
    const auto felt = felt_until(fault);
    if (fault.begin > until || (felt && *felt < since)) continue;
    finding.fault_numbers.push_back(fault.number);
    if (std::find(finding.faults.begin(), finding.faults.end(), fault.name) == finding.faults.end()) {
      finding.faults.push_back(fault.name);
    }
  }
}

const std::vector<std::uint32_t>& Circumstances::ordered(std::uint32_t group, std::uint32_t partition) {
  const auto [entry, fresh] = ordered_.try_emplace({group, partition});
  const auto& partitions = state_.groups[group].partitions;
  if (fresh && partition < partitions.size()) entry->second = track::in_order(state_, partitions[partition].lineages).numbers;
  return entry->second;
}

void Circumstances::tell_lineages(const Collector::Item& head, Finding& finding) {
  const track::Lineage* const own = head.lineage == track::kNone ? nullptr : &state_.lineages[head.lineage];
  std::uint32_t partition = 0;
  std::uint64_t offset = 0;
  if (!finding.positions.empty()) {
    partition = finding.positions.front().partition.value();
    offset = finding.positions.front().offset.value();
  } else if (own != nullptr) {
    partition = own->partition;
    offset = own->begin();
  } else {
    return;
  }
  const auto& order = ordered(head.group, partition);
  if (order.empty()) return;
  // That the group went past a record is known by its latest lineage.
  if (finding.consumer.empty() && finding.code == core::Code::kLost && finding.blame == core::Blame::kClient) {
    finding.consumer = consumer_text(state_.lineages[order.back()]);
  }
  std::vector<std::tuple<bool, std::uint64_t, std::size_t>> nearest;  // its own first
  for (std::size_t at = 0; at < order.size(); ++at) {
    nearest.emplace_back(order[at] != head.lineage, distance(state_.lineages[order[at]], offset), at);
  }
  const std::size_t kept = std::min(kLineagesMax, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(kept), nearest.end());
  nearest.resize(kept);
  std::sort(nearest.begin(), nearest.end(), [](const auto& a, const auto& b) { return std::get<2>(a) < std::get<2>(b); });
  for (const auto& one : nearest) finding.lineages.push_back(fact_of(state_.lineages[order[std::get<2>(one)]]));
}

}  // namespace sp::judge

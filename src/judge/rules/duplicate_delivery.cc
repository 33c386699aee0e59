// duplicate-delivery: a position handed over again; D - Q of the checking model. A lineage may repeat once what earlier lineages
// handed over at or above the committed position; repeats inside a lineage are never allowed. With individual acknowledgements
// the facts say which are.
#include <algorithm>
#include <map>

#include "judge/rule.h"

namespace sp::judge {
namespace {

constexpr std::string_view kNoteInner = "handed over again by the same consumer without a rebalance";
constexpr std::string_view kNoteAgain = "handed over again, which is never allowed here";
constexpr std::string_view kNoteBelow = "handed over again from below the committed position";

// The names of repeated positions of one partition and group, by position.
std::map<std::uint64_t, track::Named> repeats_by_offset(const track::State& state, const track::Lineage& of) {
  std::map<std::uint64_t, track::Named> names;
  for (const std::uint32_t number : state.groups[of.group].partitions[of.partition].lineages) {
    for (const auto& named : state.lineages[number].repeats) names.try_emplace(named.offset, named);
  }
  return names;
}

}  // namespace

void rule_duplicate_delivery(Context& context) {
  constexpr core::Code kCode = core::Code::kDuplicateDelivery;
  const bool individual = context.facts.lab && context.facts.lab->single_acks;
  for (const auto& group : context.state.groups) {
    for (const auto& partition : group.partitions) context.count(kCode) += partition.repeats;
    context.count(kCode) += group.repeats_unplaced.count;
    if (!individual) context.findings.add_all(kCode, group.repeats_unplaced, "handed over again");
  }
  if (individual) {  // the findings are those of the facts
    if (!context.contract.never_again()) context.allowed(kCode) = std::min(context.facts.lab->single_acks->allowed, context.count(kCode));
    return;
  }
  for_each_lineage(context.state, [&](std::uint32_t number, std::uint64_t committed, const core::RangeSet& before) {
    const track::Lineage& lineage = context.state.lineages[number];
    for (const auto& named : lineage.inner) context.findings.add(kCode, named, kNoteInner);
    const core::RangeSet shared = lineage.handed.intersect(before);
    const bool never = context.contract.never_again();
    if (!never) context.allowed(kCode) += shared.count_in(committed, track::kNoOffset);
    const core::RangeSet below = never ? shared : shared.clip(0, committed);
    if (below.empty()) return;
    for (const auto& [offset, named] : repeats_by_offset(context.state, lineage)) {
      if (!below.contains(offset)) continue;
      track::Named own = named;
      own.lineage = number;
      context.findings.add(kCode, own, offset < committed ? kNoteBelow : kNoteAgain);
    }
  });
}

}  // namespace sp::judge

// dual-owner: two members of a classic group hold one partition in one generation and the first did not give it back.
#include <set>
#include <tuple>

#include "judge/rule.h"

namespace sp::judge {
namespace {

// True if it is certain that the first gave the partition back only after the second had opened.
bool closed_after(const track::Lineage& first, const track::Lineage& second) {
  if (first.left_generation && *first.left_generation > *second.generation) return true;
  if (first.source == second.source) return first.closed_order > second.opened_order;
  return first.closed_period >= second.opened_period + 2;
}

// True if the first gave the partition back at or below the generation, or the second is its successor.
bool legal(const track::Lineage& first, const track::Lineage& second) {
  if (first.member == second.member) return true;
  if (!first.instance.empty() && first.instance == second.instance) return true;
  if (first.source.worker == second.source.worker && first.source.incarnation < second.source.incarnation) return true;
  // A close at the end of the run gives nothing back.
  return !first.open && first.close != core::LineageClose::kClosed && !closed_after(first, second);
}

}  // namespace

void rule_dual_owner(Context& context) {
  const track::State& state = context.state;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>> counted;  // group, partition, generation
  for (std::uint32_t number = 0; number < state.lineages.size(); ++number) {
    const track::Lineage& second = state.lineages[number];
    if (!second.classic || !second.generation) {
      ++context.result.coverage.not_checked["dual-owner"];
      continue;
    }
    for (const std::uint32_t other : state.groups[second.group].partitions[second.partition].lineages) {
      const track::Lineage& first = state.lineages[other];
      if (other >= number || !first.classic || first.generation != second.generation) continue;
      // Which of the two opened first is known by lineage order; of two concurrent ones either may have been.
      const bool certain = track::ordered_before(first, second) || track::ordered_before(second, first);
      const bool first_first = !track::ordered_before(second, first);
      const bool excused = first_first ? legal(first, second) : legal(second, first);
      if (excused || (!certain && legal(second, first))) continue;
      if (!counted.emplace(second.group, second.partition, *second.generation).second) continue;
      ++context.count(core::Code::kDualOwner);
      Collector::Item item;
      item.code = core::Code::kDualOwner;
      item.group = second.group;
      item.first = *second.generation;
      item.last = *second.generation;
      item.lineage = number;
      item.note = "two members held the partition in this generation; first and last are the generation";
      context.findings.add(item);
    }
  }
}

}  // namespace sp::judge

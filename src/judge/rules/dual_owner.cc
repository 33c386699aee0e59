// dual-owner: two members of a classic group hold one partition in one generation and the first did not give it back.
#include <set>
#include <tuple>

#include "judge/rule.h"

namespace sp::judge {
namespace {

// True if the first gave the partition back at or below the generation, or the second is its successor.
bool legal(const track::Lineage& first, const track::Lineage& second) {
  if (first.member == second.member) return true;
  if (!first.instance.empty() && first.instance == second.instance) return true;
  if (first.source.worker == second.source.worker && first.source.incarnation < second.source.incarnation) return true;
  return !first.open && first.close != core::LineageClose::kClosed;  // a close at the end gives nothing back
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
      if (legal(first, second) || legal(second, first)) continue;
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

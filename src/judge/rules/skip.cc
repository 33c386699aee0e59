// skip: a lineage went from a lower to a higher sequence of a key past one that the log holds, never handed it over, and another
// lineage did.
#include <algorithm>

#include "judge/rule.h"

namespace sp::judge {
namespace {

bool handed_by_another(const track::State& state, std::uint32_t number, std::uint64_t offset) {
  const track::Lineage& own = state.lineages[number];
  const auto& lineages = state.groups[own.group].partitions[own.partition].lineages;
  return std::any_of(lineages.begin(), lineages.end(), [&](std::uint32_t other) {
    const track::Lineage& lineage = state.lineages[other];
    return other != number && lineage.handed.contains(offset) && !lineage.damaged.contains(offset);
  });
}

void skip(Context& context, const track::Named& named) {
  const std::pair place{named.group, named.key};
  const auto lost = context.lost.find(place);
  if (lost != context.lost.end() && lost->second.contains(named.sequence)) return;
  if (!context.skipped[place].insert(named.sequence)) return;
  ++context.count(core::Code::kSkip);
  context.findings.add(core::Code::kSkip, named, "jumped over by this consumer, delivered by another");
}

}  // namespace

void rule_skip(Context& context) {
  const track::State& state = context.state;
  if (context.contract.acknowledgement == core::Acknowledgement::kIndividual) return;
  for (std::uint32_t number = 0; number < state.lineages.size(); ++number) {
    const track::Lineage& lineage = state.lineages[number];
    std::map<core::KeyRef, const std::vector<track::Suspect>*> by_key;  // findings come in this order
    for (const auto& [ref, suspects] : lineage.suspects) by_key.emplace(ref, &suspects);
    for (const auto& [ref, suspects] : by_key) {
      for (const auto& suspect : *suspects) {
        track::Named named = suspect.record;
        if (suspect.handed || lineage.handed.contains(named.offset) || !state.takes_part(ref, named.sequence)) continue;
        if (!state.any_takes_part(ref, suspect.above) || !handed_by_another(state, number, named.offset)) continue;
        named.lineage = number;
        skip(context, named);
      }
    }
  }
}

}  // namespace sp::judge

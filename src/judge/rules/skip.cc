// skip: a lineage went from a lower to a higher sequence of a key past one that the log holds, never handed it over, and another
// lineage did.
#include "judge/rule.h"

namespace sp::judge {
namespace {

void skip(Context& context, const track::Named& named) {
  const track::Lineage& lineage = context.state.lineages[named.lineage];
  if (lineage.handed.contains(named.offset)) return;  // it handed it over later after all
  const std::pair place{named.group, named.key};
  const auto lost = context.lost.find(place);
  if (lost != context.lost.end() && lost->second.contains(named.sequence)) return;
  if (!context.skipped[place].insert(named.sequence)) return;
  ++context.count(core::Code::kSkip);
  context.findings.add(core::Code::kSkip, named, "jumped over by this consumer, delivered by another");
}

}  // namespace

void rule_skip(Context& context) {
  for (const auto& group : context.state.groups) {
    for (const auto& named : group.skips.items) skip(context, named);
  }
  if (context.contract.acknowledgement == core::Acknowledgement::kIndividual) return;
  for (std::uint32_t number = 0; number < context.state.lineages.size(); ++number) {
    for (const auto& suspect : context.state.lineages[number].suspects) {
      if (!suspect.passed || suspect.handed) continue;
      track::Named named = suspect.record;
      named.lineage = number;
      skip(context, named);
    }
  }
}

}  // namespace sp::judge

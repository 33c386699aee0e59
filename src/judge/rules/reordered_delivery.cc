// reordered-delivery: handed over after a higher sequence of its key although the log has the two in order.
#include "judge/rule.h"

namespace sp::judge {

void rule_reordered_delivery(Context& context) {
  for_each_key(context.state, [&](core::KeyRef ref, const track::KeyState& /*key*/) {
    for (std::uint32_t group = 0; group < context.state.groups.size(); ++group) {
      const auto* detail = context.state.group_details.find(context.state.group_key(group, ref).detail);
      if (detail == nullptr || detail->reordered.empty()) continue;
      core::RangeSet own = detail->reordered;
      for (const auto* counted : {&context.lost, &context.skipped}) {
        const auto found = counted->find({group, ref});
        if (found != counted->end()) own = own.minus(found->second);
      }
      context.count(core::Code::kReorderedDelivery) += own.size();
      context.findings.add_set(core::Code::kReorderedDelivery, group, ref, own,
                               "handed over after a later record of its key");
    }
  });
}

}  // namespace sp::judge

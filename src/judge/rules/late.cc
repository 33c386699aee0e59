// late: a record missed its deadline and arrived afterwards. Fails nothing by itself.
#include "judge/rule.h"

namespace sp::judge {

void rule_late(Context& context) {
  for (const auto& group : context.state.groups) context.count(core::Code::kLate) += group.late;
  for_each_key(context.state, [&](core::KeyRef ref, const track::KeyState& /*key*/) {
    for (std::uint32_t group = 0; group < context.state.groups.size(); ++group) {
      const auto* detail = context.state.group_details.find(context.state.group_key(group, ref).detail);
      if (detail == nullptr) continue;
      context.findings.add_set(core::Code::kLate, group, ref, detail->arrived_late, "arrived after its deadline");
    }
  });
}

}  // namespace sp::judge

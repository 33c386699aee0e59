// before-start: delivered from below the position the consumer asked to start at.
#include "judge/rule.h"

namespace sp::judge {

void rule_before_start(Context& context) {
  for (const auto& group : context.state.groups) {
    context.count(core::Code::kBeforeStart) += group.before_start.count;
    context.findings.add_all(core::Code::kBeforeStart, group.before_start, "delivered from below the start position");
  }
}

}  // namespace sp::judge

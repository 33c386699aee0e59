// misplaced: found in a partition that is not its key's, or not the one its payload asked for.
#include "judge/rule.h"

namespace sp::judge {

void rule_misplaced(Context& context) {
  context.count(core::Code::kMisplaced) = context.state.misplaced.count;
  context.findings.add_all(core::Code::kMisplaced, context.state.misplaced, "stands in the wrong partition");
}

}  // namespace sp::judge

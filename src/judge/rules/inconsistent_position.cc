// inconsistent-position: one position with two different records, or an ack that names a position of another record or an empty one.
#include "judge/rule.h"

namespace sp::judge {

void rule_inconsistent_position(Context& context) {
  context.count(core::Code::kInconsistentPosition) = context.state.inconsistent.count;
  context.findings.add_all(core::Code::kInconsistentPosition, context.state.inconsistent,
                           "its position was seen with another record, or empty");
}

}  // namespace sp::judge

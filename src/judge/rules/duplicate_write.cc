// duplicate-write: one record at two positions; Q - R of the checking model, found by scanning the log.
#include "judge/rule.h"

namespace sp::judge {

void rule_duplicate_write(Context& context) {
  context.count(core::Code::kDuplicateWrite) = context.state.second_copies.count;
  context.findings.add_all(core::Code::kDuplicateWrite, context.state.second_copies, "stands in the log a second time");
}

}  // namespace sp::judge

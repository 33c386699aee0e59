// corrupt: checksum, size, key or run disagree within a record.
#include "judge/rule.h"

namespace sp::judge {

void rule_corrupt(Context& context) {
  constexpr core::Code kCode = core::Code::kCorrupt;
  context.count(kCode) = context.state.raw_corrupt.count;
  context.findings.add_all(kCode, context.state.raw_corrupt, "damaged in the log");
  for (const auto& group : context.state.groups) {
    context.count(kCode) += group.corrupt.count;
    context.findings.add_all(kCode, group.corrupt, "delivered damaged");
  }
}

}  // namespace sp::judge

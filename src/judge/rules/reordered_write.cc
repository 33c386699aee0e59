// reordered-write: a record's first copy stands behind the first copy of a higher sequence of its key. Allowed if its attempt was
// of unknown outcome and landed late, unless the contract says idempotent.
#include "judge/rule.h"

namespace sp::judge {

void rule_reordered_write(Context& context) {
  constexpr core::Code kCode = core::Code::kReorderedWrite;
  context.count(kCode) = context.state.inverted.count;
  core::RangeSet none;
  const auto allowed_of = [&](core::KeyRef ref) -> const core::RangeSet& {
    const auto* detail = context.state.key_details.find(context.state.key(ref)->detail);
    return context.contract.idempotent || detail == nullptr ? none : detail->unknown;
  };
  for_each_key(context.state, [&](core::KeyRef ref, const track::KeyState& key) {
    const auto* detail = context.state.key_details.find(key.detail);
    if (detail != nullptr) context.allowed(kCode) += detail->inverted.count_shared(allowed_of(ref));
  });
  for (const auto& named : context.state.inverted.items) {
    if (allowed_of(named.key).contains(named.sequence)) continue;
    context.findings.add(kCode, named, "stands in the log behind a later record of its key");
  }
}

}  // namespace sp::judge

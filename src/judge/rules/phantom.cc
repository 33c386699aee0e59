// phantom: delivered or in the log, but nobody issued it, or its attempt certainly failed.
#include "judge/rule.h"

namespace sp::judge {

void rule_phantom(Context& context) {
  constexpr core::Code kCode = core::Code::kPhantom;
  const track::State& state = context.state;
  context.count(kCode) = state.raw_phantoms;
  for (const auto& named : state.raw_phantoms_named.items) {
    context.findings.add(kCode, named, named.key.index == track::kNone ? "a record of another run stands in the log"
                                                                       : "in the log, but nobody wrote it successfully");
  }
  for (const auto& group : state.groups) {
    context.count(kCode) += group.phantoms + group.foreign_phantoms.count;
    for (const auto& named : group.foreign_phantoms.items) {
      context.findings.add(kCode, named, named.key.index == track::kNone
                                             ? "a record of another run was delivered"
                                             : "delivered under a key that nobody of this run owns");
    }
  }
  for_each_key(state, [&](core::KeyRef ref, const track::KeyState& key) {
    const auto* key_detail = state.key_details.find(key.detail);
    for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
      const auto* detail = state.group_details.find(state.group_key(group, ref).detail);
      if (detail == nullptr || detail->phantoms.empty()) continue;
      const core::RangeSet failed = key_detail == nullptr ? core::RangeSet{} : key_detail->failed;
      context.findings.add_set(kCode, group, ref, detail->phantoms.intersect(failed),
                               "delivered although its attempt certainly failed");
      context.findings.add_set(kCode, group, ref, detail->phantoms.minus(failed), "delivered, but nobody issued it");
    }
  });
}

}  // namespace sp::judge

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
      if (key_detail == nullptr) {
        context.findings.add_set(kCode, group, ref, detail->phantoms, "delivered, but nobody issued it");
        continue;
      }
      const core::RangeSet& aborted = key_detail->aborted;
      const core::RangeSet& fenced = key_detail->fenced;
      const core::RangeSet failed = key_detail->failed.minus(aborted).minus(fenced);
      const auto add = [&](const core::RangeSet& sequences, std::string_view note) {
        context.findings.add_set(kCode, group, ref, sequences, note);
      };
      add(detail->phantoms.intersect(failed), "delivered although its attempt certainly failed");
      add(detail->phantoms.intersect(aborted), "delivered although its transaction was aborted");
      add(detail->phantoms.intersect(fenced), "delivered although its producer was fenced before it asked for the commit");
      add(detail->phantoms.minus(key_detail->failed), "delivered, but nobody issued it");
    }
  });
}

}  // namespace sp::judge

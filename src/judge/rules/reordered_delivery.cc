// reordered-delivery: handed over after a higher sequence of its key although the log has the two in order.
#include "judge/rule.h"

namespace sp::judge {
namespace {

// The records that were overtaken, and by one that takes part in the order as they do.
GroupKeySets overtaken(const track::State& state) {
  GroupKeySets sets;
  const auto look = [&](const track::Overtaken& candidate) {
    const track::Named& record = candidate.record;
    if (!state.takes_part(record.key, record.sequence) || !state.any_takes_part(record.key, candidate.above)) return;
    sets[{record.group, record.key}].insert(record.sequence);
  };
  for (const auto& group : state.groups) {
    for (const auto& candidate : group.overtaken) look(candidate);
    for (const auto& [id, candidate] : group.overtaken_across) look(candidate);
  }
  return sets;
}

}  // namespace

void rule_reordered_delivery(Context& context) {
  GroupKeySets sets = overtaken(context.state);
  for_each_key(context.state, [&](core::KeyRef ref, const track::KeyState& /*key*/) {
    for (std::uint32_t group = 0; group < context.state.groups.size(); ++group) {
      const auto* detail = context.state.group_details.find(context.state.group_key(group, ref).detail);
      if (detail != nullptr && !detail->reordered.empty()) sets[{group, ref}].insert_all(detail->reordered);
    }
  });
  for (auto& [place, own] : sets) {
    for (const auto* counted : {&context.lost, &context.skipped}) {
      const auto found = counted->find(place);
      if (found != counted->end()) own = own.minus(found->second);
    }
    context.count(core::Code::kReorderedDelivery) += own.size();
    context.findings.add_set(core::Code::kReorderedDelivery, place.first, place.second, own,
                             "handed over after a later record of its key");
  }
}

}  // namespace sp::judge

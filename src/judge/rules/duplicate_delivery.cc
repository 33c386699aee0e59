// duplicate-delivery: a position handed over again; D - Q of the checking model. A lineage may repeat once what earlier lineages
// handed over at or above the committed position; repeats inside a lineage are never allowed. With individual acknowledgements
// the facts say which are.
#include <algorithm>
#include <map>

#include "judge/rule.h"

namespace sp::judge {
namespace {

constexpr std::string_view kNoteInner = "handed over again by the same consumer without a rebalance";
constexpr std::string_view kNoteAgain = "handed over again, which is never allowed here";
constexpr std::string_view kNoteBelow = "handed over again from below the committed position";

// The names of repeated positions of one partition and group, by position.
std::map<std::uint64_t, track::Named> repeats_by_offset(const track::State& state, const track::Lineage& of) {
  std::map<std::uint64_t, track::Named> names;
  for (const std::uint32_t number : state.groups[of.group].partitions[of.partition].lineages) {
    for (const auto& named : state.lineages[number].repeats) names.try_emplace(named.offset, named);
  }
  return names;
}

void name_repeats(Context& context, std::uint32_t number, const core::RangeSet& positions, std::uint64_t committed) {
  if (positions.empty()) return;
  for (const auto& [offset, named] : repeats_by_offset(context.state, context.state.lineages[number])) {
    if (!positions.contains(offset)) continue;
    track::Named own = named;
    own.lineage = number;
    context.findings.add(core::Code::kDuplicateDelivery, own, offset < committed ? kNoteBelow : kNoteAgain);
  }
}

// One position that several lineages handed over: which of them, if one of them was the first, may be said to have repeated it wrongly.
void look_at_position(Context& context, const std::vector<EarlierLineages>& lineages, std::uint64_t offset,
                      std::map<std::uint32_t, core::RangeSet>& refused) {
  std::vector<const EarlierLineages*> holders;
  for (const EarlierLineages& each : lineages) {
    if (context.state.lineages[each.number].handed.contains(offset)) holders.push_back(&each);
  }
  const auto allowed = [&](const EarlierLineages* each) { return offset >= each->committed; };
  const auto first = std::find_if(holders.begin(), holders.end(), [&](const EarlierLineages* each) {
    return !allowed(each) && !each->again.contains(offset);
  });
  const auto count = static_cast<std::uint64_t>(std::count_if(holders.begin(), holders.end(), allowed));
  const bool one_was_first = first != holders.end();
  context.allowed(core::Code::kDuplicateDelivery) += one_was_first ? count : std::max<std::uint64_t>(count, 1) - 1;
  for (const EarlierLineages* each : holders) {
    const bool is_first = one_was_first && each == *first;
    if (!is_first && !allowed(each)) refused[each->number].insert(offset);
  }
}

// Where some tell their generation and others do not, no order of all agrees with what is certain: position by position.
void look_at_each(Context& context, const std::vector<EarlierLineages>& lineages) {
  core::RangeSet repeated;
  for (const EarlierLineages& each : lineages) repeated.insert_all(each.shared);
  std::map<std::uint32_t, core::RangeSet> refused;  // by lineage
  for (const auto& range : repeated.ranges()) {
    for (std::uint64_t offset = range.begin; offset < range.end; ++offset) look_at_position(context, lineages, offset, refused);
  }
  for (const EarlierLineages& each : lineages) {
    const auto found = refused.find(each.number);
    if (found != refused.end()) name_repeats(context, each.number, found->second, each.committed);
  }
}

void look_at(Context& context, const track::GroupPartition& partition) {
  const auto lineages = earlier_lineages(context.state, partition);
  for (const EarlierLineages& earlier : lineages) {
    for (const auto& named : context.state.lineages[earlier.number].inner) {
      context.findings.add(core::Code::kDuplicateDelivery, named, kNoteInner);
    }
  }
  const bool alike = track::in_order(context.state, partition.lineages).alike;
  if (!alike && !context.contract.never_again()) return look_at_each(context, lineages);
  core::RangeSet first_allowed;  // positions whose first lineage in the order would have been allowed to repeat them
  for (const EarlierLineages& earlier : lineages) {
    const track::Lineage& lineage = context.state.lineages[earlier.number];
    if (context.contract.never_again()) {
      name_repeats(context, earlier.number, earlier.shared, earlier.committed);
      continue;
    }
    const core::RangeSet refused = earlier.shared.clip(0, earlier.committed);
    // Where nothing says that it came after the first one, it may have been the first itself, and the other one's was the repeat.
    const core::RangeSet may_be_first = refused.minus(earlier.again).intersect(first_allowed);
    context.allowed(core::Code::kDuplicateDelivery) += earlier.shared.size() - refused.size() + may_be_first.size();
    name_repeats(context, earlier.number, refused.minus(may_be_first), earlier.committed);
    first_allowed = first_allowed.minus(may_be_first);
    first_allowed.insert_all(lineage.handed.minus(earlier.shared).clip(earlier.committed, track::kNoOffset));
  }
}

}  // namespace

void rule_duplicate_delivery(Context& context) {
  constexpr core::Code kCode = core::Code::kDuplicateDelivery;
  const bool individual = context.facts.lab && context.facts.lab->single_acks;
  for (const auto& group : context.state.groups) {
    for (const auto& partition : group.partitions) context.count(kCode) += partition.repeats;
    context.count(kCode) += group.repeats_unplaced.count;
    if (!individual) context.findings.add_all(kCode, group.repeats_unplaced, "handed over again");
  }
  if (individual) {  // the findings are those of the facts
    if (!context.contract.never_again()) context.allowed(kCode) = std::min(context.facts.lab->single_acks->allowed, context.count(kCode));
    return;
  }
  for (const auto& group : context.state.groups) {
    for (const auto& partition : group.partitions) look_at(context, partition);
  }
}

}  // namespace sp::judge

// commit-ahead: a commit passed positions its lineage had not handed over and that hold records, as the raw read or another lineage
// shows. With neither there is nothing to say.
#include "judge/rule.h"

namespace sp::judge {

void rule_commit_ahead(Context& context) {
  const track::State& state = context.state;
  std::map<std::pair<std::uint32_t, std::uint32_t>, core::RangeSet> counted;  // by group and partition
  for (std::uint32_t number = 0; number < state.lineages.size(); ++number) {
    const track::Lineage& lineage = state.lineages[number];
    if (lineage.ahead.empty()) continue;
    core::RangeSet passed;
    for (const auto& gap : lineage.ahead) passed.insert_range(gap.begin, gap.end);
    const track::PartitionState& log = state.partitions[lineage.partition];
    core::RangeSet known = log.raw_present.minus(log.foreign);
    for (std::uint32_t other = 0; other < state.lineages.size(); ++other) {
      if (other != number && state.lineages[other].partition == lineage.partition) {
        known.insert_all(state.lineages[other].handed);
      }
    }
    core::RangeSet& before = counted[{lineage.group, lineage.partition}];
    const core::RangeSet ahead = passed.intersect(known).minus(before);
    before.insert_all(ahead);
    context.count(core::Code::kCommitAhead) += ahead.size();
    for (const auto& range : ahead.ranges()) {
      Collector::Item item;
      item.code = core::Code::kCommitAhead;
      item.group = lineage.group;
      item.first = range.begin;
      item.last = range.end - 1;
      item.lineage = number;
      item.position = core::Position{core::PartitionId{lineage.partition}, core::Offset{range.begin}};
      item.note = "committed before it was handed over; first and last are offsets";
      context.findings.add(item);
    }
  }
}

}  // namespace sp::judge

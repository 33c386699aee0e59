// rewind: a lineage started below the committed position; the records between that others had handed over are handed over again.
#include "judge/rule.h"

namespace sp::judge {

void rule_rewind(Context& context) {
  for_each_lineage(context.state, [&](std::uint32_t number, std::uint64_t committed, const core::RangeSet& before) {
    const track::Lineage& lineage = context.state.lineages[number];
    if (lineage.handed.empty() || lineage.begin() >= committed) return;
    const core::RangeSet again = lineage.handed.intersect(before).clip(0, committed);
    if (again.empty()) return;
    context.count(core::Code::kRewind) += again.size();
    Collector::Item item;
    item.code = core::Code::kRewind;
    item.group = lineage.group;
    item.first = again.first();
    item.last = again.last();
    item.lineage = number;
    item.position = core::Position{core::PartitionId{lineage.partition}, core::Offset{again.first()}};
    item.note = "started below the committed position; first and last are offsets";
    context.findings.add(item);
  });
}

}  // namespace sp::judge

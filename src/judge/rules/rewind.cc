// rewind: a lineage started below the committed position; the records between that others had handed over are handed over again.
#include "judge/rule.h"

namespace sp::judge {

namespace {

void look_at(Context& context, const EarlierLineages& earlier) {
  const track::Lineage& lineage = context.state.lineages[earlier.number];
  if (lineage.handed.empty() || lineage.begin() >= earlier.committed) return;
  const core::RangeSet again = earlier.again.clip(0, earlier.committed);
  if (again.empty()) return;
  context.count(core::Code::kRewind) += again.size();
  Collector::Item item;
  item.code = core::Code::kRewind;
  item.group = lineage.group;
  item.first = again.first();
  item.last = again.last();
  item.lineage = earlier.number;
  item.position = core::Position{core::PartitionId{lineage.partition}, core::Offset{again.first()}};
  item.note = "started below the committed position; first and last are offsets";
  context.findings.add(item);
}

}  // namespace

void rule_rewind(Context& context) {
  for (const auto& group : context.state.groups) {
    for (const auto& partition : group.partitions) {
      for (const EarlierLineages& earlier : earlier_lineages(context.state, partition)) look_at(context, earlier);
    }
  }
}

}  // namespace sp::judge

// Lineages: how they open and close, and the rebalances that the defects of lineages need.
#include <algorithm>

#include "driver/embedded/state.h"

namespace sp::driver::embedded {
namespace {

constexpr std::uint64_t kIntrusionRecords = 5;
constexpr Nanoseconds kPressPause = std::chrono::milliseconds{50};   // between rebalances for defects

}  // namespace

core::Observation consumer_event(const Member& member, core::Event event, MonotonicTime now) {
  core::Observation observation;
  observation.event = event;
  observation.process = member.spec.index;
  observation.group = member.spec.group;
  observation.time = now;
  return observation;
}

void State::close_lineage(Group& group, Member& member, std::size_t index, core::LineageClose how, MonotonicTime now,
                          Batch& batch) {
  const Lineage& lineage = member.lineages[index];
  auto observation = consumer_event(member, core::Event::kRevoke, now);
  observation.close = lineage.lost ? core::LineageClose::kLost : how;
  observation.partition = core::PartitionId(lineage.partition);
  observation.has_generation = true;
  observation.generation = lineage.lost ? lineage.lost_generation : group.generation();
  batch.items.push_back({observation, 0, 0, 0, 0});
  group.close(member, index);
}

void State::tell_losses(Group& group, Member& member, MonotonicTime now, Batch& batch) {
  for (std::size_t i = 0; i < member.lineages.size();) {
    if (member.lineages[i].lost) {
      close_lineage(group, member, i, core::LineageClose::kLost, now, batch);
    } else {
      ++i;
    }
  }
}

void State::tell_open(Group& /*group*/, Member& member, const Lineage& lineage, MonotonicTime now, Batch& batch) {
  auto observation = consumer_event(member, core::Event::kAssign, now);
  observation.partition = core::PartitionId(lineage.partition);
  observation.has_generation = true;
  observation.generation = lineage.generation;
  observation.has_start = true;
  observation.start = core::Offset(lineage.next);
  const std::size_t at = batch.bytes.size();
  batch.bytes += member.id;
  batch.items.push_back({observation, at, member.id.size(), 0, 0});
}

// C of the checking model is the last commit that a member knows to be ok, once no outcome is open. What lies
// between the start and C must hold nothing planted, and something that was handed over.
std::optional<std::uint64_t> State::rewind_start(Topic& topic, Group& group, std::uint32_t partition) {
  const GroupPartition& part = group.parts()[partition];
  if (!part.confirmed || part.commits_open > 0) return std::nullopt;
  const std::uint64_t confirmed = *part.confirmed;
  const std::uint64_t length = planter.draw_length(DefectKind::kRewind);
  std::uint64_t begin = confirmed > length ? confirmed - length : 0;
  begin = std::max(begin, topic.partitions[partition].log.begin());
  begin = planter.free_since(partition, begin, confirmed);
  if (begin >= confirmed || part.handed.count_in(begin, confirmed) == 0) return std::nullopt;
  return begin;
}

void State::open_lineage(Topic& topic, Group& group, Member& member, std::uint32_t partition, MonotonicTime now,
                         Batch& batch) {
  GroupPartition& part = group.parts()[partition];
  const PartitionLog& log = topic.partitions[partition].log;
  std::uint64_t start = member.spec.start == StartAt::kLatest ? log.end() : log.begin();
  if (part.committed) start = *part.committed;
  TruthBook::Item item = 0;
  if (part.want_rewind) {
    part.want_rewind = false;
    if (const auto rewound = rewind_start(topic, group, partition)) {
      start = *rewound;
      Planted planted{.kind = DefectKind::kRewind};
      planted.partition = core::PartitionId(partition);
      planted.offset = core::Offset(start);
      planted.group = group.name();
      planted.complete = true;
      item = planter.planted(std::move(planted));
      planter.take_positions(partition, start, *part.confirmed - 1);
    }
  }
  Lineage& lineage = group.open(member, partition, start, false, now);
  lineage.rewind_item = item;
  lineage.rewind_end = item == 0 ? 0 : *part.confirmed;
  tell_open(group, member, lineage, now, batch);
}

void State::open_intruder(Topic& topic, Group& group, Member& member, std::uint32_t partition, MonotonicTime now,
                          Batch& batch) {
  const GroupPartition& part = group.parts()[partition];
  const std::uint64_t start = part.committed.value_or(topic.partitions[partition].log.begin());
  const Lineage& lineage = group.open(member, partition, start, true, now);
  Planted planted{.kind = DefectKind::kDualOwner};
  planted.partition = core::PartitionId(partition);
  planted.generation = lineage.generation;
  planted.group = group.name();
  planted.complete = true;
  planted.count = 1;
  (void)planter.planted(std::move(planted));
  tell_open(group, member, lineage, now, batch);
}

void State::open_lineages(Topic& topic, Group& group, Member& member, MonotonicTime now, Batch& batch) {
  if (!member.joined) return;
  for (std::uint32_t p = 0; p < group.parts().size(); ++p) {
    const GroupPartition& part = group.parts()[p];
    if (part.owner == nullptr && part.target == &member && !member.holds(p)) {
      open_lineage(topic, group, member, p, now, batch);
    } else if (group.may_intrude(member, p)) {
      open_intruder(topic, group, member, p, now, batch);
    }
  }
}

void State::press_rewind(Topic& topic, Group& group, MonotonicTime now) {
  auto& parts = group.parts();
  const std::uint64_t first = planter.prng().below(parts.size());
  for (std::uint64_t i = 0; i < parts.size(); ++i) {
    const auto partition = static_cast<std::uint32_t>((first + i) % parts.size());
    if (group.settled(partition) == nullptr || !rewind_start(topic, group, partition)) continue;
    parts[partition].want_rewind = true;
    topic.press_after = now + kPressPause;
    move(group, partition, now);
    return;
  }
}

void State::press_dual_owner(Topic& topic, Group& group, MonotonicTime now) {
  std::vector<Member*> others;
  const auto partition = static_cast<std::uint32_t>(planter.prng().below(group.parts().size()));
  const GroupPartition& part = group.parts()[partition];
  if (group.settled(partition) == nullptr) return;
  for (const auto& member : group.members()) {
    if (member->joined && !member->crashed && member.get() != part.owner) others.push_back(member.get());
  }
  if (others.empty()) return;
  Member* second = others[planter.prng().below(others.size())];
  topic.press_after = now + kPressPause;
  group.move(partition, *part.owner, second, now);
  wake_all();
}

void State::press_lineages(Topic& topic, Group& group, MonotonicTime now) {
  for (const auto& member : group.members()) {
    for (const auto& lineage : member->lineages) {
      const bool over = lineage.handed_records >= kIntrusionRecords || lineage.opened + kIntrusionMax <= now;
      if (!lineage.intruder || lineage.lost || lineage.revoking || !over) continue;
      group.end_intruders(now);
      wake_all();
      return;
    }
  }
  if (now < topic.press_after || group.has_intruder()) return;
  if (planter.due(DefectKind::kRewind)) {
    press_rewind(topic, group, now);
  } else if (planter.due(DefectKind::kDualOwner)) {
    press_dual_owner(topic, group, now);
  }
}

}  // namespace sp::driver::embedded

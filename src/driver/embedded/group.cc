#include "driver/embedded/group.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"

namespace sp::driver::embedded {

bool Member::holds(std::uint32_t partition) const {
  return std::any_of(lineages.begin(), lineages.end(),
                     [&](const Lineage& lineage) { return lineage.partition == partition; });
}

const Lineage* Group::settled(std::uint32_t partition) const {
  const Member* const owner = parts_[partition].owner;
  if (owner == nullptr) return nullptr;
  for (const auto& lineage : owner->lineages) {
    if (lineage.partition == partition && !lineage.lost && !lineage.intruder && !lineage.revoking) return &lineage;
  }
  return nullptr;
}

bool Group::may_intrude(const Member& member, std::uint32_t partition) const {
  if (parts_[partition].second != &member || member.holds(partition)) return false;
  const Lineage* const lineage = settled(partition);
  return lineage != nullptr && lineage->generation == generation();
}

std::size_t Group::joined() const {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& member) { return member->joined; }));
}

bool Group::has_intruder() const {
  for (const auto& part : parts_) {
    if (part.second != nullptr) return true;
  }
  for (const auto& member : members_) {
    for (const auto& lineage : member->lineages) {
      if (lineage.intruder) return true;
    }
  }
  return false;
}

Member& Group::add(const ConsumerSpec& spec, MonotonicTime now) {
  members_.push_back(std::make_unique<Member>());
  Member& member = *members_.back();
  member.spec = spec;
  member.seen = now;
  return member;
}

void Group::join(Member& member, MonotonicTime now) {
  CHECK(!member.joined, "a member joins once");
  member.joined = true;
  member.rejoin_at.reset();
  member.id = fmt::format("{}-{}", member.spec.name.empty() ? "consumer" : member.spec.name, ++ids_);
  rebalance(now);
}

void Group::take(Member& member, Lineage& lineage) {
  lineage.lost = true;
  lineage.lost_generation = generation();
  lineage.stall_until.reset();
  GroupPartition& part = parts_[lineage.partition];
  if (part.owner == &member && !lineage.intruder) part.owner = nullptr;
}

void Group::expel(Member& member, MonotonicTime now) {
  std::vector<std::uint64_t> taken;
  for (auto& lineage : member.lineages) {
    if (lineage.lost) continue;
    take(member, lineage);
    taken.push_back(lineage.serial);
  }
  member.joined = false;
  rebalance(now);
  // To the end of its generation it was an owner: only the next one is without it.
  for (auto& lineage : member.lineages) {
    if (std::find(taken.begin(), taken.end(), lineage.serial) != taken.end()) lineage.lost_generation = generation();
  }
}

void Group::remove(Member& member, MonotonicTime now) {
  const bool joined = member.joined;
  for (auto& lineage : member.lineages) {
    if (!lineage.lost) take(member, lineage);
  }
  for (auto& part : parts_) {
    if (part.target == &member) part.target = nullptr;
    if (part.second == &member) part.second = nullptr;
  }
  for (const auto& commit : member.commits) {
    if (commit.counts) --parts_[commit.partition].commits_open;
  }
  std::erase_if(members_, [&](const auto& each) { return each.get() == &member; });
  if (joined) rebalance(now);
}

// Sticky: who has a partition keeps it unless it has more than its share; the rest goes to whoever has least.
void Group::choose_targets() {
  std::vector<Member*> members;
  for (const auto& member : members_) {
    if (member->joined) members.push_back(member.get());
  }
  if (members.empty()) {
    for (auto& part : parts_) part.target = nullptr;
    return;
  }
  const std::size_t share = parts_.size() / members.size();
  std::size_t larger = parts_.size() % members.size();  // members that may have one more
  std::vector<std::size_t> counts(members.size(), 0);
  const auto index_of = [&](const Member* member) {
    return static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
  };
  for (auto& part : parts_) {
    const std::size_t index = index_of(part.target);
    if (index < members.size() && counts[index] < share) {
      ++counts[index];
    } else if (index < members.size() && counts[index] == share && larger > 0) {
      ++counts[index];
      --larger;
    } else {
      part.target = nullptr;
    }
  }
  for (auto& part : parts_) {
    if (part.target != nullptr) continue;
    const auto least = std::min_element(counts.begin(), counts.end());
    part.target = members[static_cast<std::size_t>(least - counts.begin())];
    ++*least;
  }
}

void Group::ask_back(MonotonicTime now) {
  for (const auto& member : members_) {
    for (auto& lineage : member->lineages) {
      if (lineage.lost || lineage.revoking) continue;
      if (!lineage.intruder && parts_[lineage.partition].target == member.get()) continue;
      lineage.revoking = true;
      lineage.revoke_since = now;
      lineage.stall_until.reset();
    }
  }
}

void Group::rebalance(MonotonicTime now) {
  ++generation_;
  for (auto& part : parts_) part.second = nullptr;
  choose_targets();
  ask_back(now);
}

void Group::end_intruders(MonotonicTime now) {
  ++generation_;
  for (auto& part : parts_) part.second = nullptr;
  ask_back(now);
}

void Group::move(std::uint32_t partition, Member& target, Member* second, MonotonicTime now) {
  ++generation_;
  for (auto& part : parts_) part.second = nullptr;
  GroupPartition& part = parts_[partition];
  part.target = &target;
  part.second = second;
  ask_back(now);
  if (part.owner == nullptr) return;
  for (auto& lineage : part.owner->lineages) {
    if (lineage.partition != partition || lineage.lost || lineage.intruder || lineage.revoking) continue;
    lineage.revoking = true;
    lineage.revoke_since = now;
    lineage.stall_until.reset();
  }
}

Lineage& Group::open(Member& member, std::uint32_t partition, std::uint64_t start, bool intruder,
                     MonotonicTime now) {
  GroupPartition& part = parts_[partition];
  if (intruder) {
    part.second = nullptr;
  } else {
    CHECK(part.owner == nullptr, "a partition has one owner, but for intruders");
    part.owner = &member;
  }
  Lineage lineage;
  lineage.partition = partition;
  lineage.serial = ++serials_;
  lineage.generation = generation();
  lineage.next = start;
  lineage.intruder = intruder;
  lineage.opened = now;
  if (!intruder) part.last_serial = lineage.serial;
  member.lineages.push_back(lineage);
  return member.lineages.back();
}

void Group::close(Member& member, std::size_t lineage) {
  if (!member.lineages[lineage].lost) take(member, member.lineages[lineage]);
  member.lineages.erase(member.lineages.begin() + static_cast<std::ptrdiff_t>(lineage));
}

void Group::take_overdue(MonotonicTime now, Nanoseconds session_timeout) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = *members_[i];
    if (member.crashed && member.seen + session_timeout <= now) {
      remove(member, now);
      --i;
      continue;
    }
    for (auto& lineage : member.lineages) {
      if (lineage.revoking && !lineage.lost && lineage.revoke_since + session_timeout <= now) take(member, lineage);
    }
  }
}

std::optional<MonotonicTime> Group::next_overdue(Nanoseconds session_timeout) const {
  std::optional<MonotonicTime> next;
  const auto consider = [&](MonotonicTime time) {
    if (!next || time < *next) next = time;
  };
  for (const auto& member : members_) {
    if (member->crashed) consider(member->seen + session_timeout);
    for (const auto& lineage : member->lineages) {
      if (lineage.revoking && !lineage.lost) consider(lineage.revoke_since + session_timeout);
    }
  }
  return next;
}

}  // namespace sp::driver::embedded

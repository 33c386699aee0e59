#include "check/lab_measures.h"

#include <algorithm>

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;
using history::Type;

std::optional<Nanoseconds> since(const std::optional<std::int64_t>& from, const std::optional<std::int64_t>& to) {
  if (!from || !to) return std::nullopt;
  return Nanoseconds(std::max<std::int64_t>(0, *to - *from));
}

void grow(Nanoseconds& longest, std::int64_t span) { longest = std::max(longest, Nanoseconds(span)); }

}  // namespace

core::RangeSet& LabMeasures::at(std::vector<core::RangeSet>& sets, std::uint32_t partition) {
  if (partition >= sets.size()) sets.resize(partition + std::size_t{1});
  return sets[partition];
}

LabMeasures::Group& LabMeasures::group_at(std::uint32_t number) {
  if (number >= groups_.size()) groups_.resize(number + std::size_t{1});
  return groups_[number];
}

void LabMeasures::see(const Operation& operation, const history::Retold& retold) {
  if (closed_) return;
  has_time_ = has_time_ || operation.has(Member::kTime);
  now_ = std::max(now_, operation.time_ns);
  stream_ = retold.is_stream();
  const Function function = operation.function;
  if (function == Function::kPublish) return publish(operation);
  if (function == Function::kFault) return fault(operation);
  if (function == Function::kProbe) return probe(operation);
  const auto group = retold.group_of(operation.process);
  if (!group) return;
  Group& own = group_at(group->value());
  if (function == Function::kDeliver && operation.has(Member::kPosition)) delivered(operation, group->value());
  if (function == Function::kReconnect && own.waiting > 0) {
    end_silence(own);
    be_quiet(own, true);
  }
}

void LabMeasures::publish(const Operation& operation) {
  Producer& producer = producers_[operation.process];
  if (!producer.last) producer.last = now_;
  if (operation.type != Type::kOk) return;
  producer.pause = std::max(producer.pause, now_ - *producer.last);
  producer.last = now_;
  if (fault_end_ && !producer.resumed) producer.resumed = now_;
  if (usable_ && !producer.resumed_after_probe) producer.resumed_after_probe = now_;
  if (operation.has(Member::kPosition)) acked(operation);
}

void LabMeasures::acked(const Operation& operation) {
  const std::uint32_t partition = partition_of(operation);
  const std::uint64_t offset = operation.position.offset;
  last_ack_ = now_;
  if (!at(acked_, partition).insert(offset)) return;
  Pending pending{.acked = now_, .groups = 0};
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    Group& group = groups_[number];
    if (at(group.handed, partition).contains(offset)) continue;
    pending.groups |= 1U << std::min(number, 31U);
    if (group.waiting++ == 0) be_quiet(group, false);
  }
  if (pending.groups == 0) return;
  if (partition >= pending_.size()) pending_.resize(partition + std::size_t{1});
  pending_[partition].emplace(offset, pending);
}

void LabMeasures::be_quiet(Group& group, bool by_reconnect) {
  group.quiet_since = now_;
  group.by_reconnect = by_reconnect;
}

void LabMeasures::end_silence(Group& group) {
  grow(group.measured.silence, now_ - group.quiet_since);
  if (group.by_reconnect) grow(group.measured.silence_after_reconnect, now_ - group.quiet_since);
}

void LabMeasures::delivered(const Operation& operation, std::uint32_t number) {
  const std::uint32_t partition = partition_of(operation);
  const std::uint64_t offset = operation.position.offset;
  Group& group = groups_[number];
  if (group.waiting > 0) end_silence(group);
  if (at(group.handed, partition).insert(offset)) {
    group.last_new = now_;
    if (partition < group.to_recover.size() && group.to_recover[partition].erase(offset) && --group.to_recover_count == 0) {
      group.recovered = now_;
    }
    const std::uint32_t bit = 1U << std::min(number, 31U);
    auto* waiting = partition < pending_.size() ? &pending_[partition] : nullptr;
    const auto found = waiting == nullptr ? std::unordered_map<std::uint64_t, Pending>::iterator() : waiting->find(offset);
    if (waiting != nullptr && found != waiting->end() && (found->second.groups & bit) != 0) {
      --group.waiting;
      const std::int64_t lag = now_ - found->second.acked;
      grow(group.measured.staleness, lag);
      if (deadline_.count() > 0 && lag > deadline_.count()) grow(group.measured.overrun, lag - deadline_.count());
      found->second.groups &= ~bit;
      if (found->second.groups == 0) waiting->erase(found);
    }
  }
  if (group.waiting > 0) be_quiet(group, false);
}

void LabMeasures::fault(const Operation& operation) {
  if (operation.type == Type::kInvoke) usable_.reset();
  if (operation.type != Type::kOk) return;
  fault_end_ = now_;
  for (auto& [process, producer] : producers_) producer.resumed.reset();
  for (Group& group : groups_) {
    group.recovered.reset();
    group.to_recover.assign(acked_.size(), {});
    group.to_recover_count = 0;
    for (std::uint32_t partition = 0; partition < acked_.size(); ++partition) {
      group.to_recover[partition] = acked_[partition].minus(at(group.handed, partition));
      group.to_recover_count += group.to_recover[partition].size();
    }
    if (group.to_recover_count == 0) group.recovered = now_;
  }
}

void LabMeasures::probe(const Operation& operation) {
  if (operation.type == Type::kOk && !usable_) {
    usable_ = now_;
    for (auto& [process, producer] : producers_) producer.resumed_after_probe.reset();
  }
  if (operation.type == Type::kFail || operation.type == Type::kInfo) usable_.reset();
}

void LabMeasures::close(MonotonicTime now) {
  if (closed_) return;
  closed_ = true;
  now_ = std::max(now_, now.time_since_epoch().count());
  for (Group& group : groups_) {
    if (group.waiting > 0) end_silence(group);
  }
  for (const auto& waiting : pending_) {
    for (const auto& [offset, pending] : waiting) {
      for (std::uint32_t number = 0; number < groups_.size(); ++number) {
        if ((pending.groups & (1U << std::min(number, 31U))) == 0) continue;
        auto& measured = groups_[number].measured;
        grow(measured.staleness, now_ - pending.acked);
        if (deadline_.count() > 0 && now_ - pending.acked > deadline_.count())
          grow(measured.overrun, now_ - pending.acked - deadline_.count());
      }
    }
  }
}

std::optional<report::LabMeasures> LabMeasures::take(const std::vector<std::string>& groups) {
  if (!has_time_) return std::nullopt;
  report::LabMeasures all;
  const bool probed = usable_.has_value();
  for (std::uint32_t number = 0; number < groups_.size() && number < groups.size(); ++number) {
    Group& group = groups_[number];
    report::GroupMeasures measured = group.measured;
    measured.group = groups[number];
    measured.recovery = since(fault_end_, group.recovered);
    measured.never_recovered = fault_end_ && !group.recovered;
    // Usable may have been found before the fault was over, and all may have been delivered before either.
    if (probed) measured.recovery_since_usable = since(usable_, group.recovered);
    if (group.waiting == 0) measured.drain = since(last_ack_, group.last_new);
    all.groups.push_back(std::move(measured));
  }
  for (const auto& [process, producer] : producers_) {
    all.producers.push_back({std::string(vocabulary_.processes.text(process)), Nanoseconds(producer.pause),
                             since(fault_end_, producer.resumed), since(usable_, producer.resumed_after_probe)});
  }
  return all;
}

}  // namespace sp::check

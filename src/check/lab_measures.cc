#include "check/lab_measures.h"

#include <algorithm>

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;
using history::Type;

constexpr std::size_t kDoneMin = 1024;  // of in_order, before it is worth to tidy up

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

LabMeasures::Producer& LabMeasures::producer(std::uint32_t process) {
  if (process >= producer_of_.size()) producer_of_.resize(process + std::size_t{1});
  std::uint32_t& number = producer_of_[process];
  if (number == 0) {
    producers_.emplace_back().process = process;
    number = static_cast<std::uint32_t>(producers_.size());
  }
  return producers_[number - 1];
}

void LabMeasures::wait_for(Waiting& waiting, const Pending& pending) {
  if (waiting.in_order.empty() || pending.offset > waiting.in_order.back().offset) {
    waiting.in_order.push_back(pending);
  } else {
    waiting.others.emplace(pending.offset, pending);
  }
}

std::optional<std::int64_t> LabMeasures::arrived(Waiting& waiting, std::uint64_t offset, std::uint32_t groups) {
  auto& in_order = waiting.in_order;
  auto at = in_order.begin();
  if (at != in_order.end() && at->offset != offset) at = std::ranges::lower_bound(in_order, offset, {}, &Pending::offset);
  if (at == in_order.end() || at->offset != offset) {
    const auto other = waiting.others.find(offset);
    if (other == waiting.others.end() || (other->second.groups & groups) == 0) return std::nullopt;
    const std::int64_t acked = other->second.acked;
    other->second.groups &= ~groups;
    if (other->second.groups == 0) waiting.others.erase(other);
    return acked;
  }
  if ((at->groups & groups) == 0) return std::nullopt;
  const std::int64_t acked = at->acked;
  at->groups &= ~groups;
  if (at->groups != 0) return acked;
  ++waiting.done;
  for (; !in_order.empty() && in_order.front().groups == 0; --waiting.done) in_order.pop_front();
  // One that never comes must not keep all that came after it.
  if (waiting.done > kDoneMin && waiting.done > in_order.size() / 2) {
    std::erase_if(in_order, [](const Pending& pending) { return pending.groups == 0; });
    waiting.done = 0;
  }
  return acked;
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
  Producer& own = producer(operation.process);
  if (!own.last) own.last = now_;
  if (operation.type != Type::kOk) return;
  own.pause = std::max(own.pause, now_ - *own.last);
  own.last = now_;
  if (fault_end_ && !own.resumed) own.resumed = now_;
  if (usable_ && !own.resumed_after_probe) own.resumed_after_probe = now_;
  if (operation.has(Member::kPosition)) acked(operation);
}

void LabMeasures::acked(const Operation& operation) {
  const std::uint32_t partition = partition_of(operation);
  const std::uint64_t offset = operation.position.offset;
  last_ack_ = now_;
  if (!at(acked_, partition).insert(offset)) return;
  Pending pending{.offset = offset, .acked = now_, .groups = 0};
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    Group& group = groups_[number];
    if (at(group.handed, partition).contains(offset)) continue;
    pending.groups |= 1U << std::min(number, 31U);
    if (group.waiting++ == 0) be_quiet(group, false);
  }
  if (pending.groups == 0) return;
  if (partition >= waiting_.size()) waiting_.resize(partition + std::size_t{1});
  wait_for(waiting_[partition], pending);
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
    const auto acked = partition < waiting_.size() ? arrived(waiting_[partition], offset, bit) : std::nullopt;
    if (acked) {
      --group.waiting;
      const std::int64_t lag = now_ - *acked;
      grow(group.measured.staleness, lag);
      if (deadline_.count() > 0 && lag > deadline_.count()) grow(group.measured.overrun, lag - deadline_.count());
    }
  }
  if (group.waiting > 0) be_quiet(group, false);
}

void LabMeasures::fault(const Operation& operation) {
  if (operation.type == Type::kInvoke) usable_.reset();
  if (operation.type != Type::kOk) return;
  fault_end_ = now_;
  for (Producer& producer : producers_) producer.resumed.reset();
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
    for (Producer& producer : producers_) producer.resumed_after_probe.reset();
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
  for (const Waiting& waiting : waiting_) {
    for (const Pending& pending : waiting.in_order) never_came(pending);
    for (const auto& [offset, pending] : waiting.others) never_came(pending);
  }
}

void LabMeasures::never_came(const Pending& pending) {
  const std::int64_t lag = now_ - pending.acked;
  for (std::uint32_t number = 0; number < groups_.size(); ++number) {
    if ((pending.groups & (1U << std::min(number, 31U))) == 0) continue;
    auto& measured = groups_[number].measured;
    grow(measured.staleness, lag);
    if (deadline_.count() > 0 && lag > deadline_.count()) grow(measured.overrun, lag - deadline_.count());
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
  for (const std::uint32_t number : producer_of_) {
    if (number == 0) continue;
    const Producer& producer = producers_[number - 1];
    all.producers.push_back({std::string(vocabulary_.processes.text(producer.process)), Nanoseconds(producer.pause),
                             since(fault_end_, producer.resumed), since(usable_, producer.resumed_after_probe)});
  }
  return all;
}

}  // namespace sp::check

#include "driver/embedded/state.h"

#include <algorithm>

#include "base/check.h"

namespace sp::driver::embedded {
namespace {

constexpr Delay kRejoinDelay{std::chrono::milliseconds{10}, std::chrono::milliseconds{200}};

void earliest(std::optional<MonotonicTime>& next, std::optional<MonotonicTime> other) {
  if (other && (!next || *other < *next)) next = other;
}

}  // namespace

State::State(MonotonicClock& clock_in, const WallClock& wall_in, BrokerOptions options_in)
    : clock(clock_in),
      wall(wall_in),
      options(std::move(options_in)),
      latency(Prng(options.seed).fork("latency")),
      bad_days(Prng(options.seed).fork("bad days")),
      planter(options.defects, Prng(options.seed), options.expected, book) {
  const MonotonicTime now = clock.now();
  if (options.honest.rebalance_every > Nanoseconds{0}) next_rebalance = after(now, options.honest.rebalance_every);
  if (options.honest.restart_every > Nanoseconds{0}) next_restart = after(now, options.honest.restart_every);
}

Topic& State::make_topic(const TopicSpec& spec) {
  auto topic = std::make_unique<Topic>();
  topic->name = spec.name;
  topic->spec = spec;
  topic->partitions.resize(spec.partitions);
  planter.topic_made(spec.partitions);
  return *(topics[spec.name] = std::move(topic));
}

Topic* State::find_topic(const std::string& name) {
  const auto found = topics.find(name);
  return found == topics.end() ? nullptr : found->second.get();
}

Nanoseconds State::draw(const Delay& delay) {
  if (delay.most <= delay.least) return delay.least;
  const auto span = static_cast<std::uint64_t>((delay.most - delay.least).count());
  return delay.least + Nanoseconds(static_cast<std::int64_t>(latency.below(span + 1)));
}

MonotonicTime State::after(MonotonicTime now, Nanoseconds mean) {
  const auto span = static_cast<std::uint64_t>(mean.count());
  return now + mean / 2 + Nanoseconds(static_cast<std::int64_t>(bad_days.below(span + 1)));
}

void State::wake_all() {
  for (auto& [name, topic] : topics) {
    for (auto& [group_name, group] : topic->groups) {
      for (const auto& member : group.members()) {
        if (member->waiting) member->condition.notify_all();
      }
    }
  }
  for (ProducerCore* producer : producers) {
    if (producer->waiting) producer->condition.notify_all();
  }
}

std::size_t State::log_bytes() const {
  std::size_t sum = 0;
  for (const auto& [name, topic] : topics) {
    for (const auto& partition : topic->partitions) sum += partition.log.bytes();
  }
  return sum;
}

void State::expel(Topic& /*topic*/, Group& group, Member& member, MonotonicTime now) {
  group.expel(member, now);
  member.rejoin_at = now + draw(kRejoinDelay);
  wake_all();
}

void State::move(Group& group, std::uint32_t partition, MonotonicTime now) {
  std::vector<Member*> joined;
  for (const auto& member : group.members()) {
    if (member->joined && !member->crashed) joined.push_back(member.get());
  }
  if (joined.empty()) return;
  Member* target = joined[bad_days.below(joined.size())];
  const auto& part = group.parts()[partition];
  if (joined.size() > 1 && target == part.owner) {
    const auto at = std::find(joined.begin(), joined.end(), target) - joined.begin();
    target = joined[(static_cast<std::size_t>(at) + 1) % joined.size()];
  }
  group.move(partition, *target, nullptr, now);
  wake_all();
}

void State::rebalance_someone(MonotonicTime now) {
  for (auto& [name, topic] : topics) {
    for (auto& [group_name, group] : topic->groups) {
      if (group.joined() == 0) continue;
      move(group, static_cast<std::uint32_t>(bad_days.below(topic->partitions.size())), now);
    }
  }
  next_rebalance = after(now, options.honest.rebalance_every);
}

void State::restart_someone(MonotonicTime now) {
  for (auto& [name, topic] : topics) {
    for (auto& [group_name, group] : topic->groups) {
      std::vector<Member*> joined;
      for (const auto& member : group.members()) {
        if (member->joined && !member->crashed) joined.push_back(member.get());
      }
      if (!joined.empty()) expel(*topic, group, *joined[bad_days.below(joined.size())], now);
    }
  }
  next_restart = after(now, options.honest.restart_every);
}

void State::pump(MonotonicTime now) {
  if (frozen(now)) return;
  release_holds(now);
  land(now);
  if (next_rebalance && *next_rebalance <= now) rebalance_someone(now);
  if (next_restart && *next_restart <= now) restart_someone(now);
  for (auto& [name, topic] : topics) {
    for (auto& [group_name, group] : topic->groups) {
      const auto overdue = group.next_overdue(options.session_timeout);
      if (overdue && *overdue <= now) {
        group.take_overdue(now, options.session_timeout);
        wake_all();
      }
    }
  }
}

std::optional<MonotonicTime> State::next_timer() {
  std::optional<MonotonicTime> next;
  for (auto& [name, topic] : topics) {
    for (const auto& hold : topic->holds) earliest(next, hold.until);
    for (const auto& landing : topic->landings) earliest(next, landing.due);
    for (auto& [group_name, group] : topic->groups) {
      earliest(next, group.next_overdue(options.session_timeout));
      if (group.joined() > 0) {
        earliest(next, next_rebalance);
        earliest(next, next_restart);
      }
    }
  }
  return next;
}

std::optional<MonotonicTime> State::next_event(MonotonicTime now) {
  std::optional<MonotonicTime> next = next_timer();
  for (const ProducerCore* producer : producers) {
    if (!producer->acks.empty()) earliest(next, producer->acks.top().due);
  }
  for (auto& [name, topic] : topics) {
    for (auto& [group_name, group] : topic->groups) {
      for (const auto& member : group.members()) {
        if (!member->crashed) earliest(next, next_of(*topic, group, *member, now));
      }
    }
  }
  if (next && frozen(now)) next = std::max(*next, frozen_until);
  return next;
}

}  // namespace sp::driver::embedded

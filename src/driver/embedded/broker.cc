#include "driver/embedded/broker.h"

#include "driver/embedded/state.h"

namespace sp::driver::embedded {

Broker::Broker(MonotonicClock& clock, const WallClock& wall, BrokerOptions options)
    : state_(std::make_unique<State>(clock, wall, std::move(options))) {}
Broker::~Broker() = default;

std::optional<MonotonicTime> Broker::next_event() {
  const std::lock_guard lock(state_->mutex);
  const MonotonicTime now = state_->clock.now();
  state_->pump(now);
  return state_->next_event(now);
}

bool Broker::expel(const std::string& topic, const std::string& group, std::uint32_t index) {
  const std::lock_guard lock(state_->mutex);
  Topic* const found = state_->find_topic(topic);
  if (found == nullptr || !found->groups.contains(group)) return false;
  Group& in = found->groups.at(group);
  for (const auto& member : in.members()) {
    if (!member->joined || member->spec.index != index) continue;
    state_->expel(*found, in, *member, state_->clock.now());
    return true;
  }
  return false;
}

bool Broker::move(const std::string& topic, const std::string& group, core::PartitionId partition) {
  const std::lock_guard lock(state_->mutex);
  Topic* const found = state_->find_topic(topic);
  if (found == nullptr || !found->groups.contains(group)) return false;
  Group& in = found->groups.at(group);
  if (in.joined() == 0 || partition.value() >= in.parts().size()) return false;
  state_->move(in, partition.value(), state_->clock.now());
  return true;
}

std::vector<TruthLine> Broker::truth() {
  const std::lock_guard lock(state_->mutex);
  return state_->book.lines();
}

}  // namespace sp::driver::embedded

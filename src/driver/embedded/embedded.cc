#include "driver/embedded/embedded.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.h"
#include "driver/embedded/clients.h"

namespace sp::driver::embedded {
namespace {

// What people pass to every system alike and what has no counterpart here.
constexpr std::array<std::string_view, 6> kIdleSettings{"acks",      "client.id",        "compression.type",
                                                        "enable.idempotence", "isolation.level", "linger.ms"};
constexpr std::uint32_t kPartitionsMax = 10'000;
constexpr std::uint64_t kPortMax = 65'535;

bool is_idle(std::string_view name) {
  return std::find(kIdleSettings.begin(), kIdleSettings.end(), name) != kIdleSettings.end();
}

Result<void> check_local(const Settings& settings) {
  for (const auto& [name, value] : settings) {
    if (is_idle(name)) continue;
    return fail(ErrorCode::kInvalid,
                fmt::format("the embedded broker has no setting '{}' (given as '{}'); remove it, or choose --driver "
                            "kafka", name, value));
  }
  return {};
}

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = parse_unsigned(text.substr(colon + 1));
  return port && *port > 0 && *port <= kPortMax;
}

}  // namespace

Result<void> check_settings(const Settings& settings) {
  Settings others = settings;
  const auto address = others.extract(std::string(kBrokerAddress));
  if (!address.empty() && !is_address(address.mapped())) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is '{}': give host:port, as streaming-proof broker prints it", kBrokerAddress,
                                                 address.mapped()));
  }
  return check_local(others);
}

Capabilities broker_capabilities() {
  Capabilities can;
  can.keys = can.partitions = can.positions = can.groups = true;
  can.raw_read = can.replay = can.commit = can.cluster_state = true;
  return can;
}

std::vector<std::string> idle_notes(const Settings& settings) {
  std::vector<std::string> notes;
  for (const auto& [name, value] : settings) {
    notes.push_back(fmt::format("{} means nothing to the embedded broker", name));
  }
  return notes;
}

Result<std::unique_ptr<EmbeddedDriver>> EmbeddedDriver::make(Broker& broker, const Settings& settings) {
  if (auto checked = check_local(settings); !checked) return tl::unexpected(std::move(checked).error());
  return std::unique_ptr<EmbeddedDriver>(new EmbeddedDriver(broker, settings));
}

std::string EmbeddedDriver::client() const { return fmt::format("embedded broker {}", SP_VERSION); }

Capabilities EmbeddedDriver::capabilities() const { return broker_capabilities(); }

std::vector<std::string> EmbeddedDriver::notes() const { return idle_notes(settings_); }

Result<Topic*> EmbeddedDriver::need_topic(const std::string& topic) {
  Topic* const found = state_.find_topic(topic);
  if (found == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("the embedded broker has no topic '{}'; create it first", topic));
  }
  return found;
}

Result<void> EmbeddedDriver::create_topic(const TopicSpec& spec) {
  if (spec.partitions == 0 || spec.partitions > kPartitionsMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a topic of the embedded broker has 1 to {} partitions, not {}",
                                                 kPartitionsMax, spec.partitions));
  }
  if (spec.replication > 1) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the embedded broker is one node: replication is 1, not {}", spec.replication));
  }
  const std::lock_guard lock(state_.mutex);
  if (state_.find_topic(spec.name) != nullptr) {
    return fail(ErrorCode::kExists, fmt::format("the embedded broker already has a topic '{}'", spec.name));
  }
  (void)state_.make_topic(spec);
  return {};
}

Result<void> EmbeddedDriver::delete_topic(const std::string& topic) {
  const std::lock_guard lock(state_.mutex);
  if (auto found = need_topic(topic); !found) return tl::unexpected(std::move(found).error());
  auto node = state_.topics.extract(topic);
  state_.deleted.push_back(std::move(node.mapped()));
  return {};
}

Result<TopicInfo> EmbeddedDriver::describe_topic(const std::string& topic) {
  const std::lock_guard lock(state_.mutex);
  auto found = need_topic(topic);
  if (!found) return tl::unexpected(std::move(found).error());
  return TopicInfo{static_cast<std::uint32_t>((*found)->partitions.size()), 1};
}

Result<std::vector<PartitionBounds>> EmbeddedDriver::bounds(const std::string& topic) {
  const std::lock_guard lock(state_.mutex);
  auto found = need_topic(topic);
  if (!found) return tl::unexpected(std::move(found).error());
  std::vector<PartitionBounds> bounds;
  for (const auto& partition : (*found)->partitions) {
    bounds.push_back({core::PartitionId(static_cast<std::uint32_t>(bounds.size())),
                      core::Offset(partition.log.begin()), core::Offset(partition.log.end())});
  }
  return bounds;
}

Result<ClusterState> EmbeddedDriver::cluster_state(const std::string& topic) {
  const std::lock_guard lock(state_.mutex);
  auto found = need_topic(topic);
  if (!found) return tl::unexpected(std::move(found).error());
  ClusterState cluster;
  cluster.controller = 0;
  cluster.nodes = {0};
  for (std::uint32_t p = 0; p < (*found)->partitions.size(); ++p) {
    cluster.partitions.push_back({core::PartitionId(p), 0, {0}, {0}});
  }
  return cluster;
}

// What a client needs before it can be opened: settings that mean something, a topic that is there.
Result<Topic*> EmbeddedDriver::open_topic(const Settings& settings, const std::string& topic) {
  if (auto checked = check_local(settings); !checked) return tl::unexpected(std::move(checked).error());
  const std::lock_guard lock(state_.mutex);
  return need_topic(topic);
}

Result<std::unique_ptr<Producer>> EmbeddedDriver::open_producer(const ProducerSpec& spec) {
  auto topic = open_topic(spec.settings, spec.topic);
  if (!topic) return tl::unexpected(std::move(topic).error());
  return std::unique_ptr<Producer>(std::make_unique<EmbeddedProducer>(state_, **topic, spec));
}

Result<std::unique_ptr<Consumer>> EmbeddedDriver::open_consumer(const ConsumerSpec& spec) {
  auto topic = open_topic(spec.settings, spec.topic);
  if (!topic) return tl::unexpected(std::move(topic).error());
  return std::unique_ptr<Consumer>(std::make_unique<EmbeddedConsumer>(state_, **topic, spec));
}

Result<std::unique_ptr<RawReader>> EmbeddedDriver::open_raw_reader(const RawSpec& spec) {
  if (auto checked = check_local(spec.settings); !checked) return tl::unexpected(std::move(checked).error());
  const std::lock_guard lock(state_.mutex);
  auto found = need_topic(spec.topic);
  if (!found) return tl::unexpected(std::move(found).error());
  for (const auto& target : spec.targets) {
    if (target.partition.value() >= (*found)->partitions.size()) {
      return fail(ErrorCode::kInvalid, fmt::format("topic '{}' has no partition {}", spec.topic,
                                                   target.partition.value()));
    }
  }
  return std::unique_ptr<RawReader>(std::make_unique<EmbeddedRawReader>(state_, **found, spec));
}

}  // namespace sp::driver::embedded

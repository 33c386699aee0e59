#include "rpc/broker/detail/messages.h"

#include <string>

#include <fmt/core.h>

namespace sp::rpc::broker::detail {
namespace {

// The enumerations of the messages have the numbers of ours: the last of each shows that none was added to one side only.
static_assert(static_cast<int>(core::Event::kEnd) == v1::Event_MAX);
static_assert(static_cast<int>(core::Content::kOtherRun) == v1::Content_MAX);
static_assert(static_cast<int>(core::LineageClose::kClosed) == v1::LineageClose_MAX);
static_assert(static_cast<int>(core::Refusal::kName) == v1::Refusal_MAX);
static_assert(static_cast<int>(core::Failure::kFenced) == v1::Failure_MAX);
static_assert(static_cast<int>(driver::StartAt::kCommitted) == v1::StartAt_MAX);

template <typename Settings>
driver::Settings settings_of(const Settings& message) {
  driver::Settings settings;
  for (const auto& setting : message) settings[setting.name()] = setting.value();
  return settings;
}
template <typename Message>
void put_settings(const driver::Settings& settings, Message& message) {
  for (const auto& [name, value] : settings) {
    auto& setting = *message.add_settings();
    setting.set_name(name);
    setting.set_value(value);
  }
}

}  // namespace

void put(const core::Observation& observation, v1::Observation& message) {
  message.set_event(static_cast<v1::Event>(observation.event));
  message.set_content(static_cast<v1::Content>(observation.content));
  message.set_close(static_cast<v1::LineageClose>(observation.close));
  message.set_has_position(observation.has_position);
  message.set_has_generation(observation.has_generation);
  message.set_has_start(observation.has_start);
  message.set_reached(observation.reached);
  message.set_refusal(static_cast<v1::Refusal>(observation.refusal));
  message.set_failure(static_cast<v1::Failure>(observation.failure));
  message.set_cooperative(!observation.classic);
  message.set_process(observation.process);
  message.set_group(observation.group.value());
  message.set_key_block(observation.key.block);
  message.set_key_index(observation.key.index);
  message.set_sequence(observation.sequence.value());
  message.set_partition(observation.partition.value());
  message.set_offset(observation.offset.value());
  message.set_end(observation.end.value());
  message.set_start(observation.start.value());
  message.set_generation(observation.generation.value());
  message.set_number(observation.number);
  if (observation.asked_partition != core::Observation{}.asked_partition) {
    message.set_asked_partition(observation.asked_partition.value());
  }
  message.set_time(observation.time.time_since_epoch().count());
  message.set_published(observation.published.time_since_epoch().count());
  message.set_name(observation.name.data(), observation.name.size());
  message.set_text(observation.text.data(), observation.text.size());
  message.set_instance(observation.instance.data(), observation.instance.size());
}

Result<core::Observation> observation_of(const v1::Observation& message) {
  if (!v1::Event_IsValid(message.event()) || !v1::Content_IsValid(message.content()) || !v1::LineageClose_IsValid(message.close()) ||
      !v1::Refusal_IsValid(message.refusal()) || !v1::Failure_IsValid(message.failure())) {
    return fail(ErrorCode::kParse, "an observation of a kind that is unknown here: let broker and worker be of one release");
  }
  core::Observation observation;
  observation.event = static_cast<core::Event>(message.event());
  observation.content = static_cast<core::Content>(message.content());
  observation.close = static_cast<core::LineageClose>(message.close());
  observation.has_position = message.has_position();
  observation.has_generation = message.has_generation();
  observation.has_start = message.has_start();
  observation.reached = message.reached();
  observation.refusal = static_cast<core::Refusal>(message.refusal());
  observation.failure = static_cast<core::Failure>(message.failure());
  observation.classic = !message.cooperative();
  observation.process = message.process();
  observation.group = core::GroupIndex(message.group());
  observation.key = {message.key_block(), message.key_index()};
  observation.sequence = core::Sequence(message.sequence());
  observation.partition = core::PartitionId(message.partition());
  observation.offset = core::Offset(message.offset());
  observation.end = core::Offset(message.end());
  observation.start = core::Offset(message.start());
  observation.generation = core::Generation(message.generation());
  observation.number = message.number();
  if (message.has_asked_partition()) observation.asked_partition = core::PartitionId(message.asked_partition());
  observation.time = MonotonicTime(Nanoseconds(message.time()));
  observation.published = WallTime(Nanoseconds(message.published()));
  observation.name = message.name();
  observation.text = message.text();
  observation.instance = message.instance();
  return observation;
}

void put(const driver::TopicSpec& spec, v1::TopicSpec& message) {
  message.set_name(spec.name);
  message.set_partitions(spec.partitions);
  message.set_replication(spec.replication);
  for (const auto& [name, value] : spec.config) {
    auto& setting = *message.add_config();
    setting.set_name(name);
    setting.set_value(value);
  }
}

driver::TopicSpec topic_of(const v1::TopicSpec& message) {
  return {message.name(), message.partitions(), message.replication(), settings_of(message.config())};
}

void put(const driver::ProducerSpec& spec, v1::ProducerSpec& message) {
  message.set_index(spec.index);
  message.set_name(spec.name);
  message.set_topic(spec.topic);
  put_settings(spec.settings, message);
}

driver::ProducerSpec producer_of(const v1::ProducerSpec& message) {
  return {message.index(), message.name(), message.topic(), settings_of(message.settings())};
}

void put(const driver::ConsumerSpec& spec, v1::ConsumerSpec& message) {
  message.set_index(spec.index);
  message.set_group(spec.group.value());
  message.set_name(spec.name);
  message.set_group_name(spec.group_name);
  message.set_topic(spec.topic);
  message.set_start(static_cast<v1::StartAt>(spec.start));
  message.set_commit_each(spec.commit_each);
  message.set_run(spec.run.value());
  message.set_payload_bytes(spec.payload_bytes);
  put_settings(spec.settings, message);
}

Result<driver::ConsumerSpec> consumer_of(const v1::ConsumerSpec& message) {
  if (!v1::StartAt_IsValid(message.start())) return fail(ErrorCode::kParse, "a consumer that starts at a place unknown here");
  driver::ConsumerSpec spec;
  spec.index = message.index();
  spec.group = core::GroupIndex(message.group());
  spec.name = message.name();
  spec.group_name = message.group_name();
  spec.topic = message.topic();
  spec.start = static_cast<driver::StartAt>(message.start());
  spec.commit_each = message.commit_each();
  spec.run = core::RunId(message.run());
  spec.payload_bytes = message.payload_bytes();
  spec.settings = settings_of(message.settings());
  return spec;
}

void put(const driver::RawSpec& spec, v1::RawSpec& message) {
  message.set_topic(spec.topic);
  message.set_run(spec.run.value());
  message.set_payload_bytes(spec.payload_bytes);
  message.set_read_committed(spec.read_committed);
  for (const auto& target : spec.targets) {
    auto& range = *message.add_targets();
    range.set_partition(target.partition.value());
    range.set_begin(target.begin.value());
    range.set_end(target.end.value());
  }
  put_settings(spec.settings, message);
}

Result<driver::RawSpec> raw_reader_of(const v1::RawSpec& message) {
  driver::RawSpec spec;
  spec.topic = message.topic();
  spec.run = core::RunId(message.run());
  spec.payload_bytes = message.payload_bytes();
  spec.read_committed = message.read_committed();
  for (const auto& range : message.targets()) {
    if (range.begin() > range.end()) return fail(ErrorCode::kParse, "a target of the raw read ends before it begins");
    spec.targets.push_back({core::PartitionId(range.partition()), core::Offset(range.begin()), core::Offset(range.end())});
  }
  spec.settings = settings_of(message.settings());
  return spec;
}

void put(const driver::ClusterState& state, v1::ClusterState& message) {
  if (state.controller) message.set_controller(*state.controller);
  for (const auto node : state.nodes) message.add_nodes(node);
  for (const auto& partition : state.partitions) {
    auto& to = *message.add_partitions();
    to.set_partition(partition.partition.value());
    if (partition.leader) to.set_leader(*partition.leader);
    for (const auto node : partition.replicas) to.add_replicas(node);
    for (const auto node : partition.in_sync) to.add_in_sync(node);
  }
}

driver::ClusterState state_of(const v1::ClusterState& message) {
  driver::ClusterState state;
  if (message.has_controller()) state.controller = message.controller();
  state.nodes.assign(message.nodes().begin(), message.nodes().end());
  for (const auto& from : message.partitions()) {
    driver::PartitionState partition;
    partition.partition = core::PartitionId(from.partition());
    if (from.has_leader()) partition.leader = from.leader();
    partition.replicas.assign(from.replicas().begin(), from.replicas().end());
    partition.in_sync.assign(from.in_sync().begin(), from.in_sync().end());
    state.partitions.push_back(std::move(partition));
  }
  return state;
}

void put(const std::vector<driver::PartitionBounds>& bounds, v1::LogBounds& message) {
  for (const auto& one : bounds) {
    auto& range = *message.add_partitions();
    range.set_partition(one.partition.value());
    range.set_begin(one.begin.value());
    range.set_end(one.end.value());
  }
}

Result<std::vector<driver::PartitionBounds>> bounds_of(const v1::LogBounds& message) {
  std::vector<driver::PartitionBounds> bounds;
  for (const auto& range : message.partitions()) {
    if (range.begin() > range.end()) return fail(ErrorCode::kParse, "the bounds of a log end before they begin");
    bounds.push_back({core::PartitionId(range.partition()), core::Offset(range.begin()), core::Offset(range.end())});
  }
  return bounds;
}

}  // namespace sp::rpc::broker::detail

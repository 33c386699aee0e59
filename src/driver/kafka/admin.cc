#include "driver/kafka/admin.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace sp::driver::kafka {
namespace {

constexpr int kServeStepMilliseconds = 50;

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroyer<rd_kafka_NewTopic_destroy>>;
using DeleteTopic =
    std::unique_ptr<rd_kafka_DeleteTopic_t, Destroyer<rd_kafka_DeleteTopic_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
struct MetadataDestroyer {
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, MetadataDestroyer>;

AdminOptions topic_options(rd_kafka_t* handle, rd_kafka_admin_op_t operation) {
  AdminOptions options(rd_kafka_AdminOptions_new(handle, operation));
  std::array<char, 256> why{};
  const int timeout = to_milliseconds(kTopicTimeout);
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout, why.data(), why.size());
  rd_kafka_AdminOptions_set_operation_timeout(options.get(), timeout, why.data(), why.size());
  return options;
}

// The first refusal among the answers.
std::pair<rd_kafka_resp_err_t, std::string> refusal_in(const rd_kafka_topic_result_t** answers,
                                                       std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto error = rd_kafka_topic_result_error(answers[i]);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const char* text = rd_kafka_topic_result_error_string(answers[i]);
    return {error, text == nullptr ? "" : text};
  }
  return {RD_KAFKA_RESP_ERR_NO_ERROR, ""};
}

std::vector<std::int32_t> numbers(const std::int32_t* first, int count) {
  return {first, first + std::max(count, 0)};
}

bool has_all_leaders(const ClusterState& state, std::size_t partitions) {
  return state.partitions.size() >= partitions &&
         std::all_of(state.partitions.begin(), state.partitions.end(),
                     [](const PartitionState& partition) { return partition.leader.has_value(); });
}

}  // namespace

Result<std::unique_ptr<Admin>> Admin::open(Settings settings, MonotonicClock& clock) {
  settings.emplace("client.id", "admin");
  // A request stuck at a frozen broker is tried at another one before the query gives up.
  settings.emplace("socket.timeout.ms", "2000");
  std::unique_ptr<Admin> admin(new Admin(account_of(settings), clock));
  auto conf = make_conf(settings);
  if (!conf) return tl::unexpected(std::move(conf).error());
  rd_kafka_conf_set_opaque(conf->get(), admin.get());
  rd_kafka_conf_set_error_cb(conf->get(), &Admin::on_error);
  // A consumer's client: log bounds depend on isolation.level, which a producer's does not have.
  auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!handle) return fail_up(std::move(handle), "admin client");
  admin->handle_ = std::move(*handle);
  return admin;
}

void Admin::on_error(rd_kafka_t* /*handle*/, int error, const char* reason, void* self) {
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;  // says less than the errors before it
  auto* admin = static_cast<Admin*>(self);
  const std::lock_guard lock(admin->mutex_);
  admin->last_error_ = reason;
}

Error Admin::explain(rd_kafka_resp_err_t error, const Subject& subject, std::string_view detail) {
  rd_kafka_poll(handle_.get(), 0);
  Subject mine = subject;
  mine.account = &account_;
  Error explained = to_error(error, mine, detail);
  if (explained.code != ErrorCode::kUnavailable) return explained;
  const std::lock_guard lock(mutex_);
  if (!last_error_.empty()) explained.message += "; the client says: " + last_error_;
  return explained;
}

template <typename Done>
bool Admin::wait_for(Done done) {
  const auto deadline = clock_.now() + kTopicTimeout;
  while (!done()) {
    if (clock_.now() >= deadline) return false;
    rd_kafka_poll(handle_.get(), kServeStepMilliseconds);
  }
  return true;
}

Result<ClientEvent> Admin::result_of(rd_kafka_queue_t* queue, const Subject& subject) {
  ClientEvent event(rd_kafka_queue_poll(queue, to_milliseconds(kTopicTimeout) + 1000));
  if (event == nullptr) return tl::unexpected(explain(RD_KAFKA_RESP_ERR__TIMED_OUT, subject));
  if (const auto error = rd_kafka_event_error(event.get()); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return tl::unexpected(explain(error, subject, rd_kafka_event_error_string(event.get())));
  }
  return event;
}

// Told within seconds where a request would wait much longer for a controller that nobody names.
Result<void> Admin::reach() {
  if (rd_kafka_controllerid(handle_.get(), to_milliseconds(kReachTimeout)) >= 0) return {};
  rd_kafka_poll(handle_.get(), 0);
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("no broker answered within {} s", kReachTimeout.count());
  if (!last_error_.empty()) text += "; the client says: " + last_error_;
  return fail(ErrorCode::kUnavailable, std::move(text));
}

Result<void> Admin::create_topic(const TopicSpec& spec) {
  const Subject subject{.doing = "create topic", .topic = spec.name, .group = {}};
  if (auto reached = reach(); !reached)
    return fail_up(std::move(reached), fmt::format("create topic '{}'", spec.name));
  std::array<char, 512> why{};
  NewTopic topic(rd_kafka_NewTopic_new(spec.name.c_str(), static_cast<int>(spec.partitions),
                                       static_cast<int>(spec.replication), why.data(), why.size()));
  if (topic == nullptr)
    return fail(ErrorCode::kInvalid, fmt::format("create topic '{}': {}", spec.name, why.data()));
  for (const auto& [name, value] : spec.config)
    rd_kafka_NewTopic_set_config(topic.get(), name.c_str(), value.c_str());
  const auto options = topic_options(handle_.get(), RD_KAFKA_ADMIN_OP_CREATETOPICS);
  const Queue queue(rd_kafka_queue_new(handle_.get()));
  rd_kafka_NewTopic_t* topics = topic.get();
  rd_kafka_CreateTopics(handle_.get(), &topics, 1, options.get(), queue.get());
  auto event = result_of(queue.get(), subject);
  if (!event) return tl::unexpected(std::move(event).error());
  std::size_t count = 0;
  const auto** answers =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event->get()), &count);
  if (const auto [error, text] = refusal_in(answers, count); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return tl::unexpected(explain(error, subject, text));
  }
  const Subject looking{.doing = "describe topic", .topic = spec.name, .group = {}};
  std::optional<Error> refused;
  const bool ready = wait_for([&] {
    const auto state = query(spec.name, looking);
    if (!state && state.error().code == ErrorCode::kDenied) refused = state.error();
    return refused || (state && has_all_leaders(*state, spec.partitions));
  });
  if (refused) return tl::unexpected(std::move(*refused).in("it was created, but cannot be seen"));
  if (!ready) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("topic '{}' was created, but after {} s not every partition has a leader",
                    spec.name, kTopicTimeout.count()));
  }
  return {};
}

Result<void> Admin::delete_topic(const std::string& name) {
  const Subject subject{.doing = "delete topic", .topic = name, .group = {}};
  DeleteTopic topic(rd_kafka_DeleteTopic_new(name.c_str()));
  const auto options = topic_options(handle_.get(), RD_KAFKA_ADMIN_OP_DELETETOPICS);
  const Queue queue(rd_kafka_queue_new(handle_.get()));
  rd_kafka_DeleteTopic_t* topics = topic.get();
  rd_kafka_DeleteTopics(handle_.get(), &topics, 1, options.get(), queue.get());
  auto event = result_of(queue.get(), subject);
  if (!event) return tl::unexpected(std::move(event).error());
  std::size_t count = 0;
  const auto** answers =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event->get()), &count);
  if (const auto [error, text] = refusal_in(answers, count); error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return tl::unexpected(explain(error, subject, text));
  }
  const bool gone = wait_for([&] {
    const auto state = query(name, subject);
    return !state && state.error().code == ErrorCode::kNotFound;
  });
  if (!gone) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("topic '{}' is still there {} s after its deletion", name,
                            kTopicTimeout.count()));
  }
  return {};
}

Result<ClusterState> Admin::query(const std::string& topic, const Subject& subject) {
  TopicHandle handle(rd_kafka_topic_new(handle_.get(), topic.c_str(), nullptr));
  if (handle == nullptr) {
    return fail(ErrorCode::kInvalid, fmt::format("{} '{}': {}", subject.doing, topic,
                                                 rd_kafka_err2str(rd_kafka_last_error())));
  }
  const rd_kafka_metadata_t* raw = nullptr;
  const auto error =
      rd_kafka_metadata(handle_.get(), 0, handle.get(), &raw, to_milliseconds(kQueryTimeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return tl::unexpected(explain(error, subject));
  const Metadata metadata(raw);
  if (metadata->topic_cnt != 1)
    return tl::unexpected(explain(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, subject));
  const auto& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR &&
      found.err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
    return tl::unexpected(explain(found.err, subject));
  }
  ClusterState state;
  for (int i = 0; i < metadata->broker_cnt; ++i) state.nodes.push_back(metadata->brokers[i].id);
  for (int i = 0; i < found.partition_cnt; ++i) {
    const auto& partition = found.partitions[i];
    PartitionState one{.partition = core::PartitionId(static_cast<std::uint32_t>(partition.id)),
                       .leader = std::nullopt,
                       .replicas = numbers(partition.replicas, partition.replica_cnt),
                       .in_sync = numbers(partition.isrs, partition.isr_cnt)};
    if (partition.leader >= 0) one.leader = partition.leader;
    state.partitions.push_back(std::move(one));
  }
  std::sort(state.nodes.begin(), state.nodes.end());
  std::sort(
      state.partitions.begin(), state.partitions.end(),
      [](const PartitionState& a, const PartitionState& b) { return a.partition < b.partition; });
  return state;
}

Result<TopicInfo> Admin::describe_topic(const std::string& topic) {
  if (auto reached = reach(); !reached)
    return fail_up(std::move(reached), fmt::format("describe topic '{}'", topic));
  auto state = query(topic, {.doing = "describe topic", .topic = topic, .group = {}});
  if (!state) return tl::unexpected(std::move(state).error());
  TopicInfo info;
  info.partitions = static_cast<std::uint32_t>(state->partitions.size());
  for (const auto& partition : state->partitions) {
    info.replication =
        std::max(info.replication, static_cast<std::uint32_t>(partition.replicas.size()));
  }
  return info;
}

Result<std::vector<PartitionBounds>> Admin::bounds(const std::string& topic) {
  const Subject subject{.doing = "read log bounds", .topic = topic, .group = {}};
  auto state = query(topic, subject);
  if (!state) return tl::unexpected(std::move(state).error());
  std::vector<PartitionBounds> all;
  for (const auto& partition : state->partitions) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    const auto error = rd_kafka_query_watermark_offsets(
        handle_.get(), topic.c_str(), static_cast<std::int32_t>(partition.partition.value()), &low,
        &high, to_milliseconds(kQueryTimeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return tl::unexpected(
          explain(error, subject).in(fmt::format("partition {}", partition.partition.value())));
    }
    all.push_back({partition.partition,
                   core::Offset(static_cast<std::uint64_t>(std::max<std::int64_t>(low, 0))),
                   core::Offset(static_cast<std::uint64_t>(std::max<std::int64_t>(high, 0)))});
  }
  return all;
}

Result<ClusterState> Admin::cluster_state(const std::string& topic) {
  auto state = query(topic, {.doing = "read cluster state", .topic = topic, .group = {}});
  if (!state) return state;
  const auto controller = rd_kafka_controllerid(handle_.get(), 0);
  if (controller >= 0) state->controller = controller;
  return state;
}

}  // namespace sp::driver::kafka

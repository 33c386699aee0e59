// What is asked of the cluster itself, by a client of its own that neither producers nor consumers
// share: topics, the bounds of the log, leaders and in-sync sets.
//
// Cost:    a request each; bounds() two for each partition.
// Limits:  each request waits at most kReachTimeout and then kTopicTimeout or twice kQueryTimeout.
// Errors:  kExists, kNotFound, kInvalid; kDenied names the missing right; kUnavailable adds what
//          the client last said of its connections.
// Threads: any.
// Source:  driver.h.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/handle.h"
#include "driver/kafka/outcome.h"
#include "driver/kafka/rights.h"

namespace sp::driver::kafka {

constexpr std::chrono::seconds kReachTimeout{10};  // until any broker answers at all
constexpr std::chrono::seconds kTopicTimeout{30};
constexpr std::chrono::seconds kQueryTimeout{
    3};  // librdkafka may take it twice: to find a broker, and for its answer

class Admin {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Admin>> open(Settings settings,
                                                           MonotonicClock& clock);

  // Also waits until every partition has a leader.
  [[nodiscard]] Result<void> create_topic(const TopicSpec& spec);
  // Also waits until the topic is gone from the metadata.
  [[nodiscard]] Result<void> delete_topic(const std::string& topic);
  [[nodiscard]] Result<TopicInfo> describe_topic(const std::string& topic);
  [[nodiscard]] Result<std::vector<PartitionBounds>> bounds(const std::string& topic);
  [[nodiscard]] Result<ClusterState> cluster_state(const std::string& topic);

 private:
  Admin(Account account, MonotonicClock& clock) : account_(std::move(account)), clock_(clock) {}
  static void on_error(rd_kafka_t* handle, int error, const char* reason, void* self);
  // The error with what the client last said of its connections, if the broker was not reached.
  [[nodiscard]] Error explain(rd_kafka_resp_err_t error, const Subject& subject,
                              std::string_view detail = {});
  // The state of a topic; kNotFound if it is not there.
  [[nodiscard]] Result<void> reach();
  [[nodiscard]] Result<ClusterState> query(const std::string& topic, const Subject& subject);
  [[nodiscard]] Result<ClientEvent> result_of(rd_kafka_queue_t* queue, const Subject& subject);
  // Waits, serving the client, until `done` or the deadline.
  template <typename Done>
  bool wait_for(Done done);

  Account account_;
  MonotonicClock& clock_;  // outlives this
  std::mutex mutex_;       // guards last_error_
  std::string last_error_;
  Handle handle_;  // last: its threads call on_error
};

}  // namespace sp::driver::kafka

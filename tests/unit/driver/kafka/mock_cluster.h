// librdkafka's in-process mock cluster, and a sink that keeps what it is told, for the tests of
// this room.
//
// Threads: the mock's own; the sink belongs to the test.
#pragma once

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/core.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/clock.h"
#include "core/observation.h"
#include "core/payload.h"
#include "driver/driver.h"
#include "driver/kafka/kafka.h"

namespace sp::driver::kafka {

// A copy of an observation that owns its texts.
struct Seen {
  core::Observation observation;
  std::string name;
  std::string text;
  std::string instance;
};

class KeepingSink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& observation) override {
    seen.push_back({observation, std::string(observation.name), std::string(observation.text),
                    std::string(observation.instance)});
    seen.back().observation.name = seen.back().observation.text =
        seen.back().observation.instance = {};
  }
  [[nodiscard]] std::vector<Seen> of(core::Event event) const {
    std::vector<Seen> found;
    for (const auto& one : seen) {
      if (one.observation.event == event) found.push_back(one);
    }
    return found;
  }
  [[nodiscard]] std::size_t count(core::Event event) const { return of(event).size(); }

  std::vector<Seen> seen;
};

class MockCluster {
 public:
  explicit MockCluster(int brokers = 1) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    std::array<char, 256> why{};
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
    cluster_ = rd_kafka_mock_cluster_new(client_, brokers);
    // Newer than the headers: a first member need not wait three seconds for others.
    using SetDelay = void (*)(rd_kafka_mock_cluster_t*, std::int32_t);
    const auto set_delay = reinterpret_cast<SetDelay>(
        dlsym(RTLD_DEFAULT, "rd_kafka_mock_group_initial_rebalance_delay_ms"));
    if (set_delay != nullptr) set_delay(cluster_, 50);
  }
  ~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  void create_topic(const std::string& topic, int partitions) {
    rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
  }
  // The next requests of that kind (its number in Kafka's protocol) are answered with these errors.
  void answer_with(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(cluster_, request, errors.size(), errors.data());
  }
  [[nodiscard]] Settings settings() const {
    return {{"bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster_)}};
  }
  [[nodiscard]] rd_kafka_mock_cluster_t* get() { return cluster_; }

  static constexpr std::int16_t kProduce = 0;
  static constexpr std::int16_t kOffsetCommit = 8;
  static constexpr std::int16_t kFindCoordinator = 10;
  static constexpr std::int16_t kHeartbeat = 12;

 private:
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

constexpr core::RunId kRun{42};
constexpr std::size_t kPayloadBytes = 64;
constexpr WallTime kPublished{std::chrono::hours{1000}};

inline std::vector<std::byte> payload_for(const std::string& key, std::uint64_t sequence) {
  std::vector<std::byte> payload(kPayloadBytes);
  core::write_payload({.run = kRun, .sequence = core::Sequence(sequence), .published = kPublished}, key, payload);
  return payload;
}

constexpr Nanoseconds kStep = std::chrono::milliseconds(50);  // what a step waits for

// Calls `step` until `done`, at most 600 times; each step waits by itself. True if done.
inline bool until(const std::function<bool()>& done, const std::function<void()>& step) {
  for (int i = 0; i < 600 && !done(); ++i) step();
  return done();
}

}  // namespace sp::driver::kafka

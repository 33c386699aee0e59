// A served broker and what its clients see of it, for tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/embedded/broker.h"
#include "rpc/broker/broker_server.h"
#include "rpc/broker/remote_driver.h"

namespace sp::rpc::broker {

// Observations, with the bytes that their views point at.
class Notes final : public core::ObservationSink {
 public:
  struct Note {
    core::Observation seen;
    std::string name;
    std::string text;
  };
  void observe(const core::Observation& observation) override {
    notes.push_back({observation, std::string(observation.name), std::string(observation.text)});
  }
  [[nodiscard]] std::size_t count(core::Event event) const {
    std::size_t count = 0;
    for (const auto& note : notes) count += note.seen.event == event ? 1U : 0U;
    return count;
  }
  [[nodiscard]] const Note& first(core::Event event) const {
    for (const auto& note : notes) {
      if (note.seen.event == event) return note;
    }
    static const Note none{};
    ADD_FAILURE() << "nothing of that kind was observed";
    return none;
  }
  // Partitions that are held after all that was seen.
  [[nodiscard]] std::size_t held() const { return count(core::Event::kAssign) - count(core::Event::kRevoke); }

  std::vector<Note> notes;
};

// The clock of another process: an hour behind ours.
class OtherClock final : public MonotonicClock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return clock_.now() - kBehind; }
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition, MonotonicTime deadline) override {
    return clock_.wait_until(lock, condition, deadline + kBehind);
  }

 private:
  static constexpr Nanoseconds kBehind = std::chrono::hours(1);
  SystemMonotonicClock clock_;
};

struct SharedBrokerTest : testing::Test {
  static constexpr Nanoseconds kSoon = std::chrono::milliseconds(20);
  static constexpr Nanoseconds kLimit = std::chrono::seconds(30);  // of a test that would wait in vain
  static constexpr core::RunId kRun{77};
  static constexpr std::size_t kPayloadBytes = 64;

  SystemMonotonicClock clock;
  OtherClock broker_clock;
  SystemWallClock wall;
  driver::embedded::BrokerOptions options;
  BrokerServerOptions server_options;
  std::unique_ptr<driver::embedded::Broker> broker;
  std::unique_ptr<BrokerServer> server;
  RemoteBroker remote;

  SharedBrokerTest() {
    options.session_timeout = std::chrono::milliseconds(300);
    server_options.lease = std::chrono::milliseconds(300);
    remote.reopen_every = std::chrono::milliseconds(50);
  }
  void serve() {
    broker = std::make_unique<driver::embedded::Broker>(broker_clock, wall, options);
    auto started = BrokerServer::start(*broker, broker_clock, wall, server_options);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    remote.address = server->address();
  }
  // The process of the broker ends; another one takes its port.
  void end() {
    server_options.port = server->port();
    server.reset();
    broker.reset();
  }
  std::unique_ptr<driver::Driver> driver() {
    auto opened = open(clock, remote);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static void make_topic(driver::Driver& driver, std::uint32_t partitions) {
    driver::TopicSpec spec;
    spec.name = "orders";
    spec.partitions = partitions;
    const auto made = driver.create_topic(spec);
    ASSERT_TRUE(made) << made.error().message;
  }
  static std::unique_ptr<driver::Producer> producer(driver::Driver& driver) {
    driver::ProducerSpec spec;
    spec.topic = "orders";
    auto opened = driver.open_producer(spec);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static std::unique_ptr<driver::Consumer> consumer(driver::Driver& driver) {
    driver::ConsumerSpec spec;
    spec.index = 5;
    spec.group_name = "group";
    spec.topic = "orders";
    spec.run = kRun;
    spec.payload_bytes = kPayloadBytes;
    auto opened = driver.open_consumer(spec);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static void send(driver::Producer& producer, std::uint64_t sequence, std::optional<std::uint32_t> partition = {}) {
    std::vector<std::byte> payload(kPayloadBytes);
    core::PayloadFields fields;
    fields.run = kRun;
    fields.sequence = core::Sequence(sequence);
    core::write_payload(fields, "key", payload);
    core::Envelope envelope;
    envelope.key = "key";
    envelope.sequence = core::Sequence(sequence);
    envelope.payload = payload;
    if (partition) envelope.partition = core::PartitionId(*partition);
    ASSERT_EQ(producer.send(envelope, {3, 4}), driver::SendStatus::kAccepted);
  }
  // Does it again and again until it is so.
  template <typename Step, typename IsSo>
  [[nodiscard]] bool until(Step step, IsSo is_so) {
    const MonotonicTime limit = clock.now() + kLimit;
    while (!is_so() && clock.now() < limit) step();
    return is_so();
  }
};

}  // namespace sp::rpc::broker

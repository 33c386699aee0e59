// label: threads
// What a client says of a system that refuses it, and how it ends when its system is gone.
#include "unit/driver/kafka/mock_cluster.h"

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "driver/kafka/consumer.h"
#include "driver/kafka/library.h"
#include "driver/kafka/settings.h"
#include "driver/kafka/stragglers.h"

namespace sp::driver::kafka {
namespace {

using core::Event;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Longer than any test may take: nothing here may wait for it.
constexpr const char* kSessionTimeout = "300000";

class KafkaEndTest : public ::testing::Test {
 protected:
  KafkaEndTest() { cluster_.create_topic("t", 2); }

  std::unique_ptr<Consumer> consumer() {
    Settings settings = cluster_.settings();
    settings.insert({{"session.timeout.ms", kSessionTimeout}, {"heartbeat.interval.ms", "100"}});
    const auto& library = *Library::get();
    auto plan = plan_settings(library, settings);
    EXPECT_TRUE(plan) << plan.error().message;
    auto opened = open_consumer({.index = 0,
                                 .group = {},
                                 .name = "c",
                                 .group_name = "g",
                                 .topic = "t",
                                 .run = kRun,
                                 .payload_bytes = kPayloadBytes,
                                 .settings = {}},
                                plan->consumer, library, stragglers_, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  // A consumer of two partitions whose coordinator has gone with a commit under way.
  std::unique_ptr<Consumer> deserted() {
    auto reading = consumer();
    EXPECT_TRUE(until([&] { return sink_.count(Event::kAssign) == 2; },
                      [&] { reading->poll(100, kStep, sink_); }));
    rd_kafka_mock_broker_set_down(cluster_.get(), 1);
    const CommitPoint points[] = {{core::PartitionId(0), core::Offset(1)}};
    reading->commit(points, sink_);
    // Until the client has noticed, it would wait for nothing but the answer.
    EXPECT_TRUE(until([&] { return sink_.count(Event::kDisconnect) > 0; },
                      [&] { reading->poll(100, kStep, sink_); }));
    return reading;
  }
  template <typename Act>
  Nanoseconds time_of(Act act) {
    const auto begin = clock_.now();
    act();
    return clock_.now() - begin;
  }

  SystemMonotonicClock clock_;
  MockCluster cluster_;
  KeepingSink sink_;
  std::shared_ptr<Stragglers> stragglers_ = std::make_shared<Stragglers>();  // as a driver shares them
};

TEST_F(KafkaEndTest, AConsumerWhoseSystemIsGoneIsClosedInTheTimeGivenAndEndsWhenItIsBack) {
  auto reading = deserted();
  const auto took = time_of([&] {
    reading->close(seconds(1), sink_);
    reading.reset();
  });
  EXPECT_LT(took, seconds(4));
  EXPECT_EQ(sink_.count(Event::kCommitInfo), 1U);
  EXPECT_EQ(sink_.count(Event::kRevoke), 2U);
  EXPECT_EQ(stragglers_->reap(), 1U);
  rd_kafka_mock_broker_set_up(cluster_.get(), 1);
  auto opened = open(cluster_.settings(), clock_);
  EXPECT_TRUE(until([&] { return stragglers_->reap() == 0; },
                    [&] { static_cast<void>((*opened)->describe_topic("t")); }))
      << "it leaves its group and is gone";
}

TEST_F(KafkaEndTest, ACloseWithoutAnyTimeWaitsForNothing) {
  auto reading = consumer();
  ASSERT_TRUE(until([&] { return sink_.count(Event::kAssign) == 2; },
                    [&] { reading->poll(100, kStep, sink_); }));
  const auto took = time_of([&] {
    reading->close(Nanoseconds(0), sink_);
    reading.reset();
  });
  EXPECT_LT(took, seconds(3));
  EXPECT_EQ(sink_.count(Event::kRevoke), 2U);
  EXPECT_EQ(stragglers_->reap(), 0U);
}

// As an interrupt does it, or the crash of a worker.
TEST_F(KafkaEndTest, AConsumerWhoseSystemIsGoneIsDroppedAtOnce) {
  auto reading = deserted();
  EXPECT_LT(time_of([&] { reading.reset(); }), seconds(3));
  EXPECT_EQ(stragglers_->reap(), 1U);
}

TEST_F(KafkaEndTest, AGroupThatMayNotBeJoinedIsARefusalWithItsRight) {
  // As a broker does: each time it is asked. A first answer may be lost with its connection.
  cluster_.answer_with(MockCluster::kFindCoordinator, std::vector(8, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED));
  auto reading = consumer();
  ASSERT_TRUE(until([&] { return sink_.count(Event::kClientError) > 0; },
                    [&] { reading->poll(100, kStep, sink_); }));
  const auto refused = sink_.of(Event::kClientError).front();
  EXPECT_EQ(refused.observation.refusal, core::Refusal::kRight);
  EXPECT_NE(refused.text.find("; needs READ on group 'g'; grant it: kafka-acls.sh --bootstrap-server "),
            std::string::npos)
      << refused.text;
}

TEST_F(KafkaEndTest, ARecordThatMayNotBeWrittenIsARefusalWithItsRight) {
  auto driver = open(cluster_.settings(), clock_);
  ASSERT_TRUE(driver);
  auto writing = (*driver)->open_producer(
      {.index = 0, .name = "p", .topic = "t", .settings = {{"enable.idempotence", "false"}}});
  ASSERT_TRUE(writing);
  const auto payload = payload_for("k", 0);
  const core::Envelope envelope{
      .key = "k", .sequence = {}, .payload = payload, .partition = core::PartitionId(0)};
  cluster_.answer_with(MockCluster::kProduce, {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  ASSERT_EQ((*writing)->send(envelope, {}), SendStatus::kAccepted);
  ASSERT_TRUE(until([&] { return (*writing)->in_flight() == 0; },
                    [&] { (*writing)->poll(kStep, sink_); }));
  const auto& refused = sink_.seen.front();
  EXPECT_EQ(refused.observation.refusal, core::Refusal::kRight);
  EXPECT_NE(refused.text.find("; needs WRITE on topic 't'; grant it: kafka-acls.sh"), std::string::npos)
      << refused.text;
}

}  // namespace
}  // namespace sp::driver::kafka

// label: threads
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "unit/driver/embedded/world.h"

namespace sp::driver::embedded::test {
namespace {

WorldOptions small() {
  WorldOptions options;
  options.partitions = 2;
  options.producers = 1;
  options.keys = 4;
  options.consumers = 2;
  return options;
}

std::vector<core::Observation> of(const World& world, core::Event event, std::size_t from = 0) {
  std::vector<core::Observation> found;
  for (std::size_t i = from; i < world.sink.told.size(); ++i) {
    if (world.sink.told[i].observation.event == event) found.push_back(world.sink.told[i].observation);
  }
  return found;
}

void send_many(World& world, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) world.send(0, i % world.options.keys);
}

TEST(BrokerTest, WhatIsAckedIsHandedOverOnceInOrderAtItsPosition) {
  World world(small());
  send_many(world, 200);
  world.settle(std::chrono::milliseconds{200});
  std::map<core::Position, std::pair<core::KeyRef, core::Sequence>> acked;
  for (const auto& ack : of(world, core::Event::kOk)) acked[{ack.partition, ack.offset}] = {ack.key, ack.sequence};
  ASSERT_EQ(acked.size(), 200U);
  std::map<std::string, std::uint64_t> next;
  std::uint64_t delivered = 0;
  for (const auto& told : world.sink.told) {
    if (told.observation.event != core::Event::kDeliver) continue;
    ++delivered;
    EXPECT_EQ(told.observation.content, core::Content::kIntact);
    EXPECT_GE(told.observation.published, WallTime{std::chrono::hours{1000}});
    EXPECT_LE(told.observation.published, world.wall.now());
    EXPECT_EQ(told.observation.sequence.value(), next[told.name]++);
    const auto& [key, sequence] = acked.at({told.observation.partition, told.observation.offset});
    EXPECT_EQ(World::key_name(key), told.name);
    EXPECT_EQ(sequence, told.observation.sequence);
  }
  EXPECT_EQ(delivered, 200U);
}

TEST(BrokerTest, NothingIsAckedBeforeItsLatency) {
  WorldOptions options = small();
  options.broker.ack = {std::chrono::milliseconds{5}, std::chrono::milliseconds{5}};
  World world(options);
  send_many(world, 1);
  world.poll_all();
  EXPECT_TRUE(of(world, core::Event::kOk).empty());
  EXPECT_EQ(world.producers[0]->in_flight(), 1U);
  EXPECT_LE(*world.broker->next_event(), world.clock.now() + std::chrono::milliseconds{5});
  world.clock.advance(std::chrono::milliseconds{5});
  world.poll_all();
  EXPECT_EQ(of(world, core::Event::kOk).size(), 1U);
  EXPECT_EQ(world.producers[0]->in_flight(), 0U);
}

TEST(BrokerTest, NextEventIsAbsentWhenNothingCanHappen) {
  World world(small());
  world.settle(std::chrono::milliseconds{50});
  EXPECT_FALSE(world.broker->next_event().has_value());
}

TEST(BrokerTest, PartitionsAreSharedOutAndOnlyTheMovingOneIsAskedBack) {
  WorldOptions options = small();
  options.partitions = 4;
  World world(options);
  world.settle(std::chrono::milliseconds{10});
  EXPECT_EQ(of(world, core::Event::kAssign).size(), 4U);
  const std::size_t before = world.sink.told.size();
  ASSERT_TRUE(world.broker->move(World::kTopic, "g0", core::PartitionId(1)));
  const auto asked = world.consumers[0]->revoking().size() + world.consumers[1]->revoking().size();
  EXPECT_EQ(asked, 1U);
  world.settle(std::chrono::milliseconds{20});
  const auto revoked = of(world, core::Event::kRevoke, before);
  const auto assigned = of(world, core::Event::kAssign, before);
  ASSERT_EQ(revoked.size(), 1U);
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_EQ(revoked[0].partition, assigned[0].partition);
  EXPECT_NE(revoked[0].process, assigned[0].process);
  EXPECT_EQ(revoked[0].close, core::LineageClose::kRevoked);
}

TEST(BrokerTest, ANewOwnerStartsAtTheCommittedOffset) {
  World world(small());
  send_many(world, 100);
  world.settle(std::chrono::milliseconds{100});
  const std::size_t before = world.sink.told.size();
  ASSERT_TRUE(world.broker->move(World::kTopic, "g0", core::PartitionId(0)));
  world.settle(std::chrono::milliseconds{20});
  const auto bounds = *world.driver->bounds(World::kTopic);
  EXPECT_EQ(of(world, core::Event::kAssign, before).at(0).start, bounds[0].end);
  EXPECT_TRUE(of(world, core::Event::kDeliver, before).empty());
}

TEST(BrokerTest, WhatWasNotCommittedComesAgainAfterAnExpulsion) {
  WorldOptions options = small();
  options.commit_every = std::chrono::hours{1};
  World world(options);
  world.poll_all();  // commits nothing now and next in an hour
  send_many(world, 100);
  world.settle(std::chrono::milliseconds{50});
  ASSERT_EQ(of(world, core::Event::kDeliver).size(), 100U);
  const std::size_t before = world.sink.told.size();
  ASSERT_TRUE(world.broker->expel(World::kTopic, "g0", 0));
  ASSERT_TRUE(world.broker->expel(World::kTopic, "g0", 1));
  world.settle(std::chrono::milliseconds{500});
  EXPECT_EQ(of(world, core::Event::kRevoke, before).at(0).close, core::LineageClose::kLost);
  EXPECT_GE(of(world, core::Event::kDeliver, before).size(), 100U);
}

TEST(BrokerTest, ACrashedConsumerKeepsItsPartitionsForItsSession) {
  WorldOptions options = small();
  options.broker.session_timeout = std::chrono::seconds{3};
  World world(options);
  world.settle(std::chrono::milliseconds{10});
  const std::size_t before = world.sink.told.size();
  world.consumers.pop_back();
  const MonotonicTime crashed = world.clock.now();
  world.settle(std::chrono::milliseconds{2900});
  EXPECT_TRUE(of(world, core::Event::kAssign, before).empty());
  EXPECT_EQ(world.broker->next_event(), crashed + std::chrono::seconds{3});
  world.settle(std::chrono::milliseconds{200});
  EXPECT_EQ(of(world, core::Event::kAssign, before).size(), 1U);
}

TEST(BrokerTest, APartitionThatIsNotReleasedIsTakenAfterTheSession) {
  WorldOptions options = small();
  options.broker.session_timeout = std::chrono::seconds{3};
  World world(options);
  world.settle(std::chrono::milliseconds{10});
  ASSERT_TRUE(world.broker->move(World::kTopic, "g0", core::PartitionId(0)));
  const std::size_t owner = world.consumers[0]->revoking().empty() ? 1 : 0;
  TestSink stubborn;  // polls, and never releases
  for (int i = 0; i < 4; ++i) {
    world.consumers[owner]->poll(10, Nanoseconds{0}, stubborn);
    world.poll_consumer(1 - owner);
    world.clock.advance(std::chrono::seconds{1});
  }
  world.consumers[owner]->poll(10, Nanoseconds{0}, stubborn);
  ASSERT_EQ(stubborn.told.size(), 1U);
  EXPECT_EQ(stubborn.told[0].observation.close, core::LineageClose::kLost);
}

TEST(BrokerTest, ACommitOfAPartitionThatWasLostFailsAndOneNeverHeldIsDropped) {
  World world(small());
  world.settle(std::chrono::milliseconds{10});
  const auto mine = of(world, core::Event::kAssign);
  const std::uint32_t held = mine[0].process == 0 ? mine[0].partition.value() : mine[1].partition.value();
  ASSERT_TRUE(world.broker->expel(World::kTopic, "g0", 0));
  const std::vector<CommitPoint> points{{core::PartitionId(held), core::Offset(0)},
                                        {core::PartitionId(1 - held), core::Offset(0)}};
  world.consumers[0]->commit(points, world.sink);
  EXPECT_EQ(of(world, core::Event::kCommitInvoke).size(), 1U);
  world.settle(std::chrono::milliseconds{10});
  EXPECT_EQ(of(world, core::Event::kCommitFail).size(), 1U);
}

TEST(BrokerTest, AFullQueueTakesNothingAndSaysSo) {
  WorldOptions options = small();
  options.broker.queue_records_max = 3;
  World world(options);
  send_many(world, 5);
  EXPECT_EQ(world.queue_full, 2U);
  world.settle(std::chrono::milliseconds{10});
  EXPECT_EQ(of(world, core::Event::kOk).size(), 3U);
}

TEST(BrokerTest, RetentionDropsOnlyWhatEveryGroupCommittedElseTheQueueIsFull) {
  WorldOptions options = small();
  options.partitions = 1;
  options.broker.retention_bytes_max = 1'000'000;
  World world(options);
  world.poll_all();
  send_many(world, 20'000);
  EXPECT_GT(world.queue_full, 0U);
  EXPECT_EQ(world.driver->bounds(World::kTopic)->at(0).begin, core::Offset(0));
  world.settle(std::chrono::milliseconds{500});
  world.queue_full = 0;
  send_many(world, 5'000);
  EXPECT_EQ(world.queue_full, 0U);
  EXPECT_GT(world.driver->bounds(World::kTopic)->at(0).begin, core::Offset(0));
  world.settle(std::chrono::milliseconds{500});
  EXPECT_EQ(of(world, core::Event::kDeliver).size(), of(world, core::Event::kOk).size());
}

TEST(BrokerTest, AFreezeAnswersNothingAndThenEverything) {
  WorldOptions options = small();
  options.broker.defects = *parse_defects({"freeze:count=1,for=3s"});
  options.records = 1;
  World world(options);
  world.poll_all();
  const std::size_t before = world.sink.told.size();
  send_many(world, 3);
  for (int i = 0; i < 29; ++i) {
    world.poll_all();
    world.clock.advance(std::chrono::milliseconds{100});
  }
  EXPECT_EQ(world.sink.told.size(), before + 3);
  world.settle(std::chrono::milliseconds{200});
  EXPECT_EQ(of(world, core::Event::kOk).size(), 3U);
  EXPECT_EQ(of(world, core::Event::kDeliver).size(), 3U);
}

TEST(BrokerTest, APausedConsumerIsHandedNothingAndKeepsItsPartitions) {
  World world(small());
  world.settle(std::chrono::milliseconds{10});
  for (auto& consumer : world.consumers) consumer->pause(true);
  send_many(world, 10);
  world.settle(std::chrono::milliseconds{100});
  EXPECT_TRUE(of(world, core::Event::kDeliver).empty());
  for (auto& consumer : world.consumers) consumer->pause(false);
  world.settle(std::chrono::milliseconds{100});
  EXPECT_EQ(of(world, core::Event::kDeliver).size(), 10U);
  EXPECT_TRUE(of(world, core::Event::kRevoke).empty());
}

TEST(EmbeddedDriverTest, UnknownSettingsAndTopicsAreRefusedByName) {
  World world(small());
  const auto unknown = EmbeddedDriver::make(*world.broker, {{"acks", "all"}, {"retires", "3"}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("'retires'"), std::string::npos);
  EXPECT_EQ(world.driver->bounds("nowhere").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(world.driver->create_topic({World::kTopic, 1, 1, {}}).error().code, ErrorCode::kExists);
  EXPECT_EQ(world.driver->create_topic({"t", 0, 1, {}}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(world.driver->create_topic({"t", 1, 3, {}}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(world.driver->open_producer({0, "p", "nowhere", {}}).error().code, ErrorCode::kNotFound);
}

TEST(EmbeddedDriverTest, SettingsThatMeanNothingHereAreNoted) {
  World world(small());
  const auto driver = EmbeddedDriver::make(*world.broker, {{"acks", "all"}});
  ASSERT_TRUE(driver.has_value());
  EXPECT_EQ((*driver)->notes().size(), 1U);
  EXPECT_EQ((*driver)->cluster_state(World::kTopic)->partitions.size(), 2U);
}

TEST(EmbeddedDriverTest, ARawReadPastTheEndIsNotReached) {
  World world(small());
  send_many(world, 10);
  RawSpec spec;
  spec.topic = World::kTopic;
  spec.run = world.run;
  spec.payload_bytes = 64;
  spec.targets = {{core::PartitionId(0), core::Offset(0), core::Offset(1000)}};
  auto reader = std::move(*world.driver->open_raw_reader(spec));
  EXPECT_TRUE(*reader->step(Nanoseconds{0}, world.sink));
  EXPECT_FALSE(of(world, core::Event::kRawEnd).at(0).reached);
  EXPECT_FALSE(of(world, core::Event::kRaw).empty());
}

// With real threads and the real clock: nothing is lost, nothing hangs.
TEST(BrokerThreadsTest, ProducersAndConsumersInThreadsMoveEverything) {
  SystemMonotonicClock clock;
  SystemWallClock wall;
  Broker broker(clock, wall, {.seed = 3});
  auto driver = std::move(*EmbeddedDriver::make(broker));
  ASSERT_TRUE(driver->create_topic({"t", 3, 1, {}}).has_value());
  constexpr std::uint64_t kEach = 5'000;
  std::atomic<std::uint64_t> acked{0};
  std::atomic<std::uint64_t> received{0};
  const auto produce = [&](std::uint32_t index) {
    auto producer = std::move(*driver->open_producer({index, "p", "t", {}}));
    TestSink sink;
    std::vector<std::byte> payload(64);
    const std::string key = "k" + std::to_string(index);
    for (std::uint64_t i = 0; i < kEach; ++i) {
      core::write_payload({core::RunId(1), 0, core::Sequence(i), core::kNoPartition, wall.now()}, key, payload);
      while (producer->send({key, core::Sequence(i), payload, std::nullopt}, {}) != SendStatus::kAccepted) {
        producer->poll(std::chrono::milliseconds{1}, sink);
      }
    }
    producer->close(std::chrono::seconds{10}, sink);
    for (const auto& told : sink.told) acked += told.observation.event == core::Event::kOk ? 1U : 0U;
  };
  const auto consume = [&](std::uint32_t index) {
    ConsumerSpec spec;
    spec.index = index;
    spec.group_name = "g";
    spec.topic = "t";
    spec.run = core::RunId(1);
    spec.payload_bytes = 64;
    spec.commit_each = true;
    auto consumer = std::move(*driver->open_consumer(spec));
    TestSink sink;
    const MonotonicTime until = clock.now() + std::chrono::seconds{20};
    while (received < 2 * kEach && clock.now() < until) {
      received += consumer->poll(100, std::chrono::milliseconds{50}, sink);
      if (!consumer->revoking().empty() && consumer->commits_open() == 0) consumer->release(sink);
    }
    consumer->close(std::chrono::seconds{1}, sink);
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < 2; ++i) threads.emplace_back(consume, i);
    for (std::uint32_t i = 0; i < 2; ++i) threads.emplace_back(produce, i);
  }
  EXPECT_EQ(acked, 2 * kEach);
  EXPECT_EQ(received, 2 * kEach);
}

}  // namespace
}  // namespace sp::driver::embedded::test

// label: threads
#include "unit/driver/kafka/mock_cluster.h"

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sp::driver::kafka {
namespace {

using core::Event;
using std::chrono::milliseconds;
using std::chrono::seconds;

class KafkaMockTest : public ::testing::Test {
 protected:
  std::unique_ptr<Driver> open_driver(Settings extra = {}) {
    extra.merge(cluster_.settings());
    auto opened = open(extra, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static std::unique_ptr<Producer> producer(Driver& driver, Settings settings = {}) {
    auto opened = driver.open_producer(
        {.index = 7, .name = "p", .topic = "t", .settings = std::move(settings)});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static std::unique_ptr<Consumer> consumer(Driver& driver, std::uint32_t index = 0,
                                            Settings settings = {}) {
    settings.emplace("fetch.wait.max.ms", "10");
    settings.emplace("heartbeat.interval.ms", "100");
    settings.emplace("session.timeout.ms",
                     "2500");  // the mock waits this long less a second for members to join again
    auto opened = driver.open_consumer({.index = index,
                                        .group = core::GroupIndex(3),
                                        .name = fmt::format("c{}", index),
                                        .group_name = "g",
                                        .topic = "t",
                                        .run = kRun,
                                        .payload_bytes = kPayloadBytes,
                                        .settings = std::move(settings)});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  static SendStatus send(Producer& producer, std::uint64_t sequence,
                         std::optional<std::uint32_t> partition = 0U) {
    const auto payload = payload_for("k", sequence);
    core::Envelope envelope{.key = "k",
                            .sequence = core::Sequence(sequence),
                            .payload = payload,
                            .partition = std::nullopt};
    if (partition) envelope.partition = core::PartitionId(*partition);
    return producer.send(envelope, {.block = 1, .index = 5});
  }
  // Writes `count` records to a partition and waits for all of them.
  static void fill(Driver& driver, std::uint64_t count, std::uint32_t partition = 0) {
    auto writing = producer(driver, {{"enable.idempotence", "false"}, {"linger.ms", "0"}});
    KeepingSink sink;
    for (std::uint64_t i = 0; i < count; ++i) send(*writing, i, partition);
    EXPECT_TRUE(
        until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
    EXPECT_EQ(sink.count(Event::kOk), count);
    writing->close(seconds(1), sink);
  }
  static bool poll_until(Consumer& consumer, KeepingSink& sink, const std::function<bool()>& done) {
    return until(done, [&] { consumer.poll(100, kStep, sink); });
  }

  // How many partitions the consumer that reported to `sink` holds now.
  static std::size_t held(const KeepingSink& sink) {
    return sink.count(Event::kAssign) - sink.count(Event::kRevoke);
  }

  SystemMonotonicClock clock_;
  MockCluster cluster_;
};

TEST_F(KafkaMockTest, EachRecordSentIsAcknowledgedWithItsPosition) {
  cluster_.create_topic("t", 2);
  const auto driver = open_driver();
  auto writing = producer(*driver);
  KeepingSink sink;
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(send(*writing, i, 1), SendStatus::kAccepted);
  EXPECT_EQ(writing->in_flight(), 50U);
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  const auto acked = sink.of(Event::kOk);
  ASSERT_EQ(acked.size(), 50U);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto& one = acked[i].observation;
    EXPECT_EQ(one.process, 7U);
    EXPECT_EQ(one.key, (core::KeyRef{1, 5}));
    EXPECT_EQ(one.sequence, core::Sequence(i));
    EXPECT_EQ(one.partition, core::PartitionId(1));
    EXPECT_TRUE(one.has_position);
    EXPECT_EQ(one.offset, core::Offset(i));
  }
}

TEST_F(KafkaMockTest, WithoutAPartitionAskedForTheKeyDecides) {
  cluster_.create_topic("t", 4);
  const auto driver = open_driver();
  auto writing = producer(*driver);
  KeepingSink sink;
  for (std::uint64_t i = 0; i < 20; ++i) send(*writing, i, std::nullopt);
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  std::set<core::PartitionId> partitions;
  for (const auto& one : sink.of(Event::kOk)) partitions.insert(one.observation.partition);
  EXPECT_EQ(partitions.size(), 1U);
}

TEST_F(KafkaMockTest, ATooLargeRecordFailsAndIsAnsweredByTheNextPoll) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver({{"message.max.bytes", "1000"}});
  auto writing = producer(*driver);
  const std::vector<std::byte> payload(5000);
  EXPECT_EQ(
      writing->send(
          {.key = "k", .sequence = core::Sequence(3), .payload = payload, .partition = {}}, {}),
      SendStatus::kAccepted);
  EXPECT_EQ(writing->in_flight(), 1U);
  KeepingSink sink;
  EXPECT_EQ(writing->poll(Nanoseconds(0), sink), 1U);
  ASSERT_EQ(sink.count(Event::kFail), 1U);
  EXPECT_EQ(sink.seen[0].observation.sequence, core::Sequence(3));
  EXPECT_NE(sink.seen[0].text.find("too large"), std::string::npos) << sink.seen[0].text;
  EXPECT_EQ(writing->in_flight(), 0U);
}

TEST_F(KafkaMockTest, AFullLocalQueueTakesNothing) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver({{"queue.buffering.max.messages", "5"}, {"linger.ms", "1000"}});
  auto writing = producer(*driver);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(send(*writing, i), SendStatus::kAccepted);
  EXPECT_EQ(send(*writing, 5), SendStatus::kQueueFull);
  EXPECT_EQ(writing->in_flight(), 5U);
}

TEST_F(KafkaMockTest, ABrokersRefusalOfTheRecordIsFail) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto writing = producer(*driver, {{"enable.idempotence", "false"}});
  cluster_.answer_with(MockCluster::kProduce, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  send(*writing, 0);
  KeepingSink sink;
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  EXPECT_EQ(sink.count(Event::kFail), 1U);
}

TEST_F(KafkaMockTest, ARefusalAfterATryThatAnotherLeaderMayHaveTakenIsInfo) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto writing = producer(*driver, {{"enable.idempotence", "false"}});
  cluster_.answer_with(MockCluster::kProduce, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                               RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED});
  send(*writing, 0);
  KeepingSink sink;
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  EXPECT_EQ(sink.count(Event::kInfo), 1U);
  EXPECT_EQ(sink.count(Event::kFail), 0U);
}

TEST_F(KafkaMockTest, ARecordWithoutAnswerInTimeIsInfo) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto writing = producer(
      *driver,
      {{"delivery.timeout.ms", "200"}, {"linger.ms", "0"}, {"enable.idempotence", "false"}});
  rd_kafka_mock_broker_set_down(cluster_.get(), 1);
  send(*writing, 0);
  KeepingSink sink;
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  EXPECT_EQ(sink.count(Event::kInfo), 1U);
}

TEST_F(KafkaMockTest, ClosingAProducerAnswersWhatIsOpenAsInfo) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto writing = producer(*driver, {{"linger.ms", "60000"}});
  for (std::uint64_t i = 0; i < 3; ++i) send(*writing, i);
  KeepingSink sink;
  writing->close(milliseconds(20), sink);
  EXPECT_EQ(sink.count(Event::kInfo), 3U);
  EXPECT_EQ(writing->in_flight(), 0U);
}

TEST_F(KafkaMockTest, AConsumerStatesItsLineageAndHandsOverEveryRecordInOrder) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  fill(*driver, 100);
  auto reading = consumer(*driver, 4);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kDeliver) == 100; }));
  const auto assigned = sink.of(Event::kAssign);
  ASSERT_EQ(assigned.size(), 1U);
  EXPECT_TRUE(assigned[0].observation.has_generation);
  EXPECT_FALSE(assigned[0].observation.has_start) << "nothing is committed yet";
  EXPECT_TRUE(assigned[0].observation.classic);
  EXPECT_FALSE(assigned[0].text.empty()) << "the member's id";
  EXPECT_EQ(sink.seen[0].observation.event, Event::kAssign);
  const auto delivered = sink.of(Event::kDeliver);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(delivered[i].observation.sequence, core::Sequence(i));
    EXPECT_EQ(delivered[i].observation.offset, core::Offset(i));
    EXPECT_EQ(delivered[i].observation.content, core::Content::kIntact);
    EXPECT_EQ(delivered[i].observation.published, kPublished);
    EXPECT_EQ(delivered[i].observation.process, 4U);
    EXPECT_EQ(delivered[i].observation.group, core::GroupIndex(3));
    EXPECT_EQ(delivered[i].name, "k");
  }
  reading->close(seconds(5), sink);
  const auto closed = sink.of(Event::kRevoke);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].observation.close, core::LineageClose::kClosed);
}

TEST_F(KafkaMockTest, ACommitIsInvokedAnsweredAndTheNextLineageStartsThere) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  fill(*driver, 10);
  auto first = consumer(*driver);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*first, sink, [&] { return sink.count(Event::kDeliver) == 10; }));
  const CommitPoint points[] = {{core::PartitionId(0), core::Offset(6)},
                                {core::PartitionId(9), core::Offset(1)}};
  first->commit(points, sink);
  EXPECT_EQ(first->commits_open(), 1U);
  ASSERT_EQ(sink.count(Event::kCommitInvoke), 1U) << "partition 9 is not held";
  ASSERT_TRUE(poll_until(*first, sink, [&] { return first->commits_open() == 0; }));
  ASSERT_EQ(sink.count(Event::kCommitOk), 1U);
  EXPECT_EQ(sink.of(Event::kCommitOk)[0].observation.offset, core::Offset(6));
  first->close(seconds(5), sink);

  auto second = consumer(*driver, 1);
  KeepingSink after;
  ASSERT_TRUE(poll_until(*second, after, [&] { return after.count(Event::kDeliver) == 4; }));
  const auto assigned = after.of(Event::kAssign);
  ASSERT_EQ(assigned.size(), 1U);
  ASSERT_TRUE(assigned[0].observation.has_start);
  EXPECT_EQ(assigned[0].observation.start, core::Offset(6));
  EXPECT_EQ(after.of(Event::kDeliver)[0].observation.offset, core::Offset(6));
}

TEST_F(KafkaMockTest, ACommitRefusedForItsGenerationFails) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  fill(*driver, 1);
  auto reading = consumer(*driver);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kDeliver) == 1; }));
  cluster_.answer_with(MockCluster::kOffsetCommit, {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION});
  const CommitPoint points[] = {{core::PartitionId(0), core::Offset(1)}};
  reading->commit(points, sink);
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return reading->commits_open() == 0; }));
  EXPECT_EQ(sink.count(Event::kCommitFail), 1U);
  EXPECT_EQ(sink.count(Event::kCommitOk), 0U);
}

TEST_F(KafkaMockTest, ARevokeWaitsForReleaseAndNothingIsDeliveredMeanwhile) {
  cluster_.create_topic("t", 4);
  const auto driver = open_driver();
  auto first = consumer(*driver, 0);
  KeepingSink one;
  ASSERT_TRUE(poll_until(*first, one, [&] { return one.count(Event::kAssign) == 4; }));
  auto second = consumer(*driver, 1);
  KeepingSink two;
  ASSERT_TRUE(until([&] { return !first->revoking().empty(); },
                    [&] {
                      first->poll(100, milliseconds(20), one);
                      second->poll(100, milliseconds(20), two);
                    }));
  const auto asked_back = first->revoking();
  EXPECT_EQ(asked_back.size(), 2U);
  EXPECT_EQ(one.count(Event::kRevoke), 0U);
  for (std::uint32_t partition = 0; partition < 4; ++partition) fill(*driver, 5, partition);
  for (int i = 0; i < 10; ++i) {
    first->poll(100, milliseconds(20), one);
    second->poll(100, milliseconds(20), two);
  }
  for (const auto& delivered : one.of(Event::kDeliver)) {
    EXPECT_EQ(std::count(asked_back.begin(), asked_back.end(), delivered.observation.partition), 0);
  }
  EXPECT_EQ(two.count(Event::kAssign), 0U) << "not given back yet";

  first->release(one);
  EXPECT_TRUE(first->revoking().empty());
  EXPECT_EQ(one.count(Event::kRevoke), 2U);
  ASSERT_TRUE(until([&] { return one.count(Event::kDeliver) + two.count(Event::kDeliver) == 20; },
                    [&] {
                      first->poll(100, milliseconds(20), one);
                      second->poll(100, milliseconds(20), two);
                      first->release(one);
                      second->release(two);
                    }));
  EXPECT_EQ(held(one), 2U);
  EXPECT_EQ(held(two), 2U);
  EXPECT_GT(two.of(Event::kAssign)[0].observation.generation,
            one.of(Event::kAssign)[0].observation.generation);
}

TEST_F(KafkaMockTest, AnEagerAssignorGivesEverythingBack) {
  cluster_.create_topic("t", 2);
  const auto driver = open_driver({{"partition.assignment.strategy", "range"}});
  auto first = consumer(*driver, 0);
  KeepingSink one;
  ASSERT_TRUE(poll_until(*first, one, [&] { return one.count(Event::kAssign) == 2; }));
  auto second = consumer(*driver, 1);
  KeepingSink two;
  ASSERT_TRUE(until([&] { return held(one) == 1 && held(two) == 1; },
                    [&] {
                      first->poll(100, milliseconds(20), one);
                      second->poll(100, milliseconds(20), two);
                      first->release(one);
                      second->release(two);
                    }));
  EXPECT_GE(one.count(Event::kRevoke), 2U) << "both, also the one it got back";
}

TEST_F(KafkaMockTest, AFencedMemberLosesItsPartitionsAtOnce) {
  cluster_.create_topic("t", 2);
  const auto driver = open_driver();
  auto reading = consumer(*driver);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kAssign) == 2; }));
  cluster_.answer_with(MockCluster::kHeartbeat, {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID});
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kRevoke) == 2; }));
  for (const auto& lost : sink.of(Event::kRevoke))
    EXPECT_EQ(lost.observation.close, core::LineageClose::kLost);
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kAssign) == 4; }))
      << "it joins again";
}

TEST_F(KafkaMockTest, APausedConsumerDeliversNothingUntilItResumes) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto reading = consumer(*driver);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kAssign) == 1; }));
  reading->pause(true);
  fill(*driver, 10);
  for (int i = 0; i < 10; ++i) reading->poll(100, milliseconds(20), sink);
  EXPECT_EQ(sink.count(Event::kDeliver), 0U);
  reading->pause(false);
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kDeliver) == 10; }));
  EXPECT_EQ(sink.count(Event::kRevoke), 0U);
}

TEST_F(KafkaMockTest, AStaticMemberIsNamedByItsInstance) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver({{"group.instance.id", "app-{consumer}"}});
  auto reading = consumer(*driver, 2);
  KeepingSink sink;
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kAssign) == 1; }));
  EXPECT_EQ(sink.of(Event::kAssign)[0].instance, "app-c2");
}

TEST_F(KafkaMockTest, ForeignAndDamagedRecordsAreToldApart) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver();
  auto writing = producer(*driver);
  auto damaged = payload_for("k", 0);
  damaged[60] ^= std::byte{1};
  std::vector<std::byte> foreign(kPayloadBytes);
  core::write_payload({.run = core::RunId(43), .sequence = core::Sequence(1)}, "k", foreign);
  KeepingSink sink;
  for (const auto* payload : {&damaged, &foreign}) {
    writing->send(
        {.key = "k", .sequence = {}, .payload = *payload, .partition = core::PartitionId(0)}, {});
  }
  ASSERT_TRUE(
      until([&] { return writing->in_flight() == 0; }, [&] { writing->poll(kStep, sink); }));
  auto reading = consumer(*driver);
  ASSERT_TRUE(poll_until(*reading, sink, [&] { return sink.count(Event::kDeliver) == 2; }));
  EXPECT_EQ(sink.of(Event::kDeliver)[0].observation.content, core::Content::kDamaged);
  EXPECT_EQ(sink.of(Event::kDeliver)[1].observation.content, core::Content::kOtherRun);
}

TEST_F(KafkaMockTest, TheRawReadSeesExactlyTheRangesAskedFor) {
  cluster_.create_topic("t", 2);
  const auto driver = open_driver();
  fill(*driver, 20, 0);
  fill(*driver, 5, 1);
  const auto bounds = driver->bounds("t");
  ASSERT_TRUE(bounds) << bounds.error().message;
  ASSERT_EQ(bounds->size(), 2U);
  EXPECT_EQ((*bounds)[0].end, core::Offset(20));
  EXPECT_EQ((*bounds)[1].end, core::Offset(5));
  auto raw = driver->open_raw_reader(
      {.topic = "t",
       .run = kRun,
       .payload_bytes = kPayloadBytes,
       .targets = {{core::PartitionId(0), core::Offset(4), core::Offset(9)},
                   {core::PartitionId(1), core::Offset(0), core::Offset(5)},
                   {core::PartitionId(0), core::Offset(20), core::Offset(20)}},
       .settings = {}});
  ASSERT_TRUE(raw) << raw.error().message;
  KeepingSink sink;
  bool done = false;
  ASSERT_TRUE(until([&] { return done; },
                    [&] {
                      const auto stepped = (*raw)->step(kStep, sink);
                      ASSERT_TRUE(stepped) << stepped.error().message;
                      done = *stepped;
                    }));
  EXPECT_EQ(sink.count(Event::kRawBegin), 3U);
  EXPECT_EQ(sink.count(Event::kRaw), 10U);
  const auto ends = sink.of(Event::kRawEnd);
  ASSERT_EQ(ends.size(), 3U);
  for (const auto& end : ends) EXPECT_TRUE(end.observation.reached);
}

TEST_F(KafkaMockTest, ARawReadBeyondTheLogGivesUpAndSaysWhereItStands) {
  cluster_.create_topic("t", 1);
  fill(*open_driver(), 3);
  ManualClock hands;
  auto driver = open(cluster_.settings(), hands);
  ASSERT_TRUE(driver) << driver.error().message;
  auto raw = (*driver)->open_raw_reader(
      {.topic = "t",
       .run = kRun,
       .payload_bytes = kPayloadBytes,
       .targets = {{core::PartitionId(0), core::Offset(0), core::Offset(9)}},
       .settings = {}});
  ASSERT_TRUE(raw) << raw.error().message;
  KeepingSink sink;
  ASSERT_TRUE(until([&] { return sink.count(Event::kRaw) == 3; },
                    [&] { EXPECT_TRUE((*raw)->step(kStep, sink)); }));
  hands.advance(seconds(29));
  EXPECT_TRUE((*raw)->step(kStep, sink));
  EXPECT_EQ(sink.count(Event::kRawEnd), 0U) << "the log may still grow";
  hands.advance(seconds(31));
  const auto given_up = (*raw)->step(kStep, sink);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, ErrorCode::kTimeout);
  EXPECT_NE(given_up.error().message.find("partition 0 stands at 3 of 9"), std::string::npos)
      << given_up.error().message;
  ASSERT_EQ(sink.count(Event::kRawEnd), 1U);
  EXPECT_FALSE(sink.of(Event::kRawEnd)[0].observation.reached);
}

TEST_F(KafkaMockTest, CommitsThatTheLibraryMakesByItselfAreSeen) {
  cluster_.create_topic("t", 1);
  const auto driver = open_driver({{"auto.commit.interval.ms", "50"}});
  fill(*driver, 5);
  auto opened = driver->open_consumer({.index = 0,
                                       .group = {},
                                       .name = "c",
                                       .group_name = "g",
                                       .topic = "t",
                                       .commit_each = true,
                                       .run = kRun,
                                       .payload_bytes = kPayloadBytes,
                                       .settings = {}});
  ASSERT_TRUE(opened) << opened.error().message;
  KeepingSink sink;
  const auto committed = [&] {
    const auto ok = sink.of(Event::kCommitOk);
    return !ok.empty() && ok.back().observation.offset == core::Offset(5);
  };
  ASSERT_TRUE(poll_until(**opened, sink, committed));
  EXPECT_EQ(sink.count(Event::kCommitInvoke), sink.count(Event::kCommitOk));
}

TEST_F(KafkaMockTest, TheClustersStateNamesLeadersAndReplicas) {
  cluster_.create_topic("t", 3);
  const auto driver = open_driver();
  const auto state = driver->cluster_state("t");
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->nodes, std::vector<std::int32_t>{1});
  ASSERT_EQ(state->partitions.size(), 3U);
  EXPECT_EQ(state->partitions[2].leader, 1);
  EXPECT_EQ(state->partitions[2].in_sync, std::vector<std::int32_t>{1});
  const auto info = driver->describe_topic("t");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->partitions, 3U);
  EXPECT_EQ(info->replication, 1U);
}

TEST_F(KafkaMockTest, AMissingTopicIsNotFound) {
  const auto driver = open_driver();
  const auto info = driver->describe_topic("nowhere");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, ErrorCode::kNotFound) << info.error().message;
}

TEST_F(KafkaMockTest, AClusterThatIsNotThereIsUnavailableAndTheReasonIsTold) {
  auto opened = open({{"bootstrap.servers", "127.0.0.1:1"}}, clock_);
  ASSERT_TRUE(opened);
  const auto info = (*opened)->describe_topic("t");
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(info.error().message.find("refused"), std::string::npos) << info.error().message;
}

}  // namespace
}  // namespace sp::driver::kafka

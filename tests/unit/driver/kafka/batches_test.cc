// label: threads
// Records in batches: which of those sent became attempts, and in which order they are answered and delivered.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/driver/kafka/mock_cluster.h"

namespace sp::driver::kafka {
namespace {

using core::Event;
using std::chrono::seconds;

class KafkaBatchTest : public ::testing::Test {
 protected:
  void open_producer(Settings settings) {
    settings.merge(cluster_.settings());
    auto opened = open(settings, clock_);
    ASSERT_TRUE(opened) << opened.error().message;
    driver_ = std::move(*opened);
    auto producer = driver_->open_producer({.index = 7, .name = "p", .topic = "t", .settings = {}});
    ASSERT_TRUE(producer) << producer.error().message;
    producer_ = std::move(*producer);
  }
  // Sequences [begin, end) of one key; how many were taken.
  std::size_t send(std::uint64_t begin, std::uint64_t end, std::optional<std::uint32_t> partition = 0U) {
    std::vector<std::vector<std::byte>> payloads;
    std::vector<Outgoing> records(end - begin);
    for (std::uint64_t i = begin; i < end; ++i) payloads.push_back(i == big_ ? std::vector<std::byte>(5000) : payload_for("k", i));
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].key = {.block = 1, .index = 5};
      records[i].envelope = {.key = "k", .sequence = core::Sequence(begin + i), .payload = payloads[i], .partition = {}};
      if (partition) records[i].envelope.partition = core::PartitionId(*partition);
    }
    return producer_->send_all(records);
  }
  void await_answers() {
    ASSERT_TRUE(until([&] { return producer_->in_flight() == 0; }, [&] { producer_->poll(kStep, sink_); }));
  }
  // "0@0 1@1": sequence and offset of the successes, in their order.
  [[nodiscard]] std::string acked() const {
    std::string text;
    for (const auto& one : sink_.of(Event::kOk)) {
      if (!text.empty()) text += ' ';
      text += fmt::format("{}@{}", one.observation.sequence.value(), one.observation.offset.value());
    }
    return text;
  }

  SystemMonotonicClock clock_;
  MockCluster cluster_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Producer> producer_;
  KeepingSink sink_;
  std::uint64_t big_ = ~std::uint64_t{0};  // this one's payload is too large
};

TEST_F(KafkaBatchTest, AFullQueueTakesTheFirstAndTheRestGoesOutLaterInOrder) {
  cluster_.create_topic("t", 1);
  open_producer({{"queue.buffering.max.messages", "5"}, {"linger.ms", "300"}});
  EXPECT_EQ(send(0, 8), 5U);
  EXPECT_EQ(producer_->in_flight(), 5U);
  EXPECT_EQ(send(5, 8), 0U);
  EXPECT_EQ(producer_->in_flight(), 5U);
  await_answers();
  EXPECT_EQ(send(5, 8), 3U);
  await_answers();
  EXPECT_EQ(acked(), "0@0 1@1 2@2 3@3 4@4 5@5 6@6 7@7");
  EXPECT_EQ(sink_.count(Event::kFail), 0U);
}

TEST_F(KafkaBatchTest, ARecordThatIsTooLargeFailsAloneAmongOthers) {
  cluster_.create_topic("t", 1);
  open_producer({{"message.max.bytes", "1000"}});
  big_ = 1;
  EXPECT_EQ(send(0, 3), 3U);
  EXPECT_EQ(producer_->in_flight(), 3U);
  await_answers();
  EXPECT_EQ(acked(), "0@0 2@1");
  const auto failed = sink_.of(Event::kFail);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].observation.sequence, core::Sequence(1));
  EXPECT_EQ(failed[0].observation.key, (core::KeyRef{1, 5}));
}

TEST_F(KafkaBatchTest, MoreThanTheLibraryIsHandedAtOnceIsTakenInOrder) {
  cluster_.create_topic("t", 1);
  open_producer({});
  EXPECT_EQ(send(0, 1000), 1000U);
  await_answers();
  const auto acked = sink_.of(Event::kOk);
  ASSERT_EQ(acked.size(), 1000U);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto& one = acked[i].observation;
    ASSERT_EQ(one.sequence, core::Sequence(i));
    ASSERT_EQ(one.offset, core::Offset(i));
    ASSERT_TRUE(one.has_position);
    ASSERT_EQ(one.key, (core::KeyRef{1, 5}));
    ASSERT_EQ(one.process, 7U);
  }
}

TEST_F(KafkaBatchTest, APartitionAskedForIsUsedAndWithoutOneTheKeyDecides) {
  cluster_.create_topic("t", 4);
  open_producer({});
  EXPECT_EQ(send(0, 10, 3U), 10U);
  EXPECT_EQ(send(10, 30, std::nullopt), 20U);
  await_answers();
  const auto acked = sink_.of(Event::kOk);
  ASSERT_EQ(acked.size(), 30U);
  std::optional<core::PartitionId> home;
  for (const auto& one : acked) {
    if (one.observation.sequence < core::Sequence(10)) {
      EXPECT_EQ(one.observation.partition, core::PartitionId(3));
    } else {
      EXPECT_EQ(one.observation.partition, home.value_or(one.observation.partition));
      home = one.observation.partition;
    }
  }
}

TEST_F(KafkaBatchTest, APollDeliversManyInOrderAndNoMoreThanItIsAskedFor) {
  constexpr std::size_t kAsked = 700;
  cluster_.create_topic("t", 1);
  open_producer({});
  EXPECT_EQ(send(0, 2000), 2000U);
  await_answers();
  auto consumer = driver_->open_consumer({.index = 2,
                                          .group = core::GroupIndex(3),
                                          .name = "c",
                                          .group_name = "g",
                                          .topic = "t",
                                          .run = kRun,
                                          .payload_bytes = kPayloadBytes,
                                          .settings = {}});
  ASSERT_TRUE(consumer) << consumer.error().message;
  KeepingSink sink;
  std::size_t most = 0;
  std::size_t told = 0;
  const auto poll = [&] {
    const std::size_t count = (*consumer)->poll(kAsked, kStep, sink);
    most = std::max(most, count);
    told += count;
  };
  ASSERT_TRUE(until([&] { return told >= 2000; }, poll));
  EXPECT_LE(most, kAsked);
  const auto delivered = sink.of(Event::kDeliver);
  ASSERT_EQ(delivered.size(), 2000U);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(delivered[i].observation.offset, core::Offset(i));
    ASSERT_EQ(delivered[i].observation.sequence, core::Sequence(i));
    ASSERT_EQ(delivered[i].observation.content, core::Content::kIntact);
    ASSERT_EQ(delivered[i].name, "k");
  }
  (*consumer)->close(seconds(1), sink);
}

TEST_F(KafkaBatchTest, FailuresBetweenSuccessesAreAnsweredInTheirPlaces) {
  cluster_.create_topic("t", 1);
  open_producer({{"enable.idempotence", "false"},
                 {"max.in.flight.requests.per.connection", "1"},
                 {"batch.num.messages", "40"},
                 {"linger.ms", "300"}});
  cluster_.answer_with(MockCluster::kProduce,
                       {RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  EXPECT_EQ(send(0, 120), 120U);
  // Nobody polls before all is in the log, so that reports of all kinds wait for one poll.
  ASSERT_TRUE(until(
      [&] {
        const auto bounds = driver_->bounds("t");
        return bounds && (*bounds)[0].end == core::Offset(80);
      },
      [] {}));
  await_answers();
  ASSERT_EQ(sink_.seen.size(), 120U);
  for (std::uint64_t i = 0; i < 120; ++i) {
    EXPECT_EQ(sink_.seen[i].observation.sequence, core::Sequence(i));
    EXPECT_EQ(sink_.seen[i].observation.event, i / 40 == 1 ? Event::kFail : Event::kOk);
  }
}

}  // namespace
}  // namespace sp::driver::kafka

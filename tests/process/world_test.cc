// Bad days that only a test's hand can bring about: clocks stepped, topics that were there,
// consumers that get nothing.
#include "process/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report.h"

namespace sp::process_test {
namespace {

using core::Code;
using judge::Status;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(BadDayInProcessTest, AWallClockThatIsSteppedBackChangesNoVerdict) {
  World plain(small_proof());
  const auto expected = plain.run().judgement;
  World world(small_proof());
  bool stepped = false;
  world.meanwhile = [&](const coordinator::Live& live) {
    if (stepped || live.stage != coordinator::Stage::kLoad || live.load < 2s) return;
    world.step_wall_clock(-1h);
    stepped = true;
  };
  const auto& report = world.run();
  EXPECT_TRUE(stepped);
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_EQ(report.judgement.counts, expected.counts);
  EXPECT_EQ(report.judgement.coverage.acked, expected.coverage.acked);
  EXPECT_EQ(report.judgement.coverage.received, expected.coverage.received);
  EXPECT_LT(report.end_to_end_latency.max(), 1min)
      << "a latency is not an hour because a clock was set";
}

TEST(BadDayInProcessTest, AWallClockThatIsSteppedForwardChangesNoVerdict) {
  World world(small_proof());
  bool stepped = false;
  world.meanwhile = [&](const coordinator::Live& live) {
    if (stepped || live.stage != coordinator::Stage::kLoad || live.load < 2s) return;
    world.step_wall_clock(24h);
    stepped = true;
  };
  const auto& report = world.run();
  EXPECT_TRUE(stepped);
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_EQ(report.judgement.counts, core::PerCode<std::uint64_t>{});
}

proof::Proof reusing(std::uint32_t partitions) {
  auto proof = small_proof();
  proof.topic = "orders";
  proof.topic_exists = proof::TopicExists::kReuse;
  proof.partitions = partitions;
  return proof;
}

TEST(BadDayInProcessTest, ForeignRecordsInAReusedTopicAreCountedAndNoFinding) {
  World world(reusing(6));
  driver::TopicSpec topic;
  topic.name = "orders";
  topic.partitions = 6;
  ASSERT_TRUE(world.driver()->create_topic(topic).has_value());
  world.put_foreign("orders", 17);
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_EQ(report.judgement.coverage.foreign, 17U);
  EXPECT_EQ(report.judgement.counts, core::PerCode<std::uint64_t>{});
  EXPECT_FALSE(report.topic_deleted) << "it was there before";
  EXPECT_THAT(report::text_report(report),
              HasSubstr("17 records of others were found in the topic"));
}

TEST(BadDayInProcessTest, ATopicWithFewerPartitionsThanAskedCannotRun) {
  World world(reusing(6));
  driver::TopicSpec topic;
  topic.name = "orders";
  topic.partitions = 2;
  ASSERT_TRUE(world.driver()->create_topic(topic).has_value());
  const auto& report = world.run();
  EXPECT_EQ(report::exit_code(report), 3);
  EXPECT_THAT(report.failure,
              HasSubstr("topic orders: it has 2 partitions, but 6 were asked for; run with "
                        "--partitions 2, or with --topic-exists recreate"));
  EXPECT_TRUE(world.driver()->describe_topic("orders").has_value()) << "it is left alone";
}

TEST(BadDayInProcessTest, ATopicWithMorePartitionsIsUsedWhole) {
  World world(reusing(3));
  driver::TopicSpec topic;
  topic.name = "orders";
  topic.partitions = 6;
  ASSERT_TRUE(world.driver()->create_topic(topic).has_value());
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_EQ(report.judgement.coverage.partitions_silent, 0U);
  EXPECT_THAT(world.said(),
              testing::Contains(HasSubstr("topic orders has 6 partitions, 3 were asked for")));
}

// A consumer that its group never gives anything.
class Bystander final : public driver::Consumer {
 public:
  std::size_t poll(std::size_t, Nanoseconds, core::ObservationSink&) override { return 0; }
  [[nodiscard]] std::vector<core::PartitionId> revoking() const override { return {}; }
  void release(core::ObservationSink&) override {}
  void commit(std::span<const driver::CommitPoint>, core::ObservationSink&) override {}
  [[nodiscard]] std::size_t commits_open() const override { return 0; }
  void pause(bool) override {}
  void close(Nanoseconds, core::ObservationSink&) override {}
};

class BystandingDriver final : public PassingDriver {
 public:
  using PassingDriver::PassingDriver;
  Result<std::unique_ptr<driver::Consumer>> open_consumer(const driver::ConsumerSpec&) override {
    return std::make_unique<Bystander>();
  }
};

TEST(BadDayInProcessTest, ConsumersThatAreNeverAssignedAreNamedAndNothingIsProduced) {
  World world(small_proof());
  world.wrap = [](World::Drivers behind) {
    return std::make_unique<BystandingDriver>(std::move(behind));
  };
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kInconclusive) << reasons(report);
  EXPECT_THAT(reasons(report), HasSubstr("4 of 4 consumers were never assigned within 60 s"));
  EXPECT_EQ(report.judgement.coverage.attempts, 0U);
}

}  // namespace
}  // namespace sp::process_test

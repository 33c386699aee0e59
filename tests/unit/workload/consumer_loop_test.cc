#include "workload/consumer_loop.h"

#include <gtest/gtest.h>

#include "unit/workload/fake_driver.h"
#include "unit/workload/fake_evidence.h"
#include "workload/raw_loop.h"

namespace sp::workload {
namespace {

using namespace std::chrono_literals;
using core::Event;
using proof::CommitMode;
using Commits = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
using Calls = std::vector<std::string>;

class ConsumerLoopTest : public testing::Test {
 protected:
  void open(CommitMode commit, Nanoseconds delay = 0s) {
    driver::ConsumerSpec spec;
    spec.run = core::RunId{7};
    auto consumer = std::make_unique<fake::FakeConsumer>(broker_, spec);
    consumer_ = consumer.get();
    ConsumerOptions options;
    options.commit = commit;
    options.payload_bytes = 60;
    options.delay = delay;
    options.close_wait = 0s;
    options.waits.poll_max = 0ns;
    loop_ = std::make_unique<ConsumerLoop>(options, std::move(consumer), evidence_, clock_, wall_);
    consumer_->assign({0, 1});
  }
  // Puts records into the log of a partition.
  void store(std::uint32_t partition, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      fake::FakeRecord record{"k", {0, partition}, broker_.logs[partition].size(), std::vector<std::byte>(60)};
      core::PayloadFields fields;
      fields.run = core::RunId{7};
      fields.sequence = core::Sequence{record.sequence};
      fields.published = wall_.now();
      core::write_payload(fields, record.key, record.payload);
      broker_.logs[partition].push_back(std::move(record));
    }
  }
  void step() {
    loop_->step(clock_.now());
    clock_.advance(5ms);
  }
  void run(Nanoseconds span) {
    for (const MonotonicTime end = clock_.now() + span; clock_.now() < end && !loop_->done();) step();
  }

  ManualClock clock_{MonotonicTime{1h}};
  ManualWallClock wall_{clock_, WallTime{1000h}};
  fake::FakeBroker broker_{2};
  fake::FakeEvidence evidence_;
  fake::FakeConsumer* consumer_ = nullptr;
  std::unique_ptr<ConsumerLoop> loop_;
};

TEST_F(ConsumerLoopTest, CommitsNothingBeforeTheEvidenceIsAcknowledged) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  run(1s);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 10U);
  EXPECT_EQ(loop_->partitions_held(), 2U);
  EXPECT_EQ(broker_.commits, Commits{});
}

TEST_F(ConsumerLoopTest, CommitsWhatAcknowledgedEvidenceCoversAndNoMore) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  step();
  evidence_.acknowledge();
  store(0, 5);
  store(1, 3);
  run(1s);
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}}));
  evidence_.acknowledge();
  run(1s);
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}, {0, 15}, {1, 3}}));
}

TEST_F(ConsumerLoopTest, CommitsWithoutAnswersDoNotPileUp) {
  open(CommitMode::kCheckpoint);
  broker_.commits_answered = false;
  for (int i = 0; i < 20; ++i) {
    store(0, 1);
    step();
    evidence_.acknowledge();
  }
  EXPECT_EQ(broker_.commits.size(), 4U);
  broker_.commits_answered = true;
  run(100ms);
  EXPECT_EQ(broker_.commits.back(), (std::pair<std::uint32_t, std::uint64_t>{0, 20}));
}

TEST_F(ConsumerLoopTest, ARevokeFlushesThenCommitsThenReleases) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  store(1, 10);
  step();
  consumer_->ask_back({1});
  run(1s);
  EXPECT_EQ(evidence_.hurries, 1);
  EXPECT_EQ(broker_.calls, Calls{"pause"});
  evidence_.acknowledge();
  run(100ms);
  EXPECT_EQ(broker_.calls, (Calls{"pause", "commit", "commit", "release", "resume"}));
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}, {1, 10}}));
  EXPECT_EQ(loop_->partitions_held(), 1U);
  store(0, 1);
  run(100ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 21U);
}

TEST_F(ConsumerLoopTest, ARevokeWithoutAcknowledgementReleasesUncommittedAfterFiveSeconds) {
  open(CommitMode::kCheckpoint);
  store(1, 10);
  step();
  consumer_->ask_back({1});
  run(4900ms);
  EXPECT_EQ(broker_.calls, Calls{"pause"});
  run(200ms);
  EXPECT_EQ(broker_.calls, (Calls{"pause", "release", "resume"}));
  EXPECT_EQ(broker_.commits, Commits{});
  std::vector<std::string> messages;
  loop_->stats().take_messages(messages);
  EXPECT_EQ(messages.size(), 1U);
}

TEST_F(ConsumerLoopTest, ACommitThatIsNeverAnsweredDoesNotKeepThePartition) {
  open(CommitMode::kCheckpoint);
  broker_.commits_answered = false;
  store(1, 10);
  step();
  consumer_->ask_back({1});
  step();
  evidence_.acknowledge();
  run(6s);
  EXPECT_EQ(broker_.calls, (Calls{"pause", "commit", "release", "resume"}));
}

TEST_F(ConsumerLoopTest, ALostPartitionIsNotCommitted) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  store(1, 10);
  step();
  consumer_->lose(1);
  step();
  evidence_.acknowledge();
  run(100ms);
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}}));
}

TEST_F(ConsumerLoopTest, EachCommitsWhatEveryPollHandedOver) {
  open(CommitMode::kEach);
  store(0, 10);
  step();
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}}));
  store(0, 1);
  store(1, 1);
  run(10ms);
  EXPECT_EQ(broker_.commits, (Commits{{0, 10}, {0, 11}, {1, 1}}));
}

TEST_F(ConsumerLoopTest, AutoLeavesCommittingToTheLibrary) {
  open(CommitMode::kAuto);
  store(0, 10);
  step();
  evidence_.acknowledge();
  consumer_->ask_back({0});
  run(100ms);
  EXPECT_EQ(broker_.commits, Commits{});
  EXPECT_EQ(broker_.calls, (Calls{"pause", "release", "resume"}));
}

TEST_F(ConsumerLoopTest, StopFlushesCommitsAndCloses) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  step();
  loop_->stop();
  run(1s);
  EXPECT_FALSE(loop_->done());
  evidence_.acknowledge();
  run(1s);
  EXPECT_TRUE(loop_->done());
  EXPECT_EQ(broker_.calls, (Calls{"pause", "commit", "close"}));
  EXPECT_EQ(evidence_.count(Event::kCommitOk), 1U);
  EXPECT_EQ(evidence_.count(Event::kRevoke), 2U);
  EXPECT_EQ(loop_->partitions_held(), 0U);
}

TEST_F(ConsumerLoopTest, HeldBackEvidencePausesWithoutLeaving) {
  open(CommitMode::kCheckpoint);
  store(0, 10);
  evidence_.hold = true;
  run(100ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 0U);
  EXPECT_EQ(loop_->partitions_held(), 2U);
  evidence_.hold = false;
  run(100ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 10U);
}

TEST_F(ConsumerLoopTest, ADelayLetsRecordsAgeAndThenCatchesUp) {
  open(CommitMode::kCheckpoint, 2s);
  run(1s);
  store(0, 10);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 0U);
  run(1100ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 10U);  // a second old when they came
  store(0, 5);
  run(800ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 10U);
  run(300ms);
  EXPECT_EQ(evidence_.count(Event::kDeliver), 15U);
}

TEST_F(ConsumerLoopTest, EndToEndLatencyIsFromThePublishTimeInThePayload) {
  open(CommitMode::kCheckpoint);
  store(0, 1);
  clock_.advance(300ms);
  step();
  core::Counters counts;
  Histogram publish;
  Histogram end_to_end;
  loop_->stats().add_to(counts, publish, end_to_end);
  EXPECT_EQ(end_to_end.count(), 1U);
  EXPECT_EQ(end_to_end.max(), 300ms);
  EXPECT_EQ(counts.received, 1U);
  EXPECT_EQ(counts.bytes_received, 60U);
}

TEST_F(ConsumerLoopTest, ARawReadPassesEveryRecordAndEnds) {
  store(0, 3);
  driver::RawSpec spec;
  spec.run = core::RunId{7};
  spec.targets = {{core::PartitionId{0}, core::Offset{1}, core::Offset{3}}};
  Waits waits;
  waits.poll_max = 0ns;
  RawLoop raw(waits, std::make_unique<fake::FakeRawReader>(broker_, spec), evidence_, clock_);
  raw.step(clock_.now());
  EXPECT_TRUE(raw.done());
  EXPECT_EQ(evidence_.count(Event::kRaw), 2U);
  EXPECT_EQ(evidence_.count(Event::kRawEnd), 1U);
  EXPECT_FALSE(raw.failure());
}

TEST(StatsTest, TheSameMessageIsCountedAndTooManyAreLeftOut) {
  Stats stats("producer 3");
  stats.lock();
  for (int i = 0; i < 5; ++i) stats.say("refused", "too large");
  for (int i = 0; i < 40; ++i) stats.say("refused", std::to_string(i));
  stats.unlock();
  std::vector<std::string> messages;
  stats.take_messages(messages);
  EXPECT_EQ(messages.front(), "producer 3: refused: too large (5 times)");
  EXPECT_EQ(messages.back(), "producer 3: 21 more messages, left out");
  EXPECT_EQ(messages.size(), Stats::kMessagesMax + 1);
}

}  // namespace
}  // namespace sp::workload

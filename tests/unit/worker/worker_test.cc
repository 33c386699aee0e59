#include "worker/worker.h"

#include <gtest/gtest.h>

#include "unit/worker/worker_fixture.h"
#include "worker/topic.h"

namespace sp::worker {
namespace {

using namespace std::chrono_literals;
using control::Phase;
using track::RowKind;
using Calls = std::vector<std::string>;

struct ManualTime {
  ManualClock clock_{MonotonicTime{1h}};
  ManualWallClock wall_{clock_, WallTime{1000h}};
};

// A worker on a virtual clock, which time is turned for.
class WorkerTest : public WorkerFixture<ManualTime> {
 protected:
  WorkerTest() : WorkerFixture(500) { options_.threaded = false; }
  void start() {
    make();
    ASSERT_TRUE(worker_->prepare(plan_));
    ASSERT_TRUE(worker_->start_consumers());
    run(100ms);
    ASSERT_EQ(poll().consumers_assigned, 2U);
    ASSERT_TRUE(worker_->start_producers());
  }
  void run(Nanoseconds span) {
    const MonotonicTime end = clock_.now() + span;
    MonotonicTime next_poll = clock_.now();
    while (clock_.now() < end) {
      const MonotonicTime next = worker_->step(clock_.now());
      ASSERT_GT(next, clock_.now());
      if (clock_.now() >= next_poll) {
        if (polling_) poll();
        next_poll = clock_.now() + 50ms;
      }
      clock_.set(std::min({next, end, next_poll}));
    }
  }

  bool polling_ = true;
};

TEST_F(WorkerTest, ARunFromStartToEndLosesNothing) {
  start();
  run(2s);
  ASSERT_TRUE(worker_->stop_producers());
  run(200ms);
  EXPECT_EQ(poll().producers, Phase::kStopped);
  ASSERT_TRUE(worker_->stop_consumers());
  run(500ms);
  const control::WorkerReport last = poll();
  EXPECT_EQ(last.consumers, Phase::kStopped);
  EXPECT_EQ(rows(RowKind::kIssued), 2000U);
  EXPECT_EQ(rows(RowKind::kAcked), 2000U);
  EXPECT_EQ(rows(RowKind::kDelivered), 2000U);
  EXPECT_EQ(rows(RowKind::kOpen), 4U);
  EXPECT_EQ(rows(RowKind::kClose), 4U);
  EXPECT_EQ(rows(RowKind::kEnd), 1U);
  EXPECT_EQ(rows_.back().kind, RowKind::kEnd);
  EXPECT_EQ(last.counters.attempts, 2000U);
  EXPECT_EQ(last.counters.received, 2000U);
  EXPECT_EQ(last.publish_latency.count(), 2000U);
  EXPECT_EQ(last.end_to_end_latency.count(), 2000U);
  EXPECT_EQ(last.messages, Calls{});
  EXPECT_EQ(last.failure, "");
}

TEST_F(WorkerTest, EverythingIsCommittedAtTheEndAndNothingBeyond) {
  start();
  run(1s);
  ASSERT_TRUE(worker_->stop_producers());
  run(200ms);
  ASSERT_TRUE(worker_->stop_consumers());
  run(500ms);
  expect_all_committed();
  EXPECT_FALSE(commits_.empty());
}

TEST_F(WorkerTest, WithoutAcknowledgementNothingIsEverCommitted) {
  acknowledge_ = false;
  start();
  run(1s);
  ASSERT_TRUE(worker_->stop_producers());
  run(200ms);
  ASSERT_TRUE(worker_->stop_consumers());
  run(6s);
  EXPECT_EQ(poll().consumers, Phase::kStopped);
  EXPECT_TRUE(broker_.commits.empty());
  EXPECT_EQ(rows(RowKind::kDelivered), rows(RowKind::kAcked));
}

TEST_F(WorkerTest, ATickIsAnsweredOnceAfterWhatWasSeenBefore) {
  start();
  run(100ms);
  poll();
  const std::size_t before = rows_.size();
  worker_->step(clock_.now());
  poll(1);
  EXPECT_EQ(rows_.back().kind, RowKind::kTick);
  EXPECT_EQ(rows_.back().sequence, 1U);
  EXPECT_GE(rows_.size(), before + 1);
  poll(1);
  EXPECT_EQ(rows(RowKind::kTick), 1U);
  poll(2);
  EXPECT_EQ(rows(RowKind::kTick), 2U);
}

TEST_F(WorkerTest, DeltasAreCutEvenIfNobodyPollsAndComeUntilAcknowledged) {
  start();
  polling_ = false;
  run(2s);
  auto first = worker_->poll({last_, std::nullopt, 2'000'000, false});
  auto second = worker_->poll({last_, std::nullopt, 2'000'000, false});
  ASSERT_TRUE(first && second);
  EXPECT_GE(first->deltas.size(), 9U);
  EXPECT_EQ(first->deltas.front().number, second->deltas.front().number);
  auto third = worker_->poll({second->deltas.back().number, std::nullopt, 2'000'000, false});
  EXPECT_TRUE(third->deltas.empty());
}

TEST_F(WorkerTest, AnAnswerIsCutAtTheRowsAskedForAndSaysThatThereIsMore) {
  start();
  polling_ = false;
  run(2s);
  auto answer = worker_->poll({last_, std::nullopt, 1, false});
  EXPECT_EQ(answer->deltas.size(), 1U);
  EXPECT_TRUE(answer->more);
}

TEST_F(WorkerTest, WithoutAcknowledgementTheLoadStopsAndNothingIsDropped) {
  options_.evidence.rows_kept_max = 3'000;
  start();
  run(100ms);
  acknowledge_ = false;
  run(10s);
  const std::size_t issued = rows(RowKind::kIssued);
  EXPECT_LT(issued, 2'000U);
  EXPECT_EQ(rows(RowKind::kAcked), issued);
  acknowledge_ = true;
  bool said = false;
  for (int i = 0; i < 3; ++i) {
    for (const auto& message : poll().messages) said = said || message.find("load goes on") == 0;
  }
  EXPECT_TRUE(said);
  run(2s);
  EXPECT_GT(rows(RowKind::kIssued), issued + 500);
  ASSERT_TRUE(worker_->stop_producers());
  run(1s);
  EXPECT_EQ(rows(RowKind::kDelivered), rows(RowKind::kIssued));
}

TEST_F(WorkerTest, TheRawReadShowsTheWholeLog) {
  start();
  run(500ms);
  ASSERT_TRUE(worker_->stop_producers());
  run(200ms);
  ASSERT_TRUE(worker_->stop_consumers());
  run(500ms);
  auto bounds = worker_->log_bounds();
  ASSERT_TRUE(bounds);
  control::RawReadRequest request;
  for (const auto& bound : *bounds) request.targets.push_back({bound.partition, {bound.begin, bound.end}});
  ASSERT_TRUE(worker_->start_raw_read(request));
  EXPECT_EQ(poll().raw_read, Phase::kRunning);
  run(200ms);
  EXPECT_EQ(poll().raw_read, Phase::kStopped);
  EXPECT_EQ(rows(RowKind::kRaw), rows(RowKind::kAcked));
  EXPECT_EQ(rows(RowKind::kRawRange), 4U);
}

TEST_F(WorkerTest, ARawReaderThatGivesUpIsAFailureWithItsSentence) {
  start();
  broker_.raw_failure = "not authorised to read topic t";
  ASSERT_TRUE(worker_->start_raw_read({{{core::PartitionId{0}, {core::Offset{0}, core::Offset{1}}}}}));
  run(100ms);
  const auto report = poll();
  EXPECT_EQ(report.raw_read, Phase::kFailed);
  EXPECT_EQ(report.failure, "raw read: not authorised to read topic t");
}

TEST_F(WorkerTest, AReaderThatIsRefusedSaysThatItIsForWantOfARight) {
  start();
  broker_.raw_failure = "denied, needs READ on topic 't'";
  for (const auto code : {ErrorCode::kDenied, ErrorCode::kTimeout}) {
    broker_.raw_failure_code = code;
    ASSERT_TRUE(worker_->start_raw_read({{{core::PartitionId{0}, {core::Offset{0}, core::Offset{1}}}}}));
    run(100ms);
    EXPECT_EQ(poll().raw_read_refused, code == ErrorCode::kDenied);
  }
}

TEST_F(WorkerTest, WhatIsRefusedIsReportedAsLongAsNothingGoesThrough) {
  plan_.consumers[1].group = core::GroupIndex{1};
  start();
  run(100ms);
  EXPECT_EQ(poll().producers_refused, "");
  EXPECT_TRUE(poll().consumers_refused.empty());
  broker_.producer_refusal = "needs WRITE on topic 't'";
  broker_.consumer_refusal = "needs READ on topic\n't'";
  run(100ms);
  const auto refused = poll();
  EXPECT_EQ(refused.producers_refused, "producer 0: needs WRITE on topic 't'");
  const std::map<core::GroupIndex, std::string> expected{
      {core::GroupIndex{0}, "consumer 0: needs READ on topic\\n't'"},
      {core::GroupIndex{1}, "consumer 1: needs READ on topic\\n't'"}};
  EXPECT_EQ(refused.consumers_refused, expected) << "fit for a terminal";
  broker_.producer_refusal.clear();
  broker_.consumer_refusal.clear();
  run(100ms);
  EXPECT_EQ(poll().producers_refused, "");
  EXPECT_TRUE(poll().consumers_refused.empty());
}

TEST_F(WorkerTest, ABlockedProducerDoesNotStopItsNeighbour) {
  plan_.producers = {{0, 0, 1, 500}, {0, 1, 4, 500}};
  start();
  broker_.blocked = {0};
  run(2s);
  std::size_t of_second = 0;
  for (const auto& row : rows_) of_second += row.kind == RowKind::kAcked && row.key.index != 0 ? 1U : 0U;
  EXPECT_GE(of_second, 900U);
}

TEST_F(WorkerTest, ADriverThatCannotBeMadeIsAnErrorWithItsSentence) {
  driver_failure_ = "unknown setting 'akcs'";
  make();
  const auto hello = worker_->prepare(plan_);
  ASSERT_FALSE(hello);
  EXPECT_EQ(hello.error().message, "driver embedded: unknown setting 'akcs'");
  EXPECT_FALSE(worker_->poll({}));
  driver_failure_.clear();
  EXPECT_TRUE(worker_->prepare(plan_));
}

TEST_F(WorkerTest, AConsumerOrProducerThatCannotBeOpenedIsAnErrorAndAPhase) {
  make();
  ASSERT_TRUE(worker_->prepare(plan_));
  broker_.consumer_failure = "group is not authorised";
  auto started = worker_->start_consumers();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "opening consumer 0: group is not authorised");
  broker_.producer_failure = "no broker";
  EXPECT_FALSE(worker_->start_producers());
  const auto report = poll();
  EXPECT_EQ(report.consumers, Phase::kFailed);
  EXPECT_EQ(report.producers, Phase::kFailed);
  EXPECT_EQ(report.failure, "opening consumer 0: group is not authorised; opening producer 0: no broker");
  ASSERT_TRUE(worker_->stop_producers());
  ASSERT_TRUE(worker_->stop_consumers());
  poll();
  EXPECT_EQ(rows(RowKind::kEnd), 1U);
}

TEST_F(WorkerTest, HelloSaysWhatTheDriverIsAndCan) {
  make();
  const auto hello = worker_->prepare(plan_);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->driver, "fake");
  EXPECT_EQ(hello->client, "fake 1.0");
  EXPECT_TRUE(hello->idempotent && hello->positions && hello->raw_read);
}

TEST_F(WorkerTest, CallsOutOfOrderAreRefusedBySentence) {
  make();
  EXPECT_EQ(worker_->start_producers().error().message, "start_producers before prepare: the worker has no plan");
  ASSERT_TRUE(worker_->prepare(plan_));
  EXPECT_EQ(worker_->prepare(plan_).error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(worker_->start_producers());
  EXPECT_EQ(worker_->start_producers().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(worker_->poll({99, std::nullopt, 1, false}).error().message,
            "delta 99 was acknowledged, but the last one made here is 0");
}

TEST_F(WorkerTest, TooSmallAMessageIsRefused) {
  plan_.proof.payload_bytes = 7;
  make();
  EXPECT_EQ(worker_->prepare(plan_).error().code, ErrorCode::kInvalid);
}

TEST_F(WorkerTest, RemoveEndsEverythingAndANewIncarnationUsesNewKeys) {
  start();
  run(100ms);
  ASSERT_TRUE(worker_->remove());
  EXPECT_EQ(worker_->step(clock_.now()), workload::kNever);
  const std::string old_key = broker_.logs[0].front().key;
  plan_.source.incarnation = 1;
  last_ = 0;
  for (auto& log : broker_.logs) log.clear();
  ASSERT_TRUE(worker_->prepare(plan_));
  ASSERT_TRUE(worker_->start_producers());
  run(100ms);
  EXPECT_NE(broker_.logs[0].front().key, old_key);
  EXPECT_EQ(broker_.logs[0].front().sequence, 0U);
}

TEST_F(WorkerTest, ConsumersWithoutAPartitionKnowThatNoneIsLeftOnceAllAreHeld) {
  plan_.consumers = {{0, 0, core::GroupIndex{0}}, {0, 1, core::GroupIndex{0}}, {0, 2, core::GroupIndex{0}}};
  broker_.consumers_expected = 3;
  broker_.partitions = 2;  // of them consumer 2 gets none
  make();
  ASSERT_TRUE(worker_->prepare(plan_));
  ASSERT_TRUE(worker_->start_consumers());
  EXPECT_EQ(poll().consumers_assigned, 0U);
  run(100ms);
  EXPECT_EQ(poll().consumers_assigned, 3U);
}

// ── the topic policy ──

class TopicTest : public testing::Test {
 protected:
  Result<std::uint32_t> make(proof::TopicExists policy) {
    driver::TopicSpec spec;
    spec.name = "t";
    spec.partitions = 12;
    return make_topic(driver_, spec, policy, clock_);
  }
  ManualClock clock_;
  fake::FakeBroker broker_{12};
  fake::FakeDriver driver_{broker_};
};

TEST_F(TopicTest, ANewTopicIsMadeUnderEveryPolicy) {
  for (const auto policy : {proof::TopicExists::kFail, proof::TopicExists::kReuse, proof::TopicExists::kRecreate}) {
    broker_.topics.clear();
    EXPECT_EQ(make(policy), 12U);
  }
}

TEST_F(TopicTest, FailNamesTheWaysOut) {
  broker_.topics = {"t"};
  const auto made = make(proof::TopicExists::kFail);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kExists);
  EXPECT_NE(made.error().message.find("--topic-exists reuse"), std::string::npos);
}

TEST_F(TopicTest, ReuseWithFewerPartitionsNamesBothNumbers) {
  broker_.topics = {"t"};
  broker_.topic_partitions = 3;
  const auto made = make(proof::TopicExists::kReuse);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
  EXPECT_NE(made.error().message.find("it has 3 partitions, but 12 were asked for"), std::string::npos);
}

TEST_F(TopicTest, ReuseTakesTheTopicWithWhatItHas) {
  broker_.topics = {"t"};
  broker_.topic_partitions = 20;
  EXPECT_EQ(make(proof::TopicExists::kReuse), 20U);
  EXPECT_TRUE(broker_.calls.empty());
}

TEST_F(TopicTest, RecreateWaitsUntilTheOldOneIsGone) {
  broker_.topics = {"t"};
  broker_.exists_answers = 3;
  EXPECT_EQ(make(proof::TopicExists::kRecreate), 12U);
  EXPECT_EQ(broker_.calls, (Calls{"delete t", "create t", "create t", "create t", "create t"}));
  EXPECT_EQ(clock_.now(), MonotonicTime{} + 750ms);
}

TEST_F(TopicTest, RecreateGivesUpOnATopicThatStays) {
  broker_.topics = {"t"};
  broker_.exists_answers = 1'000'000;
  const auto made = make(proof::TopicExists::kRecreate);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kTimeout);
}

}  // namespace
}  // namespace sp::worker

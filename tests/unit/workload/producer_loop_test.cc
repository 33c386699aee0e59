#include "workload/producer_loop.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "unit/workload/fake_driver.h"
#include "unit/workload/fake_evidence.h"

namespace sp::workload {
namespace {

using namespace std::chrono_literals;
using core::Event;

class ProducerLoopTest : public testing::Test {
 protected:
  void open(ProducerOptions options) {
    options.run = core::RunId{7};
    options.block = 1;
    options.key_prefix = "k.";
    options.payload_bytes = 100;
    options.partitions = broker_.partitions;
    options.waits.poll_max = 0ns;
    options.waits.interval = 1ms;
    if (options.rate == 0) options.rate = 1000;
    loop_ = std::make_unique<ProducerLoop>(options, std::make_unique<fake::FakeProducer>(broker_, 0), evidence_, clock_,
                                           wall_);
  }
  void run(Nanoseconds span) {
    const MonotonicTime end = clock_.now() + span;
    while (!loop_->done() && clock_.now() < end) {
      const MonotonicTime next = loop_->step(clock_.now());
      ASSERT_GT(next, clock_.now()) << "a simulated loop must let time pass";
      clock_.set(std::min(next, end));
    }
  }
  [[nodiscard]] core::Counters counts() {
    core::Counters total;
    Histogram publish;
    Histogram end_to_end;
    loop_->stats().add_to(total, publish, end_to_end);
    latency_ = publish;
    return total;
  }

  ManualClock clock_{MonotonicTime{1h}};
  ManualWallClock wall_{clock_, WallTime{1000h}};
  fake::FakeBroker broker_{4};
  fake::FakeEvidence evidence_;
  std::unique_ptr<ProducerLoop> loop_;
  Histogram latency_;
};

TEST_F(ProducerLoopTest, SendsItsKeysRoundRobinFromSequenceZero) {
  open({.keys = 3});
  run(6ms);
  EXPECT_EQ(evidence_.list(Event::kInvoke), "0:0 1:0 2:0 0:1 1:1 2:1");
  EXPECT_EQ(evidence_.list(Event::kOk), "0:0 1:0 2:0 0:1 1:1 2:1");
  EXPECT_EQ(broker_.logs[1].front().key, "k.1");
}

TEST_F(ProducerLoopTest, ThePayloadIdentifiesItself) {
  open({.incarnation = 5, .keys = 1});
  run(1ms);
  const fake::FakeRecord& record = broker_.logs[0].front();
  const auto reading = core::read_payload(record.payload, record.key, core::RunId{7}, 100);
  EXPECT_EQ(reading.content, core::Content::kIntact);
  EXPECT_EQ(reading.fields.incarnation, 5U);
  EXPECT_EQ(reading.fields.published, WallTime{1000h} + 1h);
}

TEST_F(ProducerLoopTest, KeepsItsRateAndStops) {
  open({.keys = 10, .rate = 250});
  run(10s);
  loop_->stop();
  run(1s);
  EXPECT_TRUE(loop_->done());
  EXPECT_EQ(counts().attempts, 2500U);
  EXPECT_EQ(counts().acked, 2500U);
  EXPECT_EQ(counts().bytes_acked, 250'000U);
  EXPECT_EQ(counts().slots_dropped, 0U);
}

TEST_F(ProducerLoopTest, AQueueThatIsFullKeepsTheSequenceAndIsObservedOnce) {
  broker_.queue_max = 2;
  broker_.no_answers = true;
  open({.keys = 1, .rate = 1000});
  run(20ms);
  EXPECT_EQ(evidence_.list(Event::kInvoke), "0:0 0:1 0:2");
  EXPECT_GT(counts().queue_full, 0U);
  broker_.no_answers = false;
  run(20ms);
  const std::string acked = evidence_.list(Event::kOk);
  EXPECT_TRUE(acked.starts_with("0:0 0:1 0:2 0:3 0:4")) << acked;
  EXPECT_EQ(evidence_.count(Event::kFail), 0U);
}

TEST_F(ProducerLoopTest, WhatIsTakenInPartGoesOnWhereItWasRefused) {
  broker_.queue_max = 10;
  broker_.no_answers = true;
  open({.keys = 3, .rate = 100'000});
  run(20ms);
  broker_.no_answers = false;  // now batches are due, each larger than what the queue takes
  run(100ms);
  loop_->stop();
  run(20s);
  ASSERT_TRUE(loop_->done());
  EXPECT_GT(counts().queue_full, 0U);
  std::size_t stored = 0;
  for (const auto& log : broker_.logs) {
    std::map<std::string, std::uint64_t> next;
    for (const fake::FakeRecord& record : log) {
      EXPECT_EQ(record.sequence, next[record.key]++) << record.key;
      const auto reading = core::read_payload(record.payload, record.key, core::RunId{7}, 100);
      EXPECT_EQ(reading.content, core::Content::kIntact);
      EXPECT_EQ(reading.fields.sequence.value(), record.sequence);
    }
    stored += log.size();
  }
  EXPECT_GT(stored, 100U);
  EXPECT_EQ(evidence_.count(Event::kOk), stored);
  EXPECT_EQ(evidence_.count(Event::kInvoke), stored + evidence_.count(Event::kFail));
}

TEST_F(ProducerLoopTest, WhatTheQueueNeverTookIsFailedAtTheEnd) {
  broker_.queue_max = 2;
  broker_.no_answers = true;
  open({.keys = 1, .close_wait = 1s});
  run(20ms);
  loop_->stop();
  run(5s);
  EXPECT_TRUE(loop_->done());
  EXPECT_EQ(evidence_.list(Event::kFail), "0:2");
  EXPECT_EQ(evidence_.list(Event::kInfo), "0:0 0:1");
  EXPECT_EQ(counts().failed, 1U);
  EXPECT_EQ(counts().unknown, 2U);
}

TEST_F(ProducerLoopTest, WaitsForOpenAttemptsAtTheEndAndNoLonger) {
  broker_.no_answers = true;
  open({.keys = 4, .close_wait = 10s});
  run(10ms);
  loop_->stop();
  run(9s);
  EXPECT_FALSE(loop_->done());
  run(2s);
  EXPECT_TRUE(loop_->done());
  EXPECT_EQ(evidence_.count(Event::kInfo), evidence_.count(Event::kInvoke));
}

TEST_F(ProducerLoopTest, ABlockedPartitionDoesNotSilenceTheOthers) {
  open({.keys = 8, .rate = 1000, .open_max = 4'000});
  run(1s);
  broker_.blocked = {2};
  const std::size_t before = broker_.logs[1].size();
  run(10s);
  // The three others get all of the rate, the blocked one only its share of the limit.
  EXPECT_EQ(broker_.logs[2].size(), 250U);
  EXPECT_GT(broker_.logs[1].size(), before + 3'200);
  EXPECT_EQ(counts().slots_dropped, 0U);
  EXPECT_GT(counts().queue_full, 0U);
}

TEST_F(ProducerLoopTest, ABlockedPartitionDoesNotFillASmallQueueOnceThatIsKnown) {
  broker_.queue_max = 100;
  open({.keys = 8, .rate = 20'000});
  run(200ms);
  broker_.blocked = {2};
  const std::size_t before = broker_.logs[1].size();
  run(1s);
  EXPECT_GT(broker_.logs[1].size(), before + 6'000);
}

TEST_F(ProducerLoopTest, ABlockageIsCaughtUpForOneSecondOnly) {
  broker_.no_answers = true;
  open({.keys = 1, .rate = 100, .open_max = 16});
  run(30s);
  broker_.no_answers = false;
  run(5s);
  loop_->stop();
  run(1s);
  EXPECT_GT(counts().slots_dropped, 2'500U);
  EXPECT_EQ(counts().attempts + counts().slots_dropped, 3'500U);
}

TEST_F(ProducerLoopTest, LatencyCountsFromTheTimeAtWhichTheSlotWasDue) {
  open({.keys = 1, .rate = 10});
  evidence_.hold = true;  // all that could send the records in time is in the way
  run(400ms);
  evidence_.hold = false;
  run(50ms);
  EXPECT_EQ(counts().acked, 5U);
  EXPECT_EQ(latency_.max(), 400ms);
  EXPECT_EQ(latency_.min(), 0ms);
}

TEST_F(ProducerLoopTest, HeldBackEvidenceStopsTheLoadAndLosesNothing) {
  open({.keys = 1});
  run(10ms);
  evidence_.hold = true;
  const std::size_t before = evidence_.count(Event::kInvoke);
  run(100ms);
  EXPECT_EQ(evidence_.count(Event::kInvoke), before);
  EXPECT_EQ(evidence_.count(Event::kOk), before);
  evidence_.hold = false;
  run(10ms);
  EXPECT_GE(evidence_.count(Event::kInvoke), before + 100);
}

TEST_F(ProducerLoopTest, AnUnlimitedRateIsBoundedByWhatTheLibraryTakes) {
  open({.keys = 100, .rate = 1e12});
  run(100ms);
  EXPECT_GT(counts().acked, 10'000U);
  EXPECT_EQ(counts().slots_dropped, 0U);
}

TEST_F(ProducerLoopTest, WithoutKeysItSendsNothingAndEnds) {
  open({.keys = 0});
  run(1s);
  loop_->stop();
  run(1s);
  EXPECT_TRUE(loop_->done());
  EXPECT_TRUE(evidence_.seen.empty());
}

}  // namespace
}  // namespace sp::workload

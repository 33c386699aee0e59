// What a tick does: deadlines, watermarks, stalls, and what is raised on the way.
#include <gtest/gtest.h>

#include "track/recorder.h"
#include "track/state.h"

namespace sp::track {
namespace {

using core::Event;

MonotonicTime at(std::int64_t second) { return MonotonicTime{std::chrono::seconds(second)}; }

// A worker that produces to key 0 and reads for group 0; position = sequence; the timeout is 10 s.
class DeadlineTest : public testing::Test {
 protected:
  DeadlineTest() { begin({}); }
  void begin(LedgerOptions options) {
    options.run = core::RunId{7};
    options.contract.timeout = std::chrono::seconds(10);
    ledger_ = std::make_unique<Ledger>(std::move(options));
    ledger_->declare({{0, 1}, 0}, 2);
    ledger_->expect({0, 1});
  }
  void see(Event event, std::uint64_t s, std::uint32_t key = 0) {
    core::Observation seen;
    seen.event = event;
    seen.key = {block_, key};
    seen.sequence = core::Sequence{s};
    seen.offset = core::Offset{s};
    seen.partition = core::PartitionId{key};
    seen.has_position = event == Event::kOk || event == Event::kDeliver;
    worker_.observe(seen);
  }
  void see_all(Event event, std::uint64_t first, std::uint64_t last) {
    for (auto s = first; s <= last; ++s) see(event, s);
  }
  void tick(std::int64_t second) {
    core::Observation seen;
    seen.event = Event::kTick;
    seen.number = ++tick_;
    worker_.observe(seen);
    ledger_->apply(*worker_.hand_over(true));
    ledger_->tick(tick_, at(second));
  }
  Progress progress() const { return ledger_->progress(); }
  std::string alarms() {
    std::string text;
    for (const Alarm& alarm : ledger_->take_alarms()) {
      text += std::string(core::code_row(alarm.code).name) + " " + std::to_string(alarm.sequence.value()) + "; ";
    }
    return text;
  }
  Recorder worker_{core::SourceId{0, 1}, core::RunId{7}};
  std::uint32_t block_ = worker_.keys().block({{0, 1}, 0});
  std::unique_ptr<Ledger> ledger_;
  std::uint64_t tick_ = 0;
};

TEST_F(DeadlineTest, IsTheTickThatKnewTheAckAndTheTimeout) {
  see_all(Event::kOk, 0, 1);
  tick(5);
  tick(14);
  EXPECT_EQ(progress().timeouts, 0U);
  tick(15);
  EXPECT_EQ(progress().timeouts, 1U);
  tick(16);
  EXPECT_EQ(progress().timeouts, 1U) << "nothing newly passed its own";
  see(Event::kDeliver, 0);
  EXPECT_EQ(alarms(), "");
  tick(17);
  EXPECT_EQ(alarms(), "late 0; ");
}

TEST_F(DeadlineTest, OfRecordsThatCameLaterIsLater) {
  see_all(Event::kOk, 0, 1);
  tick(5);
  see_all(Event::kOk, 2, 3);
  tick(8);
  tick(15);
  EXPECT_EQ(progress().timeouts, 1U);
  EXPECT_EQ(ledger_->state().overdue.size(), 1U);
  tick(18);
  EXPECT_EQ(progress().timeouts, 2U);
  ASSERT_EQ(ledger_->state().overdue.size(), 2U);
  EXPECT_EQ(ledger_->state().overdue[1].sequences, (core::Range{2, 4}));
  EXPECT_EQ(ledger_->state().overdue[1].since, at(5));
  EXPECT_EQ(ledger_->state().overdue[1].at, at(18));
}

TEST_F(DeadlineTest, WhatIsOverdueAndPassedOverIsRaisedAsLost) {
  see_all(Event::kOk, 0, 4);
  see_all(Event::kDeliver, 0, 1);
  see(Event::kDeliver, 3);
  tick(5);
  EXPECT_EQ(alarms(), "");
  tick(15);
  EXPECT_EQ(alarms(), "lost 2; ") << "4 may still come";
}

TEST_F(DeadlineTest, OverdueRangesAreKeptUpToTheLimit) {
  LedgerOptions options;
  options.limits.named_max = 1;
  begin(options);
  see_all(Event::kOk, 0, 4);
  see(Event::kDeliver, 1);
  see(Event::kDeliver, 3);
  tick(5);
  tick(15);
  EXPECT_EQ(ledger_->state().overdue.size(), 1U);
}

TEST_F(DeadlineTest, TheLastOfAllIsNoTimeoutAndNoStall) {
  see_all(Event::kOk, 0, 1);
  tick(5);
  ledger_->close_load();
  ledger_->close_consumers(at(60));
  EXPECT_EQ(progress().timeouts, 0U);
  EXPECT_EQ(progress().stall, Nanoseconds{0});
  EXPECT_EQ(progress().outstanding, 2U);
  EXPECT_EQ(progress().verified, 2U) << "declared missing: nothing waits for it";
}

TEST_F(DeadlineTest, TheWatermarkStopsAtWhatIsNotDecided) {
  see_all(Event::kOk, 0, 9);
  see_all(Event::kDeliver, 0, 3);
  see_all(Event::kDeliver, 6, 9);
  tick(1);
  EXPECT_EQ(progress().verified, 4U);
  EXPECT_EQ(progress().outstanding, 2U);
  see_all(Event::kDeliver, 4, 5);
  tick(2);
  EXPECT_EQ(progress().verified, 10U);
  EXPECT_EQ(progress().outstanding, 0U);
}

TEST_F(DeadlineTest, TheWatermarkPassesWhatFailedAndStopsAtAnOpenAttempt) {
  see_all(Event::kInvoke, 0, 5);
  see_all(Event::kOk, 0, 1);
  see(Event::kFail, 2);
  see(Event::kOk, 3);
  see(Event::kOk, 5);  // 4 is open
  see_all(Event::kDeliver, 0, 1);
  see(Event::kDeliver, 3);
  see(Event::kDeliver, 5);
  tick(1);
  EXPECT_EQ(progress().verified, 4U);
}

TEST_F(DeadlineTest, TheWatermarkPassesAnUnknownOutcomeOnceItsDeadlineIsOver) {
  see_all(Event::kOk, 0, 1);
  see(Event::kInfo, 2);
  see(Event::kOk, 3);
  see_all(Event::kDeliver, 0, 1);
  see(Event::kDeliver, 3);
  tick(5);
  tick(14);
  EXPECT_EQ(progress().verified, 2U);
  tick(15);
  EXPECT_EQ(progress().verified, 4U);
}

TEST_F(DeadlineTest, TheWatermarkPassesWhatWasDeclaredMissing) {
  see_all(Event::kOk, 0, 3);
  see(Event::kDeliver, 0);
  see_all(Event::kDeliver, 2, 3);
  tick(5);
  EXPECT_EQ(progress().verified, 1U);
  tick(15);
  EXPECT_EQ(progress().verified, 4U);
}

TEST_F(DeadlineTest, OfSeveralKeysTheWatermarksAreAdded) {
  see_all(Event::kOk, 0, 3);
  see(Event::kOk, 0, 1);
  see_all(Event::kDeliver, 0, 3);
  tick(1);
  EXPECT_EQ(progress().verified, 4U);
  EXPECT_EQ(progress().outstanding, 1U);
  see(Event::kDeliver, 0, 1);
  tick(2);
  EXPECT_EQ(progress().verified, 5U);
}

TEST_F(DeadlineTest, OfSeveralGroupsTheSlowestCounts) {
  LedgerOptions options;
  options.groups = {"a", "b"};
  begin(options);
  see_all(Event::kOk, 0, 3);
  see_all(Event::kDeliver, 0, 3);
  tick(1);
  EXPECT_EQ(progress().verified, 0U);
  EXPECT_EQ(progress().outstanding, 4U);
}

TEST_F(DeadlineTest, AStallLastsFromTheLastRiseWhileSomethingIsOutstanding) {
  tick(1);
  EXPECT_EQ(progress().stall, Nanoseconds{0});
  see_all(Event::kOk, 0, 3);
  see(Event::kDeliver, 0);
  tick(2);  // rises to 1
  EXPECT_EQ(progress().stall, Nanoseconds{0});
  tick(4);
  EXPECT_EQ(progress().stall, std::chrono::seconds(2));
  tick(6);
  EXPECT_EQ(progress().stall, std::chrono::seconds(4));
  see_all(Event::kDeliver, 1, 2);
  tick(7);  // rises to 3
  EXPECT_EQ(progress().stall, Nanoseconds{0});
  EXPECT_EQ(progress().stall_max, std::chrono::seconds(4));
  tick(8);
  EXPECT_EQ(progress().stall, std::chrono::seconds(1));
  EXPECT_EQ(progress().stall_max, std::chrono::seconds(4));
}

TEST_F(DeadlineTest, WhereNothingIsOutstandingNothingStalls) {
  see_all(Event::kOk, 0, 3);
  see_all(Event::kDeliver, 0, 3);
  tick(1);
  tick(9);
  EXPECT_EQ(progress().stall, Nanoseconds{0});
  EXPECT_EQ(progress().stall_max, Nanoseconds{0});
  see(Event::kOk, 4);
  tick(10);
  EXPECT_EQ(progress().stall, std::chrono::seconds(1)) << "since the tick at which nothing was outstanding";
}

TEST_F(DeadlineTest, AWatermarkThatFallsBackIsNoRise) {
  see_all(Event::kOk, 0, 3);
  tick(1);
  tick(11);  // declared missing: verified 4
  EXPECT_EQ(progress().verified, 4U);
  see(Event::kOk, 4);
  tick(12);
  EXPECT_EQ(progress().stall, std::chrono::seconds(1));
}

TEST_F(DeadlineTest, AKeyThatCaughtUpKeepsNothing) {
  see_all(Event::kOk, 0, 3);
  see(Event::kDeliver, 0);
  see_all(Event::kDeliver, 2, 3);
  tick(1);
  EXPECT_EQ(ledger_->state().group_details.used(), 1U);
  see(Event::kDeliver, 1);
  tick(2);
  tick(11);  // its cohort is over
  EXPECT_EQ(ledger_->state().group_details.used(), 0U);
  EXPECT_EQ(ledger_->state().key_details.used(), 0U);
}

}  // namespace
}  // namespace sp::track

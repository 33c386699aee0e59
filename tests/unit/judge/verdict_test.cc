// Thresholds, evidence, coverage and the order in which reasons decide.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/judge/run_fixture.h"

namespace sp::judge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class VerdictTest : public RunTest {
 protected:
  void healthy() {
    assign(consumer_, 1, 0);
    ack(0, 9);
    deliver(0, 9);
  }
  const Judgement& again() {
    judgement_ = judge(ledger(), contract_, facts_, judge_options_);
    return judgement_;
  }
};

TEST_F(VerdictTest, AHealthyRunPassesAndSaysHowMuchWasProven) {
  healthy();
  EXPECT_EQ(judged().status, Status::kPassed);
  EXPECT_THAT(judgement_.reasons, ElementsAre("all 10 acknowledged records were received, and nothing that is promised was broken"));
}

TEST_F(VerdictTest, NothingAcknowledgedProvesNothing) {
  assign(consumer_, 1, 0);
  EXPECT_EQ(judged().status, Status::kInconclusive);
}

TEST_F(VerdictTest, MoreDuplicatesThanTheLimitFailAsManyDoNot) {
  healthy();
  deliver(3, 4);
  contract_.thresholds.duplicates_max = 2;
  EXPECT_EQ(judged().status, Status::kPassed);
  contract_.thresholds.duplicates_max = 1;
  EXPECT_EQ(again().status, Status::kFailed);
  EXPECT_THAT(judgement_.reasons, Contains("2 duplicates, more than maxDuplicates 1"));
}

TEST_F(VerdictTest, MoreErrorsThanTheLimitFailAsManyDoNot) {
  healthy();
  attempt(core::Event::kInfo, 10);
  attempt(core::Event::kFail, 11);
  contract_.thresholds.errors_max = 2;
  EXPECT_EQ(judged().status, Status::kPassed);
  contract_.thresholds.errors_max = 1;
  EXPECT_EQ(again().status, Status::kFailed);
  EXPECT_THAT(judgement_.reasons, Contains("2 attempts without success, more than maxErrors 1"));
}

TEST_F(VerdictTest, MoreTicksWithTimeoutsThanTheLimitFailAsManyDoNot) {
  assign(consumer_, 1, 0);
  ack(0, 1);
  tick(1);
  tick(11);
  ack(2, 2);
  tick(12);
  tick(22);
  deliver(0, 2);
  contract_.thresholds.timeouts_max = 2;
  EXPECT_EQ(judged().status, Status::kPassed);
  EXPECT_EQ(count(core::Code::kLate), 3U);
  contract_.thresholds.timeouts_max = 1;
  EXPECT_EQ(again().status, Status::kFailed);
}

TEST_F(VerdictTest, AStallLongerThanTheLimitFailsOneAsLongDoesNot) {
  assign(consumer_, 1, 0);
  ack(0, 4);
  tick(1);
  tick(3);
  tick(6);
  deliver(0, 4);
  tick(7);
  contract_.thresholds.stall_seconds_max = 5;
  EXPECT_EQ(judged().status, Status::kPassed);
  contract_.thresholds.stall_seconds_max = 4;
  EXPECT_EQ(again().status, Status::kFailed);
  EXPECT_THAT(judgement_.reasons, Contains("Verification stalled for 5s, exceeding the configured limit of 4s."));
  contract_.thresholds.stall_seconds_max = 0;  // no limit
  EXPECT_EQ(again().status, Status::kPassed);
}

TEST_F(VerdictTest, ALowRateProvesNothingARateThatIsNotKnownNeedsNone) {
  healthy();
  contract_.thresholds.rate_min = 100;
  EXPECT_EQ(judged().status, Status::kPassed);
  facts_.rate = 100;
  EXPECT_EQ(again().status, Status::kPassed);
  facts_.rate = 99.9;
  EXPECT_EQ(again().status, Status::kInconclusive);
}

TEST_F(VerdictTest, ARawReadThatWasNeededMustBeComplete) {
  healthy();
  contract_.raw_read = core::RawReadScope::kFull;
  EXPECT_EQ(judged().status, Status::kInconclusive);
  EXPECT_THAT(judgement_.reasons, ElementsAre("the raw read is incomplete"));
  facts_.raw_read_problem = "nobody answered";
  EXPECT_THAT(again().reasons, ElementsAre("the raw read is incomplete: nobody answered"));
  facts_.interrupted = true;  // by hand: that is the reason then
  EXPECT_EQ(again().status, Status::kStopped);
  EXPECT_THAT(judgement_.reasons, IsEmpty());
  facts_.interrupted = false;
  facts_.raw_read_available = false;
  EXPECT_EQ(again().status, Status::kPassed);
  facts_.raw_read_available = true;
  contract_.raw_read = core::RawReadScope::kHoles;  // there are none
  EXPECT_EQ(again().status, Status::kPassed);
}

TEST_F(VerdictTest, ARunStoppedByHandIsStoppedUnlessSomethingIsWrong) {
  healthy();
  facts_.stopped = true;
  EXPECT_EQ(judged().status, Status::kStopped);
  EXPECT_THAT(judgement_.reasons, ElementsAre("The run was stopped manually."));
  facts_.missing = {"a file is missing"};
  EXPECT_EQ(again().status, Status::kInconclusive);
}

TEST_F(VerdictTest, WhatALimitKeptFromBeingCheckedMattersIfThePromiseNeedsIt) {
  limits_.named_max = 0;
  healthy();
  judged();
  const_cast<track::State&>(ledger().state()).not_checked = {{"skip", 2}};  // no ordering is promised
  EXPECT_EQ(again().status, Status::kPassed);
  EXPECT_EQ(judgement_.coverage.not_checked["skip"], 2U);
  contract_.ordering = true;
  EXPECT_EQ(again().status, Status::kInconclusive);
  contract_.ordering = false;
  const_cast<track::State&>(ledger().state()).not_checked = {{"numbers beyond the limits", 1}};
  EXPECT_EQ(again().status, Status::kInconclusive);
}

TEST_F(VerdictTest, ALabTellsInvalidBeforeFailedBeforeSlowBeforeClean) {
  healthy();
  facts_.lab.emplace();
  EXPECT_EQ(judged().status, Status::kClean);
  EXPECT_EQ(exit_code(judgement_.status), 0);
  EXPECT_THAT(judgement_.reasons, ElementsAre(HasSubstr("all 10 acknowledged")));
  facts_.lab->slow = {"it was slow"};
  EXPECT_EQ(again().status, Status::kSlow);
  EXPECT_EQ(exit_code(judgement_.status), 4);
  EXPECT_THAT(judgement_.reasons, ElementsAre("it was slow"));
  Rest rest;
  rest.code = core::Code::kStall;
  rest.group = "g";
  rest.consumer = "c";
  rest.positions = {{core::PartitionId{1}, core::Offset{4}}};
  rest.says = "it stood";
  facts_.lab->rests = {rest};
  EXPECT_EQ(again().status, Status::kFailed);
  EXPECT_THAT(judgement_.reasons, ElementsAre("1 consumer had not reached the end of what was acknowledged", "it was slow"));
  ASSERT_EQ(judgement_.findings.size(), 1U);
  EXPECT_EQ(judgement_.findings[0].records, 1U);
  EXPECT_EQ(judgement_.findings[0].says, "it stood");
  facts_.lab->invalid = {"no fault was felt"};
  EXPECT_EQ(again().status, Status::kInvalid);
  EXPECT_EQ(exit_code(judgement_.status), 2);
  EXPECT_EQ(judgement_.reasons.size(), 3U);
  facts_.lab->invalid.clear();
  facts_.missing = {"a driver never ended"};
  EXPECT_EQ(again().status, Status::kInvalid);
}

TEST_F(VerdictTest, RestsAreNamedUpToTheLimitAndCountedAll) {
  healthy();
  facts_.lab.emplace();
  Rest rest;
  rest.code = core::Code::kSubDeath;
  facts_.lab->rests.assign(3, rest);
  judge_options_.findings_max = 2;
  judged();
  EXPECT_EQ(count(core::Code::kSubDeath), 3U);
  EXPECT_EQ(judgement_.findings.size(), 2U);
  EXPECT_EQ(judgement_.findings_left_out, 1U);
  judge_options_.rule_off = core::Code::kSubDeath;
  EXPECT_EQ(again().counts[core::Code::kSubDeath], 0U);
}

TEST_F(VerdictTest, TheLimitOfNamesIsThatOfOneCode) {
  healthy();
  deliver(20, 20);
  deliver(22, 22);  // two findings of another code
  Rest again;
  again.code = core::Code::kDuplicateDelivery;
  facts_.lab.emplace();
  facts_.lab->single_acks.emplace();
  facts_.lab->single_acks->forbidden.assign(3, again);
  judge_options_.findings_max = 2;
  judged();
  EXPECT_EQ(std::ranges::count(judgement_.findings, core::Code::kPhantom, &Finding::code), 2);
  EXPECT_EQ(std::ranges::count(judgement_.findings, core::Code::kDuplicateDelivery, &Finding::code), 2);
  EXPECT_EQ(judgement_.findings_left_out, 1U);
}

TEST_F(VerdictTest, CoverageSaysWhatWasNeverExercised) {
  assign(consumer_, 1, 0);
  ack(0, 9);
  ack(0, 0, {.key = 2, .offset = 10});
  deliver(0, 9);
  deliver(0, 0, {.key = 2, .offset = 10});
  contract_.order = core::Order::kPartition;
  close();
  const track::RawRange read{core::PartitionId{0}, core::Offset{0}, core::Offset{11}};
  const track::RawRange empty{core::PartitionId{1}, core::Offset{0}, core::Offset{0}};
  (void)ledger().raw_targets({read, empty}, core::RawReadScope::kNone);
  judged();
  EXPECT_EQ(judgement_.coverage.keys_silent, 2U);
  EXPECT_EQ(judgement_.coverage.partitions_silent, 1U);
  EXPECT_EQ(judgement_.coverage.not_checked["skip by position"], 11U) << "two keys";
  EXPECT_EQ(judgement_.coverage.not_checked["durability-after-delivery"], 11U);
  contract_.order = core::Order::kKey;
  EXPECT_EQ(again().coverage.not_checked.count("skip by position"), 0U);
}

TEST_F(VerdictTest, OfOneKeyASkipByPositionIsOneByKey) {
  healthy();
  contract_.order = core::Order::kPartition;
  contract_.raw_read = core::RawReadScope::kFull;
  facts_.raw_read_available = false;
  judged();
  EXPECT_EQ(judgement_.coverage.not_checked.count("skip by position"), 0U);
  EXPECT_EQ(judgement_.coverage.not_checked.count("durability-after-delivery"), 0U);
}

TEST_F(VerdictTest, OfASharedSubscriptionTheOrderIsNotChecked) {
  contract_.shared = true;
  healthy();
  judged();
  for (const char* name : {"reordered-write", "reordered-delivery", "skip"}) EXPECT_EQ(judgement_.coverage.not_checked[name], 10U);
}

TEST_F(VerdictTest, FindingsAreCutAfterTheLimitOfACodeAndTheCutIsCounted) {
  healthy();
  deliver(1, 1);
  deliver(3, 3);
  deliver(5, 6);
  judge_options_.findings_max = 2;
  judged();
  EXPECT_EQ(found(), "duplicate-delivery 1..1; duplicate-delivery 3..3; ");
  EXPECT_EQ(judgement_.findings_left_out, 1U);
  judge_options_.findings_max = 3;
  again();
  EXPECT_EQ(found(), "duplicate-delivery 1..1; duplicate-delivery 3..3; duplicate-delivery 5..6; ");
  EXPECT_EQ(judgement_.findings_left_out, 0U);
}

TEST_F(VerdictTest, AFindingNamesTheFirstFewPositionsAndTheFirstInWords) {
  healthy();
  deliver(2, 8);
  judged();
  ASSERT_EQ(judgement_.findings.size(), 1U);
  const Finding& finding = judgement_.findings[0];
  EXPECT_EQ(finding.records, 7U);
  EXPECT_EQ(finding.positions.size(), 5U);
  EXPECT_EQ(finding.producer, "worker 0 incarnation 1 producer 0");
  EXPECT_EQ(finding.consumer, "worker 1 incarnation 1 consumer 0");
  EXPECT_THAT(finding.says, HasSubstr("(partition 0 offset 2)"));
  facts_.lab.emplace().stream = true;
  again();
  EXPECT_THAT(judgement_.findings[0].says, HasSubstr("(position 2 of the stream)"));
}

TEST_F(VerdictTest, ARepeatSaysWhyItIsNotAllowed) {
  contract_.exactly_once = true;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 9);
  commit(consumer_, 5);
  assign(other_, 2, 3, {.consumer = 1});
  deliver_to(other_, 3, 6, {.consumer = 1});
  judged();
  EXPECT_EQ(count(core::Code::kDuplicateDelivery), 4U);
  EXPECT_EQ(judgement_.allowed[core::Code::kDuplicateDelivery], 2U);
  EXPECT_EQ(found(), "duplicate-delivery 3..4; rewind 3..4; ");
  EXPECT_THAT(judgement_.findings[0].says, HasSubstr("from below the committed position"));
  contract_.redelivery = core::Redelivery::kNever;
  again();
  EXPECT_EQ(judgement_.allowed[core::Code::kDuplicateDelivery], 0U);
  EXPECT_EQ(found(), "duplicate-delivery 3..4; duplicate-delivery 5..6; rewind 3..4; ");
  EXPECT_THAT(judgement_.findings[0].says, HasSubstr("from below the committed position"));
  EXPECT_THAT(judgement_.findings[1].says, HasSubstr("which is never allowed here"));
}

}  // namespace
}  // namespace sp::judge

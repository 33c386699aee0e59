// What is lost, what is excused, what is undecided, and who is to blame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/judge/run_fixture.h"

namespace sp::judge {
namespace {

using core::RawReadScope;

class LostTest : public RunTest {
 protected:
  static std::vector<Stands> standing(std::uint64_t first, std::uint64_t last) {
    std::vector<Stands> records;
    for (auto s = first; s <= last; ++s) records.push_back({s, s});
    return records;
  }
  std::uint64_t lost() const { return count(core::Code::kLost); }
};

// ---- a group that starts at the end of the log

TEST_F(LostTest, AGroupThatStartsAtTheEndIsOwedWhatStandsFromThereOn) {
  contract_.start = core::Start::kLatest;
  ack(0, 9);
  assign(consumer_, 1, 4);
  tick(1);
  judged();
  EXPECT_EQ(found(), "lost 4..9 by unknown; ");
  EXPECT_EQ(judgement_.undecided, 0U);
}

TEST_F(LostTest, TheLowestStartThatIsStatedCounts) {
  contract_.start = core::Start::kLatest;
  ack(0, 9);
  assign(consumer_, 1, 6);
  assign(other_, 2, 4, {.consumer = 1});
  tick(1);
  judged();
  EXPECT_EQ(found(), "lost 4..9 by unknown; ");
}

TEST_F(LostTest, OneThatSaysNothingAndReadsBelowTheStatedStartMakesItUnclear) {
  contract_.start = core::Start::kLatest;
  ack(0, 9);
  assign(consumer_, 1, 6);
  assign(other_, 2, std::nullopt, {.consumer = 1});
  deliver_to(other_, 5, 5, {.consumer = 1});
  judged();
  EXPECT_EQ(lost(), 0U);
  EXPECT_EQ(judgement_.undecided, 9U);
}

TEST_F(LostTest, OneThatSaysNothingAndReadsFromTheStatedStartOnDoesNot) {
  contract_.start = core::Start::kLatest;
  ack(0, 9);
  assign(consumer_, 1, 6);
  assign(other_, 2, std::nullopt, {.consumer = 1});
  deliver_to(other_, 6, 6, {.consumer = 1});
  tick(1);
  judged();
  EXPECT_EQ(found(), "lost 7..9 by unknown; ");
  EXPECT_EQ(judgement_.undecided, 0U);
}

TEST_F(LostTest, WhereNobodySaidWhereItStartsItIsUnclear) {
  contract_.start = core::Start::kLatest;
  ack(0, 3);
  ack(4, 5, {.partition = 1});  // nobody reads there
  assign(consumer_, 1, std::nullopt);
  judged();
  EXPECT_EQ(judgement_.undecided, 6U);
  EXPECT_EQ(lost(), 0U);
}

TEST_F(LostTest, ALabKnowsWhatWasThereWhenTheGroupCame) {
  contract_.start = core::Start::kLatest;
  ack(0, 9, {.placed = false});
  tick(1);
  facts_.lab.emplace();
  BeforeGroup& before = facts_.lab->before_group[{"g", ledger().key_name({block_, 0})}];
  before.attempted.insert_range(0, 6);
  before.decided.insert_range(0, 4);
  judged();
  EXPECT_EQ(found(), "lost 6..9 by unknown; ");
  EXPECT_EQ(judgement_.undecided, 2U) << "4 and 5 were under way";
  facts_.lab->before_group.clear();
  judged();
  EXPECT_EQ(found(), "lost 0..9 by unknown; ") << "all was attempted after it came";
}

// ---- consumers that died with a commit of their own

class UnverifiableTest : public LostTest {
 protected:
  // Worker 1 had read up to 3 and reported it, then died; worker 2 starts at `start`.
  void a_consumer_dies(std::uint64_t start) {
    contract_.raw_read = RawReadScope::kNone;
    ack(0, 9);
    assign(consumer_, 1, 0);
    deliver(0, 3);
    report();
    ledger().lose({1, 1}, false);
    assign(other_, 2, start, {.consumer = 1});
    deliver_to(other_, start, 9, {.consumer = 1});
  }
};

TEST_F(UnverifiableTest, BetweenWhatTheDeadOneReportedAndTheNextStartItsCommitMayHaveCovered) {
  a_consumer_dies(6);
  judged();
  EXPECT_EQ(judgement_.coverage.unverifiable, 2U);
  EXPECT_EQ(lost(), 0U);
  EXPECT_EQ(judgement_.undecided, 0U);
  EXPECT_EQ(judgement_.status, Status::kInconclusive);
  EXPECT_THAT(judgement_.reasons,
              testing::ElementsAre("2 records are unverifiable: committed by a consumer that died before it reported them"));
}

TEST_F(UnverifiableTest, WhereTheNextWentOnNothingIs) {
  a_consumer_dies(4);
  judged();
  EXPECT_EQ(judgement_.coverage.unverifiable, 0U);
  EXPECT_EQ(judgement_.status, Status::kPassed);
}

TEST_F(UnverifiableTest, WhatTheDeadOneIsKnownToHaveCommittedIsLost) {
  ack(0, 9);
  assign(consumer_, 1, 0);
  deliver(0, 3);
  commit(consumer_, 5);
  report();
  ledger().lose({1, 1}, false);
  assign(other_, 2, 6, {.consumer = 1});
  deliver_to(other_, 6, 9, {.consumer = 1});
  judged();
  EXPECT_EQ(judgement_.coverage.unverifiable, 1U) << "5";
  EXPECT_EQ(found(), "lost 4..4 by unknown; ") << "passed over by its own commit";
}

TEST_F(UnverifiableTest, OnlyWhatLiesBetweenTheTwoIs) {
  ack(0, 9);
  assign(consumer_, 1, 0);
  deliver(0, 1);
  deliver(3, 3);  // not 2
  report();
  ledger().lose({1, 1}, false);
  assign(other_, 2, 6, {.consumer = 1});
  deliver_to(other_, 7, 7, {.consumer = 1});  // not 6, where it started
  deliver_to(other_, 9, 9, {.consumer = 1});  // nor 8
  judged();
  EXPECT_EQ(judgement_.coverage.unverifiable, 2U) << "4 and 5";
  EXPECT_EQ(found(), "lost 2..2 by unknown; lost 6..6 by unknown; lost 8..8 by unknown; ");
}

TEST_F(UnverifiableTest, OneThatLeftInOrderCoversNothing) {
  ack(0, 9);
  assign(consumer_, 1, 0);
  deliver(0, 3);
  assign(other_, 2, 6, {.consumer = 1});
  deliver_to(other_, 6, 9, {.consumer = 1});
  judged();
  EXPECT_EQ(judgement_.coverage.unverifiable, 0U);
  EXPECT_EQ(lost(), 2U);
}

// ---- what the log may drop, what it must hold

TEST_F(LostTest, WithACompleteReadThatLacksItTheLogLostIt) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 8);
  raw_read(0, 10, standing(0, 8));
  judged();
  EXPECT_EQ(found(), "lost 9..9 by log; ");
}

TEST_F(LostTest, WhatWasHandedOverAndIsGoneIsLostByTheLog) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 9);
  auto records = standing(0, 9);
  records.erase(records.begin() + 4);
  raw_read(0, 10, records);
  judged();
  EXPECT_EQ(found(), "lost 4..4 by log; ");
}

TEST_F(LostTest, WhatStoodBelowTheLogsStartIsNotGone) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 9);
  raw_read(4, 10, standing(4, 9));
  judged();
  EXPECT_EQ(found(), "");
  EXPECT_EQ(judgement_.undecided, 0U);
}

TEST_F(LostTest, WhatStoodAtTheLogsStartIs) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 9);
  raw_read(4, 10, standing(5, 9));
  judged();
  EXPECT_EQ(found(), "lost 4..4 by log; ");
}

TEST_F(LostTest, CompactionMayDropWhatAHigherRecordOfItsKeySupersedes) {
  contract_.raw_read = RawReadScope::kFull;
  contract_.gaps_compaction = true;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 4);
  tick(1);
  raw_read(0, 10, {{2, 2}, {7, 7}});
  judged();
  EXPECT_EQ(found(), "lost 7..7 by behind; lost 8..9 by log; ");
  EXPECT_EQ(judgement_.coverage.compacted, 2U) << "5 and 6; what was delivered needs no excuse";
}

TEST_F(LostTest, CompactionLeavesTheLastRecordOfEveryKey) {
  contract_.raw_read = RawReadScope::kFull;
  contract_.gaps_compaction = true;
  assign(consumer_, 1, 0);
  ack(0, 1);
  ack(0, 0, {.key = 1, .offset = 2});
  deliver(0, 1);
  raw_read(0, 3, {{1, 1}});
  judged();
  EXPECT_EQ(found(), "lost 0..0 by log; ") << "of the key of which nothing is left";
}

TEST_F(LostTest, ByPartitionARecordBelowTheStatedStartIsBeforeTheStartOnly) {
  contract_.order = core::Order::kPartition;
  ack(0, 9);
  assign(consumer_, 1, 5);
  deliver(2, 2);
  judged();
  EXPECT_EQ(count(core::Code::kBeforeStart), 1U);
  EXPECT_EQ(count(core::Code::kReorderedDelivery), 0U);
}

TEST_F(LostTest, WithoutCompactionItMayNot) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 3);
  deliver(0, 3);
  raw_read(0, 4, {{0, 0}, {3, 3}});
  judged();
  EXPECT_EQ(found(), "lost 1..2 by log; ");
}

TEST_F(LostTest, RetentionExcusesWhatStoodBelowTheLogsStartOnly) {
  contract_.raw_read = RawReadScope::kHoles;
  contract_.gaps_retention = true;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(8, 9);
  raw_read(3, 10, standing(3, 9));
  judged();
  EXPECT_EQ(judgement_.coverage.expired, 3U);
  EXPECT_EQ(found(), "lost 3..7 by client; ");
}

TEST_F(LostTest, WhatTheReadHoldsDamagedIsInTheLog) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 9);
  deliver(0, 4);
  auto records = standing(0, 9);
  records[2].content = core::Content::kDamaged;  // handed over intact
  records[7].content = core::Content::kDamaged;
  tick(1);
  raw_read(0, 10, records);
  judged();
  EXPECT_EQ(count(core::Code::kCorrupt), 2U);
  EXPECT_EQ(lost(), 5U);
  for (const auto& finding : judgement_.findings) {
    if (finding.code == core::Code::kLost) {
      EXPECT_EQ(finding.blame, core::Blame::kBehind) << found();
    }
  }
}

TEST_F(LostTest, WithoutAGroupTheLogMustHoldWhatWasAcknowledged) {
  groups_.clear();
  contract_.raw_read = RawReadScope::kFull;
  ack(0, 5);
  auto records = standing(0, 3);
  records[1].content = core::Content::kDamaged;
  raw_read(0, 6, records);
  judged();
  EXPECT_EQ(found(), "lost 4..5 by log; corrupt 1..1; ");
}

TEST_F(LostTest, WithoutAGroupAndWithAnEmptyLogAllIsLost) {
  groups_.clear();
  contract_.raw_read = RawReadScope::kFull;
  ack(0, 5);
  raw_read(0, 6, {});
  judged();
  EXPECT_EQ(found(), "lost 0..5 by log; ");
}

TEST_F(LostTest, WithoutAGroupCompactionAndRetentionExcuseToo) {
  groups_.clear();
  contract_.raw_read = RawReadScope::kFull;
  contract_.gaps_compaction = contract_.gaps_retention = true;
  ack(0, 5);
  raw_read(2, 6, {{4, 4}});
  judged();
  EXPECT_EQ(found(), "lost 5..5 by log; ");
  EXPECT_EQ(judgement_.coverage.expired, 2U);
  EXPECT_EQ(judgement_.coverage.compacted, 2U);
}

TEST_F(LostTest, WithoutAFullReadNothingIsSaidOfALogThatNobodyReads) {
  groups_.clear();
  contract_.raw_read = RawReadScope::kHoles;
  ack(0, 5);
  raw_read(0, 6, {});
  judged();
  EXPECT_EQ(lost(), 0U);
}

TEST_F(LostTest, OfUnknownOutcomeButInTheLogAndPassedOverIsTheClients) {
  contract_.raw_read = RawReadScope::kFull;
  assign(consumer_, 1, 0);
  ack(0, 3);
  attempt(core::Event::kInfo, 4);
  attempt(core::Event::kInfo, 5);
  ack(6, 6);
  deliver(0, 3);
  deliver(6, 6);
  raw_read(0, 7, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 6}});
  judged();
  EXPECT_EQ(found(), "lost 4..4 by client; ");
}

TEST_F(LostTest, NobodyIsBlamedForWhatTheSystemRefusedToShow) {
  assign(consumer_, 1, 0);
  ack(0, 4);
  tick(1);
  facts_.refused["g"] = "no right to read";
  judged();
  EXPECT_EQ(lost(), 0U);
  EXPECT_EQ(judgement_.undecided, 5U);
  facts_.refused.clear();
  facts_.raw_read_refused = true;
  judged();
  EXPECT_EQ(judgement_.undecided, 5U);
  facts_.raw_read_refused = false;
  judged();
  EXPECT_EQ(lost(), 5U);
}

TEST_F(LostTest, ASecondInterruptJudgesNothingThatIsOutstanding) {
  assign(consumer_, 1, 0);
  ack(0, 4);
  tick(1);
  facts_.interrupted = true;
  judged();
  EXPECT_EQ(lost(), 0U);
  EXPECT_EQ(judgement_.undecided, 0U);
}

TEST_F(LostTest, AWholePartitionOfWhichNothingCameIsSaid) {
  assign(consumer_, 1, 0);
  ack(0, 2);
  deliver(0, 2);
  ack(0, 1, {.key = 1, .partition = 1});
  tick(1);
  judged();
  ASSERT_EQ(judgement_.findings.size(), 1U);
  EXPECT_THAT(judgement_.findings[0].says, testing::HasSubstr("nor anything of its whole partition"));
}

TEST_F(LostTest, OfAPartitionOfWhichSomethingCameItIsNot) {
  assign(consumer_, 1, 0);
  ack(0, 2);
  deliver(0, 1);
  tick(1);
  judged();
  ASSERT_EQ(judgement_.findings.size(), 1U);
  EXPECT_THAT(judgement_.findings[0].says, testing::Not(testing::HasSubstr("whole partition")));
}

TEST_F(LostTest, WhoseDeadlineHasNotComeIsUndecided) {
  assign(consumer_, 1, 0);
  ack(0, 2);
  tick(1);
  judged_at_ = 10;
  judged();
  EXPECT_EQ(judgement_.undecided, 3U);
}

TEST_F(LostTest, WhoseDeadlineHasJustComeIsLost) {
  assign(consumer_, 1, 0);
  ack(0, 2);
  tick(1);
  judged_at_ = 11;
  judged();
  EXPECT_EQ(lost(), 3U);
}

}  // namespace
}  // namespace sp::judge

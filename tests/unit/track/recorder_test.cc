#include "track/recorder.h"

#include <gtest/gtest.h>

namespace sp::track {
namespace {

using core::Event;
using core::Observation;

constexpr core::RunId kRecorderRun{7};

struct RecorderTest : testing::Test {
  Recorder recorder{core::SourceId{0, 1}, kRecorderRun};
  std::uint32_t block = recorder.keys().block({{0, 1}, 0});

  void attempt(Event event, std::uint64_t sequence) {
    Observation observation;
    observation.event = event;
    observation.key = {block, 0};
    observation.sequence = core::Sequence{sequence};
    recorder.observe(observation);
  }
  void assign(std::uint32_t partition) { event(Event::kAssign, partition, 0); }
  void deliver(std::uint32_t partition, std::uint64_t offset) { event(Event::kDeliver, partition, offset); }
  void event(Event event, std::uint32_t partition, std::uint64_t offset) {
    Observation observation;
    observation.event = event;
    observation.partition = core::PartitionId{partition};
    observation.offset = core::Offset{offset};
    observation.has_position = event == Event::kDeliver;
    observation.key = {block, 0};
    recorder.observe(observation);
  }
  std::string covered() {
    std::string text;
    for (const auto& point : recorder.take_covered(0)) {
      text += std::to_string(point.partition.value()) + "@" + std::to_string(point.next.value()) + " ";
    }
    return text;
  }
};

TEST_F(RecorderTest, CutsNothingWhereNothingHappened) {
  EXPECT_FALSE(recorder.cut(false));
  EXPECT_TRUE(recorder.cut(true));
  EXPECT_EQ(recorder.last_cut(), 1U);
}

TEST_F(RecorderTest, ADeltaInMemoryUsedBeforeHoldsItsOwnRowsOnly) {
  for (std::uint64_t sequence = 0; sequence < 100; ++sequence) attempt(Event::kInvoke, sequence);
  recorder.cut(false);
  attempt(Event::kInvoke, 100);
  recorder.acknowledge(1);
  recorder.cut(false);  // what follows is in the first delta's memory
  attempt(Event::kInvoke, 101);
  attempt(Event::kInvoke, 102);
  recorder.cut(false);
  const auto pending = recorder.pending(1);
  ASSERT_EQ(pending.size(), 2U);
  ASSERT_EQ(pending[0]->rows.size(), 1U);
  EXPECT_EQ(pending[0]->rows[0].sequence, 100U);
  ASSERT_EQ(pending[1]->rows.size(), 2U);
  EXPECT_EQ(pending[1]->rows[0].sequence, 101U);
  EXPECT_EQ(pending[1]->rows[1].sequence, 102U);
  EXPECT_EQ(recorder.rows_kept(), 3U);
}

TEST_F(RecorderTest, SeveralAtOnceAreSeenAsOneByOne) {
  std::vector<Observation> observations(3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    observations[i].key = {block, 0};
    observations[i].sequence = core::Sequence{i};
  }
  observations[2].event = Event::kOk;
  recorder.observe_all(observations);
  recorder.cut(false);
  const auto& rows = recorder.pending(0).front()->rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].kind, RowKind::kIssued);
  EXPECT_EQ(rows[1].sequence, 1U);
  EXPECT_EQ(rows[2].kind, RowKind::kAcked);
}

TEST_F(RecorderTest, WhatIsHandedOverIsAcknowledgedAndNotKept) {
  EXPECT_FALSE(recorder.hand_over(false).has_value());
  assign(0);
  deliver(0, 6);
  const auto first = recorder.hand_over(false);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->number, 1U);
  EXPECT_EQ(first->rows.size(), 2U);
  EXPECT_EQ(recorder.rows_kept(), 0U);
  EXPECT_EQ(recorder.acknowledged(), 1U);
  EXPECT_EQ(covered(), "0@7 ");
  attempt(Event::kInvoke, 0);
  EXPECT_EQ(recorder.hand_over(true)->number, 2U);
  EXPECT_TRUE(recorder.pending(0).empty());
}

TEST_F(RecorderTest, NumbersDeltasAndKeepsThemUntilAcknowledged) {
  attempt(Event::kInvoke, 0);
  recorder.cut(false);
  attempt(Event::kOk, 0);
  recorder.cut(false);
  ASSERT_EQ(recorder.pending(0).size(), 2U);
  EXPECT_EQ(recorder.pending(1).front()->number, 2U);
  recorder.acknowledge(1);
  EXPECT_EQ(recorder.pending(0).size(), 1U);
  EXPECT_EQ(recorder.rows_kept(), 1U);
}

TEST_F(RecorderTest, TellsABlockOnceInTheDeltaThatUsesItFirst) {
  attempt(Event::kInvoke, 0);
  recorder.cut(false);
  attempt(Event::kInvoke, 1);
  recorder.cut(false);
  const auto deltas = recorder.pending(0);
  EXPECT_EQ(deltas[0]->blocks.size(), 1U);
  EXPECT_EQ(deltas[1]->blocks.size(), 0U);
}

TEST_F(RecorderTest, CoversOnlyWhatAcknowledgedDeltasHold) {
  assign(0);
  deliver(0, 0);
  deliver(0, 1);
  EXPECT_EQ(covered(), "");
  recorder.cut(false);
  deliver(0, 2);
  recorder.acknowledge(1);
  EXPECT_EQ(covered(), "0@2 ");
  EXPECT_EQ(covered(), "");  // told once
  EXPECT_FALSE(recorder.all_covered(0));
  recorder.cut(false);
  recorder.acknowledge(2);
  EXPECT_TRUE(recorder.all_covered(0));
  EXPECT_EQ(covered(), "0@3 ");
}

TEST_F(RecorderTest, CoversNothingOfAPartitionGivenBack) {
  assign(0);
  deliver(0, 0);
  recorder.cut(false);
  event(Event::kRevoke, 0, 0);
  recorder.acknowledge(1);
  EXPECT_EQ(covered(), "");
}

TEST_F(RecorderTest, JudgesACommitByWhatWasHandedOverAtItsInvoke) {
  assign(0);
  deliver(0, 4);
  event(Event::kCommitInvoke, 0, 9);
  deliver(0, 5);
  event(Event::kCommitOk, 0, 9);
  recorder.cut(false);
  const auto& commits = recorder.pending(0).front()->commits;
  ASSERT_EQ(commits.size(), 1U);
  EXPECT_EQ(commits[0].handed_end_at_invoke, 5U);
  EXPECT_EQ(commits[0].next, core::Offset{9});
}

TEST_F(RecorderTest, OpensALineageForADriverThatNeverSaidAssign) {
  deliver(3, 0);
  recorder.cut(false);
  const auto& rows = recorder.pending(0).front()->rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, RowKind::kOpen);
  EXPECT_EQ(rows[1].which, rows[0].which);
}

TEST_F(RecorderTest, ACommitIsAnsweredByConsumerPartitionAndPosition) {
  assign(0);
  assign(1);
  event(Event::kCommitInvoke, 0, 9);
  event(Event::kCommitInvoke, 1, 9);
  event(Event::kCommitOk, 1, 9);
  event(Event::kCommitOk, 1, 9);  // answered before: of no commit
  event(Event::kCommitFail, 0, 8);  // of no commit
  recorder.cut(false);
  const auto& delta = *recorder.pending(0).front();
  ASSERT_EQ(delta.commits.size(), 1U);
  ASSERT_EQ(delta.rows.size(), 3U);
  EXPECT_EQ(delta.rows[2].kind, RowKind::kCommit);
  EXPECT_EQ(delta.rows[2].which, delta.rows[1].which) << "the lineage of partition 1";
  event(Event::kCommitInfo, 0, 9);
  recorder.cut(false);
  EXPECT_EQ(recorder.pending(1).front()->commits[0].outcome, CommitOutcome::kInfo);
}

TEST_F(RecorderTest, TwoConsumersCommitApart) {
  Observation observation;
  for (const std::uint32_t consumer : {0U, 1U}) {
    observation.process = consumer;
    observation.offset = core::Offset{9};
    for (const Event what : {Event::kAssign, Event::kCommitInvoke}) {
      observation.event = what;
      recorder.observe(observation);
    }
  }
  observation.event = Event::kCommitOk;  // of consumer 1
  recorder.observe(observation);
  recorder.cut(false);
  const auto& rows = recorder.pending(0).front()->rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].which, rows[1].which);
}

TEST_F(RecorderTest, ACommitOfAPartitionItDoesNotHoldIsNone) {
  event(Event::kCommitInvoke, 0, 9);
  event(Event::kCommitOk, 0, 9);
  event(Event::kRevoke, 0, 0);
  EXPECT_FALSE(recorder.cut(false));
}

TEST_F(RecorderTest, OfAConsumerThatHoldsNothingAllIsCovered) {
  EXPECT_TRUE(recorder.all_covered(0));
  EXPECT_TRUE(recorder.take_covered(0).empty());
  assign(0);
  EXPECT_TRUE(recorder.all_covered(0)) << "it was handed nothing";
  EXPECT_TRUE(recorder.all_covered(1));
  EXPECT_TRUE(recorder.take_covered(1).empty());
  deliver(0, 0);
  EXPECT_FALSE(recorder.all_covered(0));
  event(Event::kRevoke, 0, 0);
  EXPECT_TRUE(recorder.all_covered(0)) << "it gave back what it held";
}

TEST_F(RecorderTest, OnlyTheDeltasThatAreAcknowledgedCover) {
  assign(0);
  deliver(0, 0);
  recorder.cut(false);
  deliver(0, 1);
  recorder.cut(false);
  recorder.acknowledge(1);
  EXPECT_EQ(covered(), "0@1 ");
  EXPECT_FALSE(recorder.all_covered(0));
  recorder.acknowledge(2);
  EXPECT_EQ(covered(), "0@2 ");
  EXPECT_TRUE(recorder.all_covered(0));
}

TEST_F(RecorderTest, AssigningAnewClosesWhatItHeldAsLost) {
  assign(0);
  assign(0);
  recorder.cut(false);
  const auto& rows = recorder.pending(0).front()->rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].kind, RowKind::kClose);
  EXPECT_EQ(rows[1].sequence, static_cast<std::uint64_t>(core::LineageClose::kLost));
  EXPECT_EQ(rows[1].flags, 0U) << "nobody said which generation it left";
}

TEST_F(RecorderTest, TellsWhatThePayloadSaysOfThePartition) {
  assign(2);
  Observation observation;
  observation.event = Event::kDeliver;
  observation.partition = core::PartitionId{2};
  observation.key = {block, 0};
  observation.asked_partition = core::PartitionId{2};
  recorder.observe(observation);
  observation.asked_partition = core::PartitionId{3};
  recorder.observe(observation);
  recorder.cut(false);
  const auto& rows = recorder.pending(0).front()->rows;
  EXPECT_EQ(rows[1].flags, kRightPartition) << "and no position";
  EXPECT_EQ(rows[2].flags, kWrongPartition);
}

}  // namespace
}  // namespace sp::track

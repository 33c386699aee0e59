#include "track/ledger.h"

#include <gtest/gtest.h>

#include "track/recorder.h"
#include "track/state.h"

namespace sp::track {
namespace {

using core::Event;
using core::Observation;

constexpr core::RunId kRun{7};

// A producer worker 0 and a consumer worker 1 with one partition.
struct LedgerTest : testing::Test {
  Recorder producer{core::SourceId{0, 1}, kRun};
  Recorder consumer{core::SourceId{1, 1}, kRun};
  std::uint32_t block = producer.keys().block({{0, 1}, 0});
  std::uint32_t block_seen = consumer.keys().block({{0, 1}, 0});
  Ledger ledger{options()};

  LedgerTest() {
    ledger.declare({{0, 1}, 0}, 4);
    ledger.expect({0, 1});
    ledger.expect({1, 1});
  }
  static LedgerOptions options() {
    LedgerOptions options;
    options.run = kRun;
    options.contract.at_least_once = true;
    options.contract.timeout = std::chrono::seconds(30);
    return options;
  }
  void acked(std::uint64_t sequence, std::uint32_t partition = 0) { attempt(Event::kOk, sequence, partition); }
  void attempt(Event event, std::uint64_t sequence, std::uint32_t partition = 0) {
    Observation observation;
    observation.event = event;
    observation.key = {block, 0};
    observation.partition = core::PartitionId{partition};
    observation.sequence = core::Sequence{sequence};
    observation.offset = core::Offset{sequence};
    observation.has_position = event == Event::kOk;
    producer.observe(observation);
  }
  void delivered(std::uint64_t sequence, std::uint32_t partition = 0) {
    Observation observation;
    observation.partition = core::PartitionId{partition};
    observation.event = Event::kDeliver;
    observation.key = {block_seen, 0};
    observation.sequence = core::Sequence{sequence};
    observation.offset = core::Offset{sequence};
    observation.has_position = true;
    consumer.observe(observation);
  }
  static void answer(Recorder& recorder, std::uint64_t tick) {
    Observation observation;
    observation.event = Event::kTick;
    observation.number = tick;
    recorder.observe(observation);
  }
  static Delta take(Recorder& recorder) {
    recorder.cut(true);
    return *recorder.pending(recorder.last_cut() - 1).front();
  }
  std::uint64_t phantoms() { return ledger.counts_so_far()[core::Code::kPhantom]; }
};

TEST_F(LedgerTest, ADeltaThatComesTwiceChangesNothing) {
  acked(0);
  const Delta delta = take(producer);
  EXPECT_EQ(ledger.apply(delta), Applied::kFolded);
  EXPECT_EQ(ledger.apply(delta), Applied::kSeen);
  EXPECT_EQ(ledger.progress().acked, 1U);
}

TEST_F(LedgerTest, ADeltaBeforeItsPredecessorWaitsForIt) {
  acked(0);
  const Delta first = take(producer);
  acked(1);
  EXPECT_EQ(ledger.apply(take(producer)), Applied::kEarly);
  EXPECT_EQ(ledger.progress().acked, 0U);
  EXPECT_EQ(ledger.applied({0, 1}), 0U);
  ledger.apply(first);
  EXPECT_EQ(ledger.progress().acked, 2U);
  EXPECT_EQ(ledger.applied({0, 1}), 2U);
}

TEST_F(LedgerTest, ADeliveryBeforeItsIssuerIsNoPhantom) {
  delivered(0);
  ledger.apply(take(consumer));
  EXPECT_EQ(ledger.progress().received, 0U);  // it waits
  acked(0);
  ledger.apply(take(producer));
  EXPECT_EQ(ledger.progress().received, 1U);
  EXPECT_EQ(phantoms(), 0U);
}

TEST_F(LedgerTest, ADeliveryThatItsOwnerDoesNotKnowTwoRoundsLaterIsAPhantom) {
  delivered(0);
  ledger.apply(take(consumer));
  ledger.round();
  EXPECT_EQ(phantoms(), 0U);
  ledger.round();
  EXPECT_EQ(phantoms(), 1U);
}

TEST_F(LedgerTest, AnIssueThatWaitsBehindATickStillCountsForADelivery) {
  answer(producer, 1);
  acked(0);
  ledger.apply(take(producer));  // the ack waits for tick 1 to be complete
  delivered(0);
  answer(consumer, 1);
  ledger.apply(take(consumer));
  ASSERT_TRUE(ledger.answered(1));
  ledger.tick(1, MonotonicTime{});
  EXPECT_EQ(phantoms(), 0U);
  EXPECT_EQ(ledger.progress().acked, 1U);
}

// A key belongs where its first acknowledged record stands, whoever reports first.
TEST_F(LedgerTest, WhereAKeyBelongsDoesNotDependOnADeliveryThatIsReportedBeforeTheAcks) {
  for (std::uint64_t s = 0; s < 3; ++s) attempt(Event::kInvoke, s);
  ledger.apply(take(producer));
  delivered(1, 3);  // misplaced
  ledger.apply(take(consumer));
  acked(0, 2);
  acked(1, 3);
  acked(2, 2);
  ledger.apply(take(producer));
  delivered(0, 2);
  delivered(2, 2);
  ledger.apply(take(consumer));
  ledger.close_load();
  ledger.close_consumers({});
  ledger.finish();
  ASSERT_EQ(ledger.state().misplaced.count, 1U);
  EXPECT_EQ(ledger.state().misplaced.items.front().sequence, 1U);
}

TEST_F(LedgerTest, WithoutAnAckThatTellsAPositionNobodyKnowsWhereAKeyBelongs) {
  attempt(Event::kInvoke, 0);
  attempt(Event::kInvoke, 1);
  ledger.apply(take(producer));
  delivered(0, 2);
  delivered(1, 3);
  ledger.apply(take(consumer));
  ledger.close_load();
  ledger.close_consumers({});
  ledger.finish();
  EXPECT_EQ(ledger.state().misplaced.count, 0U);
}

TEST_F(LedgerTest, RowsBehindAnAnswerWaitForTheOtherSources) {
  answer(producer, 1);
  acked(0);
  ledger.apply(take(producer));
  EXPECT_FALSE(ledger.answered(1));
  EXPECT_EQ(ledger.progress().acked, 0U);
  answer(consumer, 1);
  ledger.apply(take(consumer));
  ledger.tick(1, MonotonicTime{});
  EXPECT_EQ(ledger.progress().acked, 1U);
}

TEST_F(LedgerTest, WhatALostProducerDidAfterItsLastReportIsUnknownAndNoPhantom) {
  acked(0);
  ledger.apply(take(producer));
  ledger.lose({0, 1}, false);
  delivered(0);
  delivered(1);
  ledger.apply(take(consumer));
  EXPECT_EQ(phantoms(), 0U);
  EXPECT_EQ(ledger.progress().unknown, 1U);
  EXPECT_EQ(ledger.progress().received, 2U);
}

TEST_F(LedgerTest, AQuietKeyKeepsNoDetail) {
  for (std::uint64_t s = 0; s < 100; ++s) acked(s);
  ledger.apply(take(producer));
  answer(producer, 1);
  answer(consumer, 1);
  ledger.apply(take(producer));
  ledger.apply(take(consumer));
  ledger.tick(1, MonotonicTime{});
  EXPECT_EQ(ledger.state().group_details.used(), 1U);  // outstanding: its deadline is remembered
  for (std::uint64_t s = 0; s < 100; ++s) delivered(s);
  answer(producer, 2);
  answer(consumer, 2);
  ledger.apply(take(producer));
  ledger.apply(take(consumer));
  ledger.tick(2, MonotonicTime{} + std::chrono::seconds(31));
  EXPECT_EQ(ledger.state().group_details.used(), 0U);
  EXPECT_EQ(ledger.progress().verified, 100U);
}

TEST_F(LedgerTest, WhatIsOverdueIsKeptWithTheTickBeforeItsAckAndTheTickThatFoundIt) {
  const auto tick = [&](std::uint64_t n, std::int64_t second) {
    answer(producer, n);
    answer(consumer, n);
    ledger.apply(take(producer));
    ledger.apply(take(consumer));
    ledger.tick(n, MonotonicTime{std::chrono::seconds(second)});
  };
  tick(1, 10);
  for (std::uint64_t s = 0; s < 6; ++s) acked(s);
  delivered(0);
  delivered(3);
  tick(2, 20);
  tick(3, 49);
  EXPECT_TRUE(ledger.state().overdue.empty());
  tick(4, 51);
  std::string all;
  for (const Overdue& one : ledger.state().overdue) {
    all += core::RangeSet{one.sequences}.text() + " ";
    EXPECT_EQ(one.since, MonotonicTime{std::chrono::seconds(10)});
    EXPECT_EQ(one.at, MonotonicTime{std::chrono::seconds(51)});
  }
  EXPECT_EQ(all, "[1,3) [4,6) ");
}

TEST_F(LedgerTest, ASequenceThatHasNoSuccessorIsNotCheckedAndBreaksNothing) {
  acked(~std::uint64_t{0});
  ledger.apply(take(producer));
  EXPECT_EQ(ledger.not_checked().count("numbers beyond the limits"), 1U);
  EXPECT_EQ(ledger.progress().acked, 0U);
}

TEST_F(LedgerTest, ADeliveryAfterTheConsumersClosedDoesNotCount) {
  acked(0);
  ledger.apply(take(producer));
  ledger.close_load();
  ledger.close_consumers(MonotonicTime{});
  delivered(0);
  ledger.apply(take(consumer));
  EXPECT_EQ(ledger.progress().received, 0U);
}

// A number near the end of the numbers costs what any other costs; a loop over what lies below would never end.
constexpr std::uint64_t kFar = std::uint64_t{1} << 63U;

TEST_F(LedgerTest, AFarSequenceOfAnAbsentOwnerCostsNothing) {
  acked(0);
  ledger.apply(take(producer));
  ledger.lose({0, 1}, true);
  delivered(kFar);
  ledger.apply(take(consumer));
  EXPECT_EQ(phantoms(), 0U) << "it may have issued it";
  acked(1);
  ledger.apply(take(producer));
  ledger.finish();
  EXPECT_EQ(phantoms(), 1U) << "it is back and did not";
  EXPECT_EQ(ledger.progress().issued, 2U);
}

TEST_F(LedgerTest, AFarSequenceOfADeadOwnerIsUnknownWithAllBelowIt) {
  acked(0);
  ledger.apply(take(producer));
  ledger.lose({0, 1}, false);
  delivered(kFar);
  ledger.apply(take(consumer));
  ledger.finish();
  EXPECT_EQ(phantoms(), 0U);
  EXPECT_EQ(ledger.progress().unknown, kFar);
  EXPECT_EQ(ledger.state().key_details.find(ledger.state().blocks[block].keys[0].detail)->landed.size(), 1U);
}

TEST_F(LedgerTest, WhatNobodyAttemptedIsNeitherOwedNorUnknown) {
  attempt(Event::kInvoke, 5);
  acked(5);
  delivered(2);
  delivered(5);
  ledger.apply(take(producer));
  ledger.apply(take(consumer));
  EXPECT_EQ(phantoms(), 0U);
  ledger.never_attempted(ledger.key_name({block, 0}), {0, 5});
  ledger.close_load();
  EXPECT_EQ(phantoms(), 1U) << "sequence 2 was seen, and nobody attempted it";
  EXPECT_EQ(ledger.progress().issued, 1U);
  EXPECT_EQ(ledger.progress().acked, 1U);
  EXPECT_EQ(ledger.progress().unknown, 0U);
  EXPECT_EQ(ledger.progress().failed, 0U);
}

TEST_F(LedgerTest, AGroupThatComesLaterIsOwedWhatWasThereBefore) {
  acked(0);
  ledger.apply(take(producer));
  delivered(0);
  ledger.apply(take(consumer));
  EXPECT_TRUE(ledger.all_received());
  EXPECT_EQ(ledger.add_group("late"), core::GroupIndex{1});
  EXPECT_EQ(ledger.group_count(), 2U);
  EXPECT_FALSE(ledger.all_received());
  Observation observation;
  observation.event = Event::kDeliver;
  observation.group = core::GroupIndex{1};
  observation.process = 1;
  observation.key = {block_seen, 0};
  observation.has_position = true;
  consumer.observe(observation);
  ledger.apply(take(consumer));
  EXPECT_TRUE(ledger.all_received());
  EXPECT_EQ(ledger.progress().received, 2U);
}

}  // namespace
}  // namespace sp::track

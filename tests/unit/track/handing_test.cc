// Hand-overs that need a second look: without positions, damaged, of records that fail afterwards, of keys that nobody has.
#include <gtest/gtest.h>

#include "track/recorder.h"
#include "track/state.h"

namespace sp::track {
namespace {

using core::Code;
using core::Event;

struct Handed {
  std::uint64_t sequence = 0;
  std::optional<std::uint64_t> offset = std::nullopt;
  core::Content content = core::Content::kIntact;
  std::uint32_t consumer = 0;
  std::uint32_t key = 0;
  std::uint32_t partition = 0;
};

// Worker 0 produces to two keys, workers 1 and 2 read.
class HandingTest : public testing::Test {
 protected:
  HandingTest() { begin({}); }
  void begin(LedgerOptions options) {
    options.run = core::RunId{7};
    options.contract.timeout = std::chrono::seconds(60);
    ledger_ = std::make_unique<Ledger>(std::move(options));
    ledger_->declare({{0, 1}, 0}, 2);
    for (const std::uint32_t worker : {0U, 1U, 2U}) ledger_->expect({worker, 1});
  }
  void attempt(Event event, std::uint64_t s, std::optional<std::uint64_t> offset = std::nullopt, std::uint32_t partition = 0) {
    core::Observation seen;
    seen.event = event;
    seen.key = {producer_.keys().block({{0, 1}, 0}), 0};
    seen.sequence = core::Sequence{s};
    seen.has_position = offset.has_value();
    seen.offset = core::Offset{offset.value_or(0)};
    seen.partition = core::PartitionId{partition};
    producer_.observe(seen);
    report(producer_);
  }
  void issue(std::uint64_t count) {
    for (std::uint64_t s = 0; s < count; ++s) attempt(Event::kInvoke, s);
  }
  void hand(Recorder& reader, const Handed& what) {
    core::Observation seen;
    seen.event = Event::kDeliver;
    seen.key = {reader.keys().block({{0, 1}, 0}), what.key};
    seen.sequence = core::Sequence{what.sequence};
    seen.has_position = what.offset.has_value();
    seen.offset = core::Offset{what.offset.value_or(0)};
    seen.partition = core::PartitionId{what.partition};
    seen.process = what.consumer;
    seen.content = what.content;
    reader.observe(seen);
    report(reader);
  }
  void report(Recorder& recorder) {
    if (auto delta = recorder.hand_over(false)) ledger_->apply(std::move(*delta));
  }
  void tick() {
    ++tick_;
    for (Recorder* recorder : {&producer_, &reader_, &other_}) {
      core::Observation seen;
      seen.event = Event::kTick;
      seen.number = tick_;
      recorder->observe(seen);
      report(*recorder);
    }
    ledger_->tick(tick_, MonotonicTime{std::chrono::seconds(tick_)});
  }
  std::uint64_t count(Code code) const { return ledger_->counts_so_far()[code]; }
  // The sequences of key 0 that group 0 had certainly out of order.
  std::string reordered() const {
    const State& state = ledger_->state();
    const GroupDetail* detail = state.group_details.find(state.group_key(0, {1, 0}).detail);
    return detail == nullptr ? "" : detail->reordered.text();
  }
  void end() {
    ledger_->close_load();
    ledger_->close_consumers(MonotonicTime{std::chrono::seconds(1000)});
    ledger_->finish();
  }

  Recorder producer_{core::SourceId{0, 1}, core::RunId{7}};
  Recorder reader_{core::SourceId{1, 1}, core::RunId{7}};
  Recorder other_{core::SourceId{2, 1}, core::RunId{7}};
  std::unique_ptr<Ledger> ledger_;
  std::uint64_t tick_ = 0;
};

// ---- without positions

TEST_F(HandingTest, WithoutPositionsALineageThatGoesBackIsOutOfOrder) {
  issue(4);
  for (const std::uint64_t s : {0U, 3U, 1U, 2U}) hand(reader_, {.sequence = s});
  EXPECT_EQ(reordered(), "[1,3)");
}

TEST_F(HandingTest, WithoutPositionsAConcurrentLineageIsNotOutOfOrder) {
  issue(4);
  for (const std::uint64_t s : {0U, 2U}) hand(reader_, {.sequence = s});
  hand(other_, {.sequence = 1});
  EXPECT_EQ(reordered(), "") << "nobody knows which of the two was first";
}

TEST_F(HandingTest, WithoutPositionsALaterLineageOfTheSameWorkerIsOutOfOrder) {
  issue(4);
  for (const std::uint64_t s : {0U, 2U}) hand(reader_, {.sequence = s});
  hand(reader_, {.sequence = 1, .consumer = 1});
  EXPECT_EQ(reordered(), "[1,2)");
}

TEST_F(HandingTest, WherePositionsDecideTheOrderOfArrivalDoesNot) {
  issue(3);
  for (const std::uint64_t s : {0U, 2U, 1U}) hand(reader_, {.sequence = s, .offset = 2 - s});
  EXPECT_EQ(reordered(), "");
}

TEST_F(HandingTest, OfOneThatHasAPositionAndOneThatHasNoneTheArrivalDecides) {
  issue(3);
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 2});
  hand(reader_, {.sequence = 1, .offset = 7});
  EXPECT_EQ(reordered(), "[1,2)");
}

TEST_F(HandingTest, AlsoWhereTheLaterOneHasNone) {
  issue(3);
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 2, .offset = 5});
  hand(reader_, {.sequence = 1});
  EXPECT_EQ(reordered(), "[1,2)");
}

TEST_F(HandingTest, OfASharedSubscriptionNothingIsOutOfOrder) {
  LedgerOptions options;
  options.contract.shared = true;
  begin(options);
  issue(3);
  for (const std::uint64_t s : {0U, 2U, 1U}) hand(reader_, {.sequence = s});
  EXPECT_EQ(reordered(), "");
}

TEST_F(HandingTest, WithoutAPositionEveryRepeatIsADuplicate) {
  issue(3);
  for (const std::uint64_t s : {0U, 1U, 2U, 1U, 1U}) hand(reader_, {.sequence = s});
  EXPECT_EQ(count(Code::kDuplicateDelivery), 2U);
}

// ---- records that fail after they were handed over

TEST_F(HandingTest, WhatFailsAfterwardsIsAPhantomAndWasNotReceived) {
  issue(2);
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 1, .offset = 1});
  EXPECT_EQ(ledger_->progress().received, 2U);
  attempt(Event::kFail, 0);
  EXPECT_EQ(count(Code::kPhantom), 1U);
  EXPECT_EQ(ledger_->progress().received, 1U);
  EXPECT_EQ(ledger_->progress().failed, 1U);
}

TEST_F(HandingTest, WhatFailsAndWasHandedOverDamagedOnlyIsNone) {
  issue(2);
  attempt(Event::kInvoke, 1);
  hand(reader_, {.sequence = 0, .offset = 0, .content = core::Content::kDamaged});
  attempt(Event::kOk, 1, 0);  // names what was damaged
  EXPECT_EQ(ledger_->progress().received, 1U);
  attempt(Event::kFail, 0);
  EXPECT_EQ(count(Code::kPhantom), 0U);
  EXPECT_EQ(count(Code::kCorrupt), 1U);
}

TEST_F(HandingTest, AnOutcomeThatWasUnknownMayBecomeKnown) {
  issue(3);
  for (std::uint64_t s = 0; s < 3; ++s) attempt(Event::kInfo, s);
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 1, .offset = 1});
  const State& state = ledger_->state();
  const auto landed = [&] {
    const KeyDetail* detail = state.key_details.find(state.key({1, 0})->detail);
    return detail->landed.text() + " of " + detail->unknown.text();
  };
  EXPECT_EQ(landed(), "[0,2) of [0,3)");
  attempt(Event::kOk, 0, 0);
  EXPECT_EQ(landed(), "[1,2) of [1,3)");
  attempt(Event::kFail, 1);
  EXPECT_EQ(landed(), " of [2,3)");
  EXPECT_EQ(count(Code::kPhantom), 1U);
  attempt(Event::kFail, 0);  // acknowledged before: it has its outcome
  attempt(Event::kOk, 1, 1);  // failed before
  const Progress progress = ledger_->progress();
  EXPECT_EQ(progress.acked, 1U);
  EXPECT_EQ(progress.failed, 1U);
  EXPECT_EQ(progress.unknown, 1U);
}

// ---- keys that nobody has, other runs

TEST_F(HandingTest, AKeyThatItsOwnerNeverDeclaredIsNobodysAtOnce) {
  issue(1);
  hand(reader_, {.sequence = 0, .offset = 0, .key = 5});
  EXPECT_EQ(count(Code::kPhantom), 1U);
  EXPECT_EQ(ledger_->progress().received, 0U);
}

TEST_F(HandingTest, ARecordOfAnotherRunIsAPhantomOncePerPositionInATopicOfThisRun) {
  issue(1);
  const Handed foreign{.sequence = 0, .offset = 3, .content = core::Content::kOtherRun};
  hand(reader_, foreign);
  hand(reader_, foreign);
  EXPECT_EQ(count(Code::kPhantom), 1U);
  EXPECT_EQ(count(Code::kDuplicateDelivery), 1U);
  EXPECT_EQ(ledger_->state().groups[0].foreign_phantoms.items[0].key.index, kNone) << "whatever key it claims";
  EXPECT_EQ(ledger_->state().groups[0].foreign_phantoms.items[0].offset, 3U);
}

TEST_F(HandingTest, InATopicThatWasThereBeforeItIsALeftover) {
  LedgerOptions options;
  options.contract.topic_created = false;
  begin(options);
  issue(1);
  const Handed foreign{.sequence = 0, .offset = 3, .content = core::Content::kOtherRun};
  hand(reader_, foreign);
  hand(reader_, foreign);
  hand(reader_, {.sequence = 0, .content = core::Content::kOtherRun});
  EXPECT_EQ(count(Code::kPhantom), 0U);
  EXPECT_EQ(ledger_->state().foreign, 2U) << "one position, and one without";
  EXPECT_EQ(ledger_->state().lineages[0].next, 4U) << "the lineage went past it";
}

// ---- damaged

TEST_F(HandingTest, ADamagedHandOverIsOneOfWhatTheAckSaysStandsThere) {
  issue(2);
  hand(reader_, {.sequence = 9, .offset = 0, .content = core::Content::kDamaged});
  EXPECT_EQ(ledger_->progress().received, 0U);
  attempt(Event::kOk, 0, 0);
  EXPECT_EQ(ledger_->progress().received, 1U);
  EXPECT_EQ(count(Code::kCorrupt), 1U);
  hand(reader_, {.sequence = 9, .offset = 0, .content = core::Content::kDamaged});
  EXPECT_EQ(count(Code::kCorrupt), 1U) << "a position is damaged once";
  EXPECT_EQ(count(Code::kDuplicateDelivery), 1U);
  hand(reader_, {.sequence = 0, .content = core::Content::kDamaged});
  EXPECT_EQ(count(Code::kCorrupt), 2U) << "without a position each counts";
}

TEST_F(HandingTest, ALaterIntactHandOverOfADamagedOneIsARepeat) {
  issue(1);
  hand(reader_, {.sequence = 9, .offset = 0, .content = core::Content::kDamaged});
  hand(reader_, {.sequence = 0, .offset = 0});
  EXPECT_EQ(ledger_->progress().received, 1U);
  EXPECT_EQ(count(Code::kDuplicateDelivery), 1U);
  EXPECT_EQ(count(Code::kInconsistentPosition), 0U);
}

TEST_F(HandingTest, AnotherRecordAtAPositionThatWasHandedOverIsInconsistent) {
  issue(2);
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 1, .offset = 0});
  EXPECT_EQ(count(Code::kInconsistentPosition), 1U);
  EXPECT_EQ(count(Code::kDuplicateDelivery), 0U);
  EXPECT_EQ(ledger_->progress().received, 2U);
  EXPECT_EQ(ledger_->take_alarms().size(), 1U);
}

// ---- order by partition

TEST_F(HandingTest, ByPartitionWhatComesFromBelowAHandedPositionIsOutOfOrderOnce) {
  LedgerOptions options;
  options.contract.order = core::Order::kPartition;
  begin(options);
  issue(4);
  for (const std::uint64_t s : {0U, 3U, 1U, 3U, 1U}) hand(reader_, {.sequence = s, .offset = s});
  EXPECT_EQ(reordered(), "[1,2)");
  EXPECT_EQ(count(Code::kReorderedDelivery), 1U) << "and as a candidate by key";
}

TEST_F(HandingTest, ByPartitionAPhantomTakesNoPart) {
  LedgerOptions options;
  options.contract.order = core::Order::kPartition;
  begin(options);
  issue(4);
  attempt(Event::kFail, 1);
  for (const std::uint64_t s : {0U, 3U, 1U}) hand(reader_, {.sequence = s, .offset = s});
  EXPECT_EQ(reordered(), "");
  EXPECT_EQ(count(Code::kPhantom), 1U);
}

// ---- the log

TEST_F(HandingTest, AnAckOfAPlaceWhereAnotherRecordIsReadAddsNoCopy) {
  issue(3);
  attempt(Event::kOk, 0, 0);
  attempt(Event::kOk, 1, 2);  // it says 2 and stands at 1
  hand(reader_, {.sequence = 0, .offset = 0});
  hand(reader_, {.sequence = 1, .offset = 1});
  hand(reader_, {.sequence = 2, .offset = 2});
  end();
  EXPECT_EQ(count(Code::kInconsistentPosition), 1U);
  EXPECT_EQ(count(Code::kDuplicateWrite), 0U);
  EXPECT_EQ(count(Code::kReorderedWrite), 0U);
}

TEST_F(HandingTest, ASecondCopyAndALowerRecordBehindAHigherOneAreFound) {
  issue(4);
  attempt(Event::kOk, 0, 0);
  attempt(Event::kOk, 2, 1);
  attempt(Event::kOk, 1, 2);
  attempt(Event::kOk, 3, 3);
  hand(reader_, {.sequence = 3, .offset = 4});
  tick();
  EXPECT_EQ(count(Code::kDuplicateWrite), 1U);
  EXPECT_EQ(count(Code::kReorderedWrite), 1U);
  const auto alarms = ledger_->take_alarms();
  ASSERT_EQ(alarms.size(), 2U);
  EXPECT_EQ(alarms[0].code, Code::kDuplicateWrite);
  EXPECT_EQ(alarms[0].sequence.value(), 3U);
  EXPECT_EQ(alarms[1].code, Code::kReorderedWrite);
  EXPECT_EQ(alarms[1].sequence.value(), 1U);
  tick();
  EXPECT_TRUE(ledger_->take_alarms().empty()) << "told once";
  end();
  EXPECT_EQ(count(Code::kDuplicateWrite), 1U);
  EXPECT_EQ(count(Code::kReorderedWrite), 1U);
}

TEST_F(HandingTest, APhantomBehindAHigherRecordIsNeitherCopyNorInversion) {
  issue(3);
  attempt(Event::kOk, 0, 0);
  attempt(Event::kOk, 2, 1);
  hand(reader_, {.sequence = 1, .offset = 2});
  hand(reader_, {.sequence = 1, .offset = 3});
  tick();
  EXPECT_EQ(count(Code::kDuplicateWrite), 1U);
  EXPECT_EQ(count(Code::kReorderedWrite), 1U);
  attempt(Event::kFail, 1);
  tick();
  EXPECT_EQ(count(Code::kDuplicateWrite), 0U);
  EXPECT_EQ(count(Code::kReorderedWrite), 0U);
  EXPECT_EQ(count(Code::kPhantom), 1U);
}

// ---- where it belongs

TEST_F(HandingTest, APhantomInTheWrongPlaceIsMisplacedWhetherItFailsBeforeOrAfter) {
  const auto in_the_wrong_place = [&](std::uint64_t sequence) {
    core::Observation seen;
    seen.event = Event::kDeliver;
    seen.key = {reader_.keys().block({{0, 1}, 0}), 0};
    seen.sequence = core::Sequence{sequence};
    seen.has_position = true;
    seen.offset = core::Offset{sequence};
    seen.asked_partition = core::PartitionId{1};
    reader_.observe(seen);
    report(reader_);
  };
  issue(3);
  in_the_wrong_place(0);
  attempt(Event::kFail, 0);
  attempt(Event::kFail, 1);
  in_the_wrong_place(1);
  end();
  EXPECT_EQ(count(Code::kPhantom), 2U);
  EXPECT_EQ(count(Code::kMisplaced), 2U);
}

}  // namespace
}  // namespace sp::track

// Evidence row by row: numbers that cannot be, sources that come and go, the targets of the raw read.
#include <gtest/gtest.h>

#include "track/ledger.h"
#include "track/state.h"

namespace sp::track {
namespace {

constexpr std::uint64_t kLast = ~std::uint64_t{0};
constexpr core::SourceId kProducer{0, 1};
constexpr core::SourceId kConsumer{1, 1};
constexpr core::KeyRef kKey{1, 0};  // of both sources: block 1 is the producer's

class RowsTest : public testing::Test {
 protected:
  RowsTest() { begin({}); }
  void begin(LedgerOptions options) {
    options.run = core::RunId{7};
    ledger_ = std::make_unique<Ledger>(std::move(options));
    ledger_->declare({kProducer, 0}, 2);
    ledger_->expect(kProducer);
    numbers_.clear();
  }
  Applied apply(core::SourceId source, std::vector<Row> rows, std::vector<LineageOpen> opens = {}, std::vector<CommitFact> commits = {}) {
    Delta delta;
    delta.source = source;
    delta.number = ++numbers_[source];
    if (delta.number == 1) delta.blocks = {{kProducer, 0}};
    delta.rows = std::move(rows);
    delta.opens = std::move(opens);
    delta.commits = std::move(commits);
    return ledger_->apply(std::move(delta));
  }
  static Row acked(std::uint64_t sequence, std::uint64_t offset, std::uint32_t partition = 0) {
    return {.kind = RowKind::kAcked, .flags = kHasOffset, .which = partition, .key = kKey, .sequence = sequence, .offset = offset};
  }
  static Row delivered(std::uint64_t sequence, std::uint64_t offset, std::uint32_t lineage = 0) {
    return {.kind = RowKind::kDelivered, .flags = kHasOffset, .which = lineage, .key = kKey, .sequence = sequence, .offset = offset};
  }
  static LineageOpen open(std::uint32_t partition) {
    LineageOpen lineage;
    lineage.partition = core::PartitionId{partition};
    return lineage;
  }
  static Row opens(std::uint32_t lineage, std::uint64_t at = 0) {
    return {.kind = RowKind::kOpen, .flags = 0, .which = lineage, .key = {}, .sequence = at, .offset = 0};
  }
  static Row tick(std::uint64_t number) {
    return {.kind = RowKind::kTick, .flags = 0, .which = 0, .key = {}, .sequence = number, .offset = 0};
  }
  std::uint64_t beyond() const {
    const auto found = ledger_->not_checked().find("numbers beyond the limits");
    return found == ledger_->not_checked().end() ? 0 : found->second;
  }
  std::unique_ptr<Ledger> ledger_;
  std::map<core::SourceId, std::uint64_t> numbers_;
};

TEST_F(RowsTest, NumbersWithoutASuccessorAreLeftOutAndSaid) {
  const auto too_many = static_cast<std::uint32_t>(kPartitionsMax);
  const std::vector<Row> cannot_be = {
      {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = kKey, .sequence = kLast, .offset = 0},
      {.kind = RowKind::kFailed, .flags = 0, .which = 0, .key = kKey, .sequence = kLast, .offset = 0},
      {.kind = RowKind::kUnknown, .flags = 0, .which = 0, .key = kKey, .sequence = kLast, .offset = 0},
      acked(kLast, 0),
      acked(0, kLast),
      acked(0, 0, too_many),
      {.kind = RowKind::kRaw, .flags = kHasOffset, .which = 0, .key = kKey, .sequence = kLast, .offset = 0},
      {.kind = RowKind::kRaw, .flags = kHasOffset, .which = 0, .key = kKey, .sequence = 0, .offset = kLast},
      {.kind = RowKind::kRaw, .flags = kHasOffset, .which = too_many, .key = kKey, .sequence = 0, .offset = 0},
      {.kind = RowKind::kRawRange, .flags = kReached, .which = 0, .key = {}, .sequence = kLast, .offset = 0},
      {.kind = RowKind::kRawRange, .flags = kReached, .which = too_many, .key = {}, .sequence = 1, .offset = 0},
  };
  for (std::size_t at = 0; at < cannot_be.size(); ++at) {
    apply(kProducer, {cannot_be[at]});
    EXPECT_EQ(beyond(), at + 1) << "row " << at;
  }
  const Progress progress = ledger_->progress();
  EXPECT_EQ(progress.issued + progress.acked + progress.failed + progress.unknown, 0U);
  EXPECT_TRUE(ledger_->state().partitions.empty());
}

TEST_F(RowsTest, TheHighestNumbersThatCanBeAreTaken) {
  apply(kProducer, {acked(kLast - 1, 0)});
  EXPECT_EQ(beyond(), 0U);
  EXPECT_EQ(ledger_->progress().acked, 1U);
  Row placeless = acked(3, kLast, static_cast<std::uint32_t>(kPartitionsMax));
  placeless.flags = 0;
  apply(kProducer, {placeless});
  EXPECT_EQ(beyond(), 0U) << "without a position there is none that could be too high";
  EXPECT_EQ(ledger_->progress().acked, 2U);
}

TEST_F(RowsTest, AReaderOfAPartitionThatCannotBeReadsNothing) {
  apply(kProducer, {acked(0, 0)});
  apply(kConsumer, {opens(0)}, {open(static_cast<std::uint32_t>(kPartitionsMax))});
  EXPECT_EQ(beyond(), 1U);
  apply(kConsumer, {delivered(0, 0)});
  EXPECT_EQ(beyond(), 2U);
  apply(kConsumer, {{.kind = RowKind::kClose, .flags = 0, .which = 0, .key = {}, .sequence = 0, .offset = 0}});
  EXPECT_EQ(beyond(), 3U);
  EXPECT_EQ(ledger_->progress().received, 0U);
  EXPECT_TRUE(ledger_->state().lineages.empty());
}

TEST_F(RowsTest, ADeliveryOfALineageThatNeverOpenedIsLeftOut) {
  apply(kProducer, {acked(0, 0)});
  apply(kConsumer, {opens(1)}, {open(0)});
  apply(kConsumer, {delivered(0, 0, 0)});  // below the one that opened
  apply(kConsumer, {delivered(0, 0, 2)});  // above it
  apply(kConsumer, {delivered(kLast, 0, 1)});
  apply(kConsumer, {delivered(0, kLast, 1)});
  EXPECT_EQ(beyond(), 4U);
  EXPECT_EQ(ledger_->progress().received, 0U);
  apply(kConsumer, {delivered(0, 0, 1)});
  EXPECT_EQ(ledger_->progress().received, 1U);
}

TEST_F(RowsTest, ACommitOfALineageThatNeverOpenedIsLeftOut) {
  apply(kConsumer, {{.kind = RowKind::kCommit, .flags = 0, .which = 0, .key = {}, .sequence = 0, .offset = 0}}, {},
        {{core::Offset{5}, CommitOutcome::kOk, 0}});
  EXPECT_EQ(beyond(), 1U);
}

TEST_F(RowsTest, WhatWasLeftOutCountsInTheOrderOfItsSource) {
  apply(kConsumer, {opens(0), delivered(kLast, 0), opens(1, 1)}, {open(0), open(1)});
  EXPECT_EQ(ledger_->state().lineages[0].opened_order, 0U);
  EXPECT_EQ(ledger_->state().lineages[1].opened_order, 2U);
}

// ---- sources

TEST_F(RowsTest, ATickWaitsForWhoIsExpectedAndNeitherEndedNorLostNorAway) {
  ledger_->expect(kConsumer);
  apply(kProducer, {tick(1)});
  EXPECT_FALSE(ledger_->answered(1));
  ledger_->lose(kConsumer, true);
  EXPECT_TRUE(ledger_->answered(1));
  apply(kConsumer, {opens(0)}, {open(0)});
  EXPECT_FALSE(ledger_->answered(1)) << "it is back";
  apply(kConsumer, {tick(1)});
  EXPECT_TRUE(ledger_->answered(1));
  EXPECT_FALSE(ledger_->answered(2));
  ledger_->tick(1, MonotonicTime{});
  apply(kConsumer, {{.kind = RowKind::kEnd, .flags = 0, .which = 0, .key = {}, .sequence = 0, .offset = 0}});
  apply(kProducer, {tick(2)});
  EXPECT_TRUE(ledger_->answered(2)) << "it ended on purpose";
  ledger_->tick(2, MonotonicTime{});
  EXPECT_FALSE(ledger_->answered(3));
  ledger_->lose(kProducer, false);
  EXPECT_TRUE(ledger_->answered(3));
}

TEST_F(RowsTest, AnAnswerToATickThatIsCompleteHoldsNothingBack) {
  apply(kProducer, {tick(1)});
  ledger_->tick(1, MonotonicTime{});
  apply(kConsumer, {tick(1), opens(0)}, {open(0)});
  EXPECT_EQ(ledger_->state().lineages.size(), 1U);
  EXPECT_EQ(ledger_->state().lineages[0].opened_period, 2U);
}

TEST_F(RowsTest, WhatComesAfterAnAnswerWaitsForTheTick) {
  apply(kConsumer, {tick(1), opens(0)}, {open(0)});
  EXPECT_TRUE(ledger_->state().lineages.empty());
  apply(kProducer, {tick(1)});
  ledger_->tick(1, MonotonicTime{});
  EXPECT_EQ(ledger_->state().lineages.size(), 1U);
}

TEST_F(RowsTest, AnAnswerAheadWaitsForItsOwnTickToo) {
  ledger_->expect(kConsumer);
  apply(kConsumer, {tick(2), opens(0)}, {open(0)});
  apply(kProducer, {tick(1)});
  ledger_->tick(1, MonotonicTime{});
  EXPECT_TRUE(ledger_->state().lineages.empty());
  apply(kProducer, {tick(2)});
  ledger_->tick(2, MonotonicTime{});
  EXPECT_EQ(ledger_->state().lineages.size(), 1U);
}

TEST_F(RowsTest, ALineageOfALostSourceDiesUnlessItHadClosed) {
  const auto revoked = static_cast<std::uint64_t>(core::LineageClose::kRevoked);
  const Row closes{.kind = RowKind::kClose, .flags = 0, .which = 0, .key = {}, .sequence = revoked, .offset = 0};
  apply(kConsumer, {opens(0), opens(1, 1), closes}, {open(0), open(1)});
  apply(kProducer, {opens(0)}, {open(2)});
  ledger_->lose(kConsumer, false);
  const auto& lineages = ledger_->state().lineages;
  EXPECT_FALSE(lineages[0].source_lost);
  EXPECT_EQ(lineages[0].close, core::LineageClose::kRevoked);
  EXPECT_TRUE(lineages[1].source_lost);
  EXPECT_FALSE(lineages[1].open);
  EXPECT_EQ(lineages[1].close, core::LineageClose::kLost);
  EXPECT_TRUE(lineages[2].open) << "of another source";
}

TEST_F(RowsTest, OnlyTheKeysOfALostSourceAreOpenEnded) {
  ledger_->declare({kConsumer, 0}, 1);
  apply(kProducer, {acked(0, 0), {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = kKey, .sequence = 1, .offset = 0}});
  ledger_->lose(kConsumer, false);
  EXPECT_EQ(ledger_->progress().unknown, 0U);
  EXPECT_FALSE(ledger_->state().blocks[1].open_ended);
  EXPECT_TRUE(ledger_->state().blocks[2].open_ended);
  ledger_->lose(kProducer, false);
  EXPECT_EQ(ledger_->progress().unknown, 1U);
}

TEST_F(RowsTest, ADeliveryOfAnOwnerThatEndedIsAPhantomAtOnce) {
  apply(kConsumer, {opens(0)}, {open(0)});
  apply(kProducer, {acked(0, 0), {.kind = RowKind::kEnd, .flags = 0, .which = 0, .key = {}, .sequence = 0, .offset = 0}});
  apply(kConsumer, {delivered(1, 1)});
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kPhantom], 1U);
}

TEST_F(RowsTest, AnIssueOfAnOwnerThatWaitsForATickCountsWhicheverRowTellsIt) {
  for (const RowKind kind : {RowKind::kIssued, RowKind::kAcked, RowKind::kUnknown}) {
    begin({});
    apply(kConsumer, {opens(0)}, {open(0)});
    apply(kProducer, {tick(1), {.kind = kind, .flags = 0, .which = 0, .key = kKey, .sequence = 4, .offset = 0}});
    apply(kConsumer, {delivered(4, 4)});
    EXPECT_EQ(ledger_->progress().received, 1U);
    EXPECT_EQ(ledger_->progress().issued, 5U);
    apply(kConsumer, {delivered(5, 5)});
    EXPECT_EQ(ledger_->progress().received, 1U) << "above what waits";
  }
}

TEST_F(RowsTest, AnIssueOfAnotherKeyThatWaitsDoesNotCount) {
  apply(kConsumer, {opens(0)}, {open(0)});
  apply(kProducer, {tick(1), {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = {1, 1}, .sequence = 4, .offset = 0}});
  apply(kConsumer, {delivered(4, 4)});
  EXPECT_EQ(ledger_->progress().received, 0U);
}

TEST_F(RowsTest, ANameThatNobodyOwnsIsAPhantomTwoRoundsLater) {
  const core::KeyRef nobodys{core::KeySpace::kLiteralBlock, 0};
  Delta delta;
  delta.source = kConsumer;
  delta.number = 1;
  delta.literals = {"somebody-else"};
  delta.opens = {open(0)};
  delta.rows = {opens(0), {.kind = RowKind::kDelivered, .flags = kHasOffset, .which = 0, .key = nobodys, .sequence = 0, .offset = 3}};
  ledger_->apply(delta);
  ledger_->round();
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kPhantom], 0U) << "its owner may tell it yet";
  ledger_->round();
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kPhantom], 1U);
}

TEST_F(RowsTest, ANameOfAnotherSourceWaitsForThatSource) {
  const core::KeyRef literal{core::KeySpace::kLiteralBlock, 0};
  const auto named = [&](core::SourceId source, Row row) {
    Delta delta;
    delta.source = source;
    delta.number = ++numbers_[source];
    if (delta.number == 1) delta.literals = {"orders"};
    if (delta.number == 1) delta.opens = {open(0)};
    delta.rows = {opens(0), row};
    if (delta.number != 1) delta.rows.erase(delta.rows.begin());
    ledger_->apply(delta);
  };
  named(kProducer, {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = literal, .sequence = 0, .offset = 0});
  named(kConsumer, {.kind = RowKind::kDelivered, .flags = kHasOffset, .which = 0, .key = literal, .sequence = 1, .offset = 3});
  EXPECT_EQ(ledger_->progress().received, 0U);
  named(kProducer, {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = literal, .sequence = 1, .offset = 0});
  EXPECT_EQ(ledger_->progress().received, 1U);
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kPhantom], 0U);
  named(kProducer, {.kind = RowKind::kDelivered, .flags = kHasOffset, .which = 0, .key = literal, .sequence = 2, .offset = 4});
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kPhantom], 1U) << "its owner itself was handed what it had not issued";
}

// ---- the end

TEST_F(RowsTest, TheRawReadWaitsForWhatWasAcknowledged) {
  apply(kProducer, {acked(0, 4), acked(1, 3), acked(2, 0, 2)});
  const auto ends = ledger_->acked_ends();
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends.at(core::PartitionId{0}), core::Offset{5});
  EXPECT_EQ(ends.at(core::PartitionId{2}), core::Offset{1});
}

class TargetsTest : public RowsTest {
 protected:
  std::string targets(core::RawReadScope scope, std::uint64_t begin, std::uint64_t end) {
    std::string text;
    for (const auto& range : ledger_->raw_targets({{core::PartitionId{0}, core::Offset{begin}, core::Offset{end}}}, scope)) {
      text += "[" + std::to_string(range.begin.value()) + "," + std::to_string(range.end.value()) + ") ";
    }
    return text;
  }
  void hand_over(std::uint64_t first, std::uint64_t last) {
    std::vector<Row> acks;
    std::vector<Row> deliveries = {opens(0)};
    for (auto s = first; s <= last; ++s) {
      acks.push_back(acked(s - first, s));
      deliveries.push_back(delivered(s - first, s));
    }
    apply(kProducer, acks);
    apply(kConsumer, deliveries, {open(0)});
  }
};

TEST_F(TargetsTest, AreAllOfTheLogOrWhatWasNotHandedOverWithAMarginOrNothing) {
  hand_over(10, 29);
  EXPECT_EQ(targets(core::RawReadScope::kFull, 0, 40), "[0,40) ");
  EXPECT_EQ(targets(core::RawReadScope::kHoles, 0, 40), "[0,14) [26,40) ");
  EXPECT_EQ(targets(core::RawReadScope::kHoles, 10, 30), "");
  EXPECT_EQ(targets(core::RawReadScope::kNone, 0, 40), "");
  EXPECT_EQ(targets(core::RawReadScope::kFull, 5, 5), "");
  EXPECT_EQ(ledger_->state().partitions[0].log_begin, 5U);
  EXPECT_EQ(ledger_->state().partitions[0].log_end, 5U);
}

TEST_F(TargetsTest, WhatACommitPassedIsReadTooThoughAnotherLineageHandedItOver) {
  hand_over(0, 29);
  apply(kConsumer, {opens(1), {.kind = RowKind::kCommit, .flags = 0, .which = 1, .key = {}, .sequence = 0, .offset = 0}},
        {[] {
          LineageOpen lineage = open(0);
          lineage.start = core::Offset{12};
          return lineage;
        }()},
        {{core::Offset{14}, CommitOutcome::kOk, 0}});
  EXPECT_EQ(targets(core::RawReadScope::kHoles, 0, 30), "[8,18) ");
}

// ---- limits

TEST_F(RowsTest, AnomaliesAreNamedUpToTheLimitAndCountedAll) {
  LedgerOptions options;
  options.limits.named_max = 2;
  begin(options);
  std::vector<Row> acks;
  std::vector<Row> rows = {opens(0)};
  for (std::uint64_t s = 0; s < 6; ++s) acks.push_back(acked(s, s));
  for (std::uint64_t s = 0; s < 12; ++s) rows.push_back(delivered(s % 6, s % 6));
  apply(kProducer, acks);
  apply(kConsumer, rows, {open(0)});
  EXPECT_EQ(ledger_->counts_so_far()[core::Code::kDuplicateDelivery], 6U);
  EXPECT_EQ(ledger_->state().lineages[0].inner.size(), 2U);
  EXPECT_EQ(ledger_->state().lineages[0].inner_repeats, 6U);
  EXPECT_EQ(ledger_->take_alarms().size(), 2U);
}

TEST_F(RowsTest, BeyondTheRecordsWhosePositionIsRememberedItIsSaid) {
  LedgerOptions options;
  options.limits.outstanding_max = 2;
  options.limits.slots_first = 8;
  options.limits.slots_max = 8;
  begin(options);
  apply(kProducer, {acked(0, 100)});
  for (std::uint64_t s = 1; s < 4; ++s) apply(kProducer, {acked(s, s)});  // far below the ring
  EXPECT_EQ(ledger_->state().partitions[0].log.unfinished.size(), 2U);
  EXPECT_EQ(ledger_->not_checked().at("inconsistent-position"), 1U);
  EXPECT_EQ(ledger_->progress().acked, 4U);
}

TEST_F(RowsTest, OnlyWhatOutlivesTheRowsIsAllReceived) {
  apply(kProducer, {acked(0, 0), acked(1, 1), {.kind = RowKind::kIssued, .flags = 0, .which = 0, .key = kKey, .sequence = 2, .offset = 0}});
  EXPECT_FALSE(ledger_->all_received());
  apply(kConsumer, {opens(0), delivered(1, 1)}, {open(0)});
  EXPECT_FALSE(ledger_->all_received());
  apply(kConsumer, {delivered(0, 0)});
  EXPECT_TRUE(ledger_->all_received()) << "what has no outcome is not owed";
}

}  // namespace
}  // namespace sp::track

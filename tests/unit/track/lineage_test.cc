// Which lineage was before which, and where the commits of those before left off.
#include <gtest/gtest.h>

#include "track/deadline.h"
#include "track/state.h"

namespace sp::track {
namespace {

constexpr core::SourceId kHere{0, 1};
constexpr core::SourceId kThere{1, 1};

struct Opened {
  core::SourceId source = kHere;
  std::optional<std::uint64_t> generation = std::nullopt;
  std::uint64_t period = 1;
  std::uint64_t order = 0;
};

Lineage lineage(const Opened& opened) {
  Lineage made;
  made.source = opened.source;
  made.generation = opened.generation;
  made.opened_period = opened.period;
  made.opened_order = opened.order;
  return made;
}

TEST(LineageOrderTest, TheGenerationComesFirst) {
  const Lineage old = lineage({.generation = 1, .period = 9, .order = 9});
  const Lineage young = lineage({.source = kThere, .generation = 2, .period = 1, .order = 1});
  EXPECT_TRUE(ordered_before(old, young));
  EXPECT_FALSE(ordered_before(young, old));
  EXPECT_TRUE(lineage_less(old, young));
}

TEST(LineageOrderTest, OfOneGenerationOrNoneTheOrderOfTheSourceCounts) {
  for (const std::optional<std::uint64_t> generation : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(3)}) {
    const Lineage first = lineage({.generation = generation, .order = 4});
    const Lineage second = lineage({.generation = generation, .order = 5});
    EXPECT_TRUE(ordered_before(first, second));
    EXPECT_FALSE(ordered_before(second, first));
    EXPECT_FALSE(ordered_before(first, first));
  }
}

TEST(LineageOrderTest, AGenerationOnOneSideOnlyTellsNothing) {
  const Lineage with = lineage({.generation = 7, .order = 1});
  const Lineage without = lineage({.order = 2});
  EXPECT_TRUE(ordered_before(with, without));
  EXPECT_FALSE(ordered_before(without, with));
}

TEST(LineageOrderTest, AcrossSourcesOnlyTwoAnswersApartIsBefore) {
  const Lineage early = lineage({.period = 3, .order = 100});
  EXPECT_FALSE(ordered_before(early, lineage({.source = kThere, .period = 4})));
  EXPECT_TRUE(ordered_before(early, lineage({.source = kThere, .period = 5})));
  EXPECT_TRUE(ordered_before(early, lineage({.source = kThere, .period = 6})));
  EXPECT_FALSE(ordered_before(lineage({.source = kThere, .period = 5}), early));
}

class CommittedBeforeTest : public testing::Test {
 protected:
  // Where the commits of these, in their order, left off for one that opens so.
  std::uint64_t left_off(const std::vector<Lineage>& before, const Lineage& opening) {
    state_.lineages = before;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t at = 0; at < before.size(); ++at) numbers.push_back(at);
    return committed_before(state_, in_order(state_, numbers), opening);
  }
  static Lineage with(Lineage lineage, std::vector<LineageCommit> commits) {
    lineage.commits = std::move(commits);
    return lineage;
  }
  State state_{LedgerOptions{}};
};

TEST_F(CommittedBeforeTest, OfAnEarlierGenerationItIsTheLastCommitWheneverItWas) {
  const Lineage old = with(lineage({.generation = 1}), {{5, 1, 1}, {3, 99, 99}});
  EXPECT_EQ(left_off({old}, lineage({.source = kThere, .generation = 2})), 3U);
  EXPECT_EQ(left_off({old}, lineage({.generation = 2, .order = 2})), 3U);
}

TEST_F(CommittedBeforeTest, OfTheSameGenerationOnlyWhatWasAnsweredBeforeItOpened) {
  const Lineage old = with(lineage({.generation = 1}), {{5, 1, 10}, {7, 3, 20}});
  EXPECT_EQ(left_off({old}, lineage({.generation = 1, .order = 10})), 0U);
  EXPECT_EQ(left_off({old}, lineage({.generation = 1, .order = 11})), 5U);
  EXPECT_EQ(left_off({old}, lineage({.generation = 1, .order = 21})), 7U);
  EXPECT_EQ(left_off({old}, lineage({.source = kThere, .generation = 1, .period = 2, .order = 99})), 0U);
  EXPECT_EQ(left_off({old}, lineage({.source = kThere, .generation = 1, .period = 3})), 5U);
  EXPECT_EQ(left_off({old}, lineage({.source = kThere, .generation = 1, .period = 5})), 7U);
}

TEST_F(CommittedBeforeTest, WithoutAGenerationOnEitherSideTheTimeDecides) {
  const Lineage old = with(lineage({.generation = 1}), {{5, 1, 10}});
  EXPECT_EQ(left_off({old}, lineage({.source = kThere, .period = 2})), 0U);
  const Lineage nameless = with(lineage({}), {{5, 1, 10}});
  EXPECT_EQ(left_off({nameless}, lineage({.source = kThere, .generation = 2, .period = 2})), 0U);
  EXPECT_EQ(left_off({nameless}, lineage({.source = kThere, .generation = 2, .period = 3})), 5U);
}

TEST_F(CommittedBeforeTest, TheLatestThatCommittedDecidesAlsoIfItCommittedLess) {
  const Lineage first = with(lineage({.generation = 1}), {{9, 1, 1}});
  const Lineage second = with(lineage({.generation = 2}), {{4, 1, 2}});
  const Lineage third = lineage({.generation = 3});
  EXPECT_EQ(left_off({first, second, third}, lineage({.generation = 4})), 4U);
  EXPECT_EQ(left_off({first, third}, lineage({.generation = 4})), 9U);
  EXPECT_EQ(left_off({third}, lineage({.generation = 4})), 0U);
}

// Two of one generation on two workers, which nothing orders: either may have been the latest, so the lower commit is the one to go by.
TEST_F(CommittedBeforeTest, WhereNothingTellsWhichWasTheLatestTheLowestCountsWhoeverIsNamedFirst) {
  const Lineage here = with(lineage({.generation = 1, .period = 4, .order = 1}), {{9, 4, 1}});
  const Lineage there = with(lineage({.source = kThere, .generation = 1, .period = 5}), {{4, 5, 1}});
  const Lineage old = with(lineage({.generation = 1, .period = 1}), {{2, 1, 0}});
  const Lineage opening = lineage({.generation = 2, .period = 9, .order = 50});
  EXPECT_EQ(left_off({here, there}, opening), 4U);
  EXPECT_EQ(left_off({there, here}, opening), 4U);
  EXPECT_EQ(left_off({old, here, there}, opening), 4U);
  EXPECT_EQ(left_off({old, here}, opening), 9U);
}

TEST_F(CommittedBeforeTest, WhatNothingPutsBeforeItDoesNotCount) {
  const Lineage beside = with(lineage({.source = kThere, .generation = 1, .period = 3}), {{7, 3, 1}});
  EXPECT_EQ(left_off({beside}, lineage({.generation = 1, .period = 4, .order = 9})), 0U);
}

// One group; partition 1 is read by the lineages that are added.
class PassedTest : public testing::Test {
 protected:
  PassedTest() { state_.groups[0].partitions.resize(2); }
  Lineage& add(std::uint64_t generation) {
    state_.groups[0].partitions[1].lineages.push_back(static_cast<std::uint32_t>(state_.lineages.size()));
    Lineage& made = state_.lineages.emplace_back(lineage({.generation = generation}));
    made.partition = 1;
    return made;
  }
  // The positions of the partition that the group went past, of the first ten.
  std::string went_past() const {
    core::RangeSet past;
    for (std::uint64_t at = 0; at < 10; ++at) {
      if (passed(state_, 0, {core::PartitionId{1}, core::Offset{at}})) past.insert(at);
    }
    return past.text();
  }
  State state_{LedgerOptions{}};
};

TEST_F(PassedTest, WhereNobodyReadsNothingIsPassed) {
  EXPECT_EQ(went_past(), "");
  EXPECT_FALSE(passed(state_, 0, {core::PartitionId{2}, core::Offset{0}}));
}

TEST_F(PassedTest, OfTwoThatNothingOrdersBothMustHaveGonePast) {
  Lineage& here = add(1);
  here.opened_period = 4;
  here.handed.insert(7);
  here.next = 8;
  Lineage& there = add(1);
  there.source = kThere;
  there.opened_period = 5;
  there.handed.insert(3);
  there.next = 4;
  EXPECT_EQ(went_past(), "[0,3)");
  there.opened_period = 6;  // now it is the latest
  EXPECT_EQ(went_past(), "[0,3)");
  std::swap(state_.lineages[0].opened_period, state_.lineages[1].opened_period);
  EXPECT_EQ(went_past(), "[0,7)");
}

TEST_F(PassedTest, WhatIsBelowTheHighestHandedOverIs) {
  Lineage& reader = add(1);
  reader.handed.insert(5);
  reader.next = 6;
  EXPECT_EQ(went_past(), "[0,5)");
}

TEST_F(PassedTest, SoIsWhatALeftoverStoodAtButNotWhatWasHandedOverThere) {
  Lineage& reader = add(1);
  reader.handed.insert(4);
  reader.next = 6;  // a leftover at 5
  EXPECT_EQ(went_past(), "[0,6)");
}

TEST_F(PassedTest, SoIsWhatWasCommittedOrOpenedAbove) {
  Lineage& reader = add(1);
  reader.committed = 4;
  EXPECT_EQ(went_past(), "[0,4)");
  reader.start = 7;
  EXPECT_EQ(went_past(), "[0,7)");
}

TEST_F(PassedTest, OnlyTheLatestLineageCounts) {
  add(2).start = 3;
  add(1).start = 8;
  EXPECT_EQ(went_past(), "[0,3)");
}

TEST_F(PassedTest, WithIndividualAcksNothingIs) {
  add(1).start = 8;
  state_.options.contract.acknowledgement = core::Acknowledgement::kIndividual;
  EXPECT_EQ(went_past(), "");
}

}  // namespace
}  // namespace sp::track

#include "core/range_set.h"

#include <bitset>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::core {
namespace {

TEST(RangeSetTest, NumbersThatFollowEachOtherAreOneRange) {
  RangeSet set;
  for (const std::uint64_t number : {4U, 5U, 6U, 9U}) EXPECT_TRUE(set.insert(number));
  EXPECT_EQ(set.text(), "[4,7) [9,10)");
}

TEST(RangeSetTest, InsertBetweenTwoRangesJoinsThem) {
  RangeSet set{{4, 7}, {8, 10}};
  EXPECT_TRUE(set.insert(7));
  EXPECT_EQ(set.text(), "[4,10)");
}

TEST(RangeSetTest, ANumberThatIsInsideIsNotNew) {
  RangeSet set{{4, 7}, {9, 10}};
  for (const std::uint64_t number : {4U, 6U, 9U}) EXPECT_FALSE(set.insert(number));
  EXPECT_EQ(set.text(), "[4,7) [9,10)");
}

TEST(RangeSetTest, InsertRangeCountsOnlyWhatIsNew) {
  RangeSet set{{10, 15}, {20, 25}};
  EXPECT_EQ(set.insert_range(12, 22), 5U);
  EXPECT_EQ(set.text(), "[10,25)");
  EXPECT_EQ(set.insert_range(5, 5), 0U);
}

TEST(RangeSetTest, RangesThatOnlyTouchBecomeOne) {
  RangeSet set{{1, 6}};
  EXPECT_EQ(set.insert_range(6, 11), 5U);
  EXPECT_EQ(set.range_count(), 1U);
}

TEST(RangeSetTest, EraseInTheMiddleSplits) {
  RangeSet set{{0, 10}};
  EXPECT_TRUE(set.erase(4));
  EXPECT_FALSE(set.erase(4));
  EXPECT_EQ(set.text(), "[0,4) [5,10)");
}

TEST(RangeSetTest, EraseOverSeveralRangesCountsWhatWasInside) {
  RangeSet set{{0, 3}, {5, 8}, {10, 13}};
  EXPECT_EQ(set.erase_range(2, 11), 5U);
  EXPECT_EQ(set.text(), "[0,2) [11,13)");
}

TEST(RangeSetTest, AnEmptySetAnswersEverything) {
  const RangeSet empty;
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.text(), "");
  EXPECT_FALSE(empty.contains(0));
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(empty.count_in(0, 100), 0U);
  EXPECT_EQ(empty.end_of_run(7), 7U);
  EXPECT_LE(sizeof(RangeSet), 24U);
}

TEST(RangeSetTest, FirstLastAndEndOfRunTellTheEdges) {
  const RangeSet set{{4, 7}, {9, 10}};
  EXPECT_EQ(set.first(), 4U);
  EXPECT_EQ(set.last(), 9U);
  EXPECT_EQ(set.end_of_run(5), 7U);
  EXPECT_EQ(set.end_of_run(7), 7U);
  EXPECT_EQ(set.end_of_run(100), 100U);
}

TEST(RangeSetTest, TheLargestNumbersFit) {
  RangeSet set;
  EXPECT_TRUE(set.insert(UINT64_MAX - 1));
  EXPECT_TRUE(set.insert(UINT64_MAX - 2));
  EXPECT_EQ(set.text(), "[18446744073709551613,18446744073709551615)");
}

// The obvious model: which of the first 256 numbers are inside.
using Model = std::bitset<256>;

struct Pair {
  RangeSet set;
  Model model;
};

Pair made_from(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& ranges) {
  Pair pair;
  for (const auto& [begin, length] : ranges) {
    const std::uint64_t end = std::min<std::uint64_t>(256, std::uint64_t{begin} + length % 16);
    const auto before = pair.model.count();
    for (std::uint64_t i = begin; i < end; ++i) pair.model.set(i);
    RC_ASSERT(pair.set.insert_range(begin, end) == pair.model.count() - before);
  }
  return pair;
}

Model model_of(const RangeSet& set) {
  Model model;
  std::uint64_t before = 0;
  for (const Range& range : set.ranges()) {
    RC_ASSERT(range.begin < range.end);
    RC_ASSERT(before == 0 || before < range.begin);
    before = range.end;
    for (std::uint64_t i = range.begin; i < range.end; ++i) model.set(i);
  }
  return model;
}

using Ranges = std::vector<std::pair<std::uint8_t, std::uint8_t>>;

RC_GTEST_PROP(RangeSetProperty, AgreesWithAPlainSet,
              (const std::vector<std::pair<bool, std::uint8_t>>& steps)) {
  RangeSet subject;
  Model seen;
  for (const auto& [inserts, number] : steps) {
    RC_ASSERT((inserts ? subject.insert(number) : subject.erase(number)) ==
              (inserts ? !seen[number] : seen[number]));
    seen.set(number, inserts);
    RC_ASSERT(subject.contains(number) == inserts);
  }
  RC_ASSERT(model_of(subject) == seen);
  RC_ASSERT(subject.size() == seen.count());
}

RC_GTEST_PROP(RangeSetProperty, RangesAgreeWithAPlainSet, (const Ranges& ranges)) {
  const Pair pair = made_from(ranges);
  RC_ASSERT(model_of(pair.set) == pair.model);
}

RC_GTEST_PROP(RangeSetProperty, EraseRangeAgreesWithAPlainSet,
              (const Ranges& ranges, const Ranges& erased)) {
  Pair pair = made_from(ranges);
  for (const auto& [begin, length] : erased) {
    const std::uint64_t end = std::min<std::uint64_t>(256, std::uint64_t{begin} + length);
    const auto before = pair.model.count();
    for (std::uint64_t i = begin; i < end; ++i) pair.model.reset(i);
    RC_ASSERT(pair.set.erase_range(begin, end) == before - pair.model.count());
  }
  RC_ASSERT(model_of(pair.set) == pair.model);
}

RC_GTEST_PROP(RangeSetProperty, SetAlgebraAgreesWithPlainSets, (const Ranges& a, const Ranges& b)) {
  const Pair left = made_from(a);
  const Pair right = made_from(b);
  RC_ASSERT(model_of(left.set.intersect(right.set)) == (left.model & right.model));
  RC_ASSERT(model_of(left.set.minus(right.set)) == (left.model & ~right.model));
  RC_ASSERT(left.set.count_shared(right.set) == (left.model & right.model).count());
  RangeSet both = left.set;
  both.insert_all(right.set);
  RC_ASSERT(model_of(both) == (left.model | right.model));
}

RC_GTEST_PROP(RangeSetProperty, QueriesAgreeWithAPlainSet,
              (const Ranges& ranges, std::uint8_t begin, std::uint8_t length)) {
  const Pair pair = made_from(ranges);
  const std::uint64_t end = std::min<std::uint64_t>(256, std::uint64_t{begin} + length);
  Model window;
  for (std::uint64_t i = begin; i < end; ++i) window.set(i);
  RC_ASSERT(pair.set.count_in(begin, end) == (pair.model & window).count());
  RC_ASSERT(model_of(pair.set.clip(begin, end)) == (pair.model & window));
  std::uint64_t run_end = begin;
  while (run_end < 256 && pair.model[run_end]) ++run_end;
  RC_ASSERT(pair.set.end_of_run(begin) == run_end);
}

RC_GTEST_PROP(RangeSetProperty, EqualSetsAreEqualHoweverTheyWereMade, (const Ranges& ranges)) {
  const Pair pair = made_from(ranges);
  RangeSet other;
  for (std::uint64_t i = 256; i-- > 0;) {
    if (pair.model[i]) other.insert(i);
  }
  RC_ASSERT(other == pair.set);
}

}  // namespace
}  // namespace sp::core

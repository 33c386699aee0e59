#include "workload/pacing.h"

#include <gtest/gtest.h>

namespace sp::workload {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime kStart{1h};

TEST(PacingTest, SlotsOfAWholeRateAreDueOnTheirExactNanosecond) {
  Pacing pacing(1000, 1s);
  pacing.start(kStart);
  EXPECT_EQ(pacing.due(kStart), 1U);
  EXPECT_EQ(pacing.take(kStart), kStart);
  EXPECT_EQ(pacing.next(), kStart + 1ms);
  EXPECT_EQ(pacing.due(kStart + 1ms - 1ns), 0U);
  EXPECT_EQ(pacing.due(kStart + 1ms), 1U);
  EXPECT_EQ(pacing.due(kStart + 10ms), 10U);
}

TEST(PacingTest, ARateThatDividesNothingDoesNotDriftInAMonth) {
  Pacing pacing(3, 1h);
  pacing.start(kStart);
  const std::uint64_t slots = 30ULL * 24 * 3600 * 3;
  MonotonicTime now = kStart;
  std::uint64_t taken = 0;
  while (taken < slots) {
    now += 30min;
    const std::uint64_t due = pacing.due(now);
    for (std::uint64_t i = 0; i < due; ++i, ++taken) (void)pacing.take(now);
  }
  EXPECT_EQ(pacing.dropped(), 0U);
  EXPECT_EQ(taken, slots + 1);  // slot 0 was due at the start
  EXPECT_EQ(now, kStart + 30 * 24h);
}

TEST(PacingTest, CatchUpIsBoundedAndWhatIsOlderIsCounted) {
  Pacing pacing(100, 1s);
  pacing.start(kStart);
  EXPECT_EQ(pacing.due(kStart + 10s), 100U);
  EXPECT_EQ(pacing.dropped(), 901U);
  EXPECT_EQ(pacing.take(kStart + 10s), kStart + 9s + 10ms);
  EXPECT_EQ(pacing.due(kStart + 10s), 99U);
}

TEST(PacingTest, AShortBlockageIsCaughtUpWithTheTimesAtWhichTheSlotsWereDue) {
  Pacing pacing(10, 1s);
  pacing.start(kStart);
  EXPECT_EQ(pacing.due(kStart + 250ms), 3U);
  EXPECT_EQ(pacing.take(kStart + 250ms), kStart);
  EXPECT_EQ(pacing.take(kStart + 250ms), kStart + 100ms);
  EXPECT_EQ(pacing.take(kStart + 250ms), kStart + 200ms);
  EXPECT_EQ(pacing.due(kStart + 250ms), 0U);
  EXPECT_EQ(pacing.dropped(), 0U);
}

TEST(PacingTest, NothingIsDueBeforeTheStart) {
  Pacing pacing(10, 1s);
  pacing.start(kStart);
  EXPECT_EQ(pacing.due(kStart - 1ns), 0U);
}

TEST(PacingTest, AVerySlowRateStillHasASlotToCatchUp) {
  Pacing pacing(0.25, 1s);
  pacing.start(kStart);
  (void)pacing.take(kStart);
  EXPECT_EQ(pacing.due(kStart + 7s), 1U);
  EXPECT_EQ(pacing.take(kStart + 7s), kStart + 4s);
}

TEST(PacingTest, ZeroAndHugeRatesMeanAsFastAsPossible) {
  for (const double rate : {0.0, 1e8, 1e18}) {
    Pacing pacing(rate, 1s);
    pacing.start(kStart);
    EXPECT_TRUE(pacing.unlimited());
    EXPECT_GT(pacing.due(kStart + 1h), 1'000'000U);
    EXPECT_EQ(pacing.take(kStart + 1h), kStart + 1h);
    EXPECT_EQ(pacing.dropped(), 0U);
  }
}

}  // namespace
}  // namespace sp::workload

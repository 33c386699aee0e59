#include "track/partition_log.h"

#include <gtest/gtest.h>

namespace sp::track {
namespace {

constexpr std::uint64_t kFirst = 64;  // slots

// Positions [0, kFirst), each acknowledged, handed over and scanned: nothing more is expected of them.
PartitionLog finished_log() {
  PartitionLog log;
  log.slots_first = kFirst;
  log.slots_max = 4 * kFirst;
  for (std::uint64_t offset = 0; offset < kFirst; ++offset) {
    Slot& slot = log.reach(offset, 0);
    slot = {.key = {1, 0}, .sequence = offset, .groups = 1, .seen = kSeenAck | kSeenHanded | kNamed | kScanned};
    log.scanned.insert(offset);
  }
  log.set_frontier(kFirst);
  return log;
}

TEST(PartitionLogTest, WhatIsToBeKeptStaysInTheRingWhileThatMayGrow) {
  for (std::uint64_t retain_from = 0; retain_from < kFirst; ++retain_from) {
    PartitionLog log = finished_log();
    for (std::uint64_t offset = kFirst; offset < 3 * kFirst; ++offset) log.reach(offset, retain_from);
    ASSERT_LE(log.tail(), retain_from);
    ASSERT_EQ(log.in_ring(retain_from)->sequence, retain_from);
  }
}

TEST(PartitionLogTest, WhatIsFinishedMakesRoomBeforeTheRingGrows) {
  PartitionLog log = finished_log();
  const std::size_t bytes = log.bytes();
  log.reach(kFirst + 1, kFirst);
  EXPECT_GT(log.tail(), 0U);
  EXPECT_EQ(log.bytes(), bytes);
  EXPECT_TRUE(log.unfinished.empty());
}

TEST(PartitionLogTest, WhatIsNotFinishedIsKeptAsideWhenTheRingIsFull) {
  PartitionLog log = finished_log();
  log.slots_max = kFirst;
  log.in_ring(3)->groups = 0;  // not handed over
  log.reach(kFirst + 10, 0);
  ASSERT_GT(log.tail(), 3U);
  EXPECT_EQ(log.unfinished.size(), 1U);
  ASSERT_NE(log.find(3), nullptr);
  EXPECT_EQ(log.find(3)->sequence, 3U);
  EXPECT_EQ(log.find(2), nullptr) << "finished and forgotten";
}

TEST(PartitionLogTest, APositionFarAheadPushesOutAllThereIs) {
  PartitionLog log = finished_log();
  log.slots_max = kFirst;
  log.watched = true;
  log.reach(10 * kFirst, 0);
  EXPECT_EQ(log.left.size(), kFirst) << "what leaves the ring is told, lowest position first";
  EXPECT_EQ(log.left.front().first, 0U);
  EXPECT_EQ(log.left.back().first, kFirst - 1);
  EXPECT_LE(log.head() - log.tail(), kFirst);
}

}  // namespace
}  // namespace sp::track

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

TEST(PartitionLogTest, OnlyWhatWasSeenIsFound) {
  PartitionLog log;
  log.slots_first = log.slots_max = 8;
  EXPECT_EQ(log.find(0), nullptr);
  EXPECT_EQ(log.append(0), nullptr) << "there is no room yet";
  log.reach(3, 0).seen = kSeenAck;
  EXPECT_NE(log.find(3), nullptr);
  EXPECT_EQ(log.find(2), nullptr) << "in the ring, and nobody saw it";
  EXPECT_EQ(std::as_const(log).find(2), nullptr);
  EXPECT_EQ(std::as_const(log).find(3), log.find(3));
  EXPECT_NE(log.in_ring(3), nullptr);
  EXPECT_EQ(log.in_ring(4), nullptr) << "the head is not inside";
  EXPECT_EQ(std::as_const(log).in_ring(4), nullptr);
  log.unfinished[100] = Slot{.key = {1, 0}, .sequence = 5, .groups = 0, .seen = kSeenAck | kNamed};
  EXPECT_EQ(std::as_const(log).find(100)->sequence, 5U);
}

TEST(PartitionLogTest, OnlyTheNextPositionIsAppendedAndOnlyWhereThereIsRoom) {
  PartitionLog log;
  log.slots_first = log.slots_max = 8;
  log.reach(0, 0);
  EXPECT_EQ(log.append(2), nullptr);
  EXPECT_EQ(log.append(0), nullptr);
  for (std::uint64_t at = 1; at < 8; ++at) {
    const Slot* appended = log.append(at);
    EXPECT_NE(appended, nullptr);
    EXPECT_EQ(appended, log.in_ring(at));
  }
  EXPECT_EQ(log.append(8), nullptr) << "that would push out the first";
  EXPECT_EQ(log.head(), 8U);
}

TEST(PartitionLogTest, ALogThatDidNotBeginWithTheRunBeginsAtItsFirstSighting) {
  PartitionLog log;
  log.slots_first = log.slots_max = 8;
  log.reach(8, 0);
  EXPECT_EQ(log.tail(), 8U);
  EXPECT_EQ(log.frontier(), 8U);
  EXPECT_EQ(log.head(), 9U);
  PartitionLog near;
  near.slots_first = near.slots_max = 8;
  near.reach(7, 0);
  EXPECT_EQ(near.tail(), 0U);
  EXPECT_EQ(near.frontier(), 0U);
  EXPECT_EQ(near.head(), 8U);
}

TEST(PartitionLogTest, IsOverwhelmedByWhatPushesOutAllThereIs) {
  PartitionLog log;
  log.slots_first = 8;
  log.slots_max = 32;
  EXPECT_FALSE(log.overwhelmed_by(1000)) << "there is nothing";
  log.reach(0, 0);
  EXPECT_FALSE(log.overwhelmed_by(15));
  EXPECT_TRUE(log.overwhelmed_by(16));
  log.slots_max = 8;
  EXPECT_FALSE(log.overwhelmed_by(7));
  EXPECT_TRUE(log.overwhelmed_by(8));
}

TEST(PartitionLogTest, IsFinishedWhenAcknowledgedAndFoundByAllGroupsOrTheRawRead) {
  PartitionLog log;
  log.all_groups = 3;
  EXPECT_FALSE(log.finished({.key = {}, .sequence = 0, .groups = 3, .seen = kSeenHanded}));
  EXPECT_FALSE(log.finished({.key = {}, .sequence = 0, .groups = 1, .seen = kSeenAck | kSeenHanded}));
  EXPECT_TRUE(log.finished({.key = {}, .sequence = 0, .groups = 3, .seen = kSeenAck | kSeenHanded}));
  EXPECT_TRUE(log.finished({.key = {}, .sequence = 0, .groups = 0, .seen = kSeenAck | kSeenRaw}));
}

TEST(PartitionLogTest, WhatIsPushedOutIsToldOnlyIfItHasAName) {
  PartitionLog log;
  log.slots_first = log.slots_max = 8;
  log.watched = true;
  log.reach(0, 0).seen = kSeenHanded | kSeenDamaged;
  Slot& named = log.reach(1, 0);
  named = {.key = {1, 0}, .sequence = 4, .groups = 1, .seen = kSeenAck | kNamed};
  log.reach(2, 0);
  log.reach(20, 0);
  ASSERT_EQ(log.left.size(), 1U);
  EXPECT_EQ(log.left[0].first, 1U);
  EXPECT_EQ(log.left[0].second.sequence, 4U);
  EXPECT_EQ(log.unfinished.size(), 1U) << "the damaged one may still be named; the other is finished, and nothing stood at 2";
  EXPECT_TRUE(log.unfinished.contains(0));
}

}  // namespace
}  // namespace sp::track

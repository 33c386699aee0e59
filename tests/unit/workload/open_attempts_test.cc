#include "workload/open_attempts.h"

#include <gtest/gtest.h>

namespace sp::workload {
namespace {

using core::PartitionId;
using core::Sequence;

constexpr MonotonicTime kDue{std::chrono::seconds(3)};

// Opens as many of the key as may be.
std::size_t fill(OpenAttempts& open, std::uint32_t key) {
  std::size_t count = 0;
  for (; open.may_open(key); ++count) (void)open.open(key, kDue);
  return count;
}

TEST(OpenAttemptsTest, SequencesOfAKeyRiseByOneFromZero) {
  OpenAttempts open({.keys = 2, .partitions = 2});
  EXPECT_EQ(open.open(0, kDue), Sequence{0});
  EXPECT_EQ(open.open(1, kDue), Sequence{0});
  EXPECT_EQ(open.open(0, kDue), Sequence{1});
  EXPECT_EQ(open.size(), 3U);
}

TEST(OpenAttemptsTest, ClosesInAnyOrderAndEachOnce) {
  OpenAttempts open({.keys = 1, .partitions = 1});
  for (int i = 0; i < 4; ++i) (void)open.open(0, kDue + std::chrono::milliseconds(i));
  EXPECT_EQ(open.close(0, Sequence{2}), kDue + std::chrono::milliseconds(2));
  EXPECT_EQ(open.close(0, Sequence{3}), kDue + std::chrono::milliseconds(3));
  EXPECT_EQ(open.close(0, Sequence{2}), std::nullopt);
  EXPECT_EQ(open.close(0, Sequence{0}), kDue);
  EXPECT_EQ(open.all().size(), 1U);
  EXPECT_EQ(open.all().front().sequence, Sequence{1});
  EXPECT_EQ(open.close(0, Sequence{1}), kDue + std::chrono::milliseconds(1));
  EXPECT_EQ(open.close(0, Sequence{1}), std::nullopt);
  EXPECT_EQ(open.size(), 0U);
  EXPECT_EQ(open.open(0, kDue), Sequence{4});
}

TEST(OpenAttemptsTest, ManyOpenAttemptsOfAKeyKeepTheirDuesHoweverTheyClose) {
  OpenAttempts open({.keys = 1, .partitions = 1, .open_max = 1000, .open_at_first = 1000});
  const auto due = [](std::uint64_t sequence) { return MonotonicTime{} + std::chrono::seconds(sequence + 1); };
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(open.open(0, due(i)).value(), i);
  for (std::uint64_t i = 1; i < 100; i += 2) EXPECT_EQ(open.close(0, core::Sequence{i}), due(i));
  for (std::uint64_t i = 100; i < 300; ++i) EXPECT_EQ(open.open(0, due(i)).value(), i);
  EXPECT_EQ(open.close(0, core::Sequence{1}), std::nullopt);
  EXPECT_EQ(open.size(), 250U);
  EXPECT_EQ(open.all().size(), 250U);
  for (const auto& attempt : open.all()) EXPECT_EQ(open.close(0, attempt.sequence), due(attempt.sequence.value()));
  EXPECT_EQ(open.size(), 0U);
  EXPECT_EQ(open.close(0, core::Sequence{300}), std::nullopt);
}

TEST(OpenAttemptsTest, AnOutcomeOfAKeyThatIsNotOursChangesNothing) {
  OpenAttempts open({.keys = 1, .partitions = 1});
  EXPECT_EQ(open.close(7, Sequence{0}), std::nullopt);
  open.succeeded(7, PartitionId{0});
}

TEST(OpenAttemptsTest, ASilentPartitionKeepsItsShareAndNoMore) {
  OpenAttempts open({.keys = 4, .partitions = 2, .open_max = 1000, .open_at_first = 1000});
  for (std::uint32_t key = 0; key < 4; ++key) {
    const Sequence sequence = open.open(key, kDue);
    (void)open.close(key, sequence);
    open.succeeded(key, PartitionId{key % 2});
  }
  EXPECT_EQ(fill(open, 0), 500U);      // partition 0 answers nothing from now on
  EXPECT_FALSE(open.may_open(2));      // the same partition
  EXPECT_TRUE(open.may_open(1));
  EXPECT_EQ(fill(open, 1), 500U);
}

TEST(OpenAttemptsTest, KeysOfUnknownPartitionsShareHalfTheLimit) {
  OpenAttempts open({.keys = 10, .partitions = 5, .open_max = 100, .open_at_first = 100});
  EXPECT_EQ(fill(open, 0), 10U);
  std::size_t all = 10;
  for (std::uint32_t key = 1; key < 10; ++key) all += fill(open, key);
  EXPECT_EQ(all, 50U);
}

TEST(OpenAttemptsTest, TheLimitGrowsByAnswersWhereItIsNeededOnly) {
  OpenAttempts open({.keys = 2, .partitions = 2, .open_max = 10'000, .open_at_first = 100});
  for (std::uint32_t key = 0; key < 2; ++key) {
    (void)open.close(key, open.open(key, kDue));
    open.succeeded(key, PartitionId{key});
  }
  const std::size_t at_first = open.limit();
  for (int i = 0; i < 100; ++i) {  // a key with one open at a time needs no more
    (void)open.close(1, open.open(1, kDue));
    open.succeeded(1, PartitionId{1});
  }
  EXPECT_EQ(open.limit(), at_first);
  fill(open, 0);                   // nor does one that is stuck
  EXPECT_EQ(open.limit(), at_first);
  for (std::uint64_t i = 1; i < 20; ++i) {
    (void)open.close(0, Sequence{i});
    open.succeeded(0, PartitionId{0});
    fill(open, 0);
  }
  EXPECT_GT(open.limit(), at_first);
}

TEST(OpenAttemptsTest, ARefusalTeachesWhatTheLibraryTakesAndIsTriedAgainLater) {
  OpenAttempts open({.keys = 1, .partitions = 1, .open_max = 10'000, .open_at_first = 10'000});
  open.refused(100);
  EXPECT_EQ(open.limit(), 100U);
  for (int i = 0; i < 5'000; ++i) {
    fill(open, 0);
    const Sequence oldest = open.all().front().sequence;
    (void)open.close(0, oldest);
    open.succeeded(0, PartitionId{0});
  }
  EXPECT_GT(open.limit(), 100U);
  EXPECT_LT(open.limit(), 1'000U);
}

}  // namespace
}  // namespace sp::workload

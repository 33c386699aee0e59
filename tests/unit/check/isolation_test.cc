#include "check/isolation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/prng.h"

namespace sp::check {
namespace {

using core::Code;
using testing::ElementsAre;
using testing::IsEmpty;
using Edge = Isolation::Edge;
using Touch = Isolation::Touch;

constexpr std::uint32_t kA = 0;  // partitions
constexpr std::uint32_t kB = 1;

std::vector<Code> codes(const Isolation::Result& result) {
  std::vector<Code> codes;
  for (const auto& cycle : result.cycles) codes.push_back(cycle.code);
  return codes;
}

TEST(IsolationTest, TransactionsOneAfterTheOtherFormNoCircle) {
  const auto result = Isolation::find({{0, kA, 0}, {0, kB, 0}, {1, kA, 1}, {1, kB, 1}}, {{1, kA, 0}, {2, kA, 1}}, 3);
  EXPECT_THAT(result.cycles, IsEmpty());
}

TEST(IsolationTest, EachBeforeTheOtherInOnePartitionIsG0) {
  const auto result = Isolation::find({{0, kA, 0}, {1, kA, 1}, {1, kB, 0}, {0, kB, 1}}, {}, 2);
  ASSERT_THAT(codes(result), ElementsAre(Code::kG0));
  const auto& steps = result.cycles[0].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].edge, Edge::kWriteWrite);
  EXPECT_NE(steps[0].transaction, steps[1].transaction);
}

TEST(IsolationTest, EachSawWhatTheOtherWroteIsG1c) {
  EXPECT_THAT(codes(Isolation::find({{0, kA, 0}, {1, kB, 0}}, {{0, kB, 0}, {1, kA, 0}}, 2)), ElementsAre(Code::kG1c));
  // One read and one write are enough: 1 wrote behind 0, and 0 saw it.
  EXPECT_THAT(codes(Isolation::find({{0, kA, 0}, {1, kA, 1}, {1, kB, 0}}, {{0, kB, 0}}, 2)), ElementsAre(Code::kG1c));
}

TEST(IsolationTest, HalfOfATransactionSeenIsGSingle) {
  // 0 wrote a; 1 wrote a and b; 2 saw b of 1, and a only as 0 left it.
  EXPECT_THAT(codes(Isolation::find({{0, kA, 0}, {1, kA, 1}, {1, kB, 0}}, {{2, kA, 0}, {2, kB, 0}}, 3)), ElementsAre(Code::kGSingle));
  EXPECT_THAT(Isolation::find({{0, kA, 0}, {1, kA, 1}, {1, kB, 0}}, {{2, kA, 0}, {2, kA, 1}, {2, kB, 0}}, 3).cycles, IsEmpty());
}

TEST(IsolationTest, EachWroteWhatTheOtherHadNotSeenIsG2) {
  const std::vector<Touch> writes{{0, kA, 0}, {0, kB, 0}, {1, kB, 1}, {2, kA, 1}};
  EXPECT_THAT(codes(Isolation::find(writes, {{1, kA, 0}, {2, kB, 0}}, 3)), ElementsAre(Code::kG2));
}

TEST(IsolationTest, WhatATransactionSeesOfItselfIsNoCircle) {
  EXPECT_THAT(Isolation::find({{0, kA, 0}, {0, kA, 1}}, {{0, kA, 0}, {0, kA, 1}}, 1).cycles, IsEmpty());
}

TEST(IsolationTest, ASearchThatWouldTakeTooLongSaysSo) {
  const auto result = Isolation::find({{0, kA, 0}, {1, kA, 1}, {1, kB, 0}}, {{2, kA, 0}, {2, kB, 0}}, 3, 1);
  EXPECT_EQ(result.not_decided, 1U);
  EXPECT_THAT(codes(result), ElementsAre(Code::kG2));
}

// ── every cycle of small histories, found by trying all ways ──

struct Small {
  std::vector<Touch> writes;
  std::vector<Touch> reads;
  std::uint32_t transactions = 0;
};

using Kinds = std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<Edge>>;

// The edges by their definition, each pair of touches by itself.
Kinds edges_of(const Small& small) {
  Kinds kinds;
  const auto next_write = [&](const Touch& after) {
    const Touch* next = nullptr;
    for (const Touch& write : small.writes) {
      const bool higher = write.partition == after.partition && write.offset > after.offset;
      if (higher && (next == nullptr || write.offset < next->offset)) next = &write;
    }
    return next;
  };
  const auto add = [&](std::uint32_t from, std::uint32_t to, Edge edge) {
    if (from != to) kinds[{from, to}].insert(edge);
  };
  for (const Touch& write : small.writes) {
    if (const Touch* next = next_write(write)) add(write.transaction, next->transaction, Edge::kWriteWrite);
  }
  for (const Touch& read : small.reads) {
    for (const Touch& write : small.writes) {
      if (write.partition == read.partition && write.offset == read.offset) add(write.transaction, read.transaction, Edge::kWriteRead);
    }
    const Touch* next = next_write(read);
    if (next == nullptr) continue;
    const bool seen = std::ranges::any_of(small.reads, [&](const Touch& other) {
      return other.transaction == read.transaction && other.partition == next->partition && other.offset == next->offset;
    });
    if (!seen) add(read.transaction, next->transaction, Edge::kReadWrite);
  }
  return kinds;
}

// All simple cycles, as how many edges of each kind they can be walked with: which transactions lie on one with these codes.
std::map<Code, std::set<std::set<std::uint32_t>>> cycles_of(const Small& small) {
  const Kinds kinds = edges_of(small);
  std::map<Code, std::set<std::set<std::uint32_t>>> found;
  std::vector<std::uint32_t> path;
  const std::function<void(std::uint32_t, std::array<int, 3>)> walk = [&](std::uint32_t at, std::array<int, 3> used) {
    for (const auto& [ends, edges] : kinds) {
      if (ends.first != at) continue;
      for (const Edge edge : edges) {
        auto now = used;
        ++now[static_cast<std::size_t>(edge)];
        if (ends.second == path.front()) {
          const std::set<std::uint32_t> on(path.begin(), path.end());
          const int misses = now[2];
          if (misses == 0 && now[1] == 0) found[Code::kG0].insert(on);
          if (misses == 0 && now[1] > 0) found[Code::kG1c].insert(on);
          if (misses == 1) found[Code::kGSingle].insert(on);
          if (misses > 1) found[Code::kG2].insert(on);
        } else if (std::ranges::find(path, ends.second) == path.end()) {
          path.push_back(ends.second);
          walk(ends.second, now);
          path.pop_back();
        }
      }
    }
  };
  for (std::uint32_t start = 0; start < small.transactions; ++start) {
    path = {start};
    walk(start, {});
  }
  return found;
}

// Sets of transactions that cycles have in common make one.
std::size_t sets_of(const std::set<std::set<std::uint32_t>>& cycles) {
  std::vector<std::set<std::uint32_t>> merged;
  for (const auto& cycle : cycles) {
    std::set<std::uint32_t> whole = cycle;
    std::erase_if(merged, [&](const auto& other) {
      const bool touches = std::ranges::any_of(other, [&](std::uint32_t one) { return whole.contains(one); });
      if (touches) whole.insert(other.begin(), other.end());
      return touches;
    });
    merged.push_back(whole);
  }
  return merged.size();
}

Small random_small(Prng& prng) {
  Small small;
  small.transactions = static_cast<std::uint32_t>(2 + prng.below(3));
  std::array<std::uint64_t, 3> end{};
  for (std::uint64_t i = 2 + prng.below(6); i > 0; --i) {
    const auto partition = static_cast<std::uint32_t>(prng.below(3));
    small.writes.push_back({static_cast<std::uint32_t>(prng.below(small.transactions)), partition, end[partition]});
    end[partition] += 1 + prng.below(2);
  }
  for (std::uint64_t i = prng.below(7); i > 0; --i) {
    const Touch& write = small.writes[prng.below(small.writes.size())];
    small.reads.push_back({static_cast<std::uint32_t>(prng.below(small.transactions)), write.partition, write.offset});
  }
  return small;
}

TEST(IsolationTest, TheCodesAreThoseOfAllCyclesThereAre) {
  std::map<Code, std::size_t> seen;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Prng prng(seed);
    const Small small = random_small(prng);
    const auto all = cycles_of(small);
    const auto result = Isolation::find(small.writes, small.reads, small.transactions);
    std::map<Code, std::size_t> counts;
    for (const auto& cycle : result.cycles) ++counts[cycle.code];
    for (const Code code : {Code::kG0, Code::kG1c}) {
      const auto found = all.find(code);
      EXPECT_EQ(counts[code], found == all.end() ? 0 : sets_of(found->second)) << "seed " << seed;
    }
    EXPECT_EQ(counts[Code::kGSingle] > 0, all.contains(Code::kGSingle)) << "seed " << seed;
    if (counts[Code::kG2] > 0 || !all.contains(Code::kGSingle)) {
      EXPECT_EQ(counts[Code::kG2] > 0, all.contains(Code::kG2)) << "seed " << seed;
    }
    for (const auto& [code, n] : counts) seen[code] += n > 0 ? 1 : 0;
    if (HasFailure()) return;
  }
  for (const Code code : {Code::kG0, Code::kG1c, Code::kGSingle, Code::kG2}) EXPECT_GT(seen[code], 2U) << static_cast<int>(code);
}

// Each named cycle is one: every step is an edge of that kind, and the last leads to the first.
TEST(IsolationTest, WhatIsNamedIsACircleOfItsKind) {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    Prng prng(seed);
    const Small small = random_small(prng);
    const Kinds kinds = edges_of(small);
    for (const auto& cycle : Isolation::find(small.writes, small.reads, small.transactions).cycles) {
      std::array<int, 3> used{};
      for (std::size_t at = 0; at < cycle.steps.size(); ++at) {
        const auto& step = cycle.steps[at];
        const auto next = cycle.steps[(at + 1) % cycle.steps.size()].transaction;
        const auto edge = kinds.find({step.transaction, next});
        ASSERT_TRUE(edge != kinds.end() && edge->second.contains(step.edge)) << "seed " << seed;
        ++used[static_cast<std::size_t>(step.edge)];
      }
      const bool reads = used[1] > 0;
      const int misses = used[2];
      const std::map<Code, bool> is{{Code::kG0, !reads && misses == 0},
                                    {Code::kG1c, reads && misses == 0},
                                    {Code::kGSingle, misses == 1},
                                    {Code::kG2, misses > 1}};
      EXPECT_TRUE(is.at(cycle.code)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sp::check

#include "track/delta_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/prng.h"
#include "track/recorder.h"

namespace sp::track {
namespace {

auto fields(const Row& row) { return std::tuple(row.kind, row.flags, row.which, row.key, row.sequence, row.offset); }
auto fields(const LineageOpen& open) {
  return std::tuple(open.consumer, open.group, open.partition, open.generation, open.start, open.classic, open.member,
                    open.instance);
}
auto fields(const CommitFact& commit) { return std::tuple(commit.next, commit.outcome, commit.handed_end_at_invoke); }

template <typename Entry>
bool equal(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  return std::ranges::equal(a, b, [](const Entry& x, const Entry& y) { return fields(x) == fields(y); });
}
bool same(const Delta& a, const Delta& b) {
  return a.source == b.source && a.number == b.number && a.first_block == b.first_block && a.blocks == b.blocks &&
         a.first_literal == b.first_literal && a.literals == b.literals && a.history_lines == b.history_lines &&
         equal(a.rows, b.rows) && equal(a.opens, b.opens) && equal(a.commits, b.commits);
}

// Deltas of every shape: small numbers and those at the ends of their lines.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : prng_(seed) {}
  std::uint64_t number() {
    const std::uint64_t draw = prng_.next();
    switch (prng_.below(4)) {
      case 0: return draw % 100;
      case 1: return draw >> prng_.below(64);
      case 2: return ~std::uint64_t{0} - draw % 3;
      default: return draw;
    }
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
  std::size_t count() { return prng_.below(2) == 0 ? 0 : prng_.below(9); }
  std::string text() {
    std::string text(count(), '\0');
    for (char& c : text) c = static_cast<char>(prng_.below(256));
    return text;
  }
  Delta delta() {
    Delta delta;
    delta.source = {small(), small()};
    delta.number = number();
    delta.history_lines = number();
    delta.first_block = static_cast<std::uint32_t>(1 + prng_.below(200));
    for (std::size_t i = count(); i > 0; --i) delta.blocks.push_back({{small(), small()}, small()});
    delta.first_literal = small();
    for (std::size_t i = count(); i > 0; --i) delta.literals.push_back(text());
    for (std::size_t i = count(); i > 0; --i) delta.opens.push_back(open());
    for (std::size_t i = count(); i > 0; --i) {
      delta.commits.push_back({core::Offset{number()}, static_cast<CommitOutcome>(prng_.below(3)), number()});
    }
    for (std::size_t i = 10 * count(); i > 0; --i) add_row(delta);
    return delta;
  }
  Prng& prng() { return prng_; }

 private:
  LineageOpen open() {
    LineageOpen open;
    open.consumer = small();
    open.group = core::GroupIndex{small()};
    open.partition = core::PartitionId{small()};
    if (prng_.below(2) == 0) open.generation = core::Generation{number()};
    if (prng_.below(2) == 0) open.start = core::Offset{number()};
    open.classic = prng_.below(2) == 0;
    open.member = text();
    open.instance = text();
    return open;
  }
  void add_row(Delta& delta) {
    Row row;
    row.kind = static_cast<RowKind>(prng_.below(12));
    row.flags = static_cast<std::uint8_t>(prng_.below(256));
    row.which = small();
    row.key = {static_cast<std::uint32_t>(prng_.below(delta.first_block + delta.blocks.size())), small()};
    row.sequence = number();
    row.offset = number();
    if (row.kind == RowKind::kFailed) row.which %= 3;
    if (row.kind == RowKind::kClose) row.sequence %= 3;
    if (row.kind == RowKind::kOpen && delta.opens.empty()) return;
    if (row.kind == RowKind::kOpen) row.sequence %= delta.opens.size();
    if (row.kind == RowKind::kCommit && delta.commits.empty()) return;
    if (row.kind == RowKind::kCommit) row.sequence %= delta.commits.size();
    delta.rows.push_back(row);
  }

  Prng prng_;
};

RC_GTEST_PROP(DeltaBytesProperty, WhatIsWrittenReadsBackTheSame, (std::uint64_t seed)) {
  const Delta delta = Chance(seed).delta();
  const auto read = delta_from_bytes(to_bytes(delta));
  RC_ASSERT(read.has_value());
  RC_ASSERT(same(*read, delta));
}

RC_GTEST_PROP(DeltaBytesProperty, EveryBeginningIsRefused, (std::uint64_t seed)) {
  const std::string bytes = to_bytes(Chance(seed).delta());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = delta_from_bytes(std::string_view(bytes).substr(0, size));
    RC_ASSERT(!read.has_value());
    RC_ASSERT(read.error().code == ErrorCode::kParse);
  }
}

RC_GTEST_PROP(DeltaBytesProperty, ChangedBitsAreRefusedOrReadAsADelta, (std::uint64_t seed)) {
  Chance chance(seed);
  std::string bytes = to_bytes(chance.delta());
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t bit = chance.prng().below(8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << (bit % 8)));
    if (const auto read = delta_from_bytes(bytes)) {
      RC_ASSERT(same(*delta_from_bytes(to_bytes(*read)), *read));
    } else {
      RC_ASSERT(read.error().code == ErrorCode::kParse);
    }
  }
}

// Two producers of 40 keys each in turn, what they send acknowledged in four partitions and delivered.
Delta clean_run(std::size_t records) {
  Recorder recorder({0, 1}, core::RunId{7});
  const std::array blocks = {recorder.keys().block({{0, 1}, 0}), recorder.keys().block({{0, 1}, 1})};
  core::Observation seen;
  seen.event = core::Event::kAssign;
  for (std::uint32_t p = 0; p < 4; ++p) {
    seen.partition = core::PartitionId{p};
    recorder.observe(seen);
  }
  seen.has_position = true;
  for (std::size_t i = 0; i < records; ++i) {
    seen.key = {blocks[i % 2], static_cast<std::uint32_t>(i / 2 % 40)};
    seen.sequence = core::Sequence{1'000'000 + i / 80};
    seen.partition = core::PartitionId{static_cast<std::uint32_t>(i % 4)};
    seen.offset = core::Offset{5'000'000 + i / 4};
    const std::string name = recorder.keys().name(seen.key);
    seen.name = name;
    for (const auto event : {core::Event::kInvoke, core::Event::kOk, core::Event::kDeliver}) {
      seen.event = event;
      recorder.observe(seen);
    }
  }
  return *recorder.hand_over(true);
}

TEST(DeltaBytesTest, ARowOfAHealthyRunTakesSixBytesOrLess) {
  const Delta delta = clean_run(4'000);
  ASSERT_GT(delta.rows.size(), 12'000U);
  const std::string bytes = to_bytes(delta);
  RecordProperty("bytes_a_row_in_hundredths", static_cast<int>(100 * bytes.size() / delta.rows.size()));
  EXPECT_LE(bytes.size(), 6 * delta.rows.size());
  EXPECT_TRUE(same(*delta_from_bytes(bytes), delta));
}

TEST(DeltaBytesTest, AnotherVersionIsRefusedWithARemedy) {
  std::string bytes = to_bytes(Delta{});
  bytes[0] = 2;
  EXPECT_NE(delta_from_bytes(bytes).error().message.find("version 2"), std::string::npos);
}

TEST(DeltaBytesTest, BytesBehindTheEndAreRefused) { EXPECT_FALSE(delta_from_bytes(to_bytes(Delta{}) + '\0')); }

TEST(DeltaBytesTest, ACountBeyondTheBytesIsRefusedBeforeMemoryIsTaken) {
  std::string bytes = to_bytes(Delta{});
  bytes.pop_back();  // the count of rows
  bytes += "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01";
  EXPECT_NE(delta_from_bytes(bytes).error().message.find("more entries"), std::string::npos);
}

TEST(DeltaBytesTest, ARowThatPointsToNothingIsRefused) {
  for (const RowKind kind : {RowKind::kOpen, RowKind::kCommit}) {
    Delta delta;
    delta.rows.emplace_back().kind = kind;
    EXPECT_FALSE(delta_from_bytes(to_bytes(delta)));
  }
  Delta delta;
  delta.rows.emplace_back().key.block = 1;
  EXPECT_NE(delta_from_bytes(to_bytes(delta)).error().message.find("a key of no block"), std::string::npos);
}

}  // namespace
}  // namespace sp::track

// Every kind, over seeds: what the obvious judge counts is what the truth log says, and honest runs have nothing.
#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "unit/driver/embedded/reference.h"

namespace sp::driver::embedded::test {
namespace {

Honest bad_days() {
  Honest honest;
  honest.info_stored = 0.01;
  honest.info_absent = 0.005;
  honest.info_late = 0.005;
  honest.failed = 0.005;
  honest.commit_info = 0.05;
  honest.commit_failed = 0.02;
  honest.rebalance_every = std::chrono::milliseconds{150};
  honest.restart_every = std::chrono::milliseconds{400};
  return honest;
}

core::PerCode<std::uint64_t> sum_of(const std::vector<TruthLine>& lines) {
  core::PerCode<std::uint64_t> sums;
  for (const auto& line : lines) {
    if (line.code) sums[*line.code] += line.count;
  }
  return sums;
}

std::string difference(const core::PerCode<std::uint64_t>& truth, const core::PerCode<std::uint64_t>& counted) {
  std::string text;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (truth[code] == counted[code]) continue;
    text += fmt::format("{}: truth {}, counted {}; ", core::code_row(code).name, truth[code], counted[code]);
  }
  return text;
}

struct Played {
  std::string difference;
  std::uint64_t lines = 0;
  std::uint64_t freezes = 0;
  std::string text;
};

Played play(std::uint64_t seed, const std::vector<std::string>& defects) {
  WorldOptions options;
  options.broker.seed = seed;
  options.broker.honest = bad_days();
  options.broker.defects = *parse_defects(defects);
  options.groups = 1 + static_cast<std::uint32_t>(seed % 2);
  options.records = 1500;
  World world(options);
  world.play();
  const Reference reference(world);
  const auto truth = world.broker->truth();
  Played played;
  played.text = truth_text(truth);
  played.difference = difference(sum_of(truth), reference.counts);
  for (const auto& line : truth) (line.code ? played.lines : played.freezes) += 1;
  return played;
}

TEST(TruthTest, AnHonestRunHasNothingWhateverTheBadDays) {
  std::uint64_t repeats = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    WorldOptions options;
    options.broker.seed = seed;
    options.broker.honest = bad_days();
    World world(options);
    world.play();
    const Reference reference(world);
    EXPECT_EQ(difference({}, reference.counts), "") << "seed " << seed;
    EXPECT_TRUE(world.broker->truth().empty());
    EXPECT_GT(reference.unknown, 0U);
    EXPECT_GT(reference.lineage_count, 8U);
    EXPECT_GT(reference.acked, 1800U);
    repeats += reference.allowed_repeats;
  }
  EXPECT_GT(repeats, 0U) << "bad days bring repeats";
}

class TruthOfKind : public ::testing::TestWithParam<DefectRow> {};

TEST_P(TruthOfKind, IsWhatTheObviousJudgeCounts) {
  std::uint64_t lines = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto defect = fmt::format("{}:count={}", GetParam().name, 1 + seed % 5);
    const auto played = play(seed, {defect});
    EXPECT_EQ(played.difference, "") << "seed " << seed << " " << defect << "\n" << played.text;
    EXPECT_GT(played.lines + played.freezes, 0U) << "seed " << seed << " " << defect;
    lines += played.lines;
  }
  EXPECT_EQ(lines > 0, GetParam().code.has_value());
}

TEST_P(TruthOfKind, HoldsBesideAnyOtherKind) {
  for (const auto& other : defect_rows()) {
    if (other.kind < GetParam().kind) continue;  // that pair is the other's
    const std::uint64_t seed = 100 + static_cast<std::uint64_t>(other.kind);
    const std::vector<std::string> defects{fmt::format("{}:count=4", GetParam().name),
                                           fmt::format("{}:count=5", other.name)};
    const auto played = play(seed, defects);
    EXPECT_EQ(played.difference, "") << "seed " << seed << " " << defects[0] << " " << defects[1] << "\n"
                                     << played.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TruthOfKind, ::testing::ValuesIn(defect_rows().begin(), defect_rows().end()),
                         [](const auto& shown) {
                           std::string name;
                           bool upper = true;
                           for (const char c : shown.param.name) {
                             if (c != '-') name += upper ? static_cast<char>(c - 'a' + 'A') : c;
                             upper = c == '-';
                           }
                           return name;
                         });

TEST(TruthTest, CountPlantsExactlyThatManyOfRecordKinds) {
  for (const char* kind : {"lose", "duplicate-write", "duplicate-delivery", "reorder-write", "reorder-delivery",
                           "corrupt",
                           "misplace", "phantom", "ack-unstored", "store-unacked", "rewind", "dual-owner", "freeze"}) {
    WorldOptions options;
    options.broker.seed = 5;
    options.broker.defects = *parse_defects(
        {fmt::format("{}:count=7{}", kind, kind == std::string("freeze") ? ",for=20ms" : "")});
    World world(options);
    world.play();
    const auto truth = world.broker->truth();
    const auto planted = std::count_if(truth.begin(), truth.end(), [](const TruthLine& line) {
      return line.kind != DefectKind::kRewind || line.code == core::Code::kRewind;
    });
    EXPECT_EQ(planted, 7) << kind << "\n" << truth_text(truth);
  }
}

TEST(TruthTest, TheSameSeedPlantsTheSame) {
  const std::vector<std::string> defects{"lose:rate=0.01", "reorder-delivery:count=3", "rewind:count=2"};
  EXPECT_EQ(play(9, defects).text, play(9, defects).text);
  EXPECT_NE(play(9, defects).text, play(10, defects).text);
}

}  // namespace
}  // namespace sp::driver::embedded::test

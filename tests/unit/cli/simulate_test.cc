#include "cli/simulate.h"

#include <gtest/gtest.h>

#include "proof/fields.h"

namespace sp::cli {
namespace {

using namespace std::chrono_literals;
using judge::Status;

proof::Proof small_proof() {
  proof::Proof proof = proof::run_defaults();
  proof.duration = 5s;
  proof.check_point_interval = 1s;
  proof.rate = 400;
  proof.keys = 40;
  proof.partitions = 6;
  return proof;
}

SimulationResult must(Result<SimulationResult> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(*result) : SimulationResult{};
}

std::string reasons(const SimulationResult& result) {
  std::string text;
  for (const auto& reason : result.report.judgement.reasons) text += reason + "; ";
  return text;
}

TEST(SimulateTest, SameSeedGivesTheSameBytes) {
  const auto proof = small_proof();
  const auto options = drawn_options(11, proof);
  const auto first = must(simulate(proof, 11, options));
  const auto second = must(simulate(proof, 11, options));
  EXPECT_EQ(first.json, second.json);
  EXPECT_NE(first.json, must(simulate(proof, 12, options)).json);
}

TEST(SimulateTest, ResultHoldsNoTimeOfThisMachine) {
  EXPECT_NE(must(simulate(small_proof(), 1)).json.find("\"started\": null"), std::string::npos);
}

TEST(SimulateTest, HonestSeedsWithBadDaysPass) {
  std::uint64_t unknown = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto result = must(simulate(small_proof(), seed, drawn_options(seed, small_proof())));
    EXPECT_EQ(result.report.judgement.status, Status::kPassed)
        << "seed " << seed << ": " << reasons(result);
    EXPECT_TRUE(result.truth.empty());
    unknown += result.report.judgement.coverage.unknown;
  }
  EXPECT_GT(unknown, 0U);
}

TEST(SimulateTest, WorkersThatCrashAndComeBackLoseNothing) {
  auto proof = small_proof();
  proof.workers = 2;
  SimulationOptions options;
  options.crash_every = 2s;
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto result = must(simulate(proof, seed, options));
    EXPECT_EQ(result.report.judgement.status, Status::kPassed)
        << "seed " << seed << ": " << reasons(result);
    EXPECT_EQ(result.report.judgement.counts[core::Code::kLost], 0U);
    crashes += result.crashes;
  }
  EXPECT_GT(crashes, 5U);
}

TEST(SimulateTest, RebalancesMakeRepeatsThatAreAllowed) {
  auto proof = small_proof();
  SimulationOptions options;
  options.honest.restart_every = 1s;
  const auto result = must(simulate(proof, 3, options));
  EXPECT_EQ(result.report.judgement.status, Status::kPassed) << reasons(result);
  EXPECT_EQ(result.report.judgement.counts[core::Code::kDuplicateDelivery],
            result.report.judgement.allowed[core::Code::kDuplicateDelivery]);
}

// One planted kind a test; the full table of kinds and seeds is a test of its own outside the
// units.
class PlantedTest : public testing::TestWithParam<std::string> {};

TEST_P(PlantedTest, IsCountedExactly) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto proof = small_proof();
    proof.raw_read = core::RawReadScope::kFull;
    proof.defects = {GetParam() + ":count=3"};
    const auto result = must(simulate(proof, seed));
    core::PerCode<std::uint64_t> expected;
    for (const auto& line : result.truth) {
      if (line.code) expected[*line.code] += line.count;
    }
    const auto& judgement = result.report.judgement;
    for (const auto code : {core::Code::kLost, core::Code::kDuplicateWrite, core::Code::kPhantom,
                            core::Code::kCorrupt}) {
      EXPECT_EQ(judgement.counts[code], expected[code])
          << core::code_row(code).name << ", seed " << seed;
    }
    EXPECT_EQ(judgement.counts[core::Code::kDuplicateDelivery] -
                  judgement.allowed[core::Code::kDuplicateDelivery],
              expected[core::Code::kDuplicateDelivery]);
    EXPECT_FALSE(result.truth.empty()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedTest,
                         testing::Values("lose", "duplicate-write", "duplicate-delivery", "phantom",
                                         "corrupt"),
                         [](const auto& kind) {
                           std::string name;
                           for (const char c : kind.param) {
                             if (c != '-') name += c;
                           }
                           return name;
                         });

TEST(SimulateTest, UnknownDefectIsRefusedByName) {
  auto proof = small_proof();
  proof.defects = {"loose:count=3"};
  const auto result = simulate(proof, 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("loose"), std::string::npos);
}

}  // namespace
}  // namespace sp::cli

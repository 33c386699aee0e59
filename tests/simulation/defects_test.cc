// For each defect of the embedded broker and some seeds: the right code and the exact number of the truth log. The full table, 200
// seeds a kind and 200 of two kinds at once, is defects_table --record (docs/results/).
#include "simulation/defects.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include "base/prng.h"
#include "simulation/kinds.h"

namespace sp::simulation {
namespace {

using driver::embedded::DefectKind;

std::string told(const Outcome& outcome, const std::string& defects, std::uint64_t seed) {
  std::string text = fmt::format("seed {} with {}: {} {}\n", seed, defects, outcome.status, outcome.problem);
  for (const auto& line : outcome.differences) text += "  " + line + "\n";
  return text;
}

class DefectsTest : public testing::TestWithParam<DefectKind> {};

TEST_P(DefectsTest, IsFoundWithExactlyItsNumber) {
  std::uint64_t planted = 0;
  for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
    const std::string defect = drawn_defect(GetParam(), seed);
    const Outcome outcome = run_planted({defect}, seed);
    EXPECT_TRUE(outcome.exact()) << told(outcome, defect, seed);
    planted += outcome.planted ? 1 : 0;
  }
  if (driver::embedded::defect_row(GetParam()).code) {
    EXPECT_GT(planted, seeds(6) / 2) << "most runs must plant something";
  }
}

TEST_P(DefectsTest, IsNotFoundWhenItsRuleIsSwitchedOff) {
  const auto code = driver::embedded::defect_row(GetParam()).code;
  if (!code) return;  // an honest one: no rule
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string defect = drawn_defect(GetParam(), seed);
    const Outcome with = run_planted({defect}, seed);
    if (!with.planted) continue;
    const Outcome without = run_planted({defect}, seed, {.bad_days = true, .rule_off = code});
    EXPECT_FALSE(without.exact());
    return;
  }
  FAIL() << "no seed planted anything";
}

INSTANTIATE_TEST_SUITE_P(Kinds, DefectsTest, testing::ValuesIn(all_kinds()), kind_name);

// Runs whose count was not the truth's once.
TEST(DefectsOnceWrongTest, StayMended) {
  const std::string defect = drawn_defect(DefectKind::kDualOwner, 716);
  const Outcome outcome = run_planted({defect}, 716);  // the first of two owners is thrown out in the generation they share
  EXPECT_TRUE(outcome.planted);
  EXPECT_TRUE(outcome.exact()) << told(outcome, defect, 716);
  const Outcome honest = run_planted({}, 188);  // a record lands late where the consumers lag
  EXPECT_TRUE(honest.exact()) << told(honest, "nothing", 188);
  EXPECT_EQ(honest.status, "passed") << honest.reason;
}

TEST(HonestTest, HasNotOneFinding) {
  std::uint64_t never_landed = 0;
  std::uint64_t landed = 0;
  std::uint64_t landed_late = 0;
  for (std::uint64_t seed = 1; seed <= seeds(6) * 8; ++seed) {
    const Outcome outcome = run_planted({}, seed);
    EXPECT_TRUE(outcome.exact()) << told(outcome, "nothing", seed);
    never_landed += outcome.unknown - outcome.landed;
    landed += outcome.landed;
    landed_late += outcome.landed_late;
  }
  EXPECT_GT(never_landed, 0U) << "attempts of unknown outcome that never land are drawn";
  EXPECT_GT(landed, landed_late) << "... and such that land at once";
  EXPECT_GT(landed_late, 0U) << "... and such that land behind later sequences of their key";
}

TEST(TwoKindsTest, AreFoundWithExactlyTheirNumbers) {
  const auto kinds = all_kinds();
  for (std::uint64_t seed = 1; seed <= seeds(6) * 4; ++seed) {
    Prng chance = Prng(seed).fork("two kinds");
    const DefectKind a = kinds[chance.below(kinds.size())];
    const DefectKind b = kinds[chance.below(kinds.size())];
    if (a == b) continue;
    const std::vector<std::string> defects = {drawn_defect(a, seed), drawn_defect(b, seed + 1)};
    const Outcome outcome = run_planted(defects, seed);
    EXPECT_TRUE(outcome.exact()) << told(outcome, defects[0] + " and " + defects[1], seed);
  }
}

TEST(SimulationTest, TheSameSeedGivesTheSameBytes) {
  proof::Proof proof = small_proof(5);
  proof.defects = {"lose:count=3"};
  const auto first = cli::simulate(proof, 5, cli::drawn_options(5, proof));
  const auto second = cli::simulate(proof, 5, cli::drawn_options(5, proof));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->json, second->json);
}

}  // namespace
}  // namespace sp::simulation

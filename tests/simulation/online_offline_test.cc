// A run that kept its history, judged again from the files alone: the same verdict, counts and findings. Over all defects of the embedded
// broker, honest runs with crashes, and files that were changed afterwards.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation/defects.h"
#include "simulation/kept_run.h"
#include "simulation/kinds.h"

namespace sp::simulation {
namespace {

using driver::embedded::DefectKind;

class OnlineOfflineTest : public testing::TestWithParam<DefectKind> {};

TEST_P(OnlineOfflineTest, TheFilesGiveTheSameJudgement) {
  for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
    const std::string defect = drawn_defect(GetParam(), seed);
    const KeptRun run({defect}, seed);
    EXPECT_EQ(run.offline(), run.online()) << defect << " seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OnlineOfflineTest, testing::ValuesIn(all_kinds()), kind_name);

TEST(OnlineOfflineHonestTest, AlsoWhenWorkersCrash) {
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= seeds(3) * 8; ++seed) {
    const KeptRun run({}, seed, std::chrono::seconds(seed % 2 == 0 ? 3 : 0));
    EXPECT_EQ(run.offline(), run.online()) << "seed " << seed;
    crashes += run.result().crashes;
  }
  EXPECT_GT(crashes, 0U) << "no worker crashed: the seeds show less than they should";
}

TEST(OnlineOfflineHonestTest, AMissingFileIsNoPass) {
  const KeptRun run({}, 4);
  ASSERT_EQ(run.offline(), run.online());
  std::filesystem::remove(std::filesystem::path(run.path()) / "worker-0.1.jsonl.zst");
  const auto report = run.check();
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_NE(report->judgement.status, judge::Status::kPassed);
  EXPECT_THAT(report->facts.missing, testing::Contains("the history of worker-0.1 is not among the files"));
}

TEST(OnlineOfflineHonestTest, WithoutTheCoordinatorsFileThereIsNoVerdict) {
  const KeptRun run({}, 4);
  std::filesystem::remove(std::filesystem::path(run.path()) / "coordinator.jsonl.zst");
  EXPECT_THAT(run.offline(), testing::HasSubstr("there is no coordinator's file of a proof among them"));
}

}  // namespace
}  // namespace sp::simulation

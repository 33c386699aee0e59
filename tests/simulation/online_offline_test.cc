// A run that kept its history, judged again from the files alone: the same verdict, counts and findings. Over all defects of the embedded
// broker, honest runs with crashes, and files that were changed afterwards.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "check/proof_check.h"
#include "cli/histories.h"
#include "simulation/defects.h"
#include "simulation/kinds.h"
#include "simulation/same_judgement.h"
#include "sys/files.h"

namespace sp::simulation {
namespace {

using driver::embedded::DefectKind;

// A simulated run in a folder of its own.
class KeptRun {
 public:
  KeptRun(const std::vector<std::string>& defects, std::uint64_t seed, Nanoseconds crash_every = {}) {
    auto folder = sys::TemporaryFolder::make();
    EXPECT_TRUE(folder.has_value());
    folder_ = std::make_unique<sys::TemporaryFolder>(std::move(*folder));
    proof::Proof proof = small_proof(seed);
    proof.defects = defects;
    cli::SimulationOptions options = cli::drawn_options(seed, proof);
    if (crash_every.count() > 0) options.crash_every = crash_every;
    auto factory = cli::history_factory(path());
    EXPECT_TRUE(factory.has_value());
    options.history = *factory;
    auto result = cli::simulate(proof, seed, options);
    EXPECT_TRUE(result.has_value()) << result.error().message;
    result_ = std::move(*result);
  }
  [[nodiscard]] std::string path() const { return folder_->path().string(); }
  [[nodiscard]] const cli::SimulationResult& result() const { return result_; }
  [[nodiscard]] std::string online() const { return comparable(result_.report); }
  [[nodiscard]] Result<report::Report> check(const check::CheckOptions& options = {}) const {
    auto files = cli::history_files({path()});
    if (!files) return tl::unexpected(files.error());
    return check::check_proof(*files, options);
  }
  [[nodiscard]] std::string offline(const check::CheckOptions& options = {}) const {
    const auto report = check(options);
    return report ? comparable(*report) : "error: " + report.error().message;
  }

 private:
  std::unique_ptr<sys::TemporaryFolder> folder_;
  cli::SimulationResult result_;
};

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

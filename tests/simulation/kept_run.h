// A simulated run that kept its history, in a folder of its own, and what is said of it again from the files.
//
// Cost: some 50 ms a run.   Errors: fail the test.   Threads: one owner.   Source: docs/formats/history.md.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check/proof_check.h"
#include "cli/histories.h"
#include "simulation/defects.h"
#include "simulation/same_judgement.h"
#include "sys/files.h"

namespace sp::simulation {

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
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    auto files = cli::history_files({path()});
    EXPECT_TRUE(files.has_value());
    return files ? *files : std::vector<std::filesystem::path>();
  }
  [[nodiscard]] std::string offline(const check::CheckOptions& options = {}) const {
    const auto report = check(options);
    return report ? comparable(*report) : "error: " + report.error().message;
  }

 private:
  std::unique_ptr<sys::TemporaryFolder> folder_;
  cli::SimulationResult result_;
};

}  // namespace sp::simulation

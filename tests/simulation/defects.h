// One simulated run with planted defects, and the comparison of what the checker counted with the broker's truth log. The truth
// is compared here, outside src/: the engine never sees it.
//
//     run_planted({"lose:count=7"}, seed) ─► Outcome: same, or what differs
//
// Cost: some 20 ms a run.   Errors: in Outcome::problem.   Threads: a pure function.   Source: docs/reference/defects.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/simulate.h"

namespace sp::simulation {

struct Outcome {
  bool planted = false;          // the truth log is not empty; else the run shows nothing
  std::uint64_t truth_count = 0;
  std::vector<std::string> differences;  // codes whose number is not the truth's, with both
  std::string problem;           // the run itself failed
  std::string status;
  std::string reason;            // the first of the verdict
  std::uint64_t received = 0;
  // Attempts of unknown outcome: all of them, those that were seen after all, and of these those behind later sequences.
  std::uint64_t unknown = 0;
  std::uint64_t landed = 0;
  std::uint64_t landed_late = 0;
  [[nodiscard]] bool exact() const { return problem.empty() && differences.empty(); }
};

struct Options {
  bool bad_days = true;          // rebalances, restarts, unknown outcomes, crashes: drawn from the seed
  std::optional<core::Code> rule_off;
};

// A small proof that differs with the seed: partitions, keys, groups, scope of the raw read.
[[nodiscard]] proof::Proof small_proof(std::uint64_t seed);
[[nodiscard]] Outcome run_planted(const std::vector<std::string>& defects, std::uint64_t seed, const Options& options = {});
// "KIND:count=N" with N from 1 to 50 drawn from the seed, as far as the kind allows in a small run.
[[nodiscard]] std::string drawn_defect(driver::embedded::DefectKind kind, std::uint64_t seed);

}  // namespace sp::simulation

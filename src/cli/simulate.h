// A whole run in one thread on a virtual clock: workload, embedded broker, workers, coordinator.
// The same proof, seed and options give the same bytes.
//
//     simulate(proof, seed) ─► report, its JSON, and the broker's truth of what it planted
//
//     while not done:   run.step ─► workers step ─► clock to the earliest next thing
//
// Cost:     some µs a record; 5,000 records in under 0.1 s.
// Limits:   `steps_max`.
// Errors:   kInvalid: a defect that cannot be read; kInternal: the run did not end within
//           steps_max.
// Threads:  a pure function of its arguments.
// Source:   ARCHITECTURE.md, "One engine, two clocks".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "coordinator/coordinator.h"
#include "driver/embedded/broker.h"
#include "proof/proof.h"
#include "report/report.h"

namespace sp::cli {

struct SimulationOptions {
  driver::embedded::Honest honest;  // bad days that are nobody's defect
  Nanoseconds crash_every{};        // mean time between crashes of a worker; 0: never
  Nanoseconds crash_away{std::chrono::seconds{2}};  // until its next incarnation is there
  control::HistoryFactory history;  // absent: none is kept
  coordinator::RunLimits limits;
  judge::JudgeOptions judging;
  std::uint64_t steps_max = 100'000'000;
};

// Bad days drawn from the seed: about half of all seeds have some.
[[nodiscard]] SimulationOptions drawn_options(std::uint64_t seed, const proof::Proof& proof);

struct SimulationResult {
  report::Report report;
  std::vector<driver::embedded::TruthLine> truth;
  std::string json;
  std::uint64_t crashes = 0;
};

[[nodiscard]] Result<SimulationResult> simulate(const proof::Proof& proof, std::uint64_t seed,
                                                const SimulationOptions& options = {});

}  // namespace sp::cli

#include "simulation/defects.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/prng.h"
#include "driver/embedded/defects.h"

namespace sp::simulation {

using driver::embedded::DefectKind;

proof::Proof small_proof(std::uint64_t seed) {
  Prng chance = Prng(seed).fork("small proof");
  proof::Proof proof;
  proof.driver = "embedded";
  proof.at_least_once = true;
  proof.ordering = true;
  proof.payload_bytes = 64;
  proof.partitions = static_cast<std::uint32_t>(chance.between(2, 6));
  proof.producers = static_cast<std::uint32_t>(chance.between(1, 3));
  proof.groups = static_cast<std::uint32_t>(chance.between(1, 2));
  proof.consumers = proof.groups * static_cast<std::uint32_t>(chance.between(1, 3));
  proof.workers = static_cast<std::uint32_t>(chance.between(1, 2));
  proof.producers = std::max(proof.producers, proof.workers);
  proof.keys = chance.between(60, 90);
  proof.rate = 500;
  proof.duration = std::chrono::seconds{8};
  proof.check_point_interval = std::chrono::seconds{2};
  proof.timeout = std::chrono::seconds{5};
  proof.raw_read = chance.chance(0.5) ? core::RawReadScope::kFull : core::RawReadScope::kHoles;
  proof.seed = seed;
  return proof;
}

std::string drawn_defect(DefectKind kind, std::uint64_t seed) {
  const auto& row = driver::embedded::defect_row(kind);
  std::uint64_t most = 50;
  switch (row.unit) {
    case driver::embedded::DefectUnit::kPartition: most = 1; break;
    case driver::embedded::DefectUnit::kKey: most = 10; break;
    case driver::embedded::DefectUnit::kLineage: most = 3; break;
    case driver::embedded::DefectUnit::kBroker: most = 2; break;
    case driver::embedded::DefectUnit::kRecord:
    case driver::embedded::DefectUnit::kDelivery: break;
  }
  Prng chance = Prng(seed).fork(row.name);
  return fmt::format("{}:count={}", row.name, chance.between(1, most));
}

Outcome run_planted(const std::vector<std::string>& defects, std::uint64_t seed, const Options& options) {
  proof::Proof proof = small_proof(seed);
  proof.defects = defects;
  cli::SimulationOptions simulation = options.bad_days ? cli::drawn_options(seed, proof) : cli::SimulationOptions{};
  // What a worker that dies had not reported, the checker cannot know but the truth log does: no crashes beside plants.
  if (!defects.empty()) simulation.crash_every = Nanoseconds{0};
  simulation.judging.rule_off = options.rule_off;
  Outcome outcome;
  const auto result = cli::simulate(proof, seed, simulation);
  if (!result) {
    outcome.problem = result.error().message;
    return outcome;
  }
  const judge::Judgement& judged = result->report.judgement;
  outcome.status = judge::status_name(judged.status);
  if (!judged.reasons.empty()) outcome.reason = judged.reasons.front();
  outcome.received = judged.coverage.received;
  outcome.unknown = judged.coverage.unknown;
  outcome.landed = judged.coverage.landed;
  outcome.landed_late = judged.allowed[core::Code::kReorderedWrite];
  core::PerCode<std::uint64_t> truth;
  for (const auto& line : result->truth) {
    if (!line.code) continue;
    truth[*line.code] += line.count;
    outcome.truth_count += line.count;
  }
  outcome.planted = !result->truth.empty();
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (code == core::Code::kLate) continue;  // a slow day is no defect
    const std::uint64_t found = judged.counts[code] - judged.allowed[code];
    if (found == truth[code]) continue;
    outcome.differences.push_back(fmt::format("{}: {} found, {} planted", core::code_row(code).name, found, truth[code]));
  }
  return outcome;
}

}  // namespace sp::simulation

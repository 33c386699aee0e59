#include "control/proof_ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace sp::control {

std::vector<std::string> group_names(const proof::Proof& proof, core::RunId run) {
  std::vector<std::string> names;
  for (std::uint32_t group = 0; group < std::max(1U, proof.groups); ++group) {
    names.push_back(fmt::format("{}-{}", core::run_text(run), group));
  }
  return names;
}

std::unique_ptr<track::Ledger> proof_ledger(const proof::Proof& proof, core::RunId run, bool idempotent,
                                            const track::LedgerLimits& limits) {
  track::LedgerOptions options;
  options.run = run;
  options.contract = proof.contract(idempotent);
  options.groups = group_names(proof, run);
  options.limits = limits;
  return std::make_unique<track::Ledger>(std::move(options));
}

void declare_worker(track::Ledger& ledger, const proof::Division& division, core::SourceId source) {
  for (const auto& share : division.producers) {
    if (share.worker == source.worker) ledger.declare(core::KeyBlock{source, share.producer}, share.keys);
  }
  ledger.expect(source);
}

}  // namespace sp::control

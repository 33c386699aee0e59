// The ledger of a proof: what it is told before the first evidence. Coordinator and offline judge both begin here.
//
//     proof ─► proof_ledger() ─► declare_worker(…) for each incarnation ─► evidence
//
// Cost:     O(keys).   Limits: –.   Errors: none.   Threads: pure functions.   Source: docs/algebra.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proof/proof.h"
#include "track/ledger.h"

namespace sp::control {

// "r7f3a2k9q-0", …: by GroupIndex.
[[nodiscard]] std::vector<std::string> group_names(const proof::Proof& proof, core::RunId run);
// `idempotent`: the clients' effective settings promise idempotent producers.
[[nodiscard]] std::unique_ptr<track::Ledger> proof_ledger(const proof::Proof& proof, core::RunId run, bool idempotent,
                                                          const track::LedgerLimits& limits);
// Evidence of `source` is to be expected, and its producers own their keys.
void declare_worker(track::Ledger& ledger, const proof::Division& division, core::SourceId source);

}  // namespace sp::control

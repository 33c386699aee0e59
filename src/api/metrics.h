// What GET /metrics tells, and the page of the manual about it: one table of names.
//
//     proofs ─► sp_proofs{status} · sp_proof_…{proof} · sp_worker_…{proof, worker}
//
// Shape:    names end in their unit; counters in _total. A proof that is forgotten has no series any more.
// Cost:     that of Service::list() and a report for each proof.
// Limits:   kProofsShown proofs, the latest ones.
// Errors:   none.   Threads: any.   Source: docs/reference/prometheus.md (made from the table).
#pragma once

#include <cstddef>
#include <string>

#include "coordinator/service.h"

namespace sp::api {

constexpr std::size_t kProofsShown = 100;

[[nodiscard]] std::string service_metrics(const coordinator::Service& service);
// docs/reference/prometheus.md.
[[nodiscard]] std::string prometheus_markdown();

}  // namespace sp::api

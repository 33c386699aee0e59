// A worker process as whoever serves it sees it: who it is, and the ports of the proofs that it works on.
//
//     WorkerServer ─► WorkerHost ─┬─ prepare(plan) ─► a port is there
//                                 ├─ find(run, source) ─► the port
//                                 └─ remove(run, source) ─► it is gone
//
// A coordinator that was killed between a call and its answer calls again: every call of host and ports may come twice and
// answers the second time as it did the first.
//
// Errors:   kNotFound: the process does not know that run and source, because it was restarted or they were removed;
//           kFull: so many proofs are there; those of the port.
// Threads:  all calls from any; a port that was found is called by any thread too.
// Source:   the checking model, "Time and order"; control/worker_port.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "control/worker_port.h"
#include "core/ids.h"

namespace sp::control {

struct WorkerInfo {
  std::string name;
  std::string version;            // of the program
  std::uint64_t incarnation = 0;  // of the process: drawn at its start, so that a restart shows
  std::string zone;
  std::uint16_t rpc_port = 0;     // where it is served; 0: nowhere yet
  bool operator==(const WorkerInfo&) const = default;
};

// shared: a call goes on with its port while another call removes it; it then answers kNotFound.
using SharedPort = std::shared_ptr<WorkerPort>;

class WorkerHost {
 public:
  virtual ~WorkerHost() = default;
  [[nodiscard]] virtual WorkerInfo info() const = 0;
  // Makes a worker for plan.run and plan.source and prepares it. A higher incarnation of the same run and worker takes the place of
  // the one that is there, a lower one is refused.
  [[nodiscard]] virtual Result<WorkerHello> prepare(const WorkerPlan& plan) = 0;
  [[nodiscard]] virtual Result<SharedPort> find(core::RunId run, core::SourceId source) = 0;
  // Ends that worker as a crash does. Of something unknown: nothing.
  [[nodiscard]] virtual Result<void> remove(core::RunId run, core::SourceId source) = 0;
};

}  // namespace sp::control

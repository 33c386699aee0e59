// A port whose answers stand in a log: what was answered before is answered again without asking, then the worker is asked.
//
//     log: answer, answer ─► replayed │ live ─► worker
//
// Live, all that stands in the log is durable before a call leaves that says something of it; then the answer is appended.
//
// Errors:   as WorkerPort; kUnavailable while the log cannot be made durable; kInternal where the log holds something else than
//           an answer to this call: the run that is done again is not the one that was (Diverged::what).
// Threads:  those of the log's owner.   Source: docs/decisions/0015.
#pragma once

#include <cstdint>
#include <string>

#include "control/input_log.h"
#include "control/worker_port.h"

namespace sp::control {

class LoggedPort : public WorkerPort {
 public:
  // True once after the worker said in a poll that it does not know the run: it was started anew.
  [[nodiscard]] virtual bool take_gone() = 0;
  // The run cannot be gone on with: the worker is told to forget it, whatever the log says.
  virtual void give_up() = 0;
};

// What the ports of a run share: its log, and whether doing it again went another way.
struct LoggedRun {
  InputLog* log = nullptr;    // outlives the ports
  bool live = false;          // the log was read to its end: from here on inputs are appended
  std::uint64_t durable = 0;  // that many inputs are
  std::string diverged;     // what was found instead; empty: nothing so far
  std::string broken;       // why the log cannot be read or written now; empty: it can
};

}  // namespace sp::control

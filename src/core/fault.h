// A fault that somebody made on purpose while a run was going on: when it began, what was seen of it, when it ended.
//
//     begin ──► effect_seen ──► released ──► end           made by whoever breaks the system
//                                   └──► recovered         found by whoever watches the records
//
// Cost: a value.   Errors: none.   Threads: a value.   Source: docs/reference/faults.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace sp::core {

struct FaultRecord {
  std::uint64_t number = 0;         // within the run, from 1
  std::string name;                 // the kind: "kill-leader"
  std::string target;               // "node 2"
  std::string effect;               // what a client of its own saw: "leader of partition 0 moved from 2 to 3"; "" = nothing
  MonotonicTime begin{};
  std::optional<MonotonicTime> effect_seen;
  std::optional<MonotonicTime> released;  // nothing is held down or frozen any more; absent: as `end`
  std::optional<MonotonicTime> end;       // a client of its own found the system whole again, or gave up waiting for that
  std::optional<MonotonicTime> recovered; // records flowed as before on every partition
  std::string no_recovery;                // why `recovered` is absent
  [[nodiscard]] std::optional<MonotonicTime> over() const { return released ? released : end; }
  [[nodiscard]] bool took_effect() const { return effect_seen.has_value(); }
};

}  // namespace sp::core

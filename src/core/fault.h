// A fault that somebody made on purpose while a run was going on: when it began, what was seen of it, when it ended.
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
  std::optional<MonotonicTime> end;
  [[nodiscard]] bool took_effect() const { return effect_seen.has_value(); }
};

}  // namespace sp::core

// run --simulate: one or many seeds, each a whole run on a virtual clock.
//
// Errors:   a seed that finds something is named, and how to repeat it.
// Threads:  the caller's.
// Source:   cli/simulate.h.
#pragma once

#include "cli/run_request.h"
#include "cli/terminal.h"

namespace sp::cli {

// The exit code: the worst of all runs.
[[nodiscard]] int run_simulated(const RunFlags& flags, const RunRequest& request,
                                const Terminal& terminal);

}  // namespace sp::cli

// One live run on this machine's clocks: coordinator, workers and system in one process, until it
// is judged or interrupted.
//
// Errors:   what cannot start is in the report's `failure`.
// Threads:  the main one; workers have theirs.
// Source:   ARCHITECTURE.md, "One engine, two clocks".
#pragma once

#include "cli/run_request.h"
#include "cli/terminal.h"

namespace sp::cli {

// The exit code.
[[nodiscard]] int run_live(const RunFlags& flags, const RunRequest& request,
                           const Terminal& terminal);

}  // namespace sp::cli

// What must be the same online and offline: everything that "Online = offline" lists, as text with a line for each, so that a difference
// shows itself.
//
// Cost: O(findings).   Errors: none.   Threads: a pure function.   Source: the checking model, "Online = offline".
#pragma once

#include <string>

#include "report/report.h"

namespace sp::simulation {

[[nodiscard]] std::string comparable(const report::Report& report);

}  // namespace sp::simulation

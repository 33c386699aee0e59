// What of a report only the coordinator knew, as JSON: the last line of its history holds it, so that the same verdict can be reached from
// the histories alone. What the records themselves show is not in it.
//
//     Report ─► facts_json() ─► {"topic":"sp-x","missing":[…],"settings":{…},…} ─► read_facts() ─► Report
//
// Shape:    one object on one line; absent members keep their defaults, unknown ones are ignored. Times are nanoseconds of the
//           coordinator's clock.
// Cost:     O(settings + faults).   Limits: those of codec/json_tree.h.
// Errors:   kParse with what is wrong.
// Threads:  pure functions.   Source: docs/formats/history.md, "The coordinator's file".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/report.h"

namespace sp::report {

[[nodiscard]] std::string facts_json(const Report& report);
[[nodiscard]] Result<void> read_facts(std::string_view json, Report& report);

}  // namespace sp::report

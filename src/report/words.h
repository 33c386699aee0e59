// The sentences that more than one rendering uses.
//
// Cost:     O(coverage).
// Errors:   none.
// Threads:  pure functions.
// Source:   docs/reference/result.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace sp::report {

// "at_least_once", "ordering", "exactly_once": those the proof claims.
[[nodiscard]] std::vector<std::string> features(const proof::Proof& proof);
[[nodiscard]] std::string upper(std::string_view text);
// "partition 2 offset 41".
[[nodiscard]] std::string position_text(const core::Position& position);
// What a pass means, in one sentence.
[[nodiscard]] std::string nothing_wrong(const Report& report);
// What the run could not see: unknown outcomes, unchecked records, silent keys and partitions,
// faults without effect.
[[nodiscard]] std::vector<std::string> blind_spots(const Report& report);
// The next thing a person should do; empty after a pass.
[[nodiscard]] std::string what_to_do(const Report& report);

}  // namespace sp::report

// Gives each finding the lines of the histories that tell of its first record: sent, acknowledged, handed over, read.
//
// Cost:     one more pass over the files, if there is a finding at all.
// Limits:   kEvidenceMax lines a finding.
// Errors:   those of Merge.
// Threads:  one owner.   Source: docs/reference/result.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "history/merge.h"
#include "judge/judge.h"

namespace sp::check {

constexpr std::size_t kEvidenceMax = 6;

[[nodiscard]] Result<void> add_evidence(const std::vector<std::filesystem::path>& files, const history::Merge::Options& options,
                                        std::vector<judge::Finding>& findings);

}  // namespace sp::check

// An independent judge over a history: plain sets and loops, written from the rules and nothing
// else. Slow and obvious on purpose; it knows group subscriptions with cumulative commits, and
// Shared ones without their allowances.
//
// Cost:     quadratic.   Limits: small histories.   Errors: none.   Threads: a pure function.
// Source:   docs/reference/findings.md.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/code.h"
#include "judge/judge.h"
#include "model/history.h"

namespace sp::model {

struct ReferenceVerdict {
  judge::Status status = judge::Status::kPassed;
  core::PerCode<std::uint64_t> counts;
  core::PerCode<std::uint64_t> allowed;
  std::uint64_t undecided = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t landed = 0;
  std::uint64_t foreign = 0;
  std::uint64_t expired = 0;
  std::uint64_t compacted = 0;
  std::map<core::Blame, std::uint64_t> lost_by;
  std::set<std::pair<Key, std::uint64_t>> lost;  // by some group
  std::uint64_t skipped_and_reordered = 0;  // count under skip, as one of the two only
};

[[nodiscard]] ReferenceVerdict reference_judge(const History& history, const RawRead& raw);

}  // namespace sp::model

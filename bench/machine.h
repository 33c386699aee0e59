// What a bench wants to know of the machine and of its own process: cores, processor, memory and CPU time in use, and
// which commit the source tree is at.
//
//     look_at_source(folder) ─► {commit, clean}      results below docs/results/ do not make it unclean:
//                                                    several benches are recorded one after the other
//
// Cost:    some µs; look_at_source two calls of git.
// Errors:  kUnavailable no git, or no repository; figures that the system does not tell are 0 or "unknown".
// Threads: any.   Source: proc(5), getrusage(2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace sp::bench {

[[nodiscard]] unsigned core_count();
[[nodiscard]] std::string cpu_model();
// Of this process.
[[nodiscard]] std::uint64_t resident_bytes();
// The most that it had resident since the last reset_peak(), 0 where the system does not tell.
[[nodiscard]] std::uint64_t peak_resident_bytes();
void reset_peak();
[[nodiscard]] Nanoseconds cpu_time();
// Of its children that ended.
[[nodiscard]] Nanoseconds cpu_time_of_children();
// Gives freed memory back to the system, so that what resident_bytes() says is what is in use.
void trim_memory();

struct SourceState {
  std::string commit;
  bool clean = false;
};
[[nodiscard]] Result<SourceState> look_at_source(const std::filesystem::path& folder);

}  // namespace sp::bench

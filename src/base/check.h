// CHECK(condition, "why"): a bug of ours ends the program, in release too, naming file, line and reason.
// Never for input, never for what a system under test may answer. DCHECK is on in debug and sanitizer builds only.
//
// Cost: one predictable branch.   Threads: any.   Source: STYLE.md 5.
#pragma once

namespace sp {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* why);
}  // namespace sp

#define CHECK(condition, why) \
  (__builtin_expect(!!(condition), 1) ? void(0) : ::sp::check_failed(__FILE__, __LINE__, #condition, why))

#ifdef SP_DEBUG_CHECKS
#define DCHECK(condition, why) CHECK(condition, why)
#else
#define DCHECK(condition, why) void(0)
#endif

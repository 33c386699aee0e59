// The end of a JSON string that needs no decoding, eight bytes at a time.
//
//     …"producer-1","type"…      ─► the quote that ends it
//      └ begin                       an escape, a control character or a byte above 0x7F before it: null
//
// Shape:   up to eight bytes behind `end` may be read (codec/line_reader.h sees to it).
// Cost:    1 ns for eight bytes.   Errors: null.   Threads: a pure function.   Source: RFC 8259, section 7.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sp::codec {

[[nodiscard]] inline const char* find_plain_end(const char* begin, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHigh = 0x8080808080808080ULL;
  for (const char* at = begin; at < end; at += 8) {
    std::uint64_t x = 0;
    std::memcpy(&x, at, 8);
    const std::uint64_t quote = x ^ (kOnes * '"');
    const std::uint64_t backslash = x ^ (kOnes * '\\');
    // A borrow only reaches bytes behind the first one found, and the first one is what counts.
    const std::uint64_t special =
        (x | ((x - kOnes * 0x20) & ~x) | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash)) & kHigh;
    if (special == 0) continue;
    const char* found = at + std::countr_zero(special) / 8;
    return found < end && *found == '"' ? found : nullptr;
  }
  return nullptr;
}

}  // namespace sp::codec

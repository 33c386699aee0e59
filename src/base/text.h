// Text in and out: cutting, numbers and durations as people write and read them, the word that was
// probably meant.
//
//     duration  =  number [unit]  |  number unit { number unit }        unit  =  ns us ms s m h d; none: seconds
//     number    =  digits [ "." digits ]                                120   120s   2m   1.5s   1h30m   500ms
//
// Cost:     linear.   Limits: durations up to 292 years.
// Errors:   kParse, saying what was found and what is expected.
// Threads:  pure functions. Views that are returned point into the argument.   Source: docs/reference/glossary.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp {

struct SplitOptions {
  char separator = ',';
  std::size_t pieces_max = SIZE_MAX;  // the last piece holds the rest
};
// "a,b," is "a", "b", ""; "" is one empty piece.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, SplitOptions options = {});
// Without spaces, tabs and line ends at either end.
[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);  // ASCII

// Decimal digits, nothing else.
[[nodiscard]] Result<std::uint64_t> parse_unsigned(std::string_view text);
[[nodiscard]] Result<std::int64_t> parse_signed(std::string_view text);
// A finite decimal number: "0.5", "1e3".
[[nodiscard]] Result<double> parse_double(std::string_view text);
[[nodiscard]] Result<bool> parse_bool(std::string_view text);  // true, false, yes, no
// Not below 0.
[[nodiscard]] Result<Nanoseconds> parse_duration(std::string_view text);

// "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);
// Two or three digits that matter: "0 s", "850 ns", "2.45 ms", "12.3 s", "2 min 5 s", "8 h",
// "3 d 4 h"; "-" in front below 0.
[[nodiscard]] std::string human_duration(Nanoseconds duration);
// "512 B", "1.50 kB", "12.3 MB"; powers of 1000.
[[nodiscard]] std::string human_bytes(std::uint64_t bytes);

// The candidate nearest to `word`, ignoring case, '-' and '_', if it is near enough to have been meant.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> candidates);

// True if they are equal; the time it takes depends on the length of `given` only, so that a guess learns nothing from it.
// Nothing equals an empty secret.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view wanted);

// `text` fit for a terminal or a message: control characters as \n, \t or \xNN, cut to `bytes_max` with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t bytes_max = 200);

}  // namespace sp

// Decimal digits, eight at a time: for formats that are read by the gigabyte.
//
//     read_digits("1701,…")  ─►  value 1701, at ','        as JSON writes whole numbers: no sign, no leading zero
//
// Shape:    eight bytes behind the number must be readable (codec/line_reader.h sees to it).
// Cost:     2 ns a number.   Limits: 64 bits, exact; more is no number.
// Errors:   `end` is null: no digit, a leading zero, or more than 2^64 − 1.   Threads: a pure function.
// Source:   RFC 8259, section 6 (int).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sp::codec {

struct DigitsReading {
  std::uint64_t value = 0;
  const char* end = nullptr;  // behind the last digit
};

// How many of the eight bytes at `text` are digits, counted from the first one on.
[[nodiscard]] inline std::size_t digits_in(std::uint64_t eight) {
  const std::uint64_t x = eight ^ 0x3030303030303030ULL;  // a digit is now 0 … 9
  // A carry out of a byte that is no digit only reaches bytes behind it, and the first one is what counts.
  const std::uint64_t other = (x | (x + 0x7676767676767676ULL)) & 0x8080808080808080ULL;
  return other == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(other)) / 8;
}

// The number that the first `count` bytes (1 to 8) of `eight` are.
[[nodiscard]] inline std::uint64_t value_of_digits(std::uint64_t eight, std::size_t count) {
  std::uint64_t x = (eight ^ 0x3030303030303030ULL) << (64 - 8 * count);
  x = (x * 10 + (x >> 8U)) & 0x00FF00FF00FF00FFULL;
  x = (x * 100 + (x >> 16U)) & 0x0000FFFF0000FFFFULL;
  return (x * 10000 + (x >> 32U)) & 0xFFFFFFFFULL;
}

[[nodiscard]] inline DigitsReading read_digits(const char* text) {
  static_assert(std::endian::native == std::endian::little, "digits are read eight at a time");
  static constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  std::uint64_t eight = 0;
  std::memcpy(&eight, text, 8);
  std::size_t count = digits_in(eight);
  if (count == 0) return {};
  if (text[0] == '0') return count == 1 ? DigitsReading{0, text + 1} : DigitsReading{};
  std::uint64_t value = value_of_digits(eight, count);
  const char* at = text + count;
  while (count == 8) {
    std::memcpy(&eight, at, 8);
    count = digits_in(eight);
    if (count == 0) break;
    if (at - text >= 16 && count > 4) return {};  // 21 digits and more
    if (__builtin_mul_overflow(value, kPowers[count], &value)) return {};
    if (__builtin_add_overflow(value, value_of_digits(eight, count), &value)) return {};
    at += count;
  }
  return {value, at};
}

}  // namespace sp::codec

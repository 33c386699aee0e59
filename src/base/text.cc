#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

namespace sp {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr std::array kUnits = {
    Unit{"ns", 1},
    Unit{"us", kMicrosecond},
    Unit{"ms", kMillisecond},
    Unit{"s", kSecond},
    Unit{"m", 60 * kSecond},
    Unit{"min", 60 * kSecond},
    Unit{"h", 3600 * kSecond},
    Unit{"d", 86400 * kSecond},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

template <typename Number>
Result<Number> parse_integer(std::string_view text, std::string_view expected) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    return fail(ErrorCode::kParse, fmt::format("'{}' is too large", printable(text, 60)));
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::kParse, fmt::format("'{}' is not {}", printable(text, 60), expected));
  }
  return number;
}

std::string_view take_while(std::string_view& rest, bool (*wanted)(char)) {
  std::size_t length = 0;
  while (length < rest.size() && wanted(rest[length])) ++length;
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

// digits × unit + 0.fraction × unit; nothing when it is past 292 years.
std::optional<std::int64_t> scaled(std::string_view digits, std::string_view fraction,
                                   std::int64_t unit) {
  std::int64_t sum = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, c - '0', &sum))
      return std::nullopt;
  }
  if (__builtin_mul_overflow(sum, unit, &sum)) return std::nullopt;
  std::int64_t place = unit;
  for (const char c : fraction) {
    place /= 10;
    if (__builtin_add_overflow(sum, place * (c - '0'), &sum)) return std::nullopt;
  }
  return sum;
}

tl::unexpected<Error> no_duration(std::string_view text) {
  return fail(ErrorCode::kParse,
              fmt::format("'{}' is not a duration; write 120, 120s, 2m, 1h30m or 500ms",
                          printable(text, 60)));
}

// How many single-character changes lead from a to b, two neighbours swapped being one change.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string plain(std::string_view word) {
  std::string text;
  for (const char c : lower(word)) {
    if (c != '-' && c != '_' && c != '.') text += c;
  }
  return text;
}

// Three digits that matter, without zeros at the end of a fraction.
std::string short_number(double number) {
  std::string text = fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

// "2 min 5 s", "8 h": two neighbouring units, the lower left out when 0.
std::string two_units(std::int64_t high, std::string_view high_unit, std::int64_t low,
                      std::string_view low_unit) {
  if (low == 0) return fmt::format("{} {}", high, high_unit);
  return fmt::format("{} {} {} {}", high, high_unit, low, low_unit);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, SplitOptions options) {
  std::vector<std::string_view> pieces;
  while (pieces.size() + 1 < options.pieces_max) {
    const std::size_t at = text.find(options.separator);
    if (at == std::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  pieces.push_back(text);
  return pieces;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

Result<std::uint64_t> parse_unsigned(std::string_view text) {
  return parse_integer<std::uint64_t>(text, "a whole number of 0 or more");
}

Result<std::int64_t> parse_signed(std::string_view text) {
  return parse_integer<std::int64_t>(text, "a whole number");
}

Result<double> parse_double(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return fail(ErrorCode::kParse, fmt::format("'{}' is not a number", printable(text, 60)));
  }
  return number;
}

Result<bool> parse_bool(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "yes") return true;
  if (word == "false" || word == "no") return false;
  return fail(ErrorCode::kParse, fmt::format("'{}' is not true or false", printable(text, 60)));
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  std::string_view rest = text;
  std::int64_t sum = 0;
  bool first = true;
  do {
    const std::string_view digits = take_while(rest, is_digit);
    std::string_view fraction;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      fraction = take_while(rest, is_digit);
      if (fraction.empty()) return no_duration(text);
    }
    if (digits.empty()) return no_duration(text);
    std::string_view spaces_dropped = rest;
    take_while(spaces_dropped, is_space);
    const std::string_view name = take_while(spaces_dropped, is_letter);
    const bool bare = name.empty();
    if (bare && (!first || !rest.empty())) return no_duration(text);
    const auto unit = bare ? std::find_if(kUnits.begin(), kUnits.end(),
                                          [](const Unit& u) { return u.name == "s"; })
                           : std::find_if(kUnits.begin(), kUnits.end(),
                                          [&](const Unit& u) { return u.name == name; });
    if (unit == kUnits.end()) return no_duration(text);
    rest = spaces_dropped;
    take_while(rest, is_space);
    const std::optional<std::int64_t> part = scaled(digits, fraction, unit->nanoseconds);
    if (!part || __builtin_add_overflow(sum, *part, &sum)) {
      return fail(ErrorCode::kParse,
                  fmt::format("'{}' is longer than 292 years", printable(text, 60)));
    }
    first = false;
  } while (!rest.empty());
  return Nanoseconds{sum};
}

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string human_duration(Nanoseconds duration) {
  if (duration < Nanoseconds{0}) {
    return "-" + human_duration(duration == Nanoseconds::min() ? Nanoseconds::max() : -duration);
  }
  const std::int64_t count = duration.count();
  const auto number = static_cast<double>(count);
  if (count == 0) return "0 s";
  if (count < kMicrosecond) return fmt::format("{} ns", count);
  if (number < 999.5e3) return short_number(number / 1e3) + " us";
  if (number < 999.5e6) return short_number(number / 1e6) + " ms";
  if (number < 99.95e9) return short_number(number / 1e9) + " s";
  const std::int64_t whole = count / kSecond + (count % kSecond >= kSecond / 2 ? 1 : 0);
  if (whole < 3600) return two_units(whole / 60, "min", whole % 60, "s");
  if (whole < 86400) return two_units(whole / 3600, "h", whole % 3600 / 60, "min");
  return two_units(whole / 86400, "d", whole % 86400 / 3600, "h");
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kNames = {"kB", "MB", "GB", "TB", "PB", "EB"};
  auto number = static_cast<double>(bytes) / 1e3;
  std::size_t name = 0;
  while (number >= 999.5 && name + 1 < kNames.size()) {
    number /= 1e3;
    ++name;
  }
  return fmt::format("{} {}", short_number(number), kNames[name]);
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  constexpr std::size_t kWordBytesMax = 64;  // a longer one is not a slip of the finger
  if (word.empty() || word.size() > kWordBytesMax) return std::nullopt;
  const std::string wanted = plain(word);
  std::optional<std::string_view> best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const std::string name = plain(candidate);
    const std::size_t distance = edit_distance(wanted, name);
    const std::size_t near = std::min<std::size_t>(3, std::max(wanted.size(), name.size()) / 3);
    if (distance <= near && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() && !wanted.empty() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = wanted.empty() ? '\0' : wanted[i % wanted.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(expected));
  }
  return difference == 0;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  std::string result;
  std::size_t used = 0;
  for (; used < text.size() && result.size() < bytes_max; ++used) {
    const char c = text[used];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  if (used == text.size()) return result;
  // Not in the middle of a UTF-8 sequence.
  while (used > 0 && !result.empty() && (static_cast<unsigned char>(text[used]) & 0xC0U) == 0x80U) {
    --used;
    result.pop_back();
  }
  return result + "…";
}

}  // namespace sp

#include "cases/case_file.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace sp::cases {

const std::string* Line::option(const std::string& name) const {
  const auto found = options.find(name);
  return found == options.end() ? nullptr : &found->second;
}

bool Line::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::kParse, fmt::format("'{}' is not a number", text));
  }
  return number;
}

Result<std::vector<std::uint64_t>> parse_numbers(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const auto dots = part.find("..");
    auto first = parse_number(part.substr(0, dots));
    auto last = dots == std::string_view::npos ? first : parse_number(part.substr(dots + 2));
    if (!first) return tl::unexpected<Error>(first.error());
    if (!last) return tl::unexpected<Error>(last.error());
    for (std::uint64_t n = *first; n <= *last; ++n) numbers.push_back(n);
  }
  return numbers;
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto number = parse_number(text.substr(0, digits));
  if (!number) return tl::unexpected<Error>(number.error());
  const auto count = static_cast<std::int64_t>(*number);
  const std::string_view unit = text.substr(digits);
  if (unit == "ms") return Nanoseconds(std::chrono::milliseconds(count));
  if (unit == "s") return Nanoseconds(std::chrono::seconds(count));
  if (unit == "m") return Nanoseconds(std::chrono::minutes(count));
  return fail(ErrorCode::kParse, fmt::format("'{}' is not a duration (5s, 250ms, 2m)", text));
}

namespace {

Result<Line> parse_line(std::string_view text, std::size_t number) {
  Line line;
  line.number = number;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty() || text[0] == '#') return line;
    if (text[0] == '"') {
      const auto end = text.find('"', 1);
      if (end == std::string_view::npos) return fail(ErrorCode::kParse, "a quote is not closed");
      line.words.emplace_back(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
      continue;
    }
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      line.words.emplace_back(word);
    } else {
      line.options.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  }
}

}  // namespace

Result<CaseFile> parse_case(std::string_view id, std::string_view text) {
  CaseFile file;
  file.id = id;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = parse_line(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line) return fail_up(std::move(line), fmt::format("{}.case line {}", id, number));
    if (line->words.empty()) continue;
    if (line->words[0] == "pending") {
      file.pending = line->words.size() > 1 ? line->words[1] : "";
      if (file.pending.empty())
        return fail(ErrorCode::kParse,
                    fmt::format("{}.case line {}: pending wants \"issue\"", id, number));
    }
    if (line->words[0] == "test") {
      file.test.assign(line->words.begin() + 1, line->words.end());
      if (file.test.size() != 2) return fail(ErrorCode::kParse, fmt::format("{}.case line {}: test wants a source and a name", id, number));
    }
    if (line->words[0] == "corpus") {
      file.corpus.assign(line->words.begin() + 1, line->words.end());
      if (file.corpus.empty()) return fail(ErrorCode::kParse, fmt::format("{}.case line {}: corpus wants names of files", id, number));
    }
    file.lines.push_back(std::move(*line));
  }
  if (file.lines.empty()) return fail(ErrorCode::kParse, fmt::format("{}.case is empty", id));
  return file;
}

}  // namespace sp::cases

#include "tidy/words.h"

#include <algorithm>
#include <array>
#include <optional>

namespace sp::tidy {
namespace {

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Where `word` stands in `line` as a word of its own: no letter before it, and none after it if it ends in one.
bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_name(line[at - 1]) || !is_name(word.front());
    const bool ends = end == line.size() || !is_name(line[end]) || !is_name(word.back());
    if (begins && ends) return true;
  }
  return false;
}

enum class Where { kEverywhere, kProduct };
struct BannedRow {
  std::string_view word;
  std::string_view instead;
  std::string_view home;  // a path prefix where it is allowed
  Where where = Where::kEverywhere;
};
constexpr std::array kBanned = {
    BannedRow{"steady_clock::now", "MonotonicClock::now() of base/clock.h", "src/base/clock.cc"},
    BannedRow{"system_clock::now", "WallClock::now() of base/clock.h", "src/base/clock.cc"},
    BannedRow{"high_resolution_clock", "MonotonicClock of base/clock.h", "-"},
    BannedRow{"clock_gettime", "a clock of base/clock.h", "src/base/clock.cc"},
    BannedRow{"gettimeofday", "WallClock of base/clock.h", "-"},
    BannedRow{"random_device", "a seed that is handed down: base/prng.h", "-"},
    BannedRow{"_distribution<", "Prng of base/prng.h: the library's results differ between platforms", "-"},
    BannedRow{"mt19937", "Prng of base/prng.h", "-"},
    BannedRow{"rand(", "Prng of base/prng.h", "-"},
    BannedRow{"sleep_for", "clock.wait_until() or a condition: nobody sleeps to wait for another thread",
              "src/base/clock.cc"},
    BannedRow{"sleep_until", "clock.wait_until()", "src/base/clock.cc"},
    BannedRow{"usleep", "clock.wait_until()", "-"},
    BannedRow{"nanosleep", "clock.wait_until()", "-"},
    BannedRow{"std::regex", "text functions of base: std::regex is slow and throws", "-"},
    BannedRow{"std::cout", "cli prints, others return values", "src/cli/", Where::kProduct},
    BannedRow{"std::cerr", "return an Error; cli prints", "src/cli/", Where::kProduct},
    BannedRow{"detach(", "std::jthread with a stop_token: nothing is detached", "-"},
    BannedRow{"std::async", "std::jthread", "-"},
    BannedRow{"throw", "Result<T> of base/result.h", "src/base/huge_pages.h", Where::kProduct},
    BannedRow{"reinterpret_pointer_cast", "a type that needs no cast", "-"},
};

bool is_test(std::string_view path) { return path.starts_with("tests/") || path.starts_with("bench/"); }

// Files with faults on purpose, for clang-tidy to find.
bool is_planted(std::string_view path) { return path.starts_with("tests/tidy/planted/"); }

bool is_looked_at(std::string_view path) {
  return is_cpp(path) && !is_planted(path) &&
         (path.starts_with("src/") || path.starts_with("tests/") || path.starts_with("bench/") ||
          path.starts_with("tools/"));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

// What stands before the brace at `at`, since the last ';', '{' or '}'.
std::string_view head_before(std::string_view code, std::size_t at, std::size_t begin) {
  std::size_t from = at;
  while (from > begin && code[from - 1] != ';' && code[from - 1] != '{' && code[from - 1] != '}') --from;
  std::string_view head = trimmed(code.substr(from, at - from));
  for (const std::string_view access : {"public:", "private:", "protected:"}) {
    if (head.starts_with(access)) head = trimmed(head.substr(access.size()));
  }
  return head;
}

// What a brace opens that stands outside of all functions.
enum class Opens { kScope, kFunction, kValue };
Opens opens(std::string_view head) {
  std::string_view rest = head;
  while (rest.starts_with("template") || rest.starts_with("[[")) {  // skip what stands in front
    const char open = rest.starts_with("[[") ? '[' : '<';
    const char close = open == '[' ? ']' : '>';
    std::size_t depth = 0;
    std::size_t i = 0;
    for (; i < rest.size(); ++i) {
      if (rest[i] == open) ++depth;
      if (rest[i] == close && --depth == 0) break;
    }
    if (i >= rest.size()) break;
    rest = trimmed(rest.substr(i + 1));
  }
  for (const std::string_view word :
       {"namespace", "class", "struct", "union", "enum", "extern", "inline namespace", "typedef struct"}) {
    if (rest.starts_with(word) && (rest.size() == word.size() || !is_name(rest[word.size()])) &&
        rest.find('(') == std::string_view::npos) {
      return Opens::kScope;
    }
  }
  if (head.find('(') == std::string_view::npos) return Opens::kValue;
  if (head.back() == ')') return Opens::kFunction;
  for (const std::string_view word : {"const", "noexcept", "override", "final", "try", "mutable", "&", "&&"}) {
    if (head.ends_with(word)) return Opens::kFunction;
  }
  const std::size_t arrow = head.rfind("->");
  return arrow != std::string_view::npos && arrow > head.rfind(')') ? Opens::kFunction : Opens::kValue;
}

std::size_t matching(std::string_view code, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '{') ++depth;
    if (code[i] == '}' && --depth == 0) return i;
  }
  return code.size();
}

void blank_preprocessor(std::string& code) {
  bool inside = false;
  std::size_t begin = 0;
  while (begin < code.size()) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::string_view line = std::string_view(code).substr(begin, end - begin);
    const std::string_view stripped = trimmed(line);
    inside = inside || stripped.starts_with("#");
    const bool continues = inside && stripped.ends_with("\\");
    if (inside)
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin), code.begin() + static_cast<std::ptrdiff_t>(end),
                ' ');
    inside = continues;
    begin = end + 1;
  }
}

void functions_of(const File& file, Violations& violations) {
  std::string code = code_only(file.text);
  blank_preprocessor(code);
  std::size_t head_begin = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == ';' || code[i] == '}') head_begin = i + 1;
    if (code[i] != '{') continue;
    const std::string_view head = head_before(code, i, head_begin);
    switch (opens(head)) {
      case Opens::kScope:
        head_begin = i + 1;
        break;
      case Opens::kValue:  // an initializer: what follows still belongs to the same head
      {
        const std::size_t end = std::min(matching(code, i), code.size() - 1);
        std::fill(code.begin() + static_cast<std::ptrdiff_t>(i), code.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                  ' ');
        if (!head.empty()) code[i] = ')';  // keeps "a_{1} {" a function's body
        i = end;
        break;
      }
      case Opens::kFunction: {
        const std::size_t end = matching(code, i);
        const auto first = std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(i), '\n');
        const auto last = std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        const auto lines = static_cast<std::size_t>(last - first);
        if (lines > kFunctionLinesMax) {
          violations.push_back({file.path, static_cast<std::size_t>(first) + 1,
                                "function of " + std::to_string(lines) + " lines, " +
                                    std::to_string(kFunctionLinesMax) +
                                    " are allowed: decisions into the caller, plain work into callees"});
        }
        i = end;
        head_begin = end + 1;
        break;
      }
    }
  }
}

}  // namespace

Violations check_banned_words(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_looked_at(file.path)) continue;
    const std::string code = code_only(file.text);
    const auto lines = lines_of(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (const BannedRow& row : kBanned) {
        if (row.where == Where::kProduct && is_test(file.path)) continue;
        if (file.path.starts_with(row.home)) continue;
        const bool found = row.word.starts_with("_") ? lines[i].find(row.word) != std::string_view::npos
                                                     : has_word(lines[i], row.word);
        if (found)
          violations.push_back(
              {file.path, i + 1, "'" + std::string(row.word) + "' is banned: use " + std::string(row.instead)});
      }
    }
  }
  return violations;
}

Violations check_words_with_reason(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_looked_at(file.path) || file.path.starts_with("tests/tidy/")) continue;
    const std::string code = code_only(file.text);
    const auto lines = lines_of(file.text);
    const auto code_lines = lines_of(code);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_code = trimmed(code_lines[i]) == trimmed(lines[i]);
      const bool line_before_comments = i > 0 && lines[i - 1].find("//") != std::string_view::npos;
      if (has_word(code_lines[i], "shared_ptr") && is_code && !line_before_comments) {
        violations.push_back({file.path, i + 1, "shared_ptr without a reason: say in a comment who shares it and why"});
      }
      const std::size_t nolint = lines[i].find("NOLINT");
      if (nolint != std::string_view::npos && lines[i].find("): ", nolint) == std::string_view::npos) {
        violations.push_back({file.path, i + 1, "NOLINT without check and reason: NOLINT(check-name): why"});
      }
      const std::size_t todo = lines[i].find("TODO");
      if (todo != std::string_view::npos && lines[i].find("TODO(#", todo) == std::string_view::npos) {
        violations.push_back({file.path, i + 1, "TODO without an issue: TODO(#12) or do it"});
      }
    }
  }
  return violations;
}

Violations check_file_length(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_looked_at(file.path)) continue;
    const std::size_t lines = lines_of(file.text).size();
    const std::size_t max = is_test(file.path) ? kTestFileLinesMax : kFileLinesMax;
    if (lines <= max) continue;
    violations.push_back(
        {file.path, 0,
         std::to_string(lines) + " lines, " + std::to_string(max) + " are allowed: split it at its second idea"});
  }
  return violations;
}

Violations check_function_length(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (is_looked_at(file.path)) functions_of(file, violations);
  }
  return violations;
}

Violations check_line_length(const Tree& tree) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_looked_at(file.path)) continue;
    const auto lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // Columns, not bytes: continuation bytes of UTF-8 do not count.
      const auto columns =
          std::ranges::count_if(lines[i], [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
      if (static_cast<std::size_t>(columns) <= kLineColumnsMax) continue;
      violations.push_back({file.path, i + 1,
                            std::to_string(columns) + " columns, " + std::to_string(kLineColumnsMax) + " are allowed"});
    }
  }
  return violations;
}

Violations check_contract_comments(const Tree& tree) {
  constexpr std::array<std::string_view, 7> kFacts = {
      "Shape:", "Units:", "Cost:", "Limits:", "Errors:", "Threads:", "Source:"};
  Violations violations;
  for (const File& file : tree) {
    if (!is_header(file.path) || !is_looked_at(file.path)) continue;
    const std::size_t pragma = file.text.find("#pragma once");
    if (pragma == std::string::npos) {
      violations.push_back({file.path, 0, "has no #pragma once"});
      continue;
    }
    const std::string_view opening = std::string_view(file.text).substr(0, pragma);
    const bool has_fact =
        std::ranges::any_of(kFacts, [&](std::string_view fact) { return opening.find(fact) != std::string_view::npos; });
    const bool says = file.text.starts_with("// ") && (has_fact || is_test(file.path));  // a helper of tests just says what it is
    if (!says) {
      violations.push_back({file.path, 1,
                            "does not open with its contract: what it is, a picture, then Shape, Units, Cost, Limits, "
                            "Errors, Threads, Source as they apply, then #pragma once"});
    }
  }
  return violations;
}

}  // namespace sp::tidy

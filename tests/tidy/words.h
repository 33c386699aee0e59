// Words that may not stand in code, each with what to say instead, and the length of files and functions.
//
// Limits:   kFileLinesMax, kTestFileLinesMax, kFunctionLinesMax.
// Cost:     O(bytes · words).   Errors: none; what is wrong is a Violation.   Threads: pure functions.   Source:
// STYLE.md.
#pragma once

#include <cstddef>

#include "tidy/source.h"

namespace sp::tidy {

constexpr std::size_t kFileLinesMax = 500;
constexpr std::size_t kTestFileLinesMax = 800;
constexpr std::size_t kFunctionLinesMax = 70;
constexpr std::size_t kLineColumnsMax = 140;  // 100 is the aim; this is where reading side by side ends

[[nodiscard]] Violations check_banned_words(const Tree& tree);
// shared_ptr, NOLINT and TODO are allowed with a reason, an issue.
[[nodiscard]] Violations check_words_with_reason(const Tree& tree);
[[nodiscard]] Violations check_file_length(const Tree& tree);
// Lines between the braces of a function body, by counting braces.
[[nodiscard]] Violations check_function_length(const Tree& tree);
[[nodiscard]] Violations check_line_length(const Tree& tree);
// A header opens with a comment that says what it is and at least one of Shape, Units, Cost, Limits, Errors, Threads,
// Source, followed by #pragma once; a helper of tests needs only the first.
[[nodiscard]] Violations check_contract_comments(const Tree& tree);

}  // namespace sp::tidy

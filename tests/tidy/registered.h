// What is in a folder must also be run: tests, fuzz targets, rules with their pair of tests.
//
// Cost:     O(files).   Errors: none; what is wrong is a Violation.   Threads: pure functions.   Source: STYLE.md
// 10, 11.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidy/source.h"

namespace sp::tidy {

// `sources` is what CMake gave to ctest (build folder, test_sources.txt). Every tests/**/*_test.cc and *_fuzz.cc is
// among them, and each *_test.cc has a test in it.
[[nodiscard]] Violations check_tests_registered(const Tree& tree, const std::vector<std::string>& sources);

// One file of tests/cases/data: its verdict and what its "expect" lines name. Nothing of one that is pending.
struct CaseRow {
  std::string verdict;
  std::vector<std::string> counted;  // codes that are expected with a number above zero
  std::vector<std::string> named;    // ... with any number: "expect phantom 0" is what a lawful twin says
};
[[nodiscard]] CaseRow parse_case_row(std::string_view text);
// The same of a table of files, as corpus/lab/README.md has it: a NAME-bad that failed, and its NAME-good that is clean, which names NAME.
[[nodiscard]] std::vector<CaseRow> parse_corpus_table(std::string_view text);
// src/judge/rules/<code>.cc needs a case that fails and counts the code, and one that passes and names it.
[[nodiscard]] Violations check_rules_have_cases(const Tree& tree, const std::vector<CaseRow>& cases);
// ... with the cases of the tree.
[[nodiscard]] Violations check_rules_have_cases(const Tree& tree);

}  // namespace sp::tidy

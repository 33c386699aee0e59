#include "tidy/registered.h"

#include <algorithm>
#include <sstream>

namespace sp::tidy {
namespace {

bool is_test_source(std::string_view path) {
  return path.starts_with("tests/") && (path.ends_with("_test.cc") || path.ends_with("_fuzz.cc"));
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

Violations check_tests_registered(const Tree& tree, const std::vector<std::string>& sources) {
  Violations violations;
  for (const File& file : tree) {
    if (!is_test_source(file.path)) continue;
    if (std::ranges::find(sources, file.path) == sources.end()) {
      violations.push_back(
          {file.path, 0, "is built by no test: move it to tests/unit/<room>/ or declare it with sp_test()"});
    }
    const std::string code = code_only(file.text);
    const bool has_test = file.path.ends_with("_fuzz.cc")
                              ? code.find("LLVMFuzzerTestOneInput") != std::string::npos
                              : code.find("TEST") != std::string::npos || code.find("RC_GTEST") != std::string::npos;
    if (!has_test) violations.push_back({file.path, 0, "has no test in it"});
  }
  return violations;
}

CaseRow parse_case_row(std::string_view text) {
  CaseRow row;
  for (const std::string_view line : lines_of(text)) {
    std::istringstream words{std::string(line.substr(0, line.find('#')))};
    std::string verb;
    std::string what;
    std::string value;
    words >> verb >> what >> value;
    if (verb == "pending") return {};
    if (verb != "expect" || value.empty()) continue;
    if (what == "verdict") {
      row.verdict = value;
    } else if (value.find_first_not_of("0123456789") == std::string::npos) {
      row.named.push_back(what);
      if (value != "0") row.counted.push_back(what);
    }
  }
  return row;
}

Violations check_rules_have_cases(const Tree& tree, const std::vector<CaseRow>& cases) {
  constexpr std::string_view kFolder = "src/judge/rules/";
  Violations violations;
  for (const File& file : tree) {
    if (!file.path.starts_with(kFolder) || !file.path.ends_with(".cc")) continue;
    std::string code = file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - 3);
    std::ranges::replace(code, '_', '-');
    const bool fails = std::ranges::any_of(
        cases, [&](const CaseRow& row) { return row.verdict == "failed" && holds(row.counted, code); });
    const bool passes = std::ranges::any_of(
        cases, [&](const CaseRow& row) { return row.verdict == "passed" && holds(row.named, code); });
    if (!fails) violations.push_back({file.path, 0, "no case of tests/cases/data fails and counts " + code});
    if (!passes) {
      violations.push_back({file.path, 0,
                            "no case of tests/cases/data passes and names " + code + ": a lawful twin says \"expect " +
                                code + " 0\", or what is allowed"});
    }
  }
  return violations;
}

std::vector<CaseRow> parse_corpus_table(std::string_view text) {
  std::vector<CaseRow> rows;
  for (const std::string_view line : lines_of(text)) {
    // | `skip-bad` | what happens | failed | 1 | skip 2, lost 1 | …
    std::vector<std::string> cells;
    std::istringstream in{std::string(line)};
    for (std::string cell; std::getline(in, cell, '|');) {
      std::istringstream words{cell};
      std::string joined;
      for (std::string word; words >> word; joined += word) {
        if (!joined.empty()) joined += ' ';
      }
      cells.push_back(joined);
    }
    if (cells.size() < 6 || !cells[1].starts_with('`') || cells[1].size() < 3) continue;
    const std::string name = cells[1].substr(1, cells[1].size() - 2);
    const std::size_t end = name.rfind('-');
    CaseRow& row = rows.emplace_back();
    if (name.ends_with("-good") && cells[3] == "clean") {
      row.verdict = "passed";
      row.named.push_back(name.substr(0, end));
    }
    if (!name.ends_with("-bad") || cells[3] != "failed") continue;
    row.verdict = "failed";
    std::istringstream counts{cells[5]};
    for (std::string code; counts >> code;) row.counted.push_back(code);
  }
  return rows;
}

Violations check_rules_have_cases(const Tree& tree) {
  std::vector<CaseRow> cases;
  for (const File& file : tree) {
    if (file.path == "corpus/lab/README.md") {
      for (auto& row : parse_corpus_table(file.text)) cases.push_back(std::move(row));
    }
    if (file.path.starts_with("tests/cases/data/") && file.path.ends_with(".case"))
      cases.push_back(parse_case_row(file.text));
  }
  return check_rules_have_cases(tree, cases);
}

}  // namespace sp::tidy

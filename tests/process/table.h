// The rows of the tables in a Markdown document, for tests that read what they expect where people read it too.
//
//     | `lost-log-bad` | acknowledged … | failed | 1 |   ─►   {"lost-log-bad", "acknowledged …", "failed", "1"}
//
// Only rows whose first cell is in backquotes count; these are gone from it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "sys/files.h"

namespace sp::process_test {

inline std::vector<std::vector<std::string>> table_rows(const std::filesystem::path& document) {
  const auto text = sys::read_file(document, std::size_t{1} << 20U);
  EXPECT_TRUE(text.has_value()) << (text ? "" : text.error().message);
  std::vector<std::vector<std::string>> rows;
  if (!text) return rows;
  for (const std::string_view line : split(*text, {.separator = '\n'})) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line.substr(1, line.rfind('|') - 1), {.separator = '|'})) cells.emplace_back(trim(cell));
    std::erase(cells[0], '`');
    rows.push_back(std::move(cells));
  }
  return rows;
}

}  // namespace sp::process_test

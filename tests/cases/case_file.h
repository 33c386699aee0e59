// A case file: one row of the rules as data. Grammar and vocabulary: tests/cases/README.md.
//
//     # what the row says
//     acked k 0..9            verb and words; k=v words are options
//     expect lost 10
//
// Errors:  a line that is not understood is named with file and line.   Threads: values.   Source:
// tests/cases/README.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::cases {

struct Line {
  std::size_t number = 0;
  std::vector<std::string> words;              // the verb is words[0]; "quoted text" is one word
  std::map<std::string, std::string> options;  // k=v
  [[nodiscard]] const std::string* option(const std::string& name) const;
  [[nodiscard]] bool has(std::string_view word) const;
};

struct CaseFile {
  std::string id;
  std::string pending;  // the issue it waits for; empty: it runs
  std::vector<std::string> test;    // it is a test of its own: the source below tests/, and the name
  std::vector<std::string> corpus;  // it is judged as these files of corpus/lab, for only a history says it
  std::vector<Line> lines;
};

[[nodiscard]] Result<CaseFile> parse_case(std::string_view id, std::string_view text);
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view text);
// "4,6..20": both ends inside.
[[nodiscard]] Result<std::vector<std::uint64_t>> parse_numbers(std::string_view text);
// "5s", "250ms", "2m".
[[nodiscard]] Result<Nanoseconds> parse_duration(std::string_view text);

}  // namespace sp::cases

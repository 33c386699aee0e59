// check FILE over corpus/lab: verdict, exit code, counts and words are those of the tables in its README, in every form of the file.
#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "core/code.h"
#include "core/contract.h"
#include "process/program.h"
#include "process/said.h"
#include "process/table.h"

namespace sp::process_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A row of corpus/lab/README.md.
struct LabRow {
  std::string name;
  std::string verdict;  // or "refused"
  std::string code;
  std::string counts;   // "lost 1, stall 1"
  std::string allowed;
  std::string says;

  friend std::ostream& operator<<(std::ostream& out, const LabRow& row) { return out << row.name; }
};

std::vector<LabRow> lab_rows() {
  std::vector<LabRow> all;
  for (const auto& cells : table_rows(fs::path(SP_CORPUS) / "lab" / "README.md")) {
    if (cells.size() == 7) all.push_back({cells[0], cells[2], cells[3], cells[4], cells[5], cells[6]});
  }
  return all;
}
std::string lab_file(const std::string& name) { return (fs::path(SP_CORPUS) / "lab" / (name + ".jsonl")).string(); }

class LabFileTest : public testing::TestWithParam<LabRow> {};

TEST_P(LabFileTest, IsJudgedAsItsRowSays) {
  const LabRow& row = GetParam();
  const Outcome outcome = run_program({"check", lab_file(row.name), "--json"}, 30s);
  EXPECT_EQ(std::to_string(outcome.code), row.code) << outcome.err;
  if (row.verdict == "refused") {
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(row.says.empty()) << "the row must say why it is refused";
    EXPECT_THAT(outcome.err, HasSubstr(row.says));
    return;
  }
  const Said said(outcome.out);
  EXPECT_EQ(said.verdict(), row.verdict) << said.words();
  EXPECT_EQ(said.counts(), row.counts) << said.words();
  EXPECT_EQ(said.allowed(), row.allowed);
  EXPECT_THAT(said.words(), HasSubstr(row.says));
}

std::string lab_case_name(const testing::TestParamInfo<LabRow>& param) {
  std::string name = param.param.name;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Corpus, LabFileTest, testing::ValuesIn(lab_rows()), lab_case_name);

// ── the corpus itself ──

TEST(LabCorpusTest, EveryFileSaysTheSameInTheBinaryForm) {
  for (const LabRow& row : lab_rows()) {
    if (row.verdict == "refused") continue;
    const std::string convert = fmt::format("$PROGRAM convert --quiet '{}' x.sph && $PROGRAM check --json x.sph", lab_file(row.name));
    const Outcome outcome = Program(Shell{convert}).end(30s);
    const Said said(outcome.out);
    EXPECT_EQ(said.verdict() + ": " + said.counts(), row.verdict + ": " + row.counts) << row.name << "\n" << outcome.err;
  }
}

TEST(LabCorpusTest, EveryFileIsInATable) {
  std::set<std::string> in_folder, in_table;
  for (const auto& entry : fs::directory_iterator(fs::path(SP_CORPUS) / "lab")) {
    if (entry.path().extension() == ".jsonl") in_folder.insert(entry.path().stem().string());
  }
  for (const LabRow& row : lab_rows()) EXPECT_TRUE(in_table.insert(row.name).second) << row.name << " stands twice";
  EXPECT_EQ(in_folder, in_table);
}

// The codes that a cell counts, "lost 1, stall 1".
std::set<std::string> codes_in(const std::string& counts) {
  std::set<std::string> all;
  for (const std::string_view one : split(counts, {.separator = ','})) all.insert(std::string(trim(one.substr(0, one.rfind(' ')))));
  return all;
}

// True if not even the strictest contract forbids it.
bool is_harmless(core::Code code) {
  core::Contract strict;
  strict.exactly_once = strict.ordering = true;
  return !strict.forbids(code);
}

TEST(LabCorpusTest, EveryCodeHasABadFileAndAGoodOne) {
  std::map<std::string, LabRow> by_name;
  for (const LabRow& row : lab_rows()) by_name.emplace(row.name, row);
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const std::string name(core::code_row(code).name);
    const auto shown = [&](const auto& entry) {
      const auto& [file, row] = entry;
      return file.starts_with(name + "-") && file.ends_with("-bad") && codes_in(row.counts).contains(name) &&
             row.verdict == (is_harmless(code) ? "clean" : "failed");
    };
    EXPECT_TRUE(std::ranges::any_of(by_name, shown)) << "no corpus/lab/" << name << "-bad.jsonl that counts it and fails";
    const auto forgiven = [&](const auto& entry) {
      return entry.first.starts_with(name + "-") && entry.first.ends_with("-good") && entry.second.verdict == "clean";
    };
    EXPECT_TRUE(std::ranges::any_of(by_name, forgiven)) << "no corpus/lab/" << name << "-good.jsonl that is clean";
  }
}

TEST(LabCorpusTest, EveryBadFileHasATwinThatIsClean) {
  std::map<std::string, std::string> verdicts;
  for (const LabRow& row : lab_rows()) verdicts.emplace(row.name, row.verdict);
  for (const auto& [name, verdict] : verdicts) {
    if (name.ends_with("-good")) {
      EXPECT_EQ(verdict, "clean") << name;
    }
    if (!name.ends_with("-bad")) continue;
    const std::string twin = name.substr(0, name.size() - 3) + "good";
    EXPECT_EQ(verdicts[twin], "clean") << name << " has no innocent twin " << twin;
    bool harmless = false;
    for (std::size_t i = 0; i < core::kCodeCount; ++i) {
      const auto code = static_cast<core::Code>(i);
      harmless = harmless || (is_harmless(code) && name == std::string(core::code_row(code).name) + "-bad");
    }
    EXPECT_EQ(verdict == "clean", harmless) << name;
  }
}

TEST(LabCorpusTest, EveryBlameThatALabCanSayIsShown) {
  std::string all;
  for (const LabRow& row : lab_rows()) all += row.says + "\n";
  for (const auto blame : {core::Blame::kLog, core::Blame::kClient, core::Blame::kBehind, core::Blame::kUnknown}) {
    EXPECT_THAT(all, HasSubstr(fmt::format("blame {}", core::blame_name(blame))));
  }
}

TEST(LabCorpusTest, WhatIsCutOffIsSalvagedAsInvalid) {
  const Outcome salvaged = run_program({"check", lab_file("malformed-torn"), "--salvage", "--json"}, 30s);
  EXPECT_EQ(salvaged.code, 2);
  EXPECT_THAT(Said(salvaged.out).words(), HasSubstr("the file is cut off in line 3"));
}

// ── contracts ──

std::string contract(const std::string& name) { return (fs::path(SP_SOURCE) / "contracts" / (name + ".yaml")).string(); }

TEST(LabContractTest, TheSameHistoryIsCleanUnderOneContractAndFailedUnderAnother) {
  const auto check = [](const std::string& file, const std::string& name) {
    const Outcome outcome = run_program({"check", lab_file(file), "--contract", contract(name), "--json"}, 30s);
    const Said said(outcome.out);
    return fmt::format("{} {}: {}", outcome.code, said.verdict(), said.counts());
  };
  EXPECT_EQ(check("lost-log-bad", "kafka-go-defaults"), "0 clean: lost 1") << "fire and forget";
  EXPECT_EQ(check("lost-log-bad", "kafka-go-all"), "1 failed: lost 1");
  EXPECT_EQ(check("duplicate-write-bad", "confluent-kafka-go-defaults"), "0 clean: duplicate-write 1") << "a try again may be stored twice";
  EXPECT_EQ(check("duplicate-write-bad", "confluent-kafka-go-idempotent"), "1 failed: duplicate-write 1");
  EXPECT_EQ(check("reordered-write-good", "kafka-go-all"), "0 clean: reordered-write 1");
  EXPECT_EQ(check("reordered-write-good", "franz-go"), "1 failed: reordered-write 1") << "idempotent: nothing lands late";
}

}  // namespace
}  // namespace sp::process_test

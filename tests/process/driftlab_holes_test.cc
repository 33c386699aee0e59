// Where our verdict on files of driftlab differs from driftlab's own: the table of docs/howto/driftlab-files.md, both commands run.
#include <filesystem>
#include <ostream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/program.h"
#include "process/said.h"
#include "process/table.h"

namespace sp::process_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

// "failed: lost": verdict, and words that are said.
struct Expected {
  std::string verdict;
  std::string words;

  explicit Expected(const std::string& cell) : verdict(cell.substr(0, cell.find(':'))) {
    if (cell.find(':') != std::string::npos) words = trim(std::string_view(cell).substr(cell.find(':') + 1));
  }
  [[nodiscard]] int code() const { return verdict == "clean" ? 0 : verdict == "failed" ? 1 : verdict == "invalid" ? 2 : 3; }
};

struct Hole {
  std::string name;
  std::string ours;
  std::string driftlab;

  friend std::ostream& operator<<(std::ostream& out, const Hole& hole) { return out << hole.name; }
};

fs::path holes_folder() { return fs::path(SP_CORPUS) / "driftlab" / "holes"; }
std::string hole_file(const std::string& name) { return (holes_folder() / name).string(); }

std::vector<Hole> holes() {
  std::vector<Hole> all;
  for (const auto& cells : table_rows(fs::path(SP_SOURCE) / "docs" / "howto" / "driftlab-files.md")) {
    if (cells.size() == 5) all.push_back({cells[0], cells[2], cells[3]});
  }
  return all;
}

class DriftlabHoleTest : public testing::TestWithParam<Hole> {};

TEST_P(DriftlabHoleTest, OursIsWhatTheTableSays) {
  const Expected expected(GetParam().ours);
  const Outcome outcome = run_program({"check", hole_file(GetParam().name + ".jsonl")}, 30s);
  EXPECT_EQ(outcome.code, expected.code()) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.code == 3 ? outcome.err : outcome.out, HasSubstr(expected.words));
}

TEST_P(DriftlabHoleTest, DriftlabsIsWhatTheTableSays) {
  const Expected expected(GetParam().driftlab);
  const Outcome outcome = run_program({"check", "--format", "driftlab", hole_file(GetParam().name + ".jsonl")}, 30s);
  EXPECT_EQ(outcome.code, expected.code()) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("verdict " + expected.verdict));
  EXPECT_THAT(outcome.out, HasSubstr(expected.words));
}

std::string hole_case_name(const testing::TestParamInfo<Hole>& param) {
  std::string name = param.param.name;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Corpus, DriftlabHoleTest, testing::ValuesIn(holes()), hole_case_name);

TEST(DriftlabHolesTest, EveryFileIsInTheTable) {
  std::set<std::string> in_folder, in_table;
  for (const auto& entry : fs::directory_iterator(holes_folder())) {
    if (entry.path().extension() == ".jsonl") in_folder.insert(entry.path().stem().string());
  }
  for (const Hole& hole : holes()) in_table.insert(hole.name);
  EXPECT_EQ(in_folder, in_table);
  for (int number = 1; number <= 13; ++number) EXPECT_TRUE(in_table.contains("H" + std::to_string(number))) << number;
}

TEST(DriftlabHolesTest, AContractMayAllowWhatDriftlabDoesNot) {
  const Outcome outcome = run_program({"check", hole_file("H11.jsonl"), "--contract", hole_file("H11.yaml"), "--json"}, 30s);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Said said(outcome.out);
  EXPECT_EQ(said.verdict() + ": " + said.counts(), "clean: duplicate-delivery 2");
  EXPECT_EQ(said.allowed(), "duplicate-delivery 2");
}

// The howto says so.
TEST(DriftlabHolesTest, OnTheFixturesBothAgree) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(holes_folder().parent_path())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string file = entry.path().string();
    EXPECT_EQ(run_program({"check", file}, 30s).code, run_program({"check", "--format", "driftlab", file}, 30s).code) << file;
  }
  EXPECT_EQ(files, 16);
}

}  // namespace
}  // namespace sp::process_test

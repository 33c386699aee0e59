// Every row of cases.md as data, through the engine in several ways of evidence arriving, and
// through the reference judge.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cases/case_file.h"
#include "cases/ids.h"
#include "cases/runner.h"
#include "model/player.h"

namespace sp::cases {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> data_ids() {
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(SP_CASES_DIR)) {
    if (entry.path().extension() == ".case") ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<CaseFile> load(const std::string& id) {
  return parse_case(id, read_text(std::filesystem::path(SP_CASES_DIR) / (id + ".case")));
}

enum class Fate : std::uint8_t { kRuns, kIsElsewhere, kIsPending };
std::vector<std::string> ids_where(Fate fate) {
  std::vector<std::string> ids;
  for (const auto& id : data_ids()) {
    const auto file = load(id);
    const bool waits = file.has_value() && !file->pending.empty();
    const bool elsewhere = file.has_value() && (!file->corpus.empty() || !file->test.empty());
    if (fate == (waits ? Fate::kIsPending : elsewhere ? Fate::kIsElsewhere : Fate::kRuns)) ids.push_back(id);
  }
  return ids;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char letter : info.param) {
    if (letter != '-') name += letter;
  }
  return name;
}

struct Way {
  std::string_view name;
  model::PlayOptions options;
};

std::vector<Way> ways() {
  std::vector<Way> all(2);
  all[0].name = "one delta a tick";
  all[1].name = "a delta an observation";
  all[1].options.cut_each = true;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Way way{"shuffled", all[1].options};
    way.options.shuffle = true;
    way.options.seed = seed;
    all.push_back(way);
    way.name = "shuffled and twice";
    way.options.repeat = true;
    all.push_back(way);
  }
  return all;
}

class CasesTest : public testing::TestWithParam<std::string> {};

TEST_P(CasesTest, IsJudgedAsThePageSays) {
  const auto file = load(GetParam());
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto scene = make_scene(*file);
  ASSERT_TRUE(scene.has_value()) << scene.error().message;
  ASSERT_TRUE(scene->expected.verdict.has_value()) << "a case says its verdict";
  const std::vector<Way> all = ways();
  for (const auto& way : all) {
    const model::Played played = model::play(scene->history, way.options);
    for (const auto& line : differences(*scene, played)) ADD_FAILURE() << way.name << ": " << line;
    if (HasFailure()) return;
    if (scene->reference && &way == &all.front()) {
      for (const auto& line : reference_differences(*scene, played)) ADD_FAILURE() << line;
    }
    if (scene->stopped_after_end) {
      model::History stopped = scene->history;
      stopped.facts.stopped = true;
      EXPECT_EQ(model::play(stopped, way.options).judgement.status, played.judgement.status);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, CasesTest, testing::ValuesIn(ids_where(Fate::kRuns)), name_of);

// True if the row names a result of the rule. What is missing and not lost is sorted by the rule for lost, too.
bool names(const Expectation& expected, core::Code code) {
  const auto count = expected.counts.find(code);
  if (count != expected.counts.end() && count->second > 0) return true;
  if (code == core::Code::kDualOwner) return expected.not_checked.contains("dual-owner");
  if (code != core::Code::kLost) return false;
  const auto covers = [&](const char* item) { return expected.coverage.contains(item); };
  return expected.undecided > 0 || covers("expired") || covers("compacted") ||
         covers("unverifiable");
}

class RuleOffTest : public testing::TestWithParam<core::Code> {};

TEST_P(RuleOffTest, MakesExactlyTheRowsThatNameItFail) {
  model::PlayOptions options;
  options.judge.rule_off = GetParam();
  std::size_t named = 0;
  for (const auto& id : ids_where(Fate::kRuns)) {
    const auto file = load(id);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    const auto scene = make_scene(*file);
    ASSERT_TRUE(scene.has_value()) << scene.error().message;
    const bool differs = !differences(*scene, model::play(scene->history, options)).empty();
    EXPECT_EQ(differs, names(scene->expected, GetParam())) << id;
    named += names(scene->expected, GetParam()) ? 1U : 0U;
  }
  EXPECT_GT(named, 0U) << "no row names this code";
}

std::vector<core::Code> all_codes() {
  std::vector<core::Code> codes;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (!core::code_row(code).lab) codes.push_back(code);  // a row of cases is a proof
  }
  return codes;
}

std::string code_name_of(const testing::TestParamInfo<core::Code>& info) {
  std::string name(core::code_row(info.param).name);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codes, RuleOffTest, testing::ValuesIn(all_codes()), code_name_of);

class PendingTest : public testing::TestWithParam<std::string> {};

TEST_P(PendingTest, NamesTheIssueItComesWith) {
  const std::set<std::string> issues = {"The judge", "The service", "Every system"};
  const auto file = load(GetParam());
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(issues.contains(file->pending)) << file->pending;
  EXPECT_EQ(file->lines.size(), 1U) << "a pending row says nothing else";
}

INSTANTIATE_TEST_SUITE_P(Pending, PendingTest, testing::ValuesIn(ids_where(Fate::kIsPending)), name_of);

class ElsewhereTest : public testing::TestWithParam<std::string> {};

// tests/process/lab_test.cc judges every file of that table.
TEST_P(ElsewhereTest, IsThere) {
  const auto file = load(GetParam());
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->lines.size(), 1U) << "such a row says nothing else";
  if (!file->test.empty()) {
    const std::string source = read_text(std::filesystem::path(SP_TESTS) / file->test[0]);
    EXPECT_NE(source.find(", " + file->test[1] + ")"), std::string::npos) << file->test[1];
  }
  const std::filesystem::path folder(SP_CORPUS_LAB);
  const std::string table = read_text(folder / "README.md");
  for (const auto& name : file->corpus) {
    EXPECT_TRUE(std::filesystem::exists(folder / (name + ".jsonl"))) << name;
    EXPECT_NE(table.find("| `" + name + "` |"), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ElsewhereTest, testing::ValuesIn(ids_where(Fate::kIsElsewhere)), name_of);

TEST(CaseIdsTest, EveryRowOfThePageHasItsFileAndEveryFileItsRow) {
  const auto files = data_ids();
  const std::set<std::string> have(files.begin(), files.end());
  const std::set<std::string> want(std::begin(kIds), std::end(kIds));
  for (const auto& id : want) EXPECT_TRUE(have.contains(id)) << "row " << id << " has no data file";
  for (const auto& id : have) {
    EXPECT_TRUE(want.contains(id.substr(0, id.find('-'))))
        << "file " << id << ".case belongs to no row";
  }
}

TEST(CaseIdsTest, OnlyTheseRowsArePending) {
  const std::vector<std::string> expected = {"D21", "T10", "T5", "T6", "W9"};
  EXPECT_EQ(ids_where(Fate::kIsPending), expected);
}

TEST(CaseFileTest, ALineThatIsNotUnderstoodIsNamed) {
  const auto file = parse_case("X1", "acked k 0..9\nsing k\nend\n");
  ASSERT_TRUE(file.has_value());
  const auto scene = make_scene(*file);
  ASSERT_FALSE(scene.has_value());
  EXPECT_EQ(scene.error().message, "X1.case line 2: unknown verb 'sing'");
}

TEST(CaseFileTest, AWrongExpectationIsADifference) {
  const auto file = parse_case("X2",
                               "acked k 0..9\nopen L1 w0 c0 p0 start=0 gen=1\ndeliver L1 k "
                               "0..9\nend\nexpect verdict passed\nexpect lost 3\n");
  ASSERT_TRUE(file.has_value());
  const auto scene = make_scene(*file);
  ASSERT_TRUE(scene.has_value()) << scene.error().message;
  const auto played = model::play(scene->history);
  ASSERT_FALSE(differences(*scene, played).empty());
  EXPECT_EQ(differences(*scene, played).front(), "lost: expected 3, got 0");
  EXPECT_FALSE(reference_differences(*scene, played).empty());
}

}  // namespace
}  // namespace sp::cases

// Each check of this folder finds what it is there for, and leaves its lawful twin alone: rooms, registration,
// documents.
#include <gtest/gtest.h>

#include "tidy/documents.h"
#include "tidy/registered.h"
#include "tidy/rooms.h"

namespace sp::tidy {
namespace {

File file(std::string path, std::string text) {
  const auto bytes = text.size();
  return {.path = std::move(path), .text = std::move(text), .bytes = bytes};
}

const char kRooms[] =
    "sp_room(base LINKS fmt::fmt)\n"
    "sp_room(codec USES)\n"
    "sp_room(core USES codec)  # a comment\n"
    "sp_room(track USES core)\n"
    "sp_room(driver LEVEL_ONLY USES core)\n"
    "sp_room(driver/kafka USES core driver LINKS sp_rdkafka)\n"
    "sp_room(cli LINKS CLI11::CLI11 USES core\n  track driver/kafka)\n";

// The house with one more file.
class HouseTest : public testing::Test {
 protected:
  Violations includes(const std::string& path, const std::string& text) {
    tree_.push_back(file(path, text));
    return check_room_includes(tree_, rooms_);
  }
  Violations outside(const std::string& path, const std::string& text) {
    return check_outside_headers({file(path, text)}, rooms_);
  }

  std::vector<Room> rooms_ = parse_rooms(kRooms);
  Tree tree_ = {file("src/base/result.h", ""),        file("src/codec/crc.h", ""),
                file("src/codec/detail/table.h", ""), file("src/core/ids.h", ""),
                file("src/track/ledger.h", ""),       file("src/driver/driver.h", ""),
                file("src/driver/kafka/kafka.h", ""), file("tests/support/world.h", "")};
};

TEST_F(HouseTest, TheTableHasEveryRoomWithItsUses) {
  ASSERT_EQ(rooms_.size(), 7U);
  EXPECT_EQ(rooms_[2].name, "core");
  EXPECT_EQ(rooms_[2].uses, std::vector<std::string>{"codec"});
  EXPECT_EQ(rooms_[5].uses, (std::vector<std::string>{"core", "driver"}));
  EXPECT_EQ(rooms_[6].uses, (std::vector<std::string>{"core", "track", "driver/kafka"}));
}

TEST_F(HouseTest, AFileBelongsToTheInnermostRoom) {
  EXPECT_EQ(room_of(rooms_, "src/driver/kafka/kafka.h"), "driver/kafka");
  EXPECT_EQ(room_of(rooms_, "src/driver/driver.h"), "driver");
  EXPECT_EQ(room_of(rooms_, "tests/driver/x.cc"), "");
}

TEST_F(HouseTest, OwnBaseAndUsedRoomsMayBeIncluded) {
  EXPECT_EQ(text(includes("src/track/a.cc",
                          "#include \"track/ledger.h\"\n#include \"base/result.h\"\n#include \"core/ids.h\"\n")),
            "");
}

TEST_F(HouseTest, AnUpwardIncludeIsFound) {
  EXPECT_EQ(text(includes("src/core/a.cc", "\n#include \"track/ledger.h\"\n")),
            "src/core/a.cc:2: room core may not include room track: it may use base codec (CMakeLists.txt)\n");
}

TEST_F(HouseTest, ARoomReachedOnlyThroughAnotherIsFound) {
  EXPECT_EQ(includes("src/track/a.cc", "#include \"codec/crc.h\"\n").size(), 1U);
}

TEST_F(HouseTest, AnotherRoomsDetailIsFound) {
  EXPECT_EQ(includes("src/core/a.cc", "#include \"codec/detail/table.h\"\n").size(), 1U);
  tree_.pop_back();
  EXPECT_EQ(text(includes("src/codec/a.cc", "#include \"codec/detail/table.h\"\n")), "");
}

TEST_F(HouseTest, RelativeIncludesAreFound) {
  EXPECT_EQ(includes("src/driver/a.cc", "#include \"../core/ids.h\"\n").size(), 1U);
  EXPECT_EQ(includes("src/driver/b.cc", "#include \"kafka/kafka.h\"\n").size(), 2U) << "the one before and this one";
}

TEST_F(HouseTest, AFileWithoutARoomIsFound) { EXPECT_EQ(includes("src/attic/a.cc", "").size(), 1U); }

TEST_F(HouseTest, TestsSeeEveryRoomAndTheirOwnHelpers) {
  EXPECT_EQ(text(includes("tests/unit/core/a_test.cc", "#include \"track/ledger.h\"\n#include \"support/world.h\"\n")),
            "");
  EXPECT_EQ(includes("tests/unit/core/b_test.cc", "#include \"support/no.h\"\n").size(), 1U);
}

TEST_F(HouseTest, IncludesInCommentsAndLiteralsAreNone) {
  EXPECT_EQ(text(includes("src/core/a.cc",
                          "// #include \"track/ledger.h\"\nauto s = R\"(\n#include \"track/ledger.h\"\n)\";\n")),
            "");
}

TEST_F(HouseTest, OutsideHeadersStandInTheirRoom) {
  EXPECT_EQ(text(outside("src/driver/kafka/a.cc", "#include <librdkafka/rdkafka.h>\n")), "");
  EXPECT_EQ(text(outside("src/track/a.cc", "#include <vector>\n#include <tl/expected.hpp>\n#include <fmt/format.h>\n")),
            "");
  EXPECT_EQ(text(outside("src/cli/a.cc", "#include <CLI/CLI.hpp>\n")), "");
}

TEST_F(HouseTest, OutsideHeadersElsewhereAreFound) {
  EXPECT_EQ(text(outside("src/track/a.cc", "#include <librdkafka/rdkafka.h>\n")),
            "src/track/a.cc:1: outside header <librdkafka/rdkafka.h> may stand in driver/kafka only\n");
  EXPECT_EQ(outside("src/core/a.cc", "#include <CLI/CLI.hpp>\n").size(), 1U);
  EXPECT_EQ(outside("src/base/text.cc", "#include <spdlog/spdlog.h>\n").size(), 1U) << "in base, but not in log.cc";
  EXPECT_EQ(outside("src/core/a.h", "#include <fmt/format.h>\n").size(), 1U);
  EXPECT_EQ(outside("src/core/a.cc", "#include <sys/socket.h>\n").size(), 1U);
}

TEST_F(HouseTest, AnUnknownOutsideHeaderIsFound) {
  EXPECT_EQ(outside("src/core/a.cc", "#include <boost/any.hpp>\n").size(), 1U);
}

TEST_F(HouseTest, ARoomWithoutReadmeIsFound) {
  EXPECT_EQ(check_room_readmes({file("src/core/ids.h", "")}, rooms_).size(), 1U);
  EXPECT_EQ(text(check_room_readmes({file("src/core/README.md", "# core\n"), file("src/core/ids.h", "")}, rooms_)), "");
}

TEST(RegisteredTest, ATestThatNobodyBuildsIsFound) {
  const Tree tree = {file("tests/unit/core/a_test.cc", "TEST(A, B) {}"),
                     file("tests/fuzz/b_fuzz.cc", "LLVMFuzzerTestOneInput")};
  EXPECT_EQ(text(check_tests_registered(tree, {"tests/fuzz/b_fuzz.cc", "tests/unit/core/a_test.cc"})), "");
  EXPECT_EQ(check_tests_registered(tree, {"tests/fuzz/b_fuzz.cc"}).size(), 1U);
  EXPECT_EQ(check_tests_registered(tree, {"tests/unit/core/a_test.cc"}).size(), 1U);
}

TEST(RegisteredTest, ATestFileWithoutATestIsFound) {
  EXPECT_EQ(check_tests_registered({file("tests/a_test.cc", "// TEST(A, B)\n")}, {"tests/a_test.cc"}).size(), 1U);
}

TEST(RegisteredTest, ARuleWithoutItsPairOfTestsIsFound) {
  const Tree tree = {file("src/judge/rules/commit_ahead.cc", "")};
  const CaseRow failing =
      parse_case_row("# why\nexpect verdict failed\nexpect lost 2\nexpect commit-ahead 5 allowed=0\n");
  const CaseRow passing = parse_case_row("expect verdict passed\nexpect commit-ahead 0  # none\nexpect exit 0\n");
  EXPECT_EQ(text(check_rules_have_cases(tree, {failing, passing})), "");
  EXPECT_EQ(check_rules_have_cases(tree, {failing}).size(), 1U);
  EXPECT_EQ(check_rules_have_cases(tree, {passing}).size(), 1U);
  EXPECT_EQ(check_rules_have_cases(tree, std::vector<CaseRow>{}).size(), 2U);
}

TEST(RegisteredTest, FilesOfTheCorpusAreCasesToo) {
  const Tree tree = {file("src/judge/rules/skip.cc", "")};
  constexpr std::string_view kBad = "| `skip-bad` | it jumps | failed | 1 | lost 1, skip 2 | | |\n";
  constexpr std::string_view kGood = "| `skip-good` | it does not | clean | 0 | | | |\n";
  const auto found = [&](std::string_view table) { return check_rules_have_cases(tree, parse_corpus_table(table)).size(); };
  EXPECT_EQ(found(std::string(kBad) + std::string(kGood)), 0U);
  EXPECT_EQ(found(kBad), 1U);
  EXPECT_EQ(found(kGood), 1U);
  EXPECT_EQ(found("| `skip-bad` | it jumps | clean | 0 | skip 2 | | |\n| `lost-good` | no | clean | 0 | | | |\n"), 2U);
}

TEST(RegisteredTest, AFailingCaseThatCountsNothingOrIsPendingIsNone) {
  const Tree tree = {file("src/judge/rules/lost.cc", ""),
                     file("tests/cases/data/L1.case", "expect verdict failed\nexpect lost 0\n"),
                     file("tests/cases/data/L2.case", "pending \"The judge\"\nexpect verdict failed\nexpect lost 1\n"),
                     file("tests/cases/data/L3.case", "expect verdict passed\nexpect lost 0\n")};
  EXPECT_EQ(text(check_rules_have_cases(tree)),
            "src/judge/rules/lost.cc: no case of tests/cases/data fails and counts lost\n");
}

TEST(DocumentsTest, OneTitleIsWanted) {
  EXPECT_EQ(text(check_titles({file("a.md", "# A\n\n```sh\n# a comment\n```\n## B\n")})), "");
  EXPECT_EQ(check_titles({file("a.md", "# A\n# B\n")}).size(), 1U);
  EXPECT_EQ(check_titles({file("a.md", "A\n")}).size(), 2U);
}

TEST(DocumentsTest, LinksThatLeadNowhereAreFound) {
  const File other = file("docs/b.md", "# B\n## One, two\n");
  EXPECT_EQ(text(check_links(
                {file("a.md", "[b](docs/b.md) [two](docs/b.md#one-two) [web](https://example.org/x) `[x](no.md)`\n"),
                 other})),
            "");
  EXPECT_EQ(check_links({file("a.md", "[b](docs/c.md)\n"), other}).size(), 1U);
  EXPECT_EQ(check_links({file("a.md", "[b](docs/b.md#three)\n"), other}).size(), 1U);
  EXPECT_EQ(check_links({file("docs/a.md", "[b](../../b.md)\n"), other}).size(), 1U);
  EXPECT_EQ(text(check_links({file("docs/a.md", "[b](b.md) [all](../docs)\n"), other})), "");
}

TEST(DocumentsTest, TheChangelogKeepsItsShape) {
  const auto check = [](const std::string& text) {
    return check_changelog({file("CHANGELOG.md", text)}, "0.1.0").size();
  };
  EXPECT_EQ(check("# Changelog\n\n## Unreleased\n\n### Judging\n\n* a\n  b\n\n### Internals\n\n* c\n"), 0U);
  EXPECT_EQ(check("# Changelog\n\n## 0.1.0 – 2026-11-29\n\n### Features\n\n* c\n"), 0U);
  EXPECT_EQ(check("# Changelog\n\n## 0.0.9 – 2026-11-29\n\n### Features\n\n* c\n"), 1U)
      << "no section for this version";
  EXPECT_EQ(check("# Changelog\n\n## Unreleased\n\n### Features\n\n* c\n\n### Judging\n\n* d\n"), 1U) << "order";
  EXPECT_EQ(check("# Changelog\n\n## Unreleased\n\n### Added\n"), 1U) << "bucket";
  EXPECT_EQ(check("# Changelog\n\n## Soon\n\n## Unreleased\n"), 1U) << "section";
  EXPECT_EQ(check("# Changelog\n\n## Unreleased\n\n### Features\n\n- c\n"), 1U) << "entry";
  EXPECT_EQ(check_changelog({}, "0.1.0").size(), 1U);
  EXPECT_EQ(version_of("project(streaming-proof VERSION 0.1.0 LANGUAGES C)"), "0.1.0");
}

TEST(DocumentsTest, AHeavyFileIsFound) {
  EXPECT_EQ(check_sizes({{.path = "a.bin", .text = "", .bytes = 400'001}}).size(), 1U);
  EXPECT_EQ(text(check_sizes({{.path = "a.bin", .text = "", .bytes = 400'000}})), "");
}

TEST(DocumentsTest, ResultsOfAnUnknownOrDirtyCommitAreFound) {
  const auto check = [](const std::string& json) {
    return check_results({file("docs/results/a.json", json)}, [](const std::string& commit) { return commit == "abc"; })
        .size();
  };
  EXPECT_EQ(check("{\"commit\": \"abc\", \"dirty\": false}"), 0U);
  EXPECT_EQ(check("{\"commit\": \"abd\", \"dirty\": false}"), 1U);
  EXPECT_EQ(check("{\"commit\": \"abc\", \"dirty\": true}"), 1U);
  EXPECT_EQ(check("{\"commit\": \"abc-dirty\"}"), 1U);
  EXPECT_EQ(check("{}"), 1U);
}

}  // namespace
}  // namespace sp::tidy

// The checks of this folder on the real tree. A failure lists what is wrong, where, and what to do instead.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tidy/documents.h"
#include "tidy/registered.h"
#include "tidy/rooms.h"
#include "tidy/words.h"

namespace sp::tidy {
namespace {

class TreeTest : public testing::Test {
 protected:
  static const Tree& tree() {
    static const Tree tree = load_tree(SP_SOURCE_DIR);
    return tree;
  }
  static std::string_view cmake() {
    const File* file = find(tree(), "CMakeLists.txt");
    return file == nullptr ? std::string_view() : file->text;
  }
  static std::vector<Room> rooms() { return parse_rooms(cmake()); }
};

// True if git knows `commit` as an ancestor of what is checked out, or as that itself.
bool is_ancestor(const std::string& commit) {
  if (commit.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  const std::string command = "git -C '" SP_SOURCE_DIR "' merge-base --is-ancestor " + commit + " HEAD 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

TEST_F(TreeTest, HasRoomsAndFiles) {
  EXPECT_GE(rooms().size(), 15U);
  EXPECT_NE(find(tree(), "src/core/range_set.h"), nullptr);
}
TEST_F(TreeTest, RoomsIncludeOnlyWhatTheyMay) { EXPECT_EQ(text(check_room_includes(tree(), rooms())), ""); }
TEST_F(TreeTest, OutsideHeadersStandInTheirRooms) { EXPECT_EQ(text(check_outside_headers(tree(), rooms())), ""); }
TEST_F(TreeTest, EveryRoomHasItsReadme) { EXPECT_EQ(text(check_room_readmes(tree(), rooms())), ""); }
TEST_F(TreeTest, NoBannedWords) { EXPECT_EQ(text(check_banned_words(tree())), ""); }
TEST_F(TreeTest, ExceptionsHaveReasons) { EXPECT_EQ(text(check_words_with_reason(tree())), ""); }
TEST_F(TreeTest, FilesAreShort) { EXPECT_EQ(text(check_file_length(tree())), ""); }
TEST_F(TreeTest, FunctionsAreShort) { EXPECT_EQ(text(check_function_length(tree())), ""); }
TEST_F(TreeTest, LinesAreShort) { EXPECT_EQ(text(check_line_length(tree())), ""); }
TEST_F(TreeTest, HeadersAreContracts) { EXPECT_EQ(text(check_contract_comments(tree())), ""); }
TEST_F(TreeTest, MarkdownHasOneTitle) { EXPECT_EQ(text(check_titles(tree())), ""); }
TEST_F(TreeTest, LinksLeadSomewhere) { EXPECT_EQ(text(check_links(tree())), ""); }
TEST_F(TreeTest, ChangelogHasItsShape) { EXPECT_EQ(text(check_changelog(tree(), version_of(cmake()))), ""); }
TEST_F(TreeTest, NoFileIsHeavy) { EXPECT_EQ(text(check_sizes(tree())), ""); }
TEST_F(TreeTest, ResultsAreOfCommitsThatCount) { EXPECT_EQ(text(check_results(tree(), is_ancestor)), ""); }

TEST_F(TreeTest, EveryRuleHasItsPairOfCases) { EXPECT_EQ(text(check_rules_have_cases(tree())), ""); }

TEST_F(TreeTest, EveryTestIsBuiltAndRun) {
  std::vector<std::string> sources;
  std::ifstream list(SP_BUILD_DIR "/test_sources.txt");
  for (std::string line; std::getline(list, line);) sources.push_back(line);
  ASSERT_FALSE(sources.empty());
  EXPECT_EQ(text(check_tests_registered(tree(), sources)), "");
}

}  // namespace
}  // namespace sp::tidy

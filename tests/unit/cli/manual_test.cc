// The manual says what the code has, and what headers name as their source is there.
#include "cli/manual.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/capture.h"

namespace sp::cli {
namespace {

std::filesystem::path manual_root() {
  return std::filesystem::weakly_canonical(std::filesystem::path(__FILE__).parent_path() /
                                           "../../..");
}

std::string manual_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Outcome manual(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "manual");
  return call(arguments);
}

TEST(ManualTest, EveryPageIsWhatTheCodeSays) {
  for (const auto name : manual_pages()) {
    const std::string page(name);
    const auto made = manual({page});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(manual_file(manual_root() / "docs/reference" / (page + ".md")) == made.out)
        << "the code has changed; make the page anew:\n  bin/streaming-proof manual " << page
        << " > docs/reference/" << page << ".md";
  }
}

TEST(ManualTest, APageThatIsNotThereIsRefusedWithAllThatAre) {
  const auto outcome = manual({"poem"});
  EXPECT_EQ(outcome.code, kExitCouldNotRun);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::HasSubstr("'poem'"));
  for (const auto name : manual_pages())
    EXPECT_THAT(outcome.err, testing::HasSubstr(std::string(name)));
}

TEST(ManualTest, CommandsHaveASectionEachAndTheManualItselfHasNone) {
  const auto page = manual({"commands"}).out;
  for (const char* title :
       {"## streaming-proof\n", "## streaming-proof run\n", "## streaming-proof cluster down\n"})
    EXPECT_THAT(page, testing::HasSubstr(title));
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("## streaming-proof manual")));
}

// ── "Source:" of headers ──

// What follows "Source:" in the comments of a header, with the lines that go on with it.
std::vector<std::string> sources_in(std::string_view header) {
  std::vector<std::string> found;
  bool goes_on = false;
  while (!header.empty()) {
    const auto end = std::min(header.find('\n'), header.size());
    const auto line = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    const auto at = line.find("Source:");
    if (line.starts_with("//") && at != std::string_view::npos) {
      found.emplace_back(line.substr(at + 7));
      goes_on = true;
    } else if (goes_on && line.starts_with("//     ")) {
      found.back() += line.substr(2);
    } else {
      goes_on = false;
    }
  }
  return found;
}

bool has_section(std::string_view page, std::string_view begin, bool whole) {
  for (std::size_t at = page.find('#'); at != std::string_view::npos; at = page.find('#', at + 1)) {
    if (at > 0 && page[at - 1] != '\n') continue;
    auto title = page.substr(at, page.find('\n', at) - at);
    title.remove_prefix(std::min(title.find_first_not_of("# "), title.size()));
    if (whole ? title == begin : title.starts_with(std::string(begin) + " ")) return true;
  }
  return false;
}

bool in_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' || c == '_' ||
         c == '.';
}

// What is wrong with the first page named in `source`, and the rest of it; nothing when it names
// none.
std::optional<std::string> check_page(std::string_view& source,
                                      const std::filesystem::path& folder) {
  const auto at = source.find(".md");
  if (at == std::string_view::npos) return std::nullopt;
  auto begin = at;
  while (begin > 0 && in_path(source[begin - 1])) --begin;
  const std::string name(source.substr(begin, at + 3 - begin));
  source.remove_prefix(at + 3);
  const bool of_room = source.starts_with(" of this room");
  const auto path = of_room ? folder / name : manual_root() / name;
  if (!std::filesystem::exists(path)) return name + " is not there";
  const auto page = manual_file(path);
  if (source.starts_with(", \"")) {
    const auto title = source.substr(3, source.find('"', 3) - 3);
    if (!has_section(page, title, true))
      return name + " has no section \"" + std::string(title) + "\"";
  } else if (source.size() > 1 && source[0] == ' ' &&
             std::isdigit(static_cast<unsigned char>(source[1])) != 0) {
    const auto number = source.substr(1, source.find_first_not_of("0123456789", 1) - 1);
    if (!has_section(page, number, false)) return name + " has no section " + std::string(number);
  }
  return "";
}

std::vector<std::string> wrong_sources(std::string_view header,
                                       const std::filesystem::path& folder) {
  std::vector<std::string> wrong;
  for (std::string source : sources_in(header)) {
    constexpr std::string_view kModel = "the checking model";
    const auto model = source.find(kModel);
    if (model != std::string::npos)
      source.replace(model, kModel.size(), "docs/reference/checking-model.md");
    std::string_view rest = source;
    while (const auto problem = check_page(rest, folder)) {
      if (!problem->empty()) wrong.push_back(*problem);
    }
  }
  return wrong;
}

TEST(SourcesTest, PagesAndSectionsThatHeadersNameAreThere) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(manual_root() / "src")) {
    if (entry.path().extension() != ".h") continue;
    ++seen;
    EXPECT_THAT(wrong_sources(manual_file(entry.path()), entry.path().parent_path()),
                testing::IsEmpty())
        << entry.path();
  }
  EXPECT_GT(seen, 50U);
}

TEST(SourcesTest, AMissingPageOrSectionIsFound) {
  const auto folder = manual_root() / "src/core";
  const auto wrong = [&](std::string_view text) { return wrong_sources(text, folder); };
  EXPECT_THAT(wrong("// Source: docs/no.md.\n"), testing::ElementsAre("docs/no.md is not there"));
  EXPECT_THAT(wrong("// Source: docs/algebra.md 99.\n"),
              testing::ElementsAre("docs/algebra.md has no section 99"));
  EXPECT_THAT(wrong("// Cost: 1.   Source: ARCHITECTURE.md, \"Poems\".\n"),
              testing::ElementsAre("ARCHITECTURE.md has no section \"Poems\""));
  EXPECT_THAT(
      wrong("// Source:   docs/algebra.md 3; RFC 8259;\n//           STYLE.md 5.\n#pragma once\n"),
      testing::IsEmpty());
  EXPECT_THAT(wrong("// Source: README.md of this room.\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace sp::cli

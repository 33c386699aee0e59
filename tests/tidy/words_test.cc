// Each check of words and lengths finds what it is there for, and leaves its lawful twin alone.
#include "tidy/words.h"

#include <gtest/gtest.h>

namespace sp::tidy {
namespace {

Tree one(std::string path, std::string text) {
  return {File{.path = std::move(path), .text = std::move(text), .bytes = 0}};
}

std::string repeated(const std::string& line, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += line;
  return text;
}

TEST(CodeOnlyTest, CommentsAndLiteralsAreBlanks) {
  EXPECT_EQ(code_only("f(\"a{b\");  // note {"), "f(\"   \");           ");
  EXPECT_EQ(code_only("a /* {\n} */ b"), "a     \n     b");
  EXPECT_EQ(code_only("c = '{'; n = 1'000'000;"), "c = ' '; n = 1'000'000;");
  EXPECT_EQ(code_only("s = R\"x(\"{)\")x\"; }"), "s = R\"        \"; }");
  EXPECT_EQ(code_only("s = \"\\\"{\"; }"), "s = \"   \"; }");
}

TEST(BannedWordsTest, EachIsFoundInCode) {
  for (const char* line :
       {"auto t = std::chrono::steady_clock::now();", "auto t = system_clock::now();", "std::random_device d;",
        "std::uniform_int_distribution<int> d;", "std::this_thread::sleep_for(1s);", "std::regex r;", "std::cout << 1;",
        "t.detach();", "throw 1;", "int r = rand();"}) {
    EXPECT_EQ(check_banned_words(one("src/core/a.cc", line)).size(), 1U) << line;
  }
  EXPECT_EQ(text(check_banned_words(one("src/core/a.cc", "\nthread.detach();"))),
            "src/core/a.cc:2: 'detach(' is banned: use std::jthread with a stop_token: nothing is detached\n");
}

TEST(BannedWordsTest, TheirHomesCommentsLiteralsAndOtherWordsAreLeftAlone) {
  EXPECT_EQ(text(check_banned_words(one("src/base/clock.cc", "return std::chrono::steady_clock::now();"))), "");
  EXPECT_EQ(text(check_banned_words(one("src/cli/main.cc", "std::cout << 1;"))), "");
  EXPECT_EQ(text(check_banned_words(one("src/core/a.cc", "// throw\nauto s = \"throw\"; int brand(int); throwing();"))),
            "");
}

TEST(WordsWithReasonTest, ThoseWithoutAreFound) {
  EXPECT_EQ(check_words_with_reason(one("src/core/a.h", "std::shared_ptr<int> a;\n")).size(), 1U);
  EXPECT_EQ(check_words_with_reason(one("src/core/a.h", "int a;  // NOLINT\n")).size(), 1U);
  EXPECT_EQ(check_words_with_reason(one("src/core/a.h", "int a;  // TODO: b\n")).size(), 1U);
}

TEST(WordsWithReasonTest, ThoseWithOneAreLeftAlone) {
  EXPECT_EQ(text(check_words_with_reason(
                one("src/core/a.h",
                    "// Shared by all consumers of a driver: the last one closes it.\nstd::shared_ptr<int> a;\n"
                    "std::shared_ptr<int> b;  // shared with the library\n"
                    "int c;  // NOLINT(performance-x): the library wants it so\nint d;  // TODO(#12): e\n"))),
            "");
}

TEST(LengthTest, LongFilesAreFoundAndTestsMayBeLonger) {
  EXPECT_EQ(check_file_length(one("src/a.cc", repeated("\n", 501))).size(), 1U);
  EXPECT_EQ(check_file_length(one("tests/a.cc", repeated("\n", 501))).size(), 0U);
  EXPECT_EQ(check_file_length(one("tests/a.cc", repeated("\n", 801))).size(), 1U);
}

TEST(LengthTest, LongLinesAreCountedInColumns) {
  EXPECT_EQ(check_line_length(one("src/a.cc", repeated("x", kLineColumnsMax + 1))).size(), 1U);
  EXPECT_EQ(check_line_length(one("src/a.cc", repeated("–", kLineColumnsMax))).size(), 0U);
}

TEST(FunctionLengthTest, SeventyLinesPassAndOneMoreDoesNot) {
  const auto check = [](const std::string& head, std::size_t lines, const std::string& tail = "") {
    return check_function_length(one("src/core/a.cc", "namespace sp {\n" + head + " {\n" +
                                                          repeated("  x = {1};\n", lines - 1) + "}\n" + tail + "}\n"))
        .size();
  };
  for (const char* head :
       {"int f()", "int A::f(int a) const", "auto f() -> std::vector<int>", "A::A(int b) : a_{b}, c_(1)", "TEST(A, B)",
        "template <typename T>\nT f(T t) noexcept", "class A {\n int f()", "A::A()\n    : a_{1},\n      b_{2}"}) {
    const std::string tail = std::string(head).starts_with("class") ? "};\n" : "";
    EXPECT_EQ(check(head, 70, tail), 0U) << head;
    EXPECT_EQ(check(head, 71, tail), 1U) << head;
  }
}

TEST(FunctionLengthTest, TablesNamespacesAndClassesMayBeLong) {
  EXPECT_EQ(
      check_function_length(one("src/a.cc", "constexpr std::array kRows = {\n" + repeated("Row{1},\n", 100) + "};\n"))
          .size(),
      0U);
  EXPECT_EQ(check_function_length(one("src/a.cc", "namespace {\n" + repeated("int f();\n", 100) + "}\n")).size(), 0U);
  EXPECT_EQ(check_function_length(one("src/a.h", "template <typename T>\nclass A final : public B<T> {\n" +
                                                     repeated("int f() { return 1; }\n", 100) + "};\n"))
                .size(),
            0U);
}

TEST(ContractTest, AHeaderWithoutItsContractIsFound) {
  EXPECT_EQ(text(check_contract_comments(one("src/a.h", "// What it is.\n//\n// Cost: none.\n#pragma once\n"))), "");
  EXPECT_EQ(check_contract_comments(one("src/a.h", "// What it is.\n#pragma once\n// Cost: none.\n")).size(), 1U);
  EXPECT_EQ(check_contract_comments(one("tests/a.h", "// What it is.\n#pragma once\n")).size(), 0U);
  EXPECT_EQ(check_contract_comments(one("tests/a.h", "#pragma once\n")).size(), 1U);
  EXPECT_EQ(check_contract_comments(one("src/a.h", "#pragma once\n")).size(), 1U);
  EXPECT_EQ(check_contract_comments(one("src/a.h", "// Cost: none.\n")).size(), 1U);
}

}  // namespace
}  // namespace sp::tidy

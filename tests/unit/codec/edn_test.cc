#include "codec/edn.h"

#include <cmath>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::codec {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Nodes = std::span<const EdnNode>;

std::string picture(Nodes nodes, std::size_t index) {
  const EdnNode& node = nodes[index];
  const auto children = [&](std::string open, const std::string& close) {
    for (std::size_t at = index + 1; at < node.end; at = nodes[at].end) {
      open += (open.size() > 1 && open.back() != '{' ? " " : "") + picture(nodes, at);
    }
    return open + close;
  };
  switch (node.kind) {
    case EdnNode::Kind::kNil: return "nil";
    case EdnNode::Kind::kBool: return node.yes ? "yes" : "no";
    case EdnNode::Kind::kInteger: return std::to_string(node.number);
    case EdnNode::Kind::kBig: return "big";
    case EdnNode::Kind::kRatio: return "ratio";
    case EdnNode::Kind::kReal: return std::isnan(node.real) ? "~nan" : "~" + std::to_string(node.real);
    case EdnNode::Kind::kString: return "'" + std::string(node.text) + "'";
    case EdnNode::Kind::kCharacter: return "char " + std::string(node.text);
    case EdnNode::Kind::kKeyword: return ":" + std::string(node.text);
    case EdnNode::Kind::kSymbol: return std::string(node.text);
    case EdnNode::Kind::kList: return children("(", ")");
    case EdnNode::Kind::kVector: return children("[", "]");
    case EdnNode::Kind::kMap: return children("{", "}");
    case EdnNode::Kind::kSet: return children("#{", "}");
    case EdnNode::Kind::kTagged: return children("<" + std::string(node.text), ">");
  }
  return "";
}

// All forms with " | " between them, or the error. With pieces of 1 byte every form is torn somewhere.
std::string read_edn(std::string_view text, std::size_t piece = 1000, bool accept_torn = false) {
  EdnReader reader(std::make_unique<TextSource>(text), "f", {.read_bytes = piece, .accept_torn = accept_torn});
  std::string all;
  while (true) {
    const auto form = reader.next();
    if (!form) return form.error().message;
    if (form->empty()) return all + (reader.torn_line() == 0 ? "" : " torn at line " + std::to_string(reader.torn_line()));
    all += (all.empty() ? "" : " | ") + picture(*form, 0);
  }
}

struct Row {
  std::string_view text;
  std::string_view read;
};

TEST(EdnTest, EveryKindOfForm) {
  constexpr Row kRows[] = {
      {"nil true false", "nil | yes | no"},
      {"0 7 -7 +7 7N -0", "0 | 7 | -7 | 7 | 7 | 0"},
      {"9223372036854775807 -9223372036854775808 9223372036854775808 123456789012345678901234N",
       "9223372036854775807 | -9223372036854775808 | big | big"},
      {"7/2 -1/3", "ratio | ratio"},
      {"1.5 -1.5 1.5M 1e3 1.5E-3 1e999", "~1.500000 | ~-1.500000 | ~1.500000 | ~1000.000000 | ~0.001500 | big"},
      {"##Inf ##-Inf ##NaN", "~inf | ~-inf | ~nan"},
      {R"("" "a" "a\"b\\c\n\t\r\b\f" "\u00e9\uD83D\uDE00" "\101\7x")", "'' | 'a' | 'a\"b\\c\n\t\r\b\f' | 'é😀' | 'A\ax'"},
      {R"(\a \newline \space \tab \return \( \é \u0041 \o101 \u)",
       "char a | char \n | char   | char \t | char \r | char ( | char é | char A | char A | char u"},
      {":a :a/b :a.b/c-d? :0 :é", ":a | :a/b | :a.b/c-d? | :0 | :é"},
      {"a a/b / + - -a .b user/-> nil? é", "a | a/b | / | + | - | -a | .b | user/-> | nil? | é"},
      {"x [1 [2 []] ] (1) #{1 2} {} {:a 1, [2] {}}", "x | [1 [2 []]] | (1) | #{1 2} | {} | {:a 1 [2] {}}"},
      {R"(#inst "2026" #jepsen.history.Op{:a 1} #a #b c)", "<inst '2026'> | <jepsen.history.Op {:a 1}> | <a <b c>>"},
      {"1 ; one\n 2 #_ 3 #_ #_ 4 5 [6 #_ 7] {:a #_ :b 1} ;end", "1 | 2 | [6] | {:a 1}"},
      {"", ""},
      {" ,\t\n ; nothing", ""},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(read_edn(row.text), row.read) << row.text;
    EXPECT_EQ(read_edn(row.text, 1), row.read) << "byte by byte: " << row.text;
  }
}

TEST(EdnTest, AVectorOrListAroundAllIsReadItemByItem) {
  EXPECT_EQ(read_edn("[{:a 1}\n #_ 2 {:a 3}] ; end"), "{:a 1} | {:a 3}");
  EXPECT_EQ(read_edn("#_ 0 ({} [1])"), "{} | [1]");
  EXPECT_EQ(read_edn("[]"), "");
  EXPECT_EQ(read_edn("1 [2]"), "1 | [2]") << "only the first thing of the file is around all";
  EXPECT_EQ(read_edn("[1] 2"),
            "f line 1 column 5: something stands behind the list of operations: a file is one list, or forms side by side");
  EXPECT_THAT(read_edn("[1"), StartsWith("f line 1 column 3: the file ends within"));
}

TEST(EdnTest, WhatIsWrongIsToldWithItsPlace) {
  constexpr Row kRows[] = {
      {"1\n )", "f line 2 column 2: ')' closes nothing"},
      {"{:a 1\n :b}", "f line 1 column 1: a map holds 3 forms"},
      {"[0]\n", "0"},
      {"{:a 007}", "f line 1 column 5: a number does not begin with 0"},
      {"1a", "f line 1 column 1: this is no number"},
      {"1.2.3", "f line 1 column 1: this is no number"},
      {"x {1 2]", "f line 1 column 7: ']' closes nothing"},
      {R"("\q")", "f line 1 column 2: unknown escape"},
      {R"("\u12g4")", "f line 1 column 3: \\u needs four"},
      {R"("\ud800")", "f line 1 column 2: half of a pair"},
      {R"("\ud800\u0041")", "f line 1 column 2: half of a pair"},
      {R"("\udc00")", "f line 1 column 2: half of a pair"},
      {R"("\777")", "f line 1 column 2: an octal escape ends at"},
      {R"(\word)", "f line 1 column 1: unknown character"},
      {R"(\ud800)", "f line 1 column 1: unknown character"},
      {"##Huge", "f line 1 column 1: '##' opens"},
      {"#\"a+\"", "f line 1 column 1: '#' opens"},
      {"#:a{:b 1}", "f line 1 column 1: '#' opens"},
      {"::a", "f line 1 column 1: this is no EDN form"},
      {"x @y", "f line 1 column 3: this is no EDN form"},
      {"^a b", "f line 1 column 1: this is no EDN form"},
      {"a/b/c", "f line 1 column 1: this is no EDN form"},
      {"x \"\xff\"", "f line 1 column 4: this is not UTF-8"},
      {"{:a 1} {:b", "f line 1 column 8: the file ends within"},
      {"x \"abc", "f line 1 column 3: the file ends within"},
      {"#_", "f line 1 column 1: the file ends within"},
      {"#a", "f line 1 column 1: the file ends within"},
  };
  for (const Row& row : kRows) {
    EXPECT_THAT(read_edn(row.text), StartsWith(std::string(row.read))) << row.text;
    EXPECT_THAT(read_edn(row.text, 1), StartsWith(std::string(row.read))) << "byte by byte: " << row.text;
  }
}

TEST(EdnTest, LimitsHoldAndNothingGrowsWithWhatIsSkipped) {
  const std::string deep = "x " + std::string(kEdnDepthMax, '[') + std::string(kEdnDepthMax, ']');
  EXPECT_THAT(read_edn(deep), StartsWith("x | [["));
  EXPECT_THAT(read_edn("x " + std::string(kEdnDepthMax + 1, '[')),
              StartsWith("f line 1 column 103: forms are nested more than 100 deep"));
  std::string discards;
  for (std::size_t i = 0; i <= kEdnDepthMax; ++i) discards += "#_ ";
  EXPECT_THAT(read_edn(discards), HasSubstr("forms are nested more than 100 deep"));
  EXPECT_THAT(read_edn("x [" + std::string(2 * kEdnNodesMax, '1').replace(1, 1, " ") + "]"), HasSubstr("big]"));
  std::string many = "x [";
  for (std::size_t i = 0; i < kEdnNodesMax; ++i) many += "1 ";
  EXPECT_THAT(read_edn(many + "]", 1U << 20U), HasSubstr("one form holds more than 1048576 values"));
  EXPECT_THAT(read_edn("x \"" + std::string(kEdnFormBytesMax, 'a') + "\"", 1U << 22U),
              HasSubstr("one form has more than 16777216 bytes"));
  EXPECT_EQ(read_edn("1" + std::string(kEdnFormBytesMax + 10, ' ') + "2", 1U << 20U), "1 | 2");
}

TEST(EdnTest, WhatIsCutOffMayBeLeftOut) {
  EXPECT_EQ(read_edn("{:a 1}\n{:b", 1000, true), "{:a 1} torn at line 2");
  EXPECT_EQ(read_edn("[{:a 1}\n", 1000, true), "{:a 1} torn at line 2");
  EXPECT_EQ(read_edn("{:a 1}", 1000, true), "{:a 1}");
}

TEST(EdnTest, TextAndPlaceOfANodeAreThoseOfTheFile) {
  EdnReader reader(std::make_unique<TextSource>("x\n {:a [1 2]\n :b \"\\n\"}"), "f", {});
  (void)reader.next();
  const auto form = reader.next();
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(reader.text(), "{:a [1 2]\n :b \"\\n\"}");
  EXPECT_EQ(reader.text((*form)[2]), "[1 2]");
  EXPECT_EQ(reader.line(), 2U);
  EXPECT_EQ(reader.error_at((*form)[6], "so").message, "f line 3 column 5: so");
}

}  // namespace
}  // namespace sp::codec

#include "codec/json_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::codec {
namespace {

// The text written back, or "column: reason".
std::string read_json(std::string_view text) {
  JsonTree tree;
  if (const auto fault = tree.parse(text)) return std::to_string(fault->at + 1) + ": " + fault->reason;
  std::string out;
  tree.append(out, 0);
  return out;
}

TEST(JsonTreeTest, ValuesStandInTheirOrder) {
  JsonTree tree;
  ASSERT_FALSE(tree.parse(R"({"a":[1,"x"],"b":-2})"));
  const auto nodes = tree.nodes();
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[0].end, 5U);
  EXPECT_EQ(nodes[1].name, "a");
  EXPECT_EQ(nodes[1].end, 4U);
  EXPECT_EQ(nodes[3].text, "x");
  EXPECT_EQ(nodes[4].kind, JsonNode::Kind::kNegative);
}

TEST(JsonTreeTest, ReadsBackToTheSameValue) {
  EXPECT_EQ(read_json(R"( { "a" : [ 1 , 18446744073709551615, -9223372036854775808, 0.5, true, null ] , "b":{} } )"),
            R"({"a":[1,18446744073709551615,-9223372036854775808,0.5,true,null],"b":{}})");
  EXPECT_EQ(read_json(R"("\u00e4\ud83d\ude00\n")"), "\"ä😀\\n\"");
}

TEST(JsonTreeTest, AFaultNamesItsPlace) {
  EXPECT_EQ(read_json(R"({"a":1,})"), "8: a member's name in quotes is expected");
  EXPECT_EQ(read_json(R"({"a":1)"), "7: ',' or '}' is expected");
  EXPECT_EQ(read_json(R"({"a" 1})"), "6: ':' is expected");
  EXPECT_EQ(read_json(R"({"a":tru})"), "6: no value begins like this");
  EXPECT_EQ(read_json(R"({"a":01})"), "7: a number does not begin with a zero");
  EXPECT_EQ(read_json(R"({"a":1.})"), "8: a digit is expected");
  EXPECT_EQ(read_json(R"({"a":"\x"})"), "7: an unknown escape");
  EXPECT_EQ(read_json(R"({"a":"\ud800"})"), "7: half of a surrogate pair");
  EXPECT_EQ(read_json("{\"a\":\"\x01\"}"), "7: a control character within a string is written as an escape");
  EXPECT_EQ(read_json("{\"a\":\"\xFF\"}"), "7: not UTF-8");
  EXPECT_EQ(read_json(R"({"a":"x)"), "8: a string is not ended");
  EXPECT_EQ(read_json("{} {}"), "4: something stands behind the value");
  EXPECT_EQ(read_json(""), "1: the text ends where a value is expected");
  EXPECT_EQ(read_json(R"({"a":18446744073709551616})"),
            "6: a whole number is from -9223372036854775808 to 18446744073709551615");
}

TEST(JsonTreeTest, DeepNestingIsAFaultWhereItBecomesTooDeep) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(read_json(nested(kJsonDepthMax)), nested(kJsonDepthMax));
  EXPECT_EQ(read_json(nested(kJsonDepthMax + 1)), "101: nested too deeply");
  EXPECT_EQ(read_json(std::string(1'000'000, '[')), "101: nested too deeply");
}

TEST(JsonTreeTest, FindsTheBeginningOfEachValue) {
  constexpr std::string_view kText = R"({"a": [1, "x"], "b": {"c": 2}})";
  JsonTree tree;
  ASSERT_FALSE(tree.parse(kText));
  std::string places;
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) places += std::to_string(find_in_json(kText, i).at) + " ";
  EXPECT_EQ(places, "0 6 7 10 21 27 ");
}

RC_GTEST_PROP(JsonTreeProperty, TheSlowReaderFindsAFaultWhereTheFastOneDoes, (const std::vector<std::uint8_t>& changes)) {
  std::string text = R"({"index":7,"a":["x\n\u00e4",-1.5e3,true,null],"b":{"c":18446744073709551615}})";
  for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
    text[changes[i] % text.size()] = R"(0123456789{}[]",:\ue.-tfn )"[changes[i + 1] % 26];
  }
  JsonTree tree;
  const bool refused = tree.parse(text).has_value();
  RC_ASSERT(refused == !find_in_json(text, SIZE_MAX).reason.empty());
}

}  // namespace
}  // namespace sp::codec

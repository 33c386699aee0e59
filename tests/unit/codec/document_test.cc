#include "codec/document.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::codec {
namespace {

// A picture of the tree: text for scalars, in quotes if quoted, - for nothing.
std::string picture(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::kNothing:
      return "-";
    case Node::Kind::kScalar:
      return node.quoted ? "'" + node.text + "'" : node.text;
    case Node::Kind::kList:
      for (const Node& item : node.items) text += (text.empty() ? "" : " ") + picture(item);
      return "[" + text + "]";
    case Node::Kind::kMap:
      for (const Member& member : node.members)
        text += (text.empty() ? "" : " ") + member.name + ":" + picture(member.value);
      return "{" + text + "}";
  }
  return text;
}

std::string read(std::string_view text) {
  const auto node = parse_document(text, {.name = "f"});
  return node ? picture(*node) : "error " + node.error().message;
}

TEST(DocumentTest, YamlAndJsonGiveTheSameTree) {
  EXPECT_EQ(read("name: demo\nkeys: 7\nlist: [a, b]\nkafka:\n  topicConfig: {retention.ms: '1'}\n"),
            "{name:demo keys:7 list:[a b] kafka:{topicConfig:{retention.ms:'1'}}}");
  EXPECT_EQ(
      read(
          R"({"name":"demo","keys":7,"list":["a","b"],"kafka":{"topicConfig":{"retention.ms":"1"}}})"),
      "{name:'demo' keys:7 list:['a' 'b'] kafka:{topicConfig:{retention.ms:'1'}}}");
}

TEST(DocumentTest, NumbersKeepEveryDigit) {
  EXPECT_EQ(read("n: 18446744073709551615"), "{n:18446744073709551615}");
}

TEST(DocumentTest, TheEscapesOfJsonAreRead) {
  EXPECT_EQ(read(R"({"a":"\ud83d\ude00\u00e4\/\\\t\"x"})"), "{a:'😀ä/\\\t\"x'}");
  EXPECT_EQ(read(R"(["\\ud83d\\ude00"])"), R"(['\ud83d\ude00'])");
  EXPECT_EQ(read(R"(["\ud83d"])").substr(0, 6), "error ");
  EXPECT_EQ(read("{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n"), "{a:[1 2]}");
}

TEST(DocumentTest, NothingIsNothing) {
  EXPECT_EQ(read(""), "-");
  EXPECT_EQ(read("# only a comment\n"), "-");
  EXPECT_EQ(read("a:\nb: null\nc: ~\nd: ''\ne: 'null'"), "{a:- b:- c:- d:'' e:'null'}");
}

TEST(DocumentTest, EveryNodeKnowsItsPlace) {
  const auto node = parse_document("a: 1\nb:\n  - x\n  - yy: 2\n");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->members[1].place, (Place{2, 1}));
  EXPECT_EQ(node->members[0].value.place, (Place{1, 4}));
  EXPECT_EQ(node->find("b")->items[1].members[0].value.place, (Place{4, 9}));
  EXPECT_EQ(node->find("c"), nullptr);
}

TEST(DocumentTest, ANameTwiceIsRefusedWithBothLines) {
  EXPECT_EQ(read("a: 1\nb: 2\na: 3\n"),
            "error f line 3 column 1: 'a' stands here and in line 1; keep one of them");
  EXPECT_EQ(read(R"({"x":{"a":1,"a":1}})"),
            "error f line 1 column 13: 'a' stands here and in line 1; keep one of them");
  EXPECT_EQ(read("x: {a: 1}\ny: {a: 1}\n"), "{x:{a:1} y:{a:1}}");
}

TEST(DocumentTest, WhatItDoesNotReadIsNamed) {
  EXPECT_EQ(read("a: &x 1\nb: *x\n"),
            "error f line 2 column 4: an alias (*) is not supported; write the value out");
  EXPECT_EQ(read("a: !mine 1"), "error f line 1 column 4: the tag '!mine' is not supported");
  EXPECT_EQ(read("a: 1\n---\nb: 2\n"),
            "error f line 2 column 1: a second document begins; keep one in a file");
  EXPECT_EQ(
      read("{[1]: 2}"),
      "error f line 1 column 2: the name of a member must be a plain word, not a list or a map");
  EXPECT_EQ(read("a: \xff"), "error f line 1 column 4: not UTF-8 text");
  EXPECT_EQ(read(std::string_view("a: 1\nb\0: 2", 10)),
            "error f line 2 column 2: a zero byte is no text");
}

TEST(DocumentTest, BadYamlIsRefusedWithItsPlace) {
  EXPECT_EQ(read("a: [1, 2").substr(0, 13), "error f line ");
  EXPECT_EQ(read("a: 1\n b: 2\n").substr(0, 13), "error f line ");
  EXPECT_EQ(read("\"a").substr(0, 13), "error f line ");
}

TEST(DocumentTest, LimitsAreNamed) {
  const auto message = [](std::string_view text, const DocumentOptions& options) {
    const auto node = parse_document(text, options);
    return node ? "read" : node.error().message;
  };
  EXPECT_EQ(message("[1, 2, 3]", {.nodes_max = 3}), "document line 1 column 8: more than 3 values");
  EXPECT_EQ(message("[[[1]]]", {.depth_max = 2}),
            "document line 1 column 3: nested deeper than 2 levels");
  EXPECT_EQ(message("[[1]]", {.depth_max = 2}), "read");
  EXPECT_EQ(message("abcd", {.bytes_max = 3}), "document: larger than 3 B");
}

TEST(DocumentTest, DeepNestingOfAnyKindIsRefusedNotFatal) {
  for (const auto* opening : {"[", "{", "- ", "? ", "a: [", "!!seq [", "&a [", "{a: "}) {
    std::string text;
    while (text.size() < 200'000) text += opening;
    EXPECT_EQ(read(text).substr(0, 6), "error ") << opening;
    EXPECT_EQ(read(text).find("bad file"), std::string::npos) << opening;
  }
}

RC_GTEST_PROP(DocumentProperty, AnyBytesAreATreeOrAnError, (const std::string& text)) {
  const auto node = parse_document(text);
  if (!node) RC_ASSERT(!node.error().message.empty());
}

RC_GTEST_PROP(DocumentProperty, AnyPiecesOfSyntaxAreATreeOrAnError,
              (const std::vector<std::uint8_t>& drawn)) {
  constexpr std::string_view kPieces[] = {
      "{", "}", "[", "]", ":", ": ", "- ", "? ", "\n", "  ", "a",   "'",   "\"", "|",
      ">", "&", "*", "!", "%", "#",  "\t", ",",  "\\", "-",  "---", "...", "<<", "\r"};
  std::string text;
  for (const std::uint8_t number : drawn) text += kPieces[number % std::size(kPieces)];
  const auto node = parse_document(text);
  if (!node) RC_ASSERT(!node.error().message.empty());
}

}  // namespace
}  // namespace sp::codec

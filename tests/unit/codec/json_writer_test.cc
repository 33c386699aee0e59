#include "codec/json_writer.h"

#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/document.h"
#include "codec/utf8.h"

namespace sp::codec {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriterTest, WritesMembersInTheOrderOfTheCalls) {
  JsonWriter json;
  json.begin_object()
      .member("b", 1)
      .key("a")
      .begin_array()
      .value("x")
      .value(true)
      .null()
      .end_array()
      .end_object();
  EXPECT_EQ(json.take(), R"({"b":1,"a":["x",true,null]})");
}

TEST(JsonWriterTest, WritesPrettyWithIndent) {
  JsonWriter json({.indent = 2});
  json.begin_object()
      .member("a", 1)
      .key("b")
      .begin_array()
      .value(1)
      .value(2)
      .end_array()
      .key("c")
      .begin_object()
      .end_object()
      .end_object();
  EXPECT_EQ(json.take(), "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {}\n}");
}

TEST(JsonWriterTest, WholeNumbersAreExactAndOthersReadBack) {
  JsonWriter json;
  json.begin_array()
      .value(std::numeric_limits<std::uint64_t>::max())
      .value(std::numeric_limits<std::int64_t>::min());
  json.value(0.1)
      .value(1e300)
      .value(std::numeric_limits<double>::quiet_NaN())
      .value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.end_array().take(),
            "[18446744073709551615,-9223372036854775808,0.1,1e+300,null,null]");
}

TEST(JsonWriterTest, AnAbsentOptionalIsNull) {
  JsonWriter json;
  json.begin_array().value(std::optional<int>{}).value(std::optional<std::string>{"x"});
  EXPECT_EQ(json.end_array().take(), R"([null,"x"])");
}

TEST(JsonWriterTest, EscapesWhatJsonDoesNotAllow) {
  EXPECT_EQ(json_string("a\"b\\c\n\r\t\x01\x7f"), R"("a\"b\\c\n\r\t\u0001\u007f")");
  EXPECT_EQ(json_string("größe €😀"), "\"größe €😀\"");
}

TEST(JsonWriterTest, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  EXPECT_EQ(json_string("a\xff\x62"), "\"a\xEF\xBF\xBD\x62\"");
  EXPECT_EQ(json_string("\xC3"), "\"\xEF\xBF\xBD\"");                  // cut off
  EXPECT_EQ(json_string("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");  // overlong
  EXPECT_EQ(json_string("\xED\xA0\x80"),
            "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");          // a surrogate
  EXPECT_EQ(json_string("\xF4\x90\x80\x80").size(), 2U + 4 * 3);  // past U+10FFFF
}

TEST(JsonWriterTest, IsCompleteWhenOneValueHasEnded) {
  JsonWriter json;
  EXPECT_FALSE(json.complete());
  json.begin_object();
  EXPECT_FALSE(json.complete());
  json.end_object();
  EXPECT_TRUE(json.complete());
}

TEST(JsonWriterDeathTest, ACallOutOfTurnIsABug) {
  EXPECT_DEATH(JsonWriter().begin_object().value(1), "a key stands before each value");
  EXPECT_DEATH(JsonWriter().begin_array().end_object(), "what ends was begun");
  EXPECT_DEATH(JsonWriter().value(1).value(2), "a JSON text is one value");
  EXPECT_DEATH(JsonWriter().begin_array().key("a"), "a key stands in an object");
}

RC_GTEST_PROP(JsonWriterProperty, AnyStringIsValidAndWithoutControlCharacters,
              (const std::string& text)) {
  const std::string json = json_string(text);
  RC_ASSERT(utf8_find_invalid(json) == std::string::npos);
  for (const char c : json) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

RC_GTEST_PROP(JsonWriterProperty, ValidTextReadsBackThroughADocument,
              (const std::vector<std::uint32_t>& drawn)) {
  std::string text;
  for (const std::uint32_t number : drawn) {  // any code point but zero and surrogates
    const std::uint32_t point = number % 0x10FFFFU + 1;
    if (point >= 0xD800 && point < 0xE000) continue;
    const auto tail = [&](unsigned shift) {
      return static_cast<char>(0x80U | ((point >> shift) & 0x3FU));
    };
    if (point < 0x80) {
      text += static_cast<char>(point);
    } else if (point < 0x800) {
      text += {static_cast<char>(0xC0U | (point >> 6U)), tail(0)};
    } else if (point < 0x10000) {
      text += {static_cast<char>(0xE0U | (point >> 12U)), tail(6), tail(0)};
    } else {
      text += {static_cast<char>(0xF0U | (point >> 18U)), tail(12), tail(6), tail(0)};
    }
  }
  JsonWriter json;
  json.begin_object().member("text", text).end_object();
  const auto read = parse_document(json.text());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->find("text")->text == text);
}

}  // namespace
}  // namespace sp::codec

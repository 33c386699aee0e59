#include "codec/digits.h"

#include <charconv>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::codec {
namespace {

// The number, or "none", and how many bytes it took.
std::string read_text(std::string text) {
  const std::size_t size = text.size();
  text.append(8, '\0');
  const DigitsReading reading = read_digits(text.data());
  if (reading.end == nullptr) return "none";
  EXPECT_LE(reading.end, text.data() + size);
  return std::to_string(reading.value) + "/" + std::to_string(reading.end - text.data());
}

TEST(DigitsTest, ReadsUpToTheFirstByteThatIsNoDigit) {
  EXPECT_EQ(read_text("0,"), "0/1");
  EXPECT_EQ(read_text("17,"), "17/2");
  EXPECT_EQ(read_text("12345678"), "12345678/8");
  EXPECT_EQ(read_text("123456789}"), "123456789/9");
  EXPECT_EQ(read_text("1234567890123456"), "1234567890123456/16");
  EXPECT_EQ(read_text("12:3"), "12/2");
  EXPECT_EQ(read_text("1/2"), "1/1");
}

TEST(DigitsTest, SixtyFourBitsAreExactAndMoreIsNoNumber) {
  EXPECT_EQ(read_text("18446744073709551615,"), "18446744073709551615/20");
  EXPECT_EQ(read_text("18446744073709551616,"), "none");
  EXPECT_EQ(read_text("99999999999999999999,"), "none");
  EXPECT_EQ(read_text("100000000000000000000,"), "none");
  EXPECT_EQ(read_text("1000000000000000000000000000,"), "none");
}

TEST(DigitsTest, ALeadingZeroASignAndALetterAreNoNumber) {
  EXPECT_EQ(read_text("00"), "none");
  EXPECT_EQ(read_text("01"), "none");
  EXPECT_EQ(read_text("-1"), "none");
  EXPECT_EQ(read_text(""), "none");
  EXPECT_EQ(read_text("\xB1" "2"), "none");
}

RC_GTEST_PROP(DigitsProperty, AgreesWithTheLibrary, (std::uint64_t number, std::string behind)) {
  const std::uint64_t shortened = number >> *rc::gen::inRange(0, 64);
  std::string text = std::to_string(shortened) + behind;
  std::uint64_t expected = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
  const auto length = static_cast<std::size_t>(end - text.data());
  const bool zero = text[0] == '0' && length > 1;
  const std::string wanted =
      error != std::errc{} || zero ? "none" : std::to_string(expected) + "/" + std::to_string(length);
  RC_ASSERT(read_text(text) == wanted);
}

}  // namespace
}  // namespace sp::codec

#include "base/text.h"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Pieces = std::vector<std::string_view>;

TEST(TextTest, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split("a,b,"), (Pieces{"a", "b", ""}));
  EXPECT_EQ(split(""), (Pieces{""}));
  EXPECT_EQ(split("k=v=w", {.separator = '=', .pieces_max = 2}), (Pieces{"k", "v=w"}));
}

TEST(TextTest, TrimTakesSpaceFromBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(TextTest, NumbersAreReadWholeOrRefused) {
  EXPECT_EQ(parse_unsigned("18446744073709551615").value(), UINT64_MAX);
  EXPECT_EQ(parse_signed("-3").value(), -3);
  EXPECT_EQ(parse_double("0.5").value(), 0.5);
  for (const auto* bad : {"", "-1", "+1", "1 ", "0x10", "1e3", "18446744073709551616"}) {
    EXPECT_FALSE(parse_unsigned(bad)) << bad;
  }
  for (const auto* bad : {"", "nan", "inf", "1e999", "1,5"}) EXPECT_FALSE(parse_double(bad)) << bad;
  EXPECT_EQ(parse_unsigned("18446744073709551616").error().message,
            "'18446744073709551616' is too large");
}

struct DurationCase {
  std::string_view text;
  Nanoseconds duration;
};
class DurationTest : public testing::TestWithParam<DurationCase> {};
TEST_P(DurationTest, IsReadAsWritten) {
  EXPECT_EQ(parse_duration(GetParam().text).value(), GetParam().duration);
}
INSTANTIATE_TEST_SUITE_P(
    All, DurationTest,
    testing::Values(DurationCase{"120", seconds{120}}, DurationCase{"120s", seconds{120}},
                    DurationCase{"120 s", seconds{120}}, DurationCase{"2m", minutes{2}},
                    DurationCase{"500ms", milliseconds{500}}, DurationCase{"1h", hours{1}},
                    DurationCase{"1h30m", minutes{90}}, DurationCase{"1.5s", milliseconds{1500}},
                    DurationCase{"2 min 5 s", seconds{125}}, DurationCase{"3d", hours{72}},
                    DurationCase{"7us", microseconds{7}}, DurationCase{"0", seconds{0}}));

TEST(TextTest, WhatIsNoDurationIsRefused) {
  for (const auto* bad :
       {"", "s", "-1", "1x", "1h30", "1.", ".5s", "1 2", "1s-", "5S", "5 ", "\xff"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
  EXPECT_EQ(parse_duration("9999999999999999999").error().message,
            "'9999999999999999999' is longer than 292 years");
  EXPECT_EQ(parse_duration("20 parsec").error().message,
            "'20 parsec' is not a duration; write 120, 120s, 2m, 1h30m or 500ms");
}

TEST(TextTest, NumbersForPeopleAreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(TextTest, DurationsForPeopleShowThreeDigitsOrTwoUnits) {
  EXPECT_EQ(human_duration(Nanoseconds{0}), "0 s");
  EXPECT_EQ(human_duration(Nanoseconds{850}), "850 ns");
  EXPECT_EQ(human_duration(microseconds{2449}), "2.45 ms");
  EXPECT_EQ(human_duration(microseconds{999'700}), "1 s");
  EXPECT_EQ(human_duration(milliseconds{12'340}), "12.3 s");
  EXPECT_EQ(human_duration(milliseconds{99'960}), "1 min 40 s");
  EXPECT_EQ(human_duration(seconds{125}), "2 min 5 s");
  EXPECT_EQ(human_duration(hours{8}), "8 h");
  EXPECT_EQ(human_duration(hours{76}), "3 d 4 h");
  EXPECT_EQ(human_duration(-milliseconds{5}), "-5 ms");
  EXPECT_EQ(human_duration(Nanoseconds::min()).front(), '-');
}

TEST(TextTest, BytesForPeopleArePowersOfThousand) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(1500), "1.5 kB");
  EXPECT_EQ(human_bytes(999'700), "1 MB");
  EXPECT_EQ(human_bytes(UINT64_MAX), "18.4 EB");
}

constexpr std::array<std::string_view, 4> kNames = {"msgRate", "messageSize", "minRate", "timeout"};

TEST(TextTest, NearestFindsTheSlipOfTheFinger) {
  EXPECT_EQ(nearest("mgsRate", kNames), "msgRate");
  EXPECT_EQ(nearest("msg-rate", kNames), "msgRate");
  EXPECT_EQ(nearest("MESSAGE_SIZE", kNames), "messageSize");
  EXPECT_EQ(nearest("tiemout", kNames), "timeout");
}

TEST(TextTest, NearestSaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("zookeeper", kNames), std::nullopt);
  EXPECT_EQ(nearest("", kNames), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'm'), kNames), std::nullopt);
}

TEST(TextTest, PrintableShowsControlCharactersAndCutsLongText) {
  EXPECT_EQ(printable("a\n\t\x1b[31m"), "a\\n\\t\\x1b[31m");
  EXPECT_EQ(printable("abcdef", 3), "abc…");
  EXPECT_EQ(printable("aäö", 2), "a…");
}

RC_GTEST_PROP(TextProperty, AnyDurationInMillisecondsReadsBack, (std::uint32_t count)) {
  RC_ASSERT(parse_duration(std::to_string(count) + "ms").value() == milliseconds{count});
}

RC_GTEST_PROP(TextProperty, SplitPiecesJoinToTheText, (const std::string& text)) {
  std::string joined;
  bool first = true;
  for (const auto piece : split(text)) {
    if (!first) joined += ',';
    joined += piece;
    first = false;
  }
  RC_ASSERT(joined == text);
}

TEST(SameSecretTest, ComparesTheWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abcd", "abcabc", "abd", "ABC", "\xe1"}) EXPECT_FALSE(same_secret(other, "abc")) << other;
  EXPECT_FALSE(same_secret("", ""));
  EXPECT_TRUE(same_secret("\xff\x01", "\xff\x01"));
}

}  // namespace
}  // namespace sp

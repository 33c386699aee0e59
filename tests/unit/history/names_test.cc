#include "history/names.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::history {
namespace {

TEST(NamesTest, NumbersRiseWithEachNewText) {
  Names names;
  EXPECT_EQ(names.add("k3"), 0U);
  EXPECT_EQ(names.add(""), 1U);
  EXPECT_EQ(names.add("k3"), 0U);
  EXPECT_EQ(names.text(0), "k3");
  EXPECT_EQ(names.text(1), "");
  EXPECT_EQ(names.size(), 2U);
}

TEST(NamesTest, ManyTextsKeepTheirNumbers) {
  Names names;
  constexpr std::uint32_t kMany = 100'000;
  for (std::uint32_t i = 0; i < kMany; ++i) ASSERT_EQ(names.add("key-" + std::to_string(i)), i);
  for (std::uint32_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(names.text(i), "key-" + std::to_string(i));
    ASSERT_EQ(names.add("key-" + std::to_string(i)), i);
  }
}

TEST(NamesTest, TheLimitIsSaidAndOldTextsAreStillFound) {
  Names names(2);
  EXPECT_EQ(names.add("a"), 0U);
  EXPECT_EQ(names.add("b"), 1U);
  EXPECT_EQ(names.add("c"), std::nullopt);
  EXPECT_EQ(names.add("b"), 1U);
}

RC_GTEST_PROP(NamesProperty, AgreesWithAMap, (const std::vector<std::string>& texts)) {
  Names names;
  std::map<std::string, std::uint32_t> expected;
  for (const auto& text : texts) {
    const auto [place, fresh] = expected.emplace(text, static_cast<std::uint32_t>(expected.size()));
    RC_ASSERT(names.add(text) == place->second);
  }
  for (const auto& [text, number] : expected) RC_ASSERT(names.text(number) == text);
}

}  // namespace
}  // namespace sp::history

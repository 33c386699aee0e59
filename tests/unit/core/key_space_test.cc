#include "core/key_space.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::core {
namespace {

constexpr RunId kSomeRun{77};

class KeySpaceTest : public testing::Test {
 protected:
  std::string name(std::string_view rest) const {
    return run_text(kSomeRun) + "." + std::string(rest);
  }
  KeySpace keys_{kSomeRun, 3};
};

TEST_F(KeySpaceTest, ANameTellsRunWorkerIncarnationProducerAndIndex) {
  const auto block = keys_.block({{.worker = 1, .incarnation = 2}, 3});
  EXPECT_EQ(keys_.name({block, 17}), name("1.2.3.17"));
}

TEST_F(KeySpaceTest, ANameMadeHereIsFoundAsItsKey) {
  const auto block = keys_.block({{.worker = 1, .incarnation = 2}, 3});
  EXPECT_EQ(keys_.find(name("1.2.3.17")), (KeyRef{block, 17}));
}

TEST_F(KeySpaceTest, ABlockIsNumberedOnce) {
  const KeyBlock identity{{.worker = 1, .incarnation = 0}, 0};
  EXPECT_EQ(keys_.find_block(identity), std::nullopt);
  EXPECT_EQ(keys_.block(identity), 1U);
  EXPECT_EQ(keys_.block(identity), 1U);
  EXPECT_EQ(keys_.find_block(identity), 1U);
  EXPECT_EQ(keys_.blocks_end(), 2U);
  EXPECT_EQ(keys_.identity(1), identity);
}

TEST_F(KeySpaceTest, ANameOfAnUnknownBlockMakesTheBlock) {
  const auto found = keys_.find(name("5.0.0.9"));
  ASSERT_TRUE(found);
  EXPECT_NE(found->block, KeySpace::kLiteralBlock);
  EXPECT_EQ(keys_.name(*found), name("5.0.0.9"));
}

TEST_F(KeySpaceTest, WhatOnlyLooksLikeANameOfThisRunIsLiteral) {
  for (const auto* rest : {"1.2.3", "1.2.3.", "1.2.3.4.5", "01.2.3.4", "1.2.3.04", "1.2.3.-4",
                           "1.2.3.4294967295", "1.2.3.4 ", ""}) {
    KeySpace keys{kSomeRun};
    const auto found = keys.find(name(rest));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->block, KeySpace::kLiteralBlock) << rest;
    EXPECT_EQ(keys.name(*found), name(rest));
  }
}

TEST_F(KeySpaceTest, ANameIsFoundTheSameWhicheverProducerCameBefore) {
  const auto first = keys_.find(name("1.2.3.17")).value();
  EXPECT_EQ(keys_.find(name("1.2.30.17"))->index, 17U);
  EXPECT_EQ(keys_.find(name("1.2.3.17")), first);
  EXPECT_EQ(keys_.find(name("1.2.3.170")), (KeyRef{first.block, 170}));
  EXPECT_EQ(keys_.find(name("1.2.3.017"))->block, KeySpace::kLiteralBlock);
  EXPECT_EQ(keys_.find(name("1.2.3."))->block, KeySpace::kLiteralBlock);
  EXPECT_NE(keys_.find(name("1.2.4.17"))->block, first.block);
}

TEST_F(KeySpaceTest, ANameOfAnotherRunIsLiteral) {
  const std::string other = run_text(RunId{78}) + ".0.0.0.0";
  EXPECT_EQ(keys_.find(other), (KeyRef{KeySpace::kLiteralBlock, 0}));
  EXPECT_EQ(keys_.literal_name(0), other);
}

TEST_F(KeySpaceTest, LiteralsStopAtTheirLimitAndKnownOnesStay) {
  for (const auto* literal : {"a", "b", "c"}) EXPECT_TRUE(keys_.find(literal));
  EXPECT_EQ(keys_.find("d"), std::nullopt);
  EXPECT_EQ(keys_.find("b"), (KeyRef{KeySpace::kLiteralBlock, 1}));
  EXPECT_EQ(keys_.literal_count(), 3U);
}

TEST_F(KeySpaceTest, TheEmptyNameIsAKeyToo) { EXPECT_EQ(keys_.name(keys_.find("").value()), ""); }

TEST(RunTextTest, IsAnRAndEightCharacters) {
  EXPECT_EQ(run_text(RunId{0}), "r00000000");
  EXPECT_EQ(run_text(RunId{31}), "r0000000z");
  EXPECT_EQ(run_text(RunId{32}), "r00000010");
}

RC_GTEST_PROP(KeySpaceProperty, EveryKeyHasANameThatFindsIt,
              (std::uint32_t worker, std::uint32_t incarnation, std::uint32_t producer,
               std::uint32_t index)) {
  RC_PRE(worker != ~0U && incarnation != ~0U && producer != ~0U && index != ~0U);
  KeySpace keys{kSomeRun};
  const KeyRef key{keys.block({{.worker = worker, .incarnation = incarnation}, producer}), index};
  RC_ASSERT(keys.find(keys.name(key)) == key);
}

RC_GTEST_PROP(KeySpaceProperty, EveryNameFoundIsGivenBackByteForByte,
              (const std::vector<std::uint8_t>& drawn)) {
  constexpr std::string_view kPieces[] = {".", "0", "1", "4294967295", "12", "-", " ", "x"};
  KeySpace keys{kSomeRun};
  std::string name = run_text(kSomeRun) + ".";
  for (const auto number : drawn) name += kPieces[number % std::size(kPieces)];
  RC_ASSERT(keys.name(keys.find(name).value()) == name);
}

}  // namespace
}  // namespace sp::core

#include "driver/embedded/defects.h"

#include <gtest/gtest.h>

namespace sp::driver::embedded {
namespace {

TEST(DefectsTest, CountRateAndTheirAbsenceAreRead) {
  const auto specs = parse_defects({"lose:count=5", "corrupt:rate=0.25", "phantom"});
  ASSERT_TRUE(specs.has_value());
  EXPECT_EQ((*specs)[0].kind, DefectKind::kLose);
  EXPECT_EQ((*specs)[0].count, 5U);
  EXPECT_DOUBLE_EQ((*specs)[1].rate, 0.25);
  EXPECT_EQ((*specs)[1].count, 0U);
  EXPECT_EQ((*specs)[2].count, 1U);
}

TEST(DefectsTest, LengthAndForBelongToTheirKinds) {
  EXPECT_EQ(parse_defect("rewind:count=2,length=4")->length_max, 4U);
  EXPECT_EQ(parse_defect("freeze:count=1,for=500ms")->duration, std::chrono::milliseconds{500});
  EXPECT_EQ(parse_defect("freeze:for=3")->duration, std::chrono::seconds{3});
  EXPECT_FALSE(parse_defect("lose:length=4").has_value());
  EXPECT_FALSE(parse_defect("lose:for=4s").has_value());
}

TEST(DefectsTest, AnUnknownKindIsRefusedWithAllKinds) {
  const auto refused = parse_defects({"lose", "loose:count=1"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("no kind 'loose'"), std::string::npos);
  for (const auto& row : defect_rows()) EXPECT_NE(refused.error().message.find(row.name), std::string::npos);
}

TEST(DefectsTest, WhatIsNoDefectIsRefusedWithTheRemedy) {
  for (const char* text : {"", ":", "lose:", "lose:count", "lose:count=", "lose:count=0", "lose:count=-1", "lose:count=1x", "lose:rate=0",
                           "lose:rate=1.5", "lose:rate=nan", "lose:count=1,rate=0.5", "lose:colour=red", "freeze:for=0s", "freeze:for=s",
                           "freeze:for=200294444m", "freeze:for=169h", "lose:count=99999999999999999999999"}) {
    const auto refused = parse_defect(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
    EXPECT_NE(refused.error().message.find(text), std::string::npos);
  }
  EXPECT_NE(parse_defect("lose:count=x").error().message.find("lose:count=5"), std::string::npos);
}

TEST(DefectsTest, WhatARunCanNeverHaveIsRefusedWithWhatItNeeds) {
  const RunShape least{.partitions = 1, .consumers = 1, .payload_bytes = 8};
  const RunShape enough{.partitions = 2, .consumers = 2, .payload_bytes = 48};
  for (const auto& row : defect_rows()) {
    const bool demanding = row.name == "misplace" || row.name == "dual-owner" || row.name == "corrupt";
    EXPECT_EQ(check_plantable({.kind = row.kind}, least).has_value(), !demanding) << row.name;
    EXPECT_TRUE(check_plantable({.kind = row.kind}, enough).has_value()) << row.name;
  }
  const auto refused = check_plantable({.kind = DefectKind::kMisplace}, least);
  EXPECT_NE(refused.error().message.find("partitions 2"), std::string::npos);
}

TEST(DefectsTest, EveryKindHasARowInItsPlace) {
  for (std::size_t i = 0; i < kDefectKindCount; ++i) {
    const auto kind = static_cast<DefectKind>(i);
    EXPECT_EQ(defect_row(kind).kind, kind);
    EXPECT_FALSE(defect_row(kind).what.empty());
    EXPECT_EQ(parse_defect(defect_row(kind).name)->kind, kind);
    EXPECT_EQ(defect_row(kind).code.has_value(), kind != DefectKind::kFreeze);
  }
}

}  // namespace
}  // namespace sp::driver::embedded

#include "proof/fields.h"

#include <set>

#include <gtest/gtest.h>

#include "base/text.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

TEST(FieldsTest, FlagsAreTheNamesInKebabCase) {
  EXPECT_EQ(flag_name(*find_field("msgRate")), "msg-rate");
  EXPECT_EQ(flag_name(*find_field("checkPointInterval")), "check-point-interval");
  EXPECT_EQ(flag_name(*find_field("kafka.topicConfig")), "kafka-topic-config");
  EXPECT_EQ(find_flag("--msg-rate"), find_field("msgRate"));
  EXPECT_EQ(find_flag("msg-rate"), find_field("msgRate"));
  EXPECT_EQ(find_flag("msgRate"), nullptr);
  EXPECT_EQ(find_field("msg-rate"), nullptr);
}

TEST(FieldsTest, NamesAndFlagsAreUniqueAndEveryFieldSaysWhatItMeans) {
  std::set<std::string> names;
  for (const Field& field : fields()) {
    EXPECT_TRUE(names.insert(std::string(field.name)).second) << field.name;
    EXPECT_EQ(find_flag(flag_name(field)), &field) << field.name;
    EXPECT_GT(field.meaning.size(), 8U) << field.name;
    EXPECT_FALSE(type_name(field).empty()) << field.name;
    EXPECT_LE(field.first, field.last) << field.name;
  }
}

TEST(FieldsTest, NumbersHaveLimits) {
  for (const Field& field : fields()) {
    const auto type = type_name(field);
    const bool is_number = type == "whole number" || type == "number" || type == "time";
    EXPECT_EQ(is_number, field.last > 0) << field.name;
  }
}

struct DefaultCase {
  std::string_view field;
  std::string_view in_files;
  std::string_view in_run;
};
class DefaultTest : public testing::TestWithParam<DefaultCase> {};
TEST_P(DefaultTest, IsThatOfTheReference) {
  const Field& field = *find_field(GetParam().field);
  EXPECT_EQ(value_text(field, Proof{}), GetParam().in_files);
  EXPECT_EQ(value_text(field, run_defaults()), GetParam().in_run);
}
INSTANTIATE_TEST_SUITE_P(
    All, DefaultTest,
    testing::Values(
        DefaultCase{"partitions", "10", "10"}, DefaultCase{"producers", "4", "4"},
        DefaultCase{"consumers", "4", "4"}, DefaultCase{"msgRate", "1000", "1000"},
        DefaultCase{"keys", "100", "100"}, DefaultCase{"messageSize", "8", "100"},
        DefaultCase{"checkPointInterval", "60", "5"}, DefaultCase{"timeout", "180", "30"},
        DefaultCase{"consumeDelay", "0", "0"}, DefaultCase{"duration", "28800", "60"},
        DefaultCase{"finalWaitSeconds", "", ""}, DefaultCase{"timeSeriesInterval", "0", "0"},
        DefaultCase{"maxStallSeconds", "", ""},
        DefaultCase{"features", "", "[at_least_once, ordering]"},
        DefaultCase{"commit", "checkpoint", "checkpoint"}, DefaultCase{"rawRead", "holes", "holes"},
        DefaultCase{"topicExists", "fail", "fail"}, DefaultCase{"keepTopic", "false", "false"},
        DefaultCase{"order", "key", "key"}, DefaultCase{"driver", "embedded", "embedded"}));

TEST(FieldsTest, TheDefaultsOfRunAreAProofThatCanBeRun) {
  const auto reading = read_proof({});
  EXPECT_TRUE(reading.faults.empty()) << to_error(reading.faults).message;
  EXPECT_EQ(reading.proof.duration, seconds{60});
  EXPECT_TRUE(reading.proof.ordering);
}

TEST(FieldsTest, TheManualHasARowForEveryField) {
  const std::string table = fields_markdown();
  for (const Field& field : fields())
    EXPECT_NE(table.find(fmt::format("| `{}` | `--{}` |", field.name, flag_name(field))),
              std::string::npos);
  std::size_t rows = 0;
  for (const auto line : split(table, {.separator = '\n'})) {
    if (line.empty()) continue;
    ++rows;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 8) << line;
  }
  EXPECT_EQ(rows, fields().size() + 2);
}

TEST(FieldsTest, OnlyListsAndMapsMayBeFlaggedTwice) {
  EXPECT_TRUE(repeatable(*find_field("chaos")));
  EXPECT_TRUE(repeatable(*find_field("settings")));
  EXPECT_FALSE(repeatable(*find_field("features")));
  EXPECT_FALSE(repeatable(*find_field("msgRate")));
}

}  // namespace
}  // namespace sp::proof

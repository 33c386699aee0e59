#include "record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine.h"
#include "ratio.h"

namespace sp::bench {
namespace {

const std::vector<FlagRow> kRows = {{"pairs", 20, 1, "pairs"}, {"memory", 0, 0, "memory instead", true}};

TEST(RequestTest, FlagsHaveTheirUsualAndTheirSmokeSize) {
  EXPECT_EQ(Request::read(kRows, {})->number("pairs"), 20U);
  EXPECT_EQ(Request::read(kRows, {"--smoke"})->number("pairs"), 1U);
  EXPECT_EQ(Request::read(kRows, {"--smoke", "--pairs", "3"})->number("pairs"), 3U);
  EXPECT_TRUE(Request::read(kRows, {"--memory"})->on("memory"));
  EXPECT_FALSE(Request::read(kRows, {})->on("memory"));
}

TEST(RequestTest, WhatIsNoFlagIsRefusedByName) {
  EXPECT_NE(Request::read(kRows, {"--pears", "3"}).error().message.find("--pears"), std::string::npos);
  EXPECT_NE(Request::read(kRows, {"--pairs", "x"}).error().message.find("'x'"), std::string::npos);
  EXPECT_FALSE(Request::read(kRows, {"--pairs"}));
  EXPECT_FALSE(Request::read(kRows, {"--smoke", "--record"}));
}

TEST(MedianIntervalTest, OfTwentyPairsLeavesFiveOutAtEachEnd) {
  std::vector<double> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  const MedianInterval interval = median_interval(values);
  EXPECT_DOUBLE_EQ(interval.median, 10.5);
  EXPECT_DOUBLE_EQ(interval.low, 6);
  EXPECT_DOUBLE_EQ(interval.high, 15);
  EXPECT_NEAR(interval.confidence, 0.9586, 1e-4);
}

TEST(MedianIntervalTest, OfFewPairsIsAllThereIs) {
  const MedianInterval interval = median_interval({3, 1, 2});
  EXPECT_DOUBLE_EQ(interval.median, 2);
  EXPECT_DOUBLE_EQ(interval.low, 1);
  EXPECT_DOUBLE_EQ(interval.high, 3);
  EXPECT_NEAR(interval.confidence, 0.75, 1e-9);
  EXPECT_EQ(median_interval({}).count, 0U);
  EXPECT_DOUBLE_EQ(median_interval({4}).high, 4);
}

TEST(RecordTest, KeepsPlaceFiguresGoalsAndHashes) {
  Record record("toy", "A toy");
  record.figure("speed", 25, "M/s", at_least(20));
  record.figure("growth", 2, "MiB", at_most(1));
  record.hash("result", 255);
  record.table({{"kind", "exact"}, {{"lose", "200"}}});
  const Place place{"2026-11-30T01:02:03.000000Z", "abcdef0123456789", "toy_bench --record", 2, "a processor"};
  const std::string json = record.json(place);
  for (const char* part : {"\"commit\": \"abcdef0123456789\"", "\"dirty\": false", "\"command\": \"toy_bench --record\"",
                           "\"cores\": 2", "\"at_least\": 20", "\"met\": false", "\"result\": \"00000000000000ff\"",
                           "\"exact\": \"200\""}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  EXPECT_NE(record.markdown(place).find("| growth | 2 | MiB | at most 1: missed |"), std::string::npos)
      << record.markdown(place);
  EXPECT_EQ(record.missed(), 1U);
  EXPECT_TRUE(record.right());
  record.wrong("two and two is five");
  EXPECT_FALSE(record.right());
}

TEST(MachineTest, TheProcessUsesMemoryAndTime) {
  EXPECT_GT(core_count(), 0U);
  EXPECT_FALSE(cpu_model().empty());
  EXPECT_GT(resident_bytes(), 100'000U);
  EXPECT_GE(cpu_time(), Nanoseconds{0});
}

TEST(MachineTest, AFolderWithoutARepositoryIsNoSource) {
  const auto state = look_at_source("/");
  ASSERT_FALSE(state);
  EXPECT_NE(state.error().message.find("clone"), std::string::npos) << state.error().message;
}

}  // namespace
}  // namespace sp::bench

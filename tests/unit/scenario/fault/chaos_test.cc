#include "scenario/fault/chaos.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::scenario::fault {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto spec = parse_chaos(text);
  return spec ? "" : spec.error().message;
}

// "20 40 60": the starts, in seconds.
std::string starts(std::string_view text, std::int64_t duration) {
  std::string all;
  const auto spec = parse_chaos(text);
  if (!spec) return spec.error().message;
  for (const auto start : chaos_starts(*spec, seconds(duration))) {
    all += fmt::format("{}{}", all.empty() ? "" : " ", std::chrono::duration_cast<seconds>(start).count());
  }
  return all;
}

TEST(ChaosTest, EveryPartOfARequestIsRead) {
  const auto spec = parse_chaos("kill-leader:at=1m,every=20,down=1500ms,count=3");
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->kind, Kind::kKillLeader);
  EXPECT_EQ(spec->at, seconds(60));
  EXPECT_EQ(spec->every, seconds(20));
  EXPECT_EQ(spec->count, 3U);
  EXPECT_EQ(spec->hold, std::chrono::milliseconds(1500));
}

TEST(ChaosTest, TextOfARequestReadsBackAsTheSame) {
  for (const auto& row : kind_rows()) {
    const auto spec = parse_chaos(fmt::format("{}:at=5s,every=1m,count=2", row.name));
    ASSERT_TRUE(spec.has_value()) << spec.error().message;
    EXPECT_EQ(spec->hold, kHoldDefault);
    EXPECT_EQ(parse_chaos(chaos_text(*spec)).value(), *spec) << chaos_text(*spec);
  }
}

TEST(ChaosTest, AnUnknownFaultListsThoseThereAre) {
  EXPECT_EQ(refusal("kill-leaders:at=1"),
            "chaos 'kill-leaders:at=1': there is no fault 'kill-leaders'; there are kill-leader, "
            "kill-follower, kill-all, "
            "freeze-leader, freeze-follower, freeze-followers, restart-rolling");
  EXPECT_THAT(refusal(""), HasSubstr("there is no fault ''"));
}

TEST(ChaosTest, WhatAFaultDoesNotTakeIsRefusedWithWhatItTakes) {
  EXPECT_EQ(refusal("kill-leader:at=1,for=3s"),
            "chaos 'kill-leader:at=1,for=3s': 'for' means nothing to kill-leader; it takes at, every, count "
            "and down");
  EXPECT_THAT(refusal("freeze-leader:at=1,down=3s"), HasSubstr("it takes at, every, count and for"));
}

TEST(ChaosTest, BadTimesCountsAndShapesAreRefused) {
  EXPECT_THAT(refusal("kill-all:at=soon"), HasSubstr("'soon' is no time for 'at'; write 20, 20s"));
  for (const char* time : {"", "-1", "1x", "1.5ms", "99999999999999999999", "8000h", "9d", "700000"}) {
    EXPECT_THAT(refusal(std::string("kill-all:at=") + time), HasSubstr("is no time for 'at'")) << time;
  }
  EXPECT_THAT(refusal("kill-all:every=10,count=0"), HasSubstr("'0' is no count"));
  EXPECT_THAT(refusal("kill-all:every=10,count=2x"), HasSubstr("'2x' is no count"));
  EXPECT_THAT(refusal("kill-all:at=1,at=2"), HasSubstr("'at' stands there twice"));
  EXPECT_THAT(refusal("kill-all:at=1,"), HasSubstr("ends with a comma"));
  EXPECT_THAT(refusal("kill-all:at"), HasSubstr("'at' is not of the form name=value"));
}

TEST(ChaosTest, ContradictionsAreRefusedWithTheRemedy) {
  EXPECT_THAT(refusal("kill-leader"),
              HasSubstr("it does not say when; write kill-leader:at=10s or kill-leader:every=20s"));
  EXPECT_THAT(refusal("kill-leader:at=5,count=2"), HasSubstr("a count above 1 needs 'every'"));
  EXPECT_THAT(refusal("kill-leader:every=500ms"), HasSubstr("'every' must be 1s at least"));
  EXPECT_THAT(refusal("kill-leader:at=5,down=0"), HasSubstr("'down' must be above 0"));
}

TEST(ChaosTest, FirstStartIsAfterOneEveryAndNoneIsNearTheEnd) {
  EXPECT_EQ(starts("kill-leader:every=20s,down=8s", 120),
            "20 40 60 80 100");  // the last may be at 120 − 8 − 10
  EXPECT_EQ(starts("kill-leader:every=20s,down=10s", 120), "20 40 60 80 100");
  EXPECT_EQ(starts("kill-leader:every=20s,down=11s", 120), "20 40 60 80");
  EXPECT_EQ(starts("kill-leader:at=5s,every=30s,down=8s", 120), "5 35 65 95");
  EXPECT_EQ(starts("kill-leader:every=20s,count=2", 120), "20 40");
}

TEST(ChaosTest, WithoutEveryThereIsOneFault) {
  EXPECT_EQ(starts("freeze-followers:at=5s,for=3s", 30), "5");
  EXPECT_EQ(starts("kill-leader:at=6s,down=10s", 30), "6");
  EXPECT_EQ(starts("kill-leader:at=11s,down=10s", 30), "");
  EXPECT_EQ(starts("kill-leader:at=0,down=1s", 11), "0");
}

TEST(ChaosTest, ARequestThatCannotDoAnythingIsRefused) {
  const auto late = check_chaos(parse_chaos("kill-leader:every=60s").value(), {seconds(60), 3, 3});
  ASSERT_FALSE(late.has_value());
  EXPECT_THAT(late.error().message, HasSubstr("no fault fits into a load of 60s"));
  const auto lonely = check_chaos(parse_chaos("kill-follower:every=10s").value(), {seconds(60), 3, 1});
  ASSERT_FALSE(lonely.has_value());
  EXPECT_THAT(lonely.error().message, HasSubstr("there is no follower"));
  EXPECT_TRUE(check_chaos(parse_chaos("kill-leader:every=10s").value(), {seconds(60), 1, 1}).has_value());
}

}  // namespace
}  // namespace sp::scenario::fault

#include "coordinator/lag_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Looks every 100 ms, at times counted in ms.
class LagWatchTest : public testing::Test {
 protected:
  // The acknowledged and the reached end of each partition, at `ms`.
  void look(std::int64_t ms, std::vector<LagWatch::Place> places) {
    watch_.look(places, faults_, at(ms));
  }
  static MonotonicTime at(std::int64_t ms) { return MonotonicTime{1h + std::chrono::milliseconds{ms}}; }
  // A fault that took effect and was released and over at these times.
  void fault(std::int64_t released, std::optional<std::int64_t> end = std::nullopt) {
    core::FaultRecord one;
    one.number = faults_.size() + 1;
    one.begin = at(0);
    one.effect_seen = at(10);
    one.released = at(released);
    one.end = at(end.value_or(released));
    faults_.push_back(one);
  }
  // "2 recovered at 900" or "2 not: why".
  [[nodiscard]] std::vector<std::string> told() const {
    auto faults = faults_;
    watch_.tell(faults);
    std::vector<std::string> lines;
    for (const auto& one : faults) {
      const std::string number = std::to_string(one.number);
      lines.push_back(one.recovered
                          ? number + " recovered at " + std::to_string((*one.recovered - at(0)) / 1ms)
                          : number + " not: " + one.no_recovery);
      EXPECT_EQ(one.recovered.has_value(), one.no_recovery.empty());
    }
    return lines;
  }

  LagWatch watch_;
  std::vector<core::FaultRecord> faults_;
};

TEST_F(LagWatchTest, StalenessIsTheLongestTimeFromAckToHandOver) {
  look(0, {{0, 0}});
  look(100, {{10, 10}});
  look(200, {{20, 10}});  // 10 to 19 were acknowledged after the look at 100
  look(300, {{30, 10}});
  look(700, {{30, 20}});
  look(800, {{30, 30}});  // 20 to 29 waited from 200 at the most: 600, as long as those before
  watch_.close(at(900));
  EXPECT_EQ(watch_.staleness(), 600ms);
}

TEST_F(LagWatchTest, WhatIsNeverHandedOverCountsUpToTheEnd) {
  look(0, {{0, 0}, {0, 0}});
  look(100, {{10, 10}, {5, 0}});
  look(5000, {{90, 90}, {5, 4}});
  watch_.close(at(9000));
  EXPECT_EQ(watch_.staleness(), 9s);
}

TEST_F(LagWatchTest, ALongLagIsThinnedOutAndNeverUnderstated) {
  look(0, {{0, 0}});
  for (int i = 1; i <= 1000; ++i) look(i * 100, {{static_cast<std::uint64_t>(i), 0}});
  look(100'100, {{1000, 500}});
  EXPECT_GE(watch_.staleness(), 100s);
  look(200'000, {{1000, 1000}});
  EXPECT_GE(watch_.staleness(), 200s - 50s);
  EXPECT_LE(watch_.staleness(), 200s - 40s);
}

TEST_F(LagWatchTest, WithoutPositionsNothingIsMeasured) {
  fault(100);
  for (int i = 0; i < 10; ++i) look(i * 100, {{0, 0}});
  watch_.close(at(2000));
  EXPECT_EQ(watch_.staleness(), std::nullopt);
  EXPECT_EQ(watch_.no_staleness(), "no acknowledgement told a position");
  EXPECT_THAT(told(), testing::ElementsAre("1 not: no acknowledgement told a position"));
}

TEST_F(LagWatchTest, RecoveredOnceEveryPartitionInUseTookAndGaveSomethingNew) {
  fault(1000);
  look(1100, {{10, 10}, {20, 20}, {0, 0}});  // evidence from before may still be on its way
  look(1200, {{11, 11}, {21, 21}, {0, 0}});  // ... so this is where it starts from
  look(1300, {{15, 15}, {21, 21}, {0, 0}});
  look(1400, {{15, 15}, {22, 21}, {0, 0}});
  look(1500, {{16, 15}, {22, 22}, {0, 0}});
  watch_.close(at(3000));
  EXPECT_THAT(told(), testing::ElementsAre("1 recovered at 1500"));
}

TEST_F(LagWatchTest, WhatKeepsItFromHavingRecoveredIsNamed) {
  fault(1000);
  look(1200, {{10, 10}, {20, 20}});
  look(5000, {{50, 50}, {20, 20}});
  auto other = watch_;
  watch_.close(at(6000));
  EXPECT_THAT(told(), testing::ElementsAre("1 not: nothing new was acknowledged on partition 1 after it"));
  watch_ = other;
  look(5100, {{50, 50}, {30, 20}});
  watch_.close(at(6000));
  EXPECT_THAT(told(), testing::ElementsAre(HasSubstr("no consumer of some group came past offset 20 of partition 1")));
}

TEST_F(LagWatchTest, AFaultThatWasNotOverOrTookNoEffectHasNoRecovery) {
  fault(1000);
  fault(1000);
  faults_[0].released.reset();
  faults_[0].end.reset();
  faults_[1].effect_seen.reset();
  look(1500, {{10, 10}});
  look(1600, {{20, 20}});
  watch_.close(at(1700));
  EXPECT_THAT(told(), testing::ElementsAre("1 not: it was not over before the consumers were stopped",
                                           "2 not: it took no effect"));
}

TEST_F(LagWatchTest, OverlappingFaultsRecoverEachFromItsOwnRelease) {
  fault(1000);
  fault(3000);
  faults_[1].released.reset();
  faults_[1].end.reset();
  look(1200, {{10, 10}});
  look(1300, {{10, 10}});
  look(2000, {{12, 12}});
  faults_[1].released = at(3000);
  faults_[1].end = at(3500);
  look(3200, {{20, 20}});
  look(3300, {{20, 20}});
  look(3400, {{22, 22}});
  EXPECT_THAT(told(), testing::ElementsAre("1 recovered at 2000", "2 recovered at 3400"));
}

TEST_F(LagWatchTest, ARecordThatGoesThroughIsTheRecoveryIfNothingWasInUse) {
  fault(1000);
  look(1200, {{0, 0}, {0, 0}});
  look(1300, {{0, 0}, {1, 0}});
  look(1400, {{0, 0}, {1, 1}});
  EXPECT_THAT(told(), testing::ElementsAre("1 recovered at 1400"));
}

TEST_F(LagWatchTest, TooManyFaultsAtOnceAreSaidNotGuessed) {
  for (std::size_t i = 0; i <= LagWatch::kWaitsMax; ++i) fault(1000);
  look(1200, {{10, 10}});
  look(1300, {{20, 20}});
  EXPECT_EQ(told().front(), "1 recovered at 1300");
  EXPECT_THAT(told().back(), HasSubstr("64 faults before it were still waited for"));
}

}  // namespace
}  // namespace sp::coordinator

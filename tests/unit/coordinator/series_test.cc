#include "coordinator/series.h"

#include <gtest/gtest.h>

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;

class SeriesTest : public testing::Test {
 protected:
  void add(Series& series, std::chrono::seconds at) { series.add({at, summary, traffic, publish, end_to_end}); }

  proof::Proof proof;
  Summary summary;
  core::Counters traffic;
  Histogram publish, end_to_end;
};

// Section 3.5 of the reference: the interval by timeSeriesInterval, duration, points and ticks.
TEST_F(SeriesTest, TheSamplingIntervalIsTheReferences) {
  struct Row {
    std::chrono::seconds tick, asked, duration;
    std::uint64_t points;
    std::chrono::seconds interval;
  };
  for (const Row& row :
       {Row{5s, 0s, 600s, 481, 5s}, Row{5s, 12s, 600s, 481, 15s}, Row{5s, 3s, 600s, 481, 5s}, Row{60s, 0s, 28'800s, 481, 60s},
        Row{5s, 0s, 28'800s, 481, 60s}, Row{5s, 0s, 0s, 481, 5s}, Row{7s, 0s, 1'000s, 10, 105s}}) {
    proof.check_point_interval = row.tick;
    proof.time_series_interval = row.asked;
    proof.duration = row.duration;
    EXPECT_EQ(Series(proof, row.points).interval(), row.interval) << row.duration.count() << " / " << row.points;
  }
}

TEST_F(SeriesTest, RatesAreOfTheTimeSinceThePointBefore) {
  proof.check_point_interval = 5s;
  Series series(proof, 10'000'000);
  traffic.acked = 100;
  traffic.received = 90;
  traffic.bytes_acked = 1'000;
  add(series, 5s);
  traffic.acked = 300;
  traffic.received = 300;
  traffic.failed = 10;
  traffic.unknown = 5;
  traffic.bytes_acked = 2'000;
  summary.verified = 280;
  summary.missed = 2;
  add(series, 10s);
  ASSERT_EQ(series.points().size(), 2U);
  EXPECT_DOUBLE_EQ(series.points()[0].publish_rate, 20);
  EXPECT_EQ(series.points()[0].backlog, 10U);
  const SeriesPoint& last = series.points()[1];
  EXPECT_DOUBLE_EQ(last.publish_rate, 40);
  EXPECT_DOUBLE_EQ(last.consume_rate, 42);
  EXPECT_DOUBLE_EQ(last.publish_error_rate, 3);
  EXPECT_DOUBLE_EQ(last.publish_bytes_rate, 200);
  EXPECT_EQ(last.backlog, 0U);
  EXPECT_EQ(last.published, 300U);
  EXPECT_EQ(last.verified, 280U);
  EXPECT_EQ(last.missed, 2U);
}

TEST_F(SeriesTest, ATickTooSoonIsPassedOverAndItsTrafficCountsInTheNext) {
  proof.check_point_interval = 5s;
  proof.time_series_interval = 10s;
  Series series(proof, 481);
  traffic.acked = 10;
  add(series, 5s);
  traffic.acked = 20;
  add(series, 10s);
  traffic.acked = 40;
  add(series, 15s);
  ASSERT_EQ(series.points().size(), 2U);
  EXPECT_DOUBLE_EQ(series.points()[1].publish_rate, 3);
}

TEST_F(SeriesTest, ThePointOfTheSameSecondTakesTheLastOnesPlace) {
  proof.check_point_interval = 5s;
  Series series(proof, 10'000'000);
  traffic.acked = 10;
  add(series, 5s);
  traffic.acked = 50;
  add(series, 10s);
  traffic.acked = 60;
  add(series, 10s);
  ASSERT_EQ(series.points().size(), 2U);
  EXPECT_DOUBLE_EQ(series.points()[1].publish_rate, 10);
  EXPECT_EQ(series.points()[1].published, 60U);
}

TEST_F(SeriesTest, PercentilesAreOfWhatCameSinceThePointBefore) {
  proof.check_point_interval = 5s;
  Series series(proof, 10'000'000);
  publish.record(1ms, 100);
  add(series, 5s);
  publish.record(50ms, 100);
  add(series, 10s);
  add(series, 15s);
  ASSERT_EQ(series.points().size(), 3U);
  EXPECT_NEAR(static_cast<double>(series.points()[0].publish_p99.count()), 1e6, 2e4);
  EXPECT_NEAR(static_cast<double>(series.points()[1].publish_p95.count()), 50e6, 1e6);
  EXPECT_EQ(series.points()[2].publish_p99, 0ns);
}

TEST_F(SeriesTest, ASeriesWithoutEndIsThinnedAndGoesOnAtHalfTheRate) {
  proof.check_point_interval = 1s;
  proof.duration = 0s;
  Series series(proof, 481);
  for (std::int64_t at = 1; at <= static_cast<std::int64_t>(kSeriesPointsMax) + 10; ++at) add(series, std::chrono::seconds{at});
  EXPECT_LE(series.points().size(), kSeriesPointsMax);
  EXPECT_EQ(series.interval(), 2s);
  EXPECT_EQ(series.points().front().elapsed, 1s);
}

}  // namespace
}  // namespace sp::coordinator

#include "base/histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HistogramTest, AnEmptyOneIsSmallAndAnswersZero) {
  const Histogram empty;
  EXPECT_LE(sizeof(Histogram), 80U);
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.percentile(0.5), Nanoseconds{0});
  EXPECT_EQ(empty.mean(), Nanoseconds{0});
  EXPECT_EQ(empty.min(), Nanoseconds{0});
  EXPECT_EQ(empty.max(), Nanoseconds{0});
  EXPECT_TRUE(empty.buckets().empty());
}

TEST(HistogramTest, SmallValuesHaveABucketEach) {
  Histogram histogram;
  for (int i = 0; i < 64; ++i) histogram.record(Nanoseconds{i});
  EXPECT_EQ(histogram.buckets().size(), 64U);
  EXPECT_EQ(histogram.percentile(0.5), Nanoseconds{31});
}

TEST(HistogramTest, CountsMeanMinAndMaxAreExact) {
  Histogram histogram;
  histogram.record(milliseconds{3});
  histogram.record(microseconds{1}, 2);
  histogram.record(seconds{7});
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.min(), microseconds{1});
  EXPECT_EQ(histogram.max(), seconds{7});
  EXPECT_EQ(histogram.mean().count(), (3'000'000 + 2'000 + 7'000'000'000) / 4);
}

TEST(HistogramTest, ValuesOutsideTheRangeGoToItsEnds) {
  Histogram histogram;
  histogram.record(Nanoseconds{-5});
  histogram.record(Nanoseconds::max());
  EXPECT_EQ(histogram.min(), Nanoseconds{0});
  EXPECT_EQ(histogram.max(), Histogram::kValueMax);
  EXPECT_EQ(histogram.percentile(1.0), Histogram::kValueMax);
}

TEST(HistogramTest, SharesOutsideZeroToOneAreTheNearerEnd) {
  Histogram histogram;
  histogram.record(milliseconds{1});
  histogram.record(milliseconds{2});
  EXPECT_EQ(histogram.percentile(7.0), milliseconds{2});
  EXPECT_EQ(histogram.percentile(-1.0), histogram.percentile(0.0));
  EXPECT_EQ(histogram.percentile(std::nan("")), milliseconds{2});
}

TEST(HistogramTest, APauseOfHoursIsCorrectedWithoutALoopOverEveryMissedValue) {
  Histogram histogram;
  histogram.record_corrected(hours{5}, microseconds{1});
  EXPECT_EQ(histogram.count(), 18'000'000'000U);
  EXPECT_EQ(histogram.min(), microseconds{1});
  const auto middle = static_cast<double>(histogram.percentile(0.5).count());
  EXPECT_NEAR(middle / 1e9, 9000.0, 9000.0 / 64);
}

TEST(HistogramTest, NothingIsCorrectedBelowTwoIntervals) {
  Histogram histogram;
  histogram.record_corrected(milliseconds{19}, milliseconds{10});
  histogram.record_corrected(milliseconds{19}, Nanoseconds{0});
  EXPECT_EQ(histogram.count(), 2U);
}

TEST(HistogramTest, MergingWithItselfDoublesEveryCount) {
  Histogram histogram;
  histogram.record(milliseconds{1});
  histogram.record(milliseconds{5});
  histogram.merge(histogram);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.mean(), milliseconds{3});
}

std::vector<std::int64_t> values_of(const std::vector<std::uint64_t>& drawn) {
  std::vector<std::int64_t> values;
  // All magnitudes alike: the low six bits choose how many of the others count.
  for (const std::uint64_t number : drawn) {
    values.push_back(
        static_cast<std::int64_t>((number >> 6U) >> std::max<std::uint64_t>(number & 63U, 6)));
  }
  return values;
}

Histogram histogram_of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t value : values) histogram.record(Nanoseconds{value});
  return histogram;
}

RC_GTEST_PROP(HistogramProperty, PercentilesAreAtMostOne64thAboveTheTrueValue,
              (const std::vector<std::uint64_t>& drawn)) {
  RC_PRE(!drawn.empty());
  std::vector<std::int64_t> values = values_of(drawn);
  const Histogram histogram = histogram_of(values);
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
    const std::int64_t exact = values[static_cast<std::size_t>(rank) - 1];
    const std::int64_t said = histogram.percentile(q).count();
    RC_ASSERT(said >= exact);
    RC_ASSERT(said - exact <= exact / 64);
  }
}

RC_GTEST_PROP(HistogramProperty, MergeEqualsRecordingEverythingInOne,
              (const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b)) {
  Histogram merged = histogram_of(values_of(a));
  merged.merge(histogram_of(values_of(b)));
  std::vector<std::int64_t> both = values_of(b);
  for (const std::int64_t value : values_of(a)) both.push_back(value);
  RC_ASSERT(merged == histogram_of(both));
}

RC_GTEST_PROP(HistogramProperty, CorrectionEqualsTheObviousLoop,
              (std::uint32_t value, std::uint16_t interval)) {
  RC_PRE(interval > 0);
  Histogram fast;
  fast.record_corrected(Nanoseconds{value}, Nanoseconds{interval});
  Histogram slow;
  slow.record(Nanoseconds{value});
  for (std::int64_t rest = std::int64_t{value} - interval; rest >= interval; rest -= interval)
    slow.record(Nanoseconds{rest});
  RC_ASSERT(fast == slow);
}

RC_GTEST_PROP(HistogramProperty, BucketsHoldEveryRecordAndDoNotOverlap,
              (const std::vector<std::uint64_t>& drawn)) {
  const Histogram histogram = histogram_of(values_of(drawn));
  std::uint64_t sum = 0;
  Nanoseconds before{0};
  for (const auto& bucket : histogram.buckets()) {
    RC_ASSERT(before <= bucket.begin);
    RC_ASSERT(bucket.begin < bucket.end);
    before = bucket.end;
    sum += bucket.count;
  }
  RC_ASSERT(sum == histogram.count());
}

Histogram made_of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) {
    histogram.record_corrected(Nanoseconds{static_cast<std::int64_t>(value >> (value % 64))}, milliseconds{value % 3});
  }
  return histogram;
}

RC_GTEST_PROP(HistogramProperty, AnImageIsTheWholeHistogram, (const std::vector<std::uint64_t>& values)) {
  const Histogram histogram = made_of(values);
  const auto back = Histogram::from_image(histogram.image());
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == histogram);
}

TEST(HistogramTest, TheImageOfAnEmptyOneIsNothing) {
  EXPECT_EQ(Histogram().image(), Histogram::Image{});
  EXPECT_EQ(*Histogram::from_image({}), Histogram());
}

TEST(HistogramTest, AnImageThatNoHistogramHasIsRefused) {
  const Histogram::Image good = made_of({1'000, 2'000, 5'000'000}).image();
  const std::vector<void (*)(Histogram::Image&)> spoil = {
      [](auto& image) { image.counts.clear(); },
      [](auto& image) { image.counts.push_back(1); },
      [](auto& image) { image.counts.back() = 0; },
      [](auto& image) { image.counts.front() = UINT64_MAX; },
      [](auto& image) { image.first_bucket = UINT64_MAX; },
      [](auto& image) { image.first_bucket += 1; },
      [](auto& image) { image.min = -1; },
      [](auto& image) { image.max = INT64_MAX; },
      [](auto& image) { std::swap(image.min, image.max); },
      [](auto& image) { image.sum_high = 1; },
      [](auto& image) { image.sum_low = 0; },
  };
  for (std::size_t i = 0; i < spoil.size(); ++i) {
    Histogram::Image image = good;
    spoil[i](image);
    const auto read = Histogram::from_image(image);
    ASSERT_FALSE(read.has_value()) << i;
    EXPECT_EQ(read.error().code, ErrorCode::kParse);
  }
}

}  // namespace
}  // namespace sp

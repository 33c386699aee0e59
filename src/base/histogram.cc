#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace sp {
namespace {

constexpr unsigned kHalfBits = 6;  // 64 buckets in each doubling: the declared error of 1/64

std::size_t bucket_of(std::uint64_t value) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = width > kHalfBits + 1 ? width - kHalfBits - 1 : 0;
  return (std::size_t{shift} << kHalfBits) + (value >> shift);
}

std::uint64_t bucket_begin(std::size_t bucket) {
  if (bucket < (std::size_t{2} << kHalfBits)) return bucket;
  const std::size_t shift = (bucket >> kHalfBits) - 1;
  return (std::uint64_t{bucket} - (std::uint64_t{shift} << kHalfBits)) << shift;
}

std::int64_t clamped(Nanoseconds value) {
  return std::clamp<std::int64_t>(value.count(), 0, Histogram::kValueMax.count());
}

}  // namespace

void Histogram::add(std::size_t bucket, std::uint64_t times) {
  if (counts_.empty()) {
    first_bucket_ = bucket;
    counts_.assign(1, 0);
  } else if (bucket < first_bucket_) {
    counts_.insert(counts_.begin(), first_bucket_ - bucket, 0);
    first_bucket_ = bucket;
  } else if (bucket - first_bucket_ >= counts_.size()) {
    counts_.resize(bucket - first_bucket_ + 1, 0);
  }
  counts_[bucket - first_bucket_] += times;
}

void Histogram::record(Nanoseconds value, std::uint64_t times) {
  if (times == 0) return;
  const std::int64_t number = clamped(value);
  const auto unsigned_number = static_cast<std::uint64_t>(number);
  add(bucket_of(unsigned_number), times);
  count_ += times;
  min_ = std::min(min_, number);
  max_ = std::max(max_, number);
  sum_ += Sum{unsigned_number} * times;
}

void Histogram::record_corrected(Nanoseconds value, Nanoseconds expected_interval) {
  record(value);
  const auto top = static_cast<std::uint64_t>(clamped(value));
  if (expected_interval.count() <= 0) return;
  const auto interval = static_cast<std::uint64_t>(expected_interval.count());
  if (top / interval < 2) return;
  // The made-up values are top − k × interval for k = 1 … steps; a pause may hold millions, so they
  // go in by bucket, not one by one.
  const std::uint64_t steps = top / interval - 1;
  std::uint64_t done = 0;
  while (done < steps) {
    const std::uint64_t highest = top - (done + 1) * interval;
    const std::size_t bucket = bucket_of(highest);
    const std::uint64_t in_bucket =
        std::min((highest - bucket_begin(bucket)) / interval + 1, steps - done);
    add(bucket, in_bucket);
    done += in_bucket;
  }
  count_ += steps;
  min_ = std::min(min_, static_cast<std::int64_t>(top - steps * interval));
  sum_ += Sum{steps} * top - Sum{interval} * (Sum{steps} * (Sum{steps} + 1) / 2);
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  if (this == &other) {
    merge(Histogram(other));
    return;
  }
  add(other.first_bucket_ + other.counts_.size() - 1, 0);
  add(other.first_bucket_, 0);
  const std::size_t shift = other.first_bucket_ - first_bucket_;
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[shift + i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

Nanoseconds Histogram::mean() const {
  return Nanoseconds{count_ == 0 ? 0 : static_cast<std::int64_t>(sum_ / count_)};
}

Nanoseconds Histogram::percentile(double q) const {
  if (count_ == 0) return Nanoseconds{0};
  const double share = std::clamp(std::isnan(q) ? 1.0 : q, 0.0, 1.0);
  if (share >= 1.0) return max();
  const double wanted = std::ceil(share * static_cast<double>(count_));
  const std::uint64_t rank =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    passed += counts_[i];
    if (passed < rank) continue;
    const std::uint64_t last_inside = bucket_begin(first_bucket_ + i + 1) - 1;
    return std::clamp(Nanoseconds{static_cast<std::int64_t>(last_inside)}, min(), max());
  }
  return max();
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const std::size_t bucket = first_bucket_ + i;
    filled.push_back({Nanoseconds{static_cast<std::int64_t>(bucket_begin(bucket))},
                      Nanoseconds{static_cast<std::int64_t>(bucket_begin(bucket + 1))},
                      counts_[i]});
  }
  return filled;
}

Histogram::Image Histogram::image() const {
  if (empty()) return {};
  Image image;
  image.first_bucket = first_bucket_;
  image.counts = counts_;
  image.min = min_;
  image.max = max_;
  image.sum_high = static_cast<std::uint64_t>(sum_ >> 64U);
  image.sum_low = static_cast<std::uint64_t>(sum_);
  return image;
}

Result<Histogram> Histogram::from_image(Image image) {
  constexpr std::string_view kWhere = "a histogram's image: ";
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kParse, std::string(kWhere).append(why).append("; it was damaged on its way"));
  };
  if (image.counts.empty()) {
    if (image != Image{}) return refuse("no buckets, and yet values");
    return Histogram{};
  }
  if (image.min < 0 || image.min > image.max || image.max > kValueMax.count()) return refuse("its least and highest value cannot be");
  const auto lowest = static_cast<std::uint64_t>(image.min);
  const auto highest = static_cast<std::uint64_t>(image.max);
  if (bucket_of(lowest) != image.first_bucket || bucket_of(highest) - image.first_bucket != image.counts.size() - 1) {
    return refuse("its buckets are not those of its least and highest value");
  }
  if (image.counts.front() == 0 || image.counts.back() == 0) return refuse("its outermost buckets are empty");
  Histogram made;
  Sum least = 0;
  Sum most = 0;
  for (std::size_t i = 0; i < image.counts.size(); ++i) {
    const std::uint64_t count = image.counts[i];
    if (count > std::numeric_limits<std::uint64_t>::max() - made.count_) return refuse("more records than can be counted");
    made.count_ += count;
    least += Sum{count} * std::max(lowest, bucket_begin(image.first_bucket + i));
    most += Sum{count} * std::min(highest, bucket_begin(image.first_bucket + i + 1) - 1);
  }
  made.sum_ = Sum{image.sum_high} << 64U | image.sum_low;
  if (made.sum_ < least || made.sum_ > most) return refuse("its sum is not that of its buckets");
  made.first_bucket_ = image.first_bucket;
  made.counts_ = std::move(image.counts);
  made.min_ = image.min;
  made.max_ = image.max;
  return made;
}

}  // namespace sp

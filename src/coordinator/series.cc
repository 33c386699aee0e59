#include "coordinator/series.h"

#include <algorithm>
#include <cmath>

namespace sp::coordinator {
namespace {

using std::chrono::seconds;

seconds rounded_up(seconds span, seconds step) { return (span + step - seconds{1}) / step * step; }

seconds sampling_interval(const proof::Proof& proof, std::uint64_t points_max) {
  const seconds tick = proof.check_point_interval.count() > 0 ? proof.check_point_interval : seconds{5};
  if (proof.time_series_interval.count() > 0) return rounded_up(std::max(proof.time_series_interval, tick), tick);
  if (proof.duration.count() <= 0) return tick;
  const seconds share{proof.duration.count() / static_cast<std::int64_t>(std::max<std::uint64_t>(1, points_max))};
  return rounded_up(std::max(tick, share), tick);
}

double rate(std::uint64_t now, std::uint64_t before, seconds span) {
  const auto more = static_cast<double>(now - std::min(now, before));
  return more / static_cast<double>(std::max<std::int64_t>(1, span.count()));
}

std::uint64_t errors_of(const core::Counters& traffic) { return traffic.failed + traffic.unknown; }

}  // namespace

Nanoseconds percentile_since(const Histogram& later, const Histogram& earlier, double q) {
  if (later.count() <= earlier.count()) return Nanoseconds{0};
  const auto before = earlier.buckets();
  const std::uint64_t added = later.count() - earlier.count();
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(added))));
  std::uint64_t seen = 0;
  std::size_t at = 0;
  Nanoseconds value{0};
  for (const auto& bucket : later.buckets()) {
    while (at < before.size() && before[at].begin < bucket.begin) ++at;
    const bool same = at < before.size() && before[at].begin == bucket.begin;
    const std::uint64_t more = bucket.count - (same ? std::min(bucket.count, before[at].count) : 0);
    if (more == 0) continue;
    seen += more;
    value = std::min(bucket.end - Nanoseconds{1}, later.max());
    if (seen >= wanted) break;
  }
  return value;
}

Series::Series(const proof::Proof& proof, std::uint64_t points_max) : interval_(sampling_interval(proof, points_max)) {}

void Series::add(const Moment& moment) {
  const bool replaces = !points_.empty() && points_.back().elapsed == moment.elapsed;
  if (!replaces && !points_.empty() && moment.elapsed - points_.back().elapsed < interval_) return;
  if (!replaces) before_ = last_;
  const Base& from = before_;
  const seconds span = moment.elapsed - from.elapsed;
  const core::Counters& now = moment.traffic;
  SeriesPoint point;
  point.elapsed = moment.elapsed;
  point.publish_rate = rate(now.acked, from.traffic.acked, span);
  point.consume_rate = rate(now.received, from.traffic.received, span);
  point.publish_error_rate = rate(errors_of(now), errors_of(from.traffic), span);
  point.publish_bytes_rate = rate(now.bytes_acked, from.traffic.bytes_acked, span);
  point.consume_bytes_rate = rate(now.bytes_received, from.traffic.bytes_received, span);
  point.backlog = now.acked - std::min(now.acked, now.received);
  point.publish_p95 = percentile_since(moment.publish, from.publish, 0.95);
  point.publish_p99 = percentile_since(moment.publish, from.publish, 0.99);
  point.end_to_end_p95 = percentile_since(moment.end_to_end, from.end_to_end, 0.95);
  point.end_to_end_p99 = percentile_since(moment.end_to_end, from.end_to_end, 0.99);
  point.verified = moment.summary.verified;
  point.published = now.acked;
  point.consumed = now.received;
  point.errors = moment.summary.errors;
  point.timeouts = moment.summary.timeouts;
  point.missed = moment.summary.missed;
  point.duplicates = moment.summary.duplicates;
  point.out_of_orders = moment.summary.out_of_orders;
  if (replaces) {
    points_.back() = point;
  } else {
    thin();
    points_.push_back(point);
  }
  last_ = {moment.elapsed, now, moment.publish, moment.end_to_end};
}

void Series::thin() {
  if (points_.size() < kSeriesPointsMax) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
  interval_ *= 2;
}

}  // namespace sp::coordinator

#include "workload/pacing.h"

#include <algorithm>
#include <cmath>

namespace sp::workload {
namespace {

constexpr double kNanosecondsInSecond = 1e9;
constexpr std::uint64_t kAlwaysDue = 1'000'000'000;

}  // namespace

Pacing::Pacing(double rate, Nanoseconds catch_up_max)
    : rate_(rate), unlimited_(!(rate > 0) || rate >= kRateUnlimited) {
  const double slots = unlimited_ ? 1 : rate * static_cast<double>(catch_up_max.count()) / kNanosecondsInSecond;
  burst_max_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(slots)));
}

MonotonicTime Pacing::time_of(std::uint64_t slot) const {
  // Multiplied first: whole seconds of whole rates stay whole.
  const double nanoseconds = std::ceil(static_cast<double>(slot) * kNanosecondsInSecond / rate_);
  if (nanoseconds >= 9e18) return MonotonicTime::max();
  return start_ + Nanoseconds(static_cast<std::int64_t>(nanoseconds));
}

std::uint64_t Pacing::due(MonotonicTime now) {
  if (unlimited_) return kAlwaysDue;
  if (now < start_) return 0;
  const double passed = static_cast<double>((now - start_).count());
  auto end = static_cast<std::uint64_t>(passed * rate_ / kNanosecondsInSecond) + 1;
  // The estimate may be off by rounding; the times of the slots decide.
  while (end > 0 && time_of(end - 1) > now) --end;
  while (time_of(end) <= now) ++end;
  if (end <= taken_) return 0;
  if (end - taken_ > burst_max_) {
    dropped_ += end - burst_max_ - taken_;
    taken_ = end - burst_max_;
  }
  return end - taken_;
}

MonotonicTime Pacing::take(MonotonicTime now) { return unlimited_ ? now : time_of(taken_++); }

}  // namespace sp::workload

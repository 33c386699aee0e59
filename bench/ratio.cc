#include "ratio.h"

#include <algorithm>
#include <cmath>

namespace sp::bench {
namespace {

constexpr double kMissMax = 0.05;

// That of n values, each below the true median or above it by the toss of a coin, at most `least` are below.
double tail(std::size_t n, std::size_t least) {
  double sum = 0;
  double ways = std::exp2(-static_cast<double>(n));
  for (std::size_t i = 0; i <= least; ++i) {
    sum += ways;
    ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return sum;
}

}  // namespace

MedianInterval median_interval(std::vector<double> values) {
  MedianInterval interval;
  interval.count = values.size();
  if (values.empty()) return interval;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  interval.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  std::size_t outer = 0;  // values left out at each end
  while (outer + 1 < (n + 1) / 2 && 2 * tail(n, outer + 1) <= kMissMax) ++outer;
  interval.low = values[outer];
  interval.high = values[n - 1 - outer];
  interval.confidence = std::max(0.0, 1 - 2 * tail(n, outer));
  return interval;
}

double median(const std::vector<double>& values) { return median_interval(values).median; }

}  // namespace sp::bench

// What paired measurements say: the median of their ratios, and how sure it is.
//
//     sorted   r1 r2 … rk … r(n-k+1) … rn        [rk, r(n-k+1)] holds the true median with at least 95 %
//
// The interval is that of order statistics: it supposes nothing about how the ratios are distributed. It needs six pairs;
// with fewer it is all there is, and `confidence` says what that is worth.
//
// Cost:    O(n log n).   Errors: none; of no values all is 0.   Threads: values.
// Source:  Conover, Practical Nonparametric Statistics, "Confidence interval for a quantile".
#pragma once

#include <cstddef>
#include <vector>

namespace sp::bench {

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;  // that the true median is within [low, high]
  std::size_t count = 0;
};
[[nodiscard]] MedianInterval median_interval(std::vector<double> values);
[[nodiscard]] double median(const std::vector<double>& values);

}  // namespace sp::bench

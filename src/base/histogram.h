// How long things took: a log-linear histogram of durations, mergeable, with a declared error.
//
//     value 0…63        a bucket each
//     [2^n, 2^(n+1))    64 buckets of equal width, n = 6, 7, …
//
// Shape:    only the buckets between the lowest and the highest value seen are stored. Two are equal
//           when the same values went in, in whatever order and through whatever merges.
// Units:    nanoseconds; below 0 counts as 0, above kValueMax as kValueMax.
// Cost:     record 3 ns; 80 bytes when empty, 8 more for each stored bucket (29 KiB at most); merge O(buckets).
// Limits:   2^64 − 1 records.
// Errors:   percentile() is at most 1/64 above the true value and never below it; count, mean and max are exact.
//           from_image(): kParse for what is no histogram's image.
// Threads:  one owner.   Source: Tene, "How NOT to measure latency", for record_corrected().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp {

class Histogram {
 public:
  static constexpr Nanoseconds kValueMax{INT64_MAX / 2};

  void record(Nanoseconds value, std::uint64_t times = 1);
  // Records `value` and, where something was expected every `expected_interval`, also what those
  // that had to wait behind it would have measured: value − interval, value − 2 × interval, … down
  // to the interval. An interval of 0 expects nothing.
  void record_corrected(Nanoseconds value, Nanoseconds expected_interval);
  void merge(const Histogram& other);
  void clear() { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // These are 0 when empty.
  [[nodiscard]] Nanoseconds min() const { return count_ == 0 ? Nanoseconds{0} : Nanoseconds{min_}; }
  [[nodiscard]] Nanoseconds max() const { return Nanoseconds{max_}; }
  [[nodiscard]] Nanoseconds mean() const;
  // The value that the share `q` of all records does not exceed: q = 0.99. q outside [0, 1] is the nearer end.
  [[nodiscard]] Nanoseconds percentile(double q) const;

  struct Bucket {
    Nanoseconds begin;
    Nanoseconds end;  // not inside
    std::uint64_t count;
    bool operator==(const Bucket&) const = default;
  };
  // The buckets that hold something, rising.
  [[nodiscard]] std::vector<Bucket> buckets() const;

  bool operator==(const Histogram&) const = default;

  // All that it is as plain values, to carry it to another process; all 0 when empty.
  struct Image {
    std::uint64_t first_bucket = 0;
    std::vector<std::uint64_t> counts;  // from the first bucket that holds something to the last
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::uint64_t sum_high = 0;         // of all values, 128 bits in two halves
    std::uint64_t sum_low = 0;
    bool operator==(const Image&) const = default;
  };
  [[nodiscard]] Image image() const;
  // The histogram of that image, equal to the one it was taken of.
  [[nodiscard]] static Result<Histogram> from_image(Image image);

 private:
  __extension__ using Sum = unsigned __int128;

  void add(std::size_t bucket, std::uint64_t times);

  std::vector<std::uint64_t>
      counts_;  // of the buckets first_bucket_, first_bucket_ + 1, …; its ends are not 0
  std::size_t first_bucket_ = 0;
  std::uint64_t count_ = 0;
  std::int64_t min_ = INT64_MAX;
  std::int64_t max_ = 0;
  Sum sum_ = 0;
};

}  // namespace sp

// The time series of a proof, as its report shows it: a point a sampling interval, taken at ticks.
//
//     interval = timeSeriesInterval, or duration / maxTimeSeriesPoints; at least checkPointInterval, a multiple of it
//
// Units:    rates a second and percentiles are of the time since the point before; counters are totals.
// Cost:     O(buckets of the histograms) a point.
// Limits:   kSeriesPointsMax; then every second one goes and the interval doubles.
// Errors:   none.   Threads: one owner.   Source: section 3.5 of the reference; docs/reference/rest.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/histogram.h"
#include "coordinator/service.h"
#include "core/counters.h"
#include "proof/proof.h"

namespace sp::coordinator {

constexpr std::size_t kSeriesPointsMax = 20'000;

class Series {
 public:
  Series(const proof::Proof& proof, std::uint64_t points_max);

  struct Moment {
    std::chrono::seconds elapsed{0};
    Summary summary;
    core::Counters traffic;
    const Histogram& publish;  // since the start of the proof
    const Histogram& end_to_end;
  };
  // A tick, the end of the load, or the end of all: a point if one is due. The same second takes the last one's place.
  void add(const Moment& moment);
  [[nodiscard]] const std::vector<SeriesPoint>& points() const { return points_; }
  [[nodiscard]] std::chrono::seconds interval() const { return interval_; }

 private:
  void thin();

  std::chrono::seconds interval_;
  std::vector<SeriesPoint> points_;
  // What the rates of the last point, and of one that takes its place, count from.
  struct Base {
    std::chrono::seconds elapsed{0};
    core::Counters traffic;
    Histogram publish, end_to_end;
  };
  Base before_;  // the point before the last
  Base last_;    // the last one
};

// The value that the share `q` of what `later` has more than `earlier` does not exceed; 0: nothing was added. `earlier` is an
// earlier state of `later`.
[[nodiscard]] Nanoseconds percentile_since(const Histogram& later, const Histogram& earlier, double q);

}  // namespace sp::coordinator

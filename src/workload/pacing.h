// When records are to be sent: an open loop of slots that does not care how the system is doing.
//
//     slot i is due at  start + i / rate
//     due(now) ─► how many;   take(now) ─► the time at which that slot was due
//
// After a blockage the slots of the last `catch_up_max` are sent in a burst; older ones are given
// up and counted. Latencies measured from the time that take() returns include what a record waited
// because the one before it was stuck.
//
// Shape:    a rate of 0 or of kRateUnlimited and above means as fast as possible: always due, never
//           dropped, never late.
// Units:    slots a second.   Cost: 5 ns.   Limits: exact to 1 ns over years.   Errors: none.   Threads: one owner.
// Source:   Tene, "How NOT to measure latency" (coordinated omission).
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace sp::workload {

class Pacing {
 public:
  static constexpr double kRateUnlimited = 1e8;

  Pacing(double rate, Nanoseconds catch_up_max);

  void start(MonotonicTime at) { start_ = at; }
  [[nodiscard]] bool unlimited() const { return unlimited_; }
  // How many slots are due and not taken; gives up what is past the catch-up bound.
  std::uint64_t due(MonotonicTime now);
  // Takes the oldest slot that is due: the time at which it was due.
  MonotonicTime take(MonotonicTime now);
  // The time of the next slot; may be in the past.
  [[nodiscard]] MonotonicTime next() const { return unlimited_ ? start_ : time_of(taken_); }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] MonotonicTime time_of(std::uint64_t slot) const;

  double rate_;
  bool unlimited_;
  std::uint64_t burst_max_;
  MonotonicTime start_{};
  std::uint64_t taken_ = 0;    // slots taken or dropped
  std::uint64_t dropped_ = 0;
};

}  // namespace sp::workload

// How far the consumers are behind what was acknowledged, and how long after each fault records flow as before. Looks at positions
// only, so it costs nothing a record.
//
//     acked      ──────────────────────►|        one above the highest acknowledged position of a partition
//     reached    ──────────────►|                one above the highest position that every group was handed
//
//     staleness  the longest time from the look before the one that knew an acknowledgement to the look that knew its
//                hand-over; what was never handed over counts up to close()
//     recovered  the first look at which, on every partition that was in use when the fault was over, something above what
//                was acknowledged then has been acknowledged and handed over to every group
//
// Shape:    a fault is waited for from kEvidenceDelay after it was over: by then what was acknowledged before is known.
// Units:    resolution is the distance of two looks and the delay of evidence, together some 0.4 s; both numbers are never
//           too low by more than the delay of evidence.
// Cost:     O(partitions) a look; O(partitions) a fault that is waited for.
// Limits:   kMarksMax moments a partition, thinned out beyond (a lag is then overstated by some 6 %); kWaitsMax faults waited for at once.
// Errors:   none: what could not be measured has a sentence.
// Threads:  one owner.
// Source:   docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/fault.h"

namespace sp::coordinator {

class LagWatch {
 public:
  static constexpr Nanoseconds kEvidenceDelay = std::chrono::milliseconds{200};
  static constexpr std::size_t kMarksMax = 32;
  static constexpr std::size_t kWaitsMax = 64;

  struct Place {
    std::uint64_t acked = 0;
    std::uint64_t reached = 0;
  };
  // `places` by partition, `faults` in the order of their numbers; both may grow from look to look. `now` never falls.
  void look(std::span<const Place> places, std::span<const core::FaultRecord> faults, MonotonicTime now);
  // No delivery counts any more. Later looks change nothing.
  void close(MonotonicTime now);

  // Absent if no_staleness() says why.
  [[nodiscard]] std::optional<Nanoseconds> staleness() const;
  [[nodiscard]] std::string no_staleness() const;
  // Fills in when each of the faults had recovered, or why that is not known.
  void tell(std::vector<core::FaultRecord>& faults) const;

 private:
  struct Mark {  // acknowledged up to `acked`, not yet known at `since`
    std::uint64_t acked = 0;
    MonotonicTime since{};
  };
  struct Lag {
    std::uint64_t known = 0;   // `acked` of the last mark
    std::vector<Mark> marks;   // rise; those that the groups have not come to
  };
  struct Wait {
    std::vector<std::uint64_t> acked;  // by partition, when it was over; 0: not in use
    std::size_t next = 0;              // partitions below it have recovered
  };
  void measure(std::size_t partition, const Place& place, MonotonicTime now);
  static void thin_out(std::vector<Mark>& marks, MonotonicTime now);
  void begin_waits(std::span<const core::FaultRecord> faults, MonotonicTime now);
  // True if every partition that was in use has recovered; else wait.next is one that has not.
  [[nodiscard]] bool recovered(Wait& wait) const;
  [[nodiscard]] std::string why_not(const Wait& wait) const;

  std::vector<Place> places_;                     // of the last look
  std::vector<Lag> lags_;                         // by partition
  std::optional<MonotonicTime> before_;           // the last look
  Nanoseconds staleness_{};
  bool closed_ = false;
  std::map<std::size_t, Wait> waits_;             // by index of the fault
  std::map<std::size_t, MonotonicTime> recovered_;
  std::map<std::size_t, std::string> not_known_;
  std::size_t begun_ = 0;                         // faults below it were over at the last look
};

}  // namespace sp::coordinator

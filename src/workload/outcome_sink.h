// Between a producer's driver and the evidence: closes attempts in the producer's book, counts,
// times, remembers what is refused, and passes everything on unchanged.
//
// Cost:    some 20 ns an observation.   Limits: none.   Errors: none.   Threads: one owner.
// Source:  src/workload/README.md.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/clock.h"
#include "core/observation.h"
#include "workload/evidence.h"
#include "workload/open_attempts.h"
#include "workload/standing_refusal.h"
#include "workload/stats.h"

namespace sp::workload {

class OutcomeSink final : public core::ObservationSink {
 public:
  // All outlive this.
  OutcomeSink(std::size_t payload_bytes, OpenAttempts& open, Evidence& evidence, Stats& stats,
              const MonotonicClock& clock)
      : payload_bytes_(payload_bytes), open_(open), evidence_(evidence), stats_(stats), clock_(clock) {}

  void begin() override;
  void observe(const core::Observation& observation) override;
  void observe_all(std::span<const core::Observation> observations) override;
  void end() override;
  [[nodiscard]] std::string refusal(MonotonicTime now) const { return refusal_.text(now); }

 private:
  void take(const core::Observation& observation);

  std::size_t payload_bytes_;
  OpenAttempts& open_;
  Evidence& evidence_;
  Stats& stats_;
  const MonotonicClock& clock_;
  MonotonicTime now_{};
  bool bracketed_ = false;
  StandingRefusal refusal_;
};

}  // namespace sp::workload

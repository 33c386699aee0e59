// The raw read of one worker: steps a driver's reader to its end and passes on what it shows.
//
// Errors:   failure() says why the reader gave up; what it had not read is marked so in the evidence.
// Threads:  loop.h; failure() after done().   Source: ARCHITECTURE.md, "The raw read".
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "workload/evidence.h"
#include "workload/loop.h"
#include "workload/stats.h"

namespace sp::workload {

class RawLoop final : public Loop {
 public:
  // Clock and evidence outlive the loop.
  RawLoop(const Waits& waits, std::unique_ptr<driver::RawReader> reader, Evidence& evidence,
          const MonotonicClock& clock);

  MonotonicTime step(MonotonicTime now) override;
  // Gives up what is not read.
  void stop() override { stop_ = true; }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] Stats& stats() override { return stats_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  // Passes on, with the messages taken out.
  class Sink final : public core::ObservationSink {
   public:
    Sink(Evidence& evidence, Stats& stats) : evidence_(evidence), stats_(stats) {}
    void begin() override;
    void observe(const core::Observation& observation) override;
    void end() override;

   private:
    Evidence& evidence_;
    Stats& stats_;
    bool bracketed_ = false;
  };

  Waits waits_;
  std::unique_ptr<driver::RawReader> reader_;
  Evidence& evidence_;
  const MonotonicClock& clock_;
  Stats stats_;
  Sink sink_;
  std::optional<Error> failure_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace sp::workload

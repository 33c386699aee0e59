// One proof as `run` carries it out on this machine's clocks: coordinator, workers and driver in this process, to the verdict.
// What happens at the driver can be watched on the way.
//
//     run_live({proof, factory, on_observation, on_tick, on_alarm}) ─► report, and when things were
//
// Cost:    a look at the clock for each poll of a driver; with on_observation a call for each observation.
// Errors:  kUnavailable what could not start.
// Threads: the caller's is the coordinator's; on_observation is called from the loops' threads, the others from the caller's.
// Source:  cli/run_live.cc, whose loop this is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "coordinator/coordinator.h"
#include "core/observation.h"
#include "worker/worker.h"

namespace sp::bench {

struct LiveOptions {
  core::RunId run{1};
  proof::Proof proof;
  worker::DriverFactory factory;
  // Absent: nothing stands between driver and loops but a look at the clock.
  std::function<void(const core::Observation&, MonotonicTime)> on_observation;
  std::function<void(std::uint64_t tick, MonotonicTime at)> on_tick;  // it is complete
  std::function<void(const track::Alarm&, const std::string& key, MonotonicTime)> on_alarm;
};

struct LiveResult {
  report::Report report;
  MonotonicTime load_begin{};
  MonotonicTime load_end{};
  MonotonicTime last_delivery{};
  MonotonicTime judged{};
  Nanoseconds cpu_load{};  // of the process, from the begin of the load to its end
  Nanoseconds cpu{};       // and to the verdict

  // Records received a second, from the begin of the load to the last delivery.
  [[nodiscard]] double rate() const;
};
[[nodiscard]] Result<LiveResult> run_live(const LiveOptions& options, MonotonicClock& clock, const WallClock& wall);

}  // namespace sp::bench

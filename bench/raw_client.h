// The rival of the harness: what one writes by hand on librdkafka to produce and consume at the same time, as fast as it goes,
// keeping nothing but counts.
//
//     thread 1   produce … flush          begin ── load, `duration` long ── end
//     thread 2   consume in batches             ─────────── until as many came as were acked
//
// The client settings are those that the harness uses. It commits nothing, checks nothing, and its payload is written once.
//
// Cost:    two threads.   Limits: waits 60 s for what was acked and does not come.
// Errors:  what librdkafka refuses; kTimeout if records stay away.
// Threads: one owner.   Source: librdkafka's INTRODUCTION, "Producer" and "Consumer".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::bench {

struct RawOptions {
  std::string bootstrap;
  std::string topic;                            // is there
  std::string group;
  std::map<std::string, std::string> settings;  // of the harness
  std::vector<std::string> keys;                // in turn
  std::size_t payload_bytes = 100;
  Nanoseconds duration{};                       // of the load
  double rate = 0;                              // records a second; 0: as fast as it goes
  bool consume = true;
};

struct RawResult {
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t received = 0;
  Nanoseconds load{};    // from the first record to the last one handed to the library
  Nanoseconds whole{};   // ... to the last one received, or acked if none are consumed
  Nanoseconds cpu{};     // of the process meanwhile
  [[nodiscard]] double rate() const {
    const double seconds = std::chrono::duration<double>(whole).count();
    return seconds > 0 ? static_cast<double>(acked) / seconds : 0;
  }
};
[[nodiscard]] Result<RawResult> run_raw(const RawOptions& options, MonotonicClock& clock);

}  // namespace sp::bench

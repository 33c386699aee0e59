// How much was done, in numbers: what a loop counts, a worker sums up, a coordinator sums up again and a report prints. For
// people and time series, never for a verdict.
//
// Cost: a value.   Errors: none.   Threads: a value.   Source: docs/reference/metrics.md.
#pragma once

#include <cstdint>

namespace sp::core {

struct Counters {
  std::uint64_t attempts = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t received = 0;
  std::uint64_t bytes_acked = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t queue_full = 0;     // sends put off: the library's queue or the limit of a partition was full
  std::uint64_t slots_dropped = 0;  // pacing slots given up past the catch-up bound
  std::uint64_t client_errors = 0;

  Counters& operator+=(const Counters& other) {
    attempts += other.attempts;
    acked += other.acked;
    failed += other.failed;
    unknown += other.unknown;
    received += other.received;
    bytes_acked += other.bytes_acked;
    bytes_received += other.bytes_received;
    queue_full += other.queue_full;
    slots_dropped += other.slots_dropped;
    client_errors += other.client_errors;
    return *this;
  }
};

}  // namespace sp::core

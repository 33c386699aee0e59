// The embedded broker: topics of partitions, consumer groups, honest bad days and defects on request, all in this
// process.
//
//     Broker ◄── EmbeddedDriver (one for each worker) ── Producer, Consumer, RawReader
//        └─ next_event(): when something becomes ready   └─ truth(): what was planted and what it must come to
//
// Simulated (`simulated`), no call ever waits: a scheduler asks next_event() and turns the clock. Else a poll with a
// wait blocks on the clock until something is ready. Honest unless asked otherwise: what is acked is handed over in
// order once a group, but for the repeats that a rebalance brings.
//
// Units:    durations are std::chrono.
// Cost:     one lock and two copies a record through; 23 bytes a record on top of key and payload.
// Limits:   `retention_bytes_max` of records: oldest segments that every group committed past are dropped, and when
//           there are none, producers are told that the queue is full. `queue_records_max` open attempts a producer.
// Errors:   none of its own.   Threads: any; one lock. Sinks are called without it.   Source: README.md of this room.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "base/result.h"
#include "driver/embedded/defects.h"
#include "driver/embedded/planter.h"
#include "driver/embedded/truth.h"

namespace sp::driver::embedded {

struct Delay {
  Nanoseconds least{};
  Nanoseconds most{};
};

// Bad days that are nobody's defect. Rates are of attempts or commits; a span of 0 is never.
struct Honest {
  double info_stored = 0;        // outcome unknown, stored
  double info_absent = 0;        // outcome unknown, not stored
  double info_late = 0;          // outcome unknown, stored some time later, behind what came after it
  double failed = 0;             // refused for good, not stored
  double commit_info = 0;        // commit of unknown outcome, applied or not
  double commit_failed = 0;      // commit refused, not applied
  Nanoseconds rebalance_every{}; // mean time between moves of one partition
  Nanoseconds restart_every{};   // mean time between members thrown out, who come back as new ones
};

struct BrokerOptions {
  std::uint64_t seed = 0;
  bool simulated = false;
  Delay ack{std::chrono::microseconds{50}, std::chrono::microseconds{400}};
  Delay delivery{std::chrono::microseconds{50}, std::chrono::microseconds{400}};
  Honest honest{};
  std::vector<DefectSpec> defects{};
  Expected expected{};           // of the run, so that `count` spreads over it
  Nanoseconds session_timeout = std::chrono::seconds{10};
  std::size_t queue_records_max = 100'000;
  std::size_t retention_bytes_max = std::size_t{1} << 30U;
};

struct State;  // all of it, for the clients: driver/embedded/state.h
struct Topic;

class Broker {
 public:
  // The clocks outlive the broker; the broker outlives its clients.
  Broker(MonotonicClock& clock, const WallClock& wall, BrokerOptions options);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // The earliest moment at which a client has something to poll for, or the broker something to do; at or before
  // now: at once. Absent: nothing happens until somebody calls.
  [[nodiscard]] std::optional<MonotonicTime> next_event();
  // Throws a member out as if its session had ended: consumer number `index` of that group. False: there is none.
  bool expel(const std::string& topic, const std::string& group, std::uint32_t index);
  // Moves a partition within a group by a rebalance. False: the group has no member.
  bool move(const std::string& topic, const std::string& group, core::PartitionId partition);

  // What was planted, as it stands now; exact once all clients are closed and the raw read is over.
  [[nodiscard]] std::vector<TruthLine> truth();
  [[nodiscard]] State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace sp::driver::embedded

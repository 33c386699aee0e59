// The workers of a run as the coordinator sees them: who is alive, what each was told and last
// said. Polls them and feeds what they answer into the ledger.
//
//     round:   all live workers are asked ─► each is polled until it has nothing more ─► ledger.round()
//     away:    polls fail ─► longer than `away`: lost ─► a poll works again: back
//
// Cost:     one poll a worker and round.
// Limits:   `polls_in_a_row` a worker and round, so that one cannot starve the others.
// Errors:   none upward: a worker that fails is a state.
// Threads:  one owner.
// Source:   the checking model, "Time and order".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/worker_port.h"
#include "track/ledger.h"

namespace sp::coordinator {

struct FleetOptions {
  Nanoseconds away{std::chrono::seconds{10}};       // polls fail for longer: lost
  Nanoseconds lost_retry{std::chrono::seconds{1}};  // how often a lost one is asked again
  std::size_t polls_in_a_row = 64;
};

class Fleet {
 public:
  struct Worker {
    control::WorkerPort* port = nullptr;  // outlives the fleet, or is replaced
    core::SourceId source;
    bool lost = false;
    std::string problem;  // of the last poll that failed
    std::optional<MonotonicTime> failing_since;
    MonotonicTime asked{};
    std::uint64_t tick_heard = 0;
    bool drained = false;        // in this round
    bool polled = false;         // at least one poll worked: `last` is what it said
    control::WorkerReport last;  // without deltas
  };
  struct Sinks {
    std::function<void(const Worker&, std::string_view)> message;
    std::function<void(const track::Delta&)> delta;  // before it is applied
    std::function<void(core::SourceId)> lost;        // before the ledger is told; absent: nobody wants to know
  };

  Fleet(FleetOptions options, Sinks sinks) : options_(options), sinks_(std::move(sinks)) {}

  void add(control::WorkerPort& port, core::SourceId source) {
    workers_.emplace_back();
    workers_.back().port = &port;
    workers_.back().source = source;
  }
  [[nodiscard]] std::vector<Worker>& workers() { return workers_; }
  [[nodiscard]] const std::vector<Worker>& workers() const { return workers_; }

  // Asks every worker once more; `tick` is announced to those that have not heard it (0: none).
  // True if somebody has more to say at once.
  bool poll(track::Ledger& ledger, MonotonicTime now, std::uint64_t tick, bool counters);

  // A new incarnation takes the place of worker `index`; its predecessor's evidence ends where it
  // was.
  void replace(track::Ledger& ledger, std::size_t index, control::WorkerPort& port,
               core::SourceId source);
  void lose(track::Ledger& ledger, Worker& worker);

  [[nodiscard]] std::size_t live() const;
  // True for every live worker.
  [[nodiscard]] bool every(const std::function<bool(const Worker&)>& holds) const;
  [[nodiscard]] std::uint32_t consumers_assigned() const;
  // Sums over all workers and their predecessors.
  [[nodiscard]] core::Counters counters() const;
  [[nodiscard]] Histogram publish_latency() const;
  [[nodiscard]] Histogram end_to_end_latency() const;

 private:
  [[nodiscard]] static control::WorkerPoll request(const track::Ledger& ledger, const Worker& worker, std::uint64_t tick,
                                                   bool counters);
  bool poll_one(track::Ledger& ledger, Worker& worker, MonotonicTime now, std::uint64_t tick,
                bool counters);
  bool take(track::Ledger& ledger, Worker& worker, control::WorkerReport&& report);
  void failed(track::Ledger& ledger, Worker& worker, MonotonicTime now, const Error& error);

  FleetOptions options_;
  Sinks sinks_;
  std::vector<Worker> workers_;
  core::Counters gone_;  // of replaced incarnations
  Histogram gone_publish_;
  Histogram gone_end_to_end_;
};

}  // namespace sp::coordinator

// Carries out a schedule of faults, step by step, and records when each began, what was seen of it, when it ended.
//
//     due ─► find a victim (≤ 5 s) ─► strike ─► hold (down / for) ─► release ─► back in sync (≤ 60 s) ─► end
//                                        └──── effect looked for, until 10 s past the release at least ────┘
//
// Faults may overlap. A node that is held by one fault is no victim of another; only kill-all takes frozen nodes too,
// and what it starts again runs. A restart-rolling takes its nodes one by one and is one fault.
//
// What counts as effect stands in kind_rows(). Only looks that began after the strike count; a look that fails is an
// effect only if it began while we held every node down or frozen.
//
// Cost:    step(): some microseconds, plus a signal or the making of a process when something is due.
// Waiting: never; time is a value.   Limits: faults end up in memory, one record each.
// Errors:  what the target refused, and ends that never came, are notes; the schedule goes on.
// Threads: one owner.   Source: docs/reference/faults.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/prng.h"
#include "core/fault.h"
#include "driver/driver.h"
#include "scenario/fault/chaos.h"
#include "scenario/fault/observer.h"
#include "scenario/fault/target.h"

namespace sp::scenario::fault {

struct NemesisOptions {
  std::uint64_t seed = 1;
  MonotonicTime begin{};   // of the load: the zero of `at` and `every`
  Nanoseconds duration{};  // of the load
};

class Nemesis {
 public:
  // `target` and `observer` outlive this.
  Nemesis(const std::vector<ChaosSpec>& specs, const NemesisOptions& options, Target& target,
          Observer& observer);

  // Does what is due at `now` and returns when it wants to be called again; MonotonicTime::max() when all is over.
  MonotonicTime step(MonotonicTime now);
  // Starts nothing new and lets go of every node at once; step on until done() to see them come back.
  void release_all(MonotonicTime now);
  // Nothing is due, held or awaited any more.
  [[nodiscard]] bool done() const { return due_.empty() && strikes_.empty(); }
  // Faults that have begun, by number; those under way have no end yet.
  [[nodiscard]] const std::vector<core::FaultRecord>& records() const { return records_; }
  // What went differently than asked, one sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Due {
    MonotonicTime time;
    std::size_t spec;
  };
  enum class Phase : std::uint8_t { kHeld, kNextNode, kStopping, kReturning, kRecovering };
  // A fault under way.
  struct Strike {
    std::size_t record = 0;
    std::size_t spec = 0;
    Phase phase = Phase::kHeld;
    std::vector<std::int32_t> victims;                                   // rolling: all nodes in turn
    std::size_t turn = 0;                                                // rolling: index of the node at work
    std::int32_t leader = -1;                                            // of partition 0 when it began
    std::map<std::int32_t, std::vector<core::PartitionId>> was_in_sync;  // by victim
    std::set<std::int32_t> left;  // victims seen outside an in-sync set
    std::optional<MonotonicTime> first_left;
    std::set<std::int32_t> holding;  // nodes that this fault holds
    MonotonicTime next{};            // end of the hold, or of the patience with a stop
    MonotonicTime released{};
  };
  struct Holders {
    std::uint32_t down = 0;
    std::uint32_t frozen = 0;
  };

  [[nodiscard]] const KindRow& row_of(const Strike& strike) const {
    return kind_row(specs_[strike.spec].kind);
  }
  [[nodiscard]] bool is_held(std::int32_t node) const;
  [[nodiscard]] bool all_held() const;
  [[nodiscard]] const driver::PartitionState* partition_zero() const;
  void start_due(MonotonicTime now);
  [[nodiscard]] std::vector<std::int32_t> choose(std::size_t spec);
  void strike(std::size_t spec, const std::vector<std::int32_t>& victims, MonotonicTime now);
  void strike_nobody(std::size_t spec, MonotonicTime now);
  void take(Strike& strike, std::int32_t node);
  void let_go(Strike& strike, std::int32_t node, MonotonicTime now);
  void advance(Strike& strike, MonotonicTime now);
  void advance_rolling(Strike& strike, MonotonicTime now);
  void begin_stop(Strike& strike, MonotonicTime now);
  void look_for_effect(Strike& strike);
  void look_at_leader(Strike& strike);
  void look_at_replicas(Strike& strike);
  void look_at_silence(Strike& strike);
  void felt(const Strike& strike, MonotonicTime when, std::string effect);
  [[nodiscard]] bool in_sync_again(const std::vector<std::int32_t>& nodes, MonotonicTime since) const;
  // True if the fault is over and its record complete.
  bool conclude(Strike& strike, MonotonicTime now);
  void note(const core::FaultRecord& record, const std::string& what);
  void check_done(const Result<void>& result, const Strike& strike, std::string_view verb, std::int32_t node);

  std::vector<ChaosSpec> specs_;
  std::vector<Prng> chances_;  // one for each request, so that adding one leaves the others' choices alone
  NemesisOptions options_;
  Target& target_;
  Observer& observer_;
  std::vector<std::int32_t> nodes_;
  std::vector<Due> due_;  // by time; those that wait for a victim stay
  std::vector<Strike> strikes_;
  std::map<std::int32_t, Holders> holders_;
  std::optional<Sighting> sighting_;  // of this step
  std::optional<driver::ClusterState>
      known_;  // the last state that was seen; for choosing, forgotten when it is old
  MonotonicTime known_asked_{};
  std::optional<MonotonicTime> all_held_last_;  // a step at which we held every node
  std::vector<core::FaultRecord> records_;
  std::vector<std::string> notes_;
};

}  // namespace sp::scenario::fault

// The evidence of one worker, shared by its loops: a lock around a track::Recorder and, if one is kept, the worker's history.
//
//     loops ─ begin, observe …, end ─►  [recorder, history]  ─► answer(): deltas, until acknowledged
//
// What both are told is the same, in the same order. A delta is handed out once its lines are written, or after history_wait: so a
// coordinator has not seen what the file of a worker that is killed does not hold, unless the disk hangs.
//
// A delta is cut at a quarter of what may be in flight, after delta_period, and at every answer. If
// the coordinator does not acknowledge, rows pile up; at rows_kept_max the load is held back
// (held_back(), and a message says so) until three quarters of that are left. Nothing is dropped. hold_back() holds it back for a
// reason from outside, until go_on().
//
// Cost:     one lock for a batch; 10 ns and 32 bytes an observation.   Limits: Options.   Errors: none.
// Threads:  loops as evidence.h says; answer() and take_messages() belong to the coordinator's thread.
// Source:   docs/algebra.md 3.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/ids.h"
#include "core/key_space.h"
#include "history/observed.h"
#include "history/writer.h"
#include "track/delta.h"
#include "track/recorder.h"
#include "workload/evidence.h"

namespace sp::worker {

class LockedRecorder final : public workload::Evidence {
 public:
  struct Options {
    Nanoseconds delta_period = std::chrono::milliseconds(200);
    std::size_t delta_rows_max = 16'384;
    std::size_t rows_kept_max = 4'000'000;   // 128 MB
    Nanoseconds history_wait = std::chrono::milliseconds(500);
  };
  // `clock` outlives this.
  LockedRecorder(core::SourceId source, core::RunId run, const Options& options, const MonotonicClock& clock);

  void begin() override { mutex_.lock(); }
  void observe(const core::Observation& observation) override {
    ++observed_uncut_;
    recorder_.observe(observation);
    if (observed_) observed_->observe(observation);
  }
  void observe_all(std::span<const core::Observation> observations) override;
  void end() override;
  [[nodiscard]] bool held_back() const override { return held_back_ || told_to_hold_; }
  [[nodiscard]] std::uint64_t acknowledged() const override { return acknowledged_; }
  void hurry() override;
  [[nodiscard]] bool all_covered(std::uint32_t consumer) override;
  [[nodiscard]] std::vector<driver::CommitPoint> take_covered(std::uint32_t consumer) override;

  // From here on a history is kept. Once, before the first observation.
  void keep_history(std::unique_ptr<history::Writer> writer, history::Observed::Options options);
  // Nothing is observed any more: closes the file. What became of it; nullopt: none was kept.
  [[nodiscard]] std::optional<history::Writer::Summary> finish_history();

  // Evidence is kept as before, but no new load is made until go_on(). The sentences go to take_messages().
  void hold_back(std::string message);
  void go_on(std::string message);

  // One observation that has no batch.
  void observe_alone(const core::Observation& observation);

  // The keys of a producer: a key's name is `prefix` and its index.
  struct Keys {
    std::uint32_t block = 0;
    std::string prefix;
  };
  [[nodiscard]] Keys open_keys(const core::KeyBlock& identity);

  struct Request {
    std::uint64_t acknowledge = 0;       // at most last_cut()
    std::optional<std::uint64_t> tick;   // answered once, with what was seen up to now
    std::size_t rows_max = 0;            // stop adding deltas past this
  };
  struct Answer {
    std::vector<track::Delta> deltas;
    bool more = false;
  };
  [[nodiscard]] Answer answer(const Request& request);
  [[nodiscard]] std::uint64_t last_cut();
  void take_messages(std::vector<std::string>& out);

 private:
  bool cut(bool force);
  void observe_tick(std::uint64_t number);
  void check_held_back();

  const Options options_;
  const MonotonicClock& clock_;
  std::mutex mutex_;  // guards all that is not atomic or constant
  track::Recorder recorder_;
  std::unique_ptr<history::Writer> history_;  // the pointer itself does not change while loops run
  std::optional<history::Observed> observed_;
  MonotonicTime cut_at_;
  std::size_t observed_uncut_ = 0;
  std::uint64_t tick_answered_ = 0;
  std::vector<std::string> messages_;
  std::atomic<bool> held_back_ = false;     // too much is kept
  std::atomic<bool> told_to_hold_ = false;  // from outside
  std::atomic<std::uint64_t> acknowledged_ = 0;
};

}  // namespace sp::worker

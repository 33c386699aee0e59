// One worker, in this process: producers, consumers and the raw read of its part of a proof, behind
// the port that the coordinator drives.
//
//     threaded    each loop has a thread; step() is not used
//     stepped     one thread, a virtual clock: step(now) steps every loop once and says when to come
//                 again; call it then, after every call of the port, and earlier as you like
//
// A report that says kStopped or kFailed for a phase holds, or is followed through `more` by, all
// evidence of that phase. Destroying a worker ends it as a crash does: nothing is flushed,
// committed or closed. remove() does the same and lets a new proof be prepared.
//
// Limits:   WorkerOptions.
// Errors:   kInvalid: called out of order, or a plan that cannot be; those of the driver with what was being done.
// Threads:  one coordinator thread.   Source: control/worker_port.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/proof_history.h"
#include "control/worker_port.h"
#include "driver/driver.h"
#include "worker/locked_recorder.h"
#include "worker/loop_runner.h"
#include "workload/consumer_loop.h"

namespace sp::worker {

using DriverFactory = std::function<Result<std::unique_ptr<driver::Driver>>(const proof::Proof&)>;

struct WorkerOptions {
  bool threaded = true;
  control::HistoryFactory history;                // absent: none is kept
  LockedRecorder::Options evidence;               // delta_rows_max: less if fewer can be in flight
  std::size_t open_max = 65'536;                  // attempts of one producer without outcome
  Nanoseconds producer_close_wait = std::chrono::seconds(10);
  Nanoseconds flush_wait = std::chrono::seconds(5);
  Nanoseconds consumer_close_wait = std::chrono::seconds(5);  // threaded only
  Nanoseconds step_interval = std::chrono::milliseconds(5);   // stepped only: how often drivers are polled
};

class Worker final : public control::WorkerPort {
 public:
  // Clocks outlive the worker.
  Worker(MonotonicClock& clock, const WallClock& wall, DriverFactory factory, const WorkerOptions& options);
  ~Worker() override;

  // Stepped only: steps each loop once; when to come again.
  MonotonicTime step(MonotonicTime now);

  // Producers and consumers make no new load, and evidence is kept as before, until go_on(). Nothing without a plan. The sentence is
  // a message of the next report.
  void hold_back(std::string message);
  void go_on(std::string message);

  Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override;
  Result<std::uint32_t> create_topic() override;
  Result<void> delete_topic() override;
  Result<void> start_consumers() override;
  Result<void> start_producers() override;
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override;
  Result<void> stop_producers() override;
  Result<void> stop_consumers() override;
  Result<std::vector<control::LogBounds>> log_bounds() override;
  Result<void> start_raw_read(const control::RawReadRequest& request) override;
  Result<void> remove() override;

 private:
  struct Crew {
    control::Phase phase = control::Phase::kIdle;
    std::vector<std::unique_ptr<LoopRunner>> loops;
  };

  [[nodiscard]] Result<void> open_history(const control::WorkerHello& hello);
  [[nodiscard]] Result<void> check_prepared(const char* call) const;
  [[nodiscard]] Result<void> check_startable(const Crew& crew, const char* call) const;
  [[nodiscard]] workload::Waits waits() const;
  Result<std::unique_ptr<workload::Loop>> open_producer(const proof::ProducerShare& share);
  Result<std::unique_ptr<workload::Loop>> open_consumer(const proof::ConsumerShare& share);
  // Starts the loops, or with an error none of them.
  template <typename Shares, typename Open>
  Result<void> start(Crew& crew, const Shares& shares, Open open);
  void stop(Crew& crew);
  void learn_partitions();
  void update_phases();
  [[nodiscard]] std::uint32_t consumers_assigned() const;
  void fill_counters(control::WorkerReport& report);
  [[nodiscard]] std::string refusal_of(workload::Loop& loop) const;
  void fill_refusals(control::WorkerReport& report) const;
  void note_failure(const std::string& sentence);

  MonotonicClock& clock_;
  const WallClock& wall_;
  DriverFactory factory_;
  WorkerOptions options_;
  std::optional<control::WorkerPlan> plan_;
  std::unique_ptr<driver::Driver> driver_;
  std::unique_ptr<LockedRecorder> evidence_;      // outlives the loops
  std::optional<std::uint32_t> partitions_;       // of the topic, where known
  Crew producers_;
  Crew consumers_;
  Crew raw_;
  std::vector<const workload::ConsumerLoop*> consumer_loops_;  // in consumers_.loops
  bool ending_ = false;                           // stop_consumers was called
  bool ended_ = false;                            // kEnd was observed
  bool raw_refused_ = false;
  std::string failure_;
};

}  // namespace sp::worker

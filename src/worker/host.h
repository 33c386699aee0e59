// A worker process: many proofs at once, each a worker of its own behind its own lock.
//
//     run r7f3…, worker 0 ─► HostedWorker ─► Worker           prepare of a higher incarnation: replaces it, as a crash does
//     run r91k…, worker 2 ─► HostedWorker ─► Worker
//
// A worker that nobody calls for the length of its lease holds its load back and keeps its evidence; it goes on when it is called
// again. So a coordinator that died leaves no load behind, and one that comes back finds all evidence.
//
//     threaded    a thread of the host looks at the leases
//     stepped     step(now) does, and steps the workers: WorkerOptions::threaded is false
//
// Limits:   `proofs_max`. What a coordinator that never came back left is kept until the process ends.
// Errors:   control/worker_host.h.
// Threads:  any. Destroying it ends all its workers as a crash does; nobody may be in a call.
// Source:   control/worker_host.h; worker.h.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/worker_host.h"
#include "worker/hosted_worker.h"
#include "worker/worker.h"

namespace sp::worker {

struct HostOptions {
  control::WorkerInfo info;  // `incarnation` is drawn by whoever starts the process
  std::size_t proofs_max = 32;
  Nanoseconds lease = std::chrono::seconds(30);
  WorkerOptions worker;
};

class Host final : public control::WorkerHost {
 public:
  // The clocks outlive the host.
  Host(MonotonicClock& clock, const WallClock& wall, DriverFactory factory, HostOptions options);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] control::WorkerInfo info() const override { return options_.info; }
  [[nodiscard]] Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override;
  [[nodiscard]] Result<control::SharedPort> find(core::RunId run, core::SourceId source) override;
  [[nodiscard]] Result<void> remove(core::RunId run, core::SourceId source) override;

  // Stepped only: looks at the leases and steps each worker once; when to come again.
  MonotonicTime step(MonotonicTime now);

 private:
  using Place = std::pair<core::RunId, std::uint32_t>;  // run, index of the worker
  using Hosted = std::shared_ptr<HostedWorker>;         // shared with the calls that are going on
  struct Entry {
    std::uint32_t incarnation = 0;
    Hosted worker;
  };

  [[nodiscard]] Result<Hosted> make_place(core::RunId run, core::SourceId source);
  void forget(core::RunId run, core::SourceId source, const HostedWorker* worker);
  [[nodiscard]] std::vector<Hosted> all() const;
  void watch_leases(const std::stop_token& stop);

  MonotonicClock& clock_;
  const WallClock& wall_;
  const DriverFactory factory_;
  const HostOptions options_;
  mutable std::mutex mutex_;  // guards entries_; held for moments, never while a worker is called
  std::map<Place, Entry> entries_;
  std::mutex stop_mutex_;
  std::condition_variable stopped_;
  std::jthread lease_thread_;  // last: it uses the others
};

}  // namespace sp::worker

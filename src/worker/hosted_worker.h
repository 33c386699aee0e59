// A worker of a host: one thread at a time, every call may come twice, and a lease that each call renews.
//
//     call ─► lock ─► renew the lease ─► was it made before? ─┬─ yes: the same answer
//                                                              └─ no: worker ─► answer, noted
//     no call for the lease ─► load held back, evidence kept ─► a call ─► load goes on; both are messages of the next report
//
// Which calls are noted: prepare() of its run and source, create_topic(), start_consumers() and start_producers() with their answers
// of either kind; delete_topic() and start_raw_read() of the same targets when they went well. Others may be made twice anyhow.
//
// Errors:   kNotFound once it is removed; those of worker.h.
// Threads:  any; one lock. check_lease() does not wait for a call: one that is going on renews the lease.
// Source:   the checking model, "Time and order"; host.h.
#pragma once

#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "control/worker_port.h"
#include "worker/worker.h"

namespace sp::worker {

class HostedWorker final : public control::WorkerPort {
 public:
  // The clocks outlive it.
  HostedWorker(MonotonicClock& clock, const WallClock& wall, const DriverFactory& factory, const WorkerOptions& options,
               Nanoseconds lease);

  // nullopt: it was removed before. An error: it is of no use any more, as if removed.
  [[nodiscard]] std::optional<Result<control::WorkerHello>> try_prepare(const control::WorkerPlan& plan);
  [[nodiscard]] bool is_prepared();
  // Holds the load back if the lease is over at `now`; when to look again.
  MonotonicTime check_lease(MonotonicTime now);
  // Stepped only: see worker.h.
  MonotonicTime step(MonotonicTime now);

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
  // What the once-only calls answered.
  struct Done {
    std::optional<Result<std::uint32_t>> create_topic;
    std::optional<Result<void>> start_consumers;
    std::optional<Result<void>> start_producers;
    bool delete_topic = false;
    std::optional<control::RawReadRequest> raw_read;
  };

  void renew();
  [[nodiscard]] Result<control::WorkerHello> prepare_once(const control::WorkerPlan& plan);
  template <typename T, typename Call>
  Result<T> locked(Call call);
  template <typename T, typename Call>
  Result<T> once(std::optional<Result<T>> Done::* noted, Call call);

  MonotonicClock& clock_;
  const Nanoseconds lease_;
  std::mutex mutex_;  // guards all below
  Worker worker_;
  std::optional<control::WorkerPlan> plan_;
  control::WorkerHello hello_;  // with plan_
  Done done_;
  MonotonicTime lease_end_{};
  std::optional<MonotonicTime> held_back_since_;
  bool gone_ = false;
};

}  // namespace sp::worker

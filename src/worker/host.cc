#include "worker/host.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "workload/loop.h"

namespace sp::worker {

Host::Host(MonotonicClock& clock, const WallClock& wall, DriverFactory factory, HostOptions options)
    : clock_(clock), wall_(wall), factory_(std::move(factory)), options_(std::move(options)) {
  if (!options_.worker.threaded) return;
  lease_thread_ = std::jthread([this](const std::stop_token& stop) { watch_leases(stop); });
}

Host::~Host() {
  if (!lease_thread_.joinable()) return;
  lease_thread_.request_stop();
  {
    const std::lock_guard lock(stop_mutex_);  // not between its look at the token and its wait
  }
  stopped_.notify_all();
  lease_thread_.join();
}

Result<Host::Hosted> Host::make_place(core::RunId run, core::SourceId source) {
  Hosted before;
  Hosted made;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find({run, source.worker});
    if (found != entries_.end() && found->second.incarnation == source.incarnation) return found->second.worker;
    if (found != entries_.end() && found->second.incarnation > source.incarnation) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("incarnation {} of worker {} of run {} comes too late: incarnation {} took its place",
                              source.incarnation, source.worker, core::run_text(run), found->second.incarnation));
    }
    if (found == entries_.end() && entries_.size() >= options_.proofs_max) {
      return fail(ErrorCode::kFull, fmt::format("this worker process has {} proofs, its limit: delete some that are over, or start "
                                                "more worker processes", entries_.size()));
    }
    made = std::make_shared<HostedWorker>(clock_, wall_, factory_, options_.worker, options_.lease);
    Entry& entry = entries_[{run, source.worker}];
    before = std::exchange(entry.worker, made);
    entry.incarnation = source.incarnation;
  }
  if (before) (void)before->remove();  // what its history lacks is its own coordinator's matter, who is gone
  return made;
}

Result<control::WorkerHello> Host::prepare(const control::WorkerPlan& plan) {
  for (;;) {
    auto worker = make_place(plan.run, plan.source);
    if (!worker) return tl::unexpected(std::move(worker).error());
    auto hello = (*worker)->try_prepare(plan);
    if (!hello) {  // removed between the two: a new place is needed
      forget(plan.run, plan.source, worker->get());
      continue;
    }
    // Where this call failed nothing is prepared, unless another one did that before.
    if (!*hello && !(*worker)->is_prepared()) forget(plan.run, plan.source, worker->get());
    return std::move(*hello);
  }
}

Result<control::SharedPort> Host::find(core::RunId run, core::SourceId source) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({run, source.worker});
  if (found != entries_.end() && found->second.incarnation == source.incarnation) return control::SharedPort(found->second.worker);
  return fail(ErrorCode::kNotFound,
              fmt::format("this worker process does not know incarnation {} of worker {} of run {}: it was restarted, or the "
                          "proof was removed; prepare the proof again, as a new incarnation",
                          source.incarnation, source.worker, core::run_text(run)));
}

Result<void> Host::remove(core::RunId run, core::SourceId source) {
  const auto found = find(run, source);
  if (!found) return {};
  auto removed = (*found)->remove();
  forget(run, source, static_cast<const HostedWorker*>(found->get()));
  return removed;
}

void Host::forget(core::RunId run, core::SourceId source, const HostedWorker* worker) {
  Hosted last;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({run, source.worker});
  if (found == entries_.end() || found->second.worker.get() != worker) return;
  last = std::move(found->second.worker);
  entries_.erase(found);
}

std::vector<Host::Hosted> Host::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Hosted> workers;
  for (const auto& [place, entry] : entries_) workers.push_back(entry.worker);
  return workers;
}

MonotonicTime Host::step(MonotonicTime now) {
  MonotonicTime next = workload::kNever;
  for (const auto& worker : all()) next = std::min(next, worker->step(now));
  return next;
}

void Host::watch_leases(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const MonotonicTime now = clock_.now();
    MonotonicTime next = now + options_.lease;  // a lease that is renewed from now on does not end before
    for (const auto& worker : all()) next = std::min(next, worker->check_lease(now));
    std::unique_lock lock(stop_mutex_);
    if (!stop.stop_requested()) clock_.wait_until(lock, stopped_, next);
  }
}

}  // namespace sp::worker

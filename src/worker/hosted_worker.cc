#include "worker/hosted_worker.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::worker {
namespace {

constexpr const char* kGone = "the worker was removed while it was called: prepare the proof again";

}  // namespace

HostedWorker::HostedWorker(MonotonicClock& clock, const WallClock& wall, const DriverFactory& factory,
                           const WorkerOptions& options, Nanoseconds lease)
    : clock_(clock), lease_(lease), worker_(clock, wall, factory, options) {}

void HostedWorker::renew() {
  const MonotonicTime now = clock_.now();
  lease_end_ = now + lease_;
  if (!held_back_since_) return;
  worker_.go_on(fmt::format("load goes on: the coordinator is back, after {} in which it was held back",
                            human_duration(now - *held_back_since_)));
  held_back_since_.reset();
}

template <typename T, typename Call>
Result<T> HostedWorker::locked(Call call) {
  const std::lock_guard lock(mutex_);
  if (gone_) return fail(ErrorCode::kNotFound, kGone);
  renew();
  Result<T> answer = call();
  lease_end_ = clock_.now() + lease_;  // what takes long is no silence of the coordinator
  return answer;
}

template <typename T, typename Call>
Result<T> HostedWorker::once(std::optional<Result<T>> Done::* noted, Call call) {
  return locked<T>([&]() -> Result<T> {
    std::optional<Result<T>>& answer = done_.*noted;
    if (!answer) answer = call();
    return *answer;
  });
}

std::optional<Result<control::WorkerHello>> HostedWorker::try_prepare(const control::WorkerPlan& plan) {
  const std::lock_guard lock(mutex_);
  if (gone_) return std::nullopt;
  renew();
  auto hello = prepare_once(plan);
  lease_end_ = clock_.now() + lease_;
  return hello;
}

Result<control::WorkerHello> HostedWorker::prepare_once(const control::WorkerPlan& plan) {
  if (plan_) {
    if (plan.run == plan_->run && plan.source == plan_->source && plan.proof == plan_->proof && plan.topic == plan_->topic) {
      return hello_;
    }
    return fail(ErrorCode::kInvalid, "prepare of another proof by the name of one that is there: give each run an id of its own");
  }
  auto hello = worker_.prepare(plan);
  if (!hello) {
    (void)worker_.remove();  // of half a preparation
    gone_ = true;
    return hello;
  }
  plan_ = plan;
  hello_ = *hello;
  return hello;
}

bool HostedWorker::is_prepared() {
  const std::lock_guard lock(mutex_);
  return plan_ && !gone_;
}

MonotonicTime HostedWorker::check_lease(MonotonicTime now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const MonotonicTime later = now + lease_;  // no lease that is renewed from now on ends before
  if (!lock.owns_lock() || gone_ || !plan_ || held_back_since_) return later;
  if (now < lease_end_) return lease_end_;
  held_back_since_ = now;
  worker_.hold_back(fmt::format("load held back: nothing was heard of the coordinator for {}; evidence is kept, nothing is dropped",
                                human_duration(now - (lease_end_ - lease_))));
  return later;
}

MonotonicTime HostedWorker::step(MonotonicTime now) {
  const MonotonicTime lease = check_lease(now);
  const std::lock_guard lock(mutex_);
  return std::min(lease, worker_.step(now));
}

Result<control::WorkerHello> HostedWorker::prepare(const control::WorkerPlan& plan) {
  auto hello = try_prepare(plan);
  if (hello) return std::move(*hello);
  return fail(ErrorCode::kNotFound, kGone);
}

Result<std::uint32_t> HostedWorker::create_topic() {
  return once(&Done::create_topic, [this] { return worker_.create_topic(); });
}

Result<void> HostedWorker::start_consumers() {
  return once(&Done::start_consumers, [this] { return worker_.start_consumers(); });
}

Result<void> HostedWorker::start_producers() {
  return once(&Done::start_producers, [this] { return worker_.start_producers(); });
}

Result<void> HostedWorker::delete_topic() {
  return locked<void>([this]() -> Result<void> {
    if (done_.delete_topic) return {};
    auto deleted = worker_.delete_topic();
    done_.delete_topic = deleted.has_value();
    return deleted;
  });
}

Result<control::WorkerReport> HostedWorker::poll(const control::WorkerPoll& request) {
  return locked<control::WorkerReport>([&] { return worker_.poll(request); });
}

Result<void> HostedWorker::stop_producers() {
  return locked<void>([this] { return worker_.stop_producers(); });
}

Result<void> HostedWorker::stop_consumers() {
  return locked<void>([this] { return worker_.stop_consumers(); });
}

Result<std::vector<control::LogBounds>> HostedWorker::log_bounds() {
  return locked<std::vector<control::LogBounds>>([this] { return worker_.log_bounds(); });
}

Result<void> HostedWorker::start_raw_read(const control::RawReadRequest& request) {
  return locked<void>([&]() -> Result<void> {
    if (done_.raw_read && done_.raw_read->targets == request.targets) return {};
    auto started = worker_.start_raw_read(request);
    if (started) done_.raw_read = request;
    return started;
  });
}

Result<void> HostedWorker::remove() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(gone_, true)) return {};
  return worker_.remove();
}

}  // namespace sp::worker

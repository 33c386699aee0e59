#include "worker/loop_runner.h"

#include <algorithm>

namespace sp::worker {
namespace {

// A thread looks at its loop at least so often, whatever the loop asked for.
constexpr Nanoseconds kLookMax = std::chrono::milliseconds(100);

}  // namespace

LoopRunner::LoopRunner(std::unique_ptr<workload::Loop> loop, MonotonicClock& clock, bool threaded)
    : loop_(std::move(loop)), clock_(clock) {
  if (threaded) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LoopRunner::~LoopRunner() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  change_.notify_all();
  thread_.join();
}

void LoopRunner::stop() {
  loop_->stop();
  {
    const std::lock_guard lock(mutex_);
    changed_ = true;
  }
  change_.notify_all();
}

MonotonicTime LoopRunner::step(MonotonicTime now) {
  return loop_->done() ? workload::kNever : loop_->step(now);
}

void LoopRunner::run(const std::stop_token& stop) {
  while (!stop.stop_requested() && !loop_->done()) {
    const MonotonicTime wake = loop_->step(clock_.now());
    const MonotonicTime now = clock_.now();
    if (wake <= now) continue;
    std::unique_lock lock(mutex_);
    if (!changed_) clock_.wait_until(lock, change_, std::min(wake, now + kLookMax));
    changed_ = false;
  }
}

}  // namespace sp::worker

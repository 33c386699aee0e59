#include "workload/consumer_loop.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace sp::workload {

using proof::CommitMode;

namespace {

// A flush waits for another thread's acknowledgement; this is how often it looks.
constexpr Nanoseconds kFlushLook = std::chrono::milliseconds(10);

}  // namespace

ConsumerLoop::ConsumerLoop(const ConsumerOptions& options, std::unique_ptr<driver::Consumer> consumer,
                           Evidence& evidence, const MonotonicClock& clock, const WallClock& wall)
    : options_(options),
      consumer_(std::move(consumer)),
      evidence_(evidence),
      clock_(clock),
      wall_(wall),
      stats_(fmt::format("consumer {}", options.index)),
      deliveries_({options.payload_bytes, options.commit == CommitMode::kEach}, evidence, stats_, wall),
      delayed_until_(clock.now() + options.delay) {}

MonotonicTime ConsumerLoop::step(MonotonicTime now) {
  if (done_) return kNever;
  if (flush_ == Flush::kNone) {
    closing_ = stop_;
    if (closing_ || !consumer_->revoking().empty()) begin_flush(now);
  }
  pause_if_needed(now);
  consumer_->poll(options_.records_max, wait_at(now), deliveries_);
  const MonotonicTime after = clock_.now();
  note_delay(after);
  if (flush_ == Flush::kNone) {
    commit_on_the_way();
  } else {
    advance_flush(after);
  }
  return done_ ? kNever : options_.waits.next(after, kNever);
}

Nanoseconds ConsumerLoop::wait_at(MonotonicTime now) const {
  if (flush_ != Flush::kNone) return options_.waits.until(kFlushLook);
  if (paused_ && delayed_until_ > now) return options_.waits.until(delayed_until_ - now);
  return options_.waits.until(options_.waits.poll_max);
}

void ConsumerLoop::pause_if_needed(MonotonicTime now) {
  const bool pause = flush_ != Flush::kNone || evidence_.held_back() || delayed_until_ > now;
  if (pause == paused_) return;
  paused_ = pause;
  consumer_->pause(pause);
}

void ConsumerLoop::note_delay(MonotonicTime now) {
  const DeliverySink::Batch batch = deliveries_.take_batch();
  if (options_.delay <= Nanoseconds{0} || batch.records == 0) return;
  Nanoseconds wait = options_.delay;
  if (batch.newest != WallTime{}) {
    // The wall clock may have been stepped; a laggard never waits longer than its delay.
    wait = std::clamp(batch.newest + options_.delay - wall_.now(), Nanoseconds{0}, options_.delay);
  }
  delayed_until_ = now + wait;
}

void ConsumerLoop::commit_on_the_way() {
  switch (options_.commit) {
    case CommitMode::kCheckpoint: {
      const std::uint64_t acknowledged = evidence_.acknowledged();
      if (acknowledged == acknowledged_seen_ || consumer_->commits_open() >= options_.commits_open_max) return;
      acknowledged_seen_ = acknowledged;
      const std::vector<driver::CommitPoint> points = evidence_.take_covered(options_.index);
      if (!points.empty()) consumer_->commit(points, deliveries_);
      return;
    }
    case CommitMode::kEach:
      if (consumer_->commits_open() < options_.commits_open_max) commit_handed_over();
      return;
    case CommitMode::kAuto:
      return;
  }
}

void ConsumerLoop::commit_handed_over() {
  if (!deliveries_.handed_over()) return;
  consumer_->commit(deliveries_.take_handed_over(), deliveries_);
}

void ConsumerLoop::begin_flush(MonotonicTime now) {
  flush_ = Flush::kCovering;
  flush_deadline_ = now + options_.flush_wait;
  if (options_.commit == CommitMode::kCheckpoint) {
    evidence_.hurry();
    return;
  }
  if (options_.commit == CommitMode::kEach) commit_handed_over();
  flush_ = Flush::kCommitting;
  flush_deadline_ = now + options_.commit_wait;
}

void ConsumerLoop::advance_flush(MonotonicTime now) {
  if (flush_ == Flush::kCovering) {
    const bool covered = evidence_.all_covered(options_.index);
    if (!covered && now < flush_deadline_) return;
    if (!covered) {
      stats_.lock();
      stats_.say("evidence was not acknowledged in time; what it covers stays uncommitted", "");
      stats_.unlock();
    }
    const std::vector<driver::CommitPoint> points = evidence_.take_covered(options_.index);
    if (!points.empty()) consumer_->commit(points, deliveries_);
    flush_ = Flush::kCommitting;
    flush_deadline_ = now + options_.commit_wait;
  }
  if (consumer_->commits_open() > 0 && now < flush_deadline_) return;
  end_flush();
}

void ConsumerLoop::end_flush() {
  flush_ = Flush::kNone;
  if (!closing_) {
    consumer_->release(deliveries_);
    return;
  }
  consumer_->close(options_.close_wait, deliveries_);
  consumer_.reset();
  done_ = true;
}

}  // namespace sp::workload

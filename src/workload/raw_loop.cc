#include "workload/raw_loop.h"

#include <utility>

namespace sp::workload {

RawLoop::RawLoop(const Waits& waits, std::unique_ptr<driver::RawReader> reader, Evidence& evidence,
                 const MonotonicClock& clock)
    : waits_(waits),
      reader_(std::move(reader)),
      evidence_(evidence),
      clock_(clock),
      stats_("raw read"),
      sink_(evidence, stats_) {}

MonotonicTime RawLoop::step(MonotonicTime now) {
  if (done_) return kNever;
  if (stop_) {
    reader_.reset();
    failure_ = Error{ErrorCode::kUnavailable, "the raw read was stopped before its end"};
    done_ = true;
    return kNever;
  }
  if (evidence_.held_back()) return now + std::chrono::milliseconds(20);
  Result<bool> step = reader_->step(waits_.until(waits_.poll_max), sink_);
  if (step && !*step) return waits_.next(clock_.now(), clock_.now());
  if (!step) failure_ = std::move(step).error();
  reader_.reset();
  done_ = true;
  return kNever;
}

void RawLoop::Sink::begin() {
  stats_.lock();
  evidence_.begin();
  bracketed_ = true;
}

void RawLoop::Sink::end() {
  bracketed_ = false;
  evidence_.end();
  stats_.unlock();
}

void RawLoop::Sink::observe(const core::Observation& observation) {
  const bool alone = !bracketed_;
  if (alone) begin();
  if (observation.event == core::Event::kClientError) {
    ++stats_.counts.client_errors;
    stats_.say("client library", observation.text);
  }
  evidence_.observe(observation);
  if (alone) end();
}

}  // namespace sp::workload

#include "worker/locked_recorder.h"

#include <algorithm>

#include <fmt/core.h>

namespace sp::worker {

LockedRecorder::LockedRecorder(core::SourceId source, core::RunId run, const Options& options,
                               const MonotonicClock& clock)
    : options_(options), clock_(clock), recorder_(source, run), cut_at_(clock.now()) {}

void LockedRecorder::end() {
  if (observed_uncut_ >= options_.delta_rows_max || clock_.now() - cut_at_ >= options_.delta_period) cut(false);
  check_held_back();
  mutex_.unlock();
}

bool LockedRecorder::cut(bool force) {
  cut_at_ = clock_.now();
  observed_uncut_ = 0;
  return recorder_.cut(force);
}

void LockedRecorder::check_held_back() {
  const std::size_t rows = recorder_.rows_kept();
  if (!held_back_ && rows > options_.rows_kept_max) {
    held_back_ = true;
    messages_.push_back(fmt::format("load held back: {} rows of evidence wait for the coordinator's acknowledgement "
                                    "(limit {}); nothing is dropped", rows, options_.rows_kept_max));
  } else if (held_back_ && rows <= options_.rows_kept_max / 4 * 3) {
    held_back_ = false;
    messages_.emplace_back("load goes on: the coordinator acknowledges evidence again");
  }
}

void LockedRecorder::hurry() {
  const std::lock_guard lock(mutex_);
  cut(false);
}

bool LockedRecorder::all_covered(std::uint32_t consumer) {
  const std::lock_guard lock(mutex_);
  return recorder_.all_covered(consumer);
}

std::vector<driver::CommitPoint> LockedRecorder::take_covered(std::uint32_t consumer) {
  const std::lock_guard lock(mutex_);
  std::vector<driver::CommitPoint> points;
  for (const auto& covered : recorder_.take_covered(consumer)) points.push_back({covered.partition, covered.next});
  return points;
}

void LockedRecorder::observe_alone(const core::Observation& observation) {
  begin();
  observe(observation);
  end();
}

LockedRecorder::Keys LockedRecorder::open_keys(const core::KeyBlock& identity) {
  const std::lock_guard lock(mutex_);
  Keys keys;
  keys.block = recorder_.keys().block(identity);
  keys.prefix = recorder_.keys().name({keys.block, 0});
  keys.prefix.pop_back();  // the index, "0"
  return keys;
}

LockedRecorder::Answer LockedRecorder::answer(const Request& request) {
  std::vector<const track::Delta*> pending;
  {
    const std::lock_guard lock(mutex_);
    recorder_.acknowledge(request.acknowledge);
    acknowledged_ = recorder_.acknowledged();
    bool force = false;
    if (request.tick && *request.tick > tick_answered_) {
      core::Observation tick;
      tick.event = core::Event::kTick;
      tick.number = *request.tick;
      tick.time = clock_.now();
      recorder_.observe(tick);
      tick_answered_ = *request.tick;
      force = true;
    }
    cut(force);
    check_held_back();
    pending = recorder_.pending(request.acknowledge);
  }
  // Copied without the lock: what was cut does not change, and only this thread acknowledges it away.
  Answer answer;
  std::size_t rows = 0;
  for (const track::Delta* delta : pending) {
    if (!answer.deltas.empty() && rows + delta->rows.size() > request.rows_max) {
      answer.more = true;
      break;
    }
    rows += delta->rows.size();
    answer.deltas.push_back(*delta);
  }
  return answer;
}

std::uint64_t LockedRecorder::last_cut() {
  const std::lock_guard lock(mutex_);
  return recorder_.last_cut();
}

void LockedRecorder::take_messages(std::vector<std::string>& out) {
  const std::lock_guard lock(mutex_);
  std::move(messages_.begin(), messages_.end(), std::back_inserter(out));
  messages_.clear();
}

}  // namespace sp::worker

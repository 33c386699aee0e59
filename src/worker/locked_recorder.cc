#include "worker/locked_recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace sp::worker {

LockedRecorder::LockedRecorder(core::SourceId source, core::RunId run, const Options& options,
                               const MonotonicClock& clock)
    : options_(options), clock_(clock), recorder_(source, run), cut_at_(clock.now()) {}

void LockedRecorder::observe_all(std::span<const core::Observation> observations) {
  observed_uncut_ += observations.size();
  recorder_.observe_all(observations);
  if (observed_) observed_->observe_all(observations);
}

void LockedRecorder::end() {
  if (observed_uncut_ >= options_.delta_rows_max || clock_.now() - cut_at_ >= options_.delta_period) cut(false);
  check_held_back();
  mutex_.unlock();
}

bool LockedRecorder::cut(bool force) {
  cut_at_ = clock_.now();
  observed_uncut_ = 0;
  const auto last = history_ ? history_->last_index() : std::nullopt;
  return recorder_.cut(force, last ? *last + 1 : 0);
}

void LockedRecorder::keep_history(std::unique_ptr<history::Writer> writer, history::Observed::Options options) {
  const std::lock_guard lock(mutex_);
  history_ = std::move(writer);
  observed_.emplace(*history_, recorder_.keys(), std::move(options));
}

std::optional<history::Writer::Summary> LockedRecorder::finish_history() {
  const std::lock_guard lock(mutex_);
  observed_.reset();
  const auto writer = std::exchange(history_, nullptr);
  if (!writer) return std::nullopt;
  return writer->finish();
}

void LockedRecorder::observe_tick(std::uint64_t number) {
  core::Observation tick;
  tick.event = core::Event::kTick;
  tick.number = number;
  tick.time = clock_.now();
  observe(tick);
  tick_answered_ = number;
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

void LockedRecorder::hold_back(std::string message) {
  const std::lock_guard lock(mutex_);
  told_to_hold_ = true;
  messages_.push_back(std::move(message));
}

void LockedRecorder::go_on(std::string message) {
  const std::lock_guard lock(mutex_);
  told_to_hold_ = false;
  messages_.push_back(std::move(message));
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
  std::uint64_t flush = 0;
  {
    const std::lock_guard lock(mutex_);
    recorder_.acknowledge(request.acknowledge);
    acknowledged_ = recorder_.acknowledged();
    bool force = false;
    if (request.tick && *request.tick > tick_answered_) {
      observe_tick(*request.tick);
      force = true;
    }
    cut(force);
    check_held_back();
    pending = recorder_.pending(request.acknowledge);
    if (history_ && !pending.empty()) flush = history_->flush();
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
  if (flush != 0) (void)history_->wait_flushed(flush, options_.history_wait);
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
  if (!history_) return;
  if (auto message = history_->take_message()) out.push_back(std::move(*message));
}

}  // namespace sp::worker

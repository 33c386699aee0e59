#include "scenario/fault/observer.h"

#include <utility>

namespace sp::scenario::fault {

PollingObserver::PollingObserver(MonotonicClock& clock, PollingOptions options)
    : clock_(clock), options_(std::move(options)), looker_([this] { look_loop(); }) {
  if (options_.answers) asker_ = std::jthread([this] { ask_loop(); });
}

PollingObserver::~PollingObserver() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
}

std::optional<Sighting> PollingObserver::latest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return latest_;
}

void PollingObserver::look_loop() {
  MonotonicTime asked = clock_.now();
  do {
    asked = clock_.now();
    auto state = options_.look();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!latest_) latest_.emplace();
    latest_->asked = asked;
    latest_->told = clock_.now();
    latest_->state = std::move(state);
  } while (rest(asked + options_.look_every));
}

void PollingObserver::ask_loop() {
  MonotonicTime asked = clock_.now();
  do {
    asked = clock_.now();
    std::vector<std::int32_t> silent;
    for (const auto node : options_.nodes) {
      if (!options_.answers(node)) silent.push_back(node);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (latest_) {  // before the first look there is nothing to add to
      latest_->silence_asked = asked;
      latest_->silence_told = clock_.now();
      latest_->silent = std::move(silent);
    }
  } while (rest(asked + options_.ask_every));
}

bool PollingObserver::rest(MonotonicTime until) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!end_ && clock_.now() < until) (void)clock_.wait_until(lock, ended_, until);
  return !end_;
}

}  // namespace sp::scenario::fault

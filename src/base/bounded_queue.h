// The one way in which values go from thread to thread: a queue with a stated size and a stated
// policy for when it is full.
//
//     BoundedQueue<Work> queue({.capacity = 1024, .when_full = WhenFull::kBlock}, clock);
//     queue.push(work, stop)  ─► kTaken | kDropped | kFull | kStopped | kClosed
//     queue.pop(stop)         ─► a value; nothing when stopped, or when closed and empty
//
//     when full    kBlock  push() waits for a place
//                  kDrop   the new value is thrown away and counted: kDropped
//                  kFail   the new value is refused: kFull
//
// Shape:    first in, first out. close() lets what is inside be popped; then pop() says nothing.
// Cost:     one lock for each push and pop; pop_all() one for everything that is there.
// Limits:   `capacity` values, at least 1.   Errors: none.
// Threads:  any number on either side; a waiting call ends at the stop of its token.   Source: STYLE.md 6.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"

namespace sp {

enum class WhenFull : std::uint8_t { kBlock, kDrop, kFail };
enum class Pushed : std::uint8_t { kTaken, kDropped, kFull, kStopped, kClosed };

struct QueueOptions {
  std::size_t capacity = 0;  // no default on purpose
  WhenFull when_full = WhenFull::kBlock;
};

template <typename T>
class BoundedQueue {
 public:
  // `clock` measures the deadlines of pop_until and outlives the queue.
  BoundedQueue(QueueOptions options, MonotonicClock& clock) : options_(options), clock_(clock) {
    CHECK(options.capacity > 0, "a queue holds at least one value");
  }

  // With kBlock waits for a place until `stop`. On every outcome but kTaken the value is gone.
  Pushed push(T value, std::stop_token stop = {}) {
    const Waker waker(*this, stop);
    std::unique_lock lock(mutex_);
    if (options_.when_full == WhenFull::kBlock) {
      place_free_.wait(lock, [&] {
        return closed_ || stop.stop_requested() || values_.size() < options_.capacity;
      });
      if (!closed_ && values_.size() >= options_.capacity) return Pushed::kStopped;
    }
    if (closed_) return Pushed::kClosed;
    if (values_.size() >= options_.capacity) {
      if (options_.when_full == WhenFull::kFail) return Pushed::kFull;
      ++dropped_;
      return Pushed::kDropped;
    }
    values_.push_back(std::move(value));
    value_there_.notify_one();
    return Pushed::kTaken;
  }

  // The next value; waits for it until `stop`, and after a stop still gives what is there.
  [[nodiscard]] std::optional<T> pop(std::stop_token stop = {}) {
    const Waker waker(*this, stop);
    std::unique_lock lock(mutex_);
    value_there_.wait(lock, [&] { return !values_.empty() || closed_ || stop.stop_requested(); });
    return take();
  }

  // As pop(), at most until `deadline`.
  [[nodiscard]] std::optional<T> pop_until(MonotonicTime deadline, const std::stop_token& stop = {}) {
    const Waker waker(*this, stop);
    std::unique_lock lock(mutex_);
    while (values_.empty() && !closed_ && !stop.stop_requested() && clock_.now() < deadline) {
      clock_.wait_until(lock, value_there_, deadline);
    }
    return take();
  }

  // The next value if it is there now.
  [[nodiscard]] std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  // Appends everything that is there now to `out`; how many.
  std::size_t pop_all(std::vector<T>& out) {
    const std::lock_guard lock(mutex_);
    const std::size_t taken = values_.size();
    for (T& value : values_) out.push_back(std::move(value));
    values_.clear();
    if (taken > 0) place_free_.notify_all();
    return taken;
  }

  // No value is taken from now on; whoever waits is woken.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    value_there_.notify_all();
    place_free_.notify_all();
  }

  [[nodiscard]] bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }
  [[nodiscard]] std::size_t capacity() const { return options_.capacity; }
  // How many values kDrop threw away.
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  // Wakes the waiting at a stop. Made before the lock is taken: a token that has stopped already
  // calls at once.
  class Waker {
   public:
    Waker(BoundedQueue& queue, const std::stop_token& stop) : callback_(stop, Wake{queue}) {}

   private:
    struct Wake {
      BoundedQueue& queue;
      void operator()() const {
        const std::lock_guard lock(queue.mutex_);
        queue.value_there_.notify_all();
        queue.place_free_.notify_all();
      }
    };
    std::stop_callback<Wake> callback_;
  };

  std::optional<T> take() {
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    place_free_.notify_one();
    return value;
  }

  const QueueOptions options_;
  MonotonicClock& clock_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable value_there_;
  std::condition_variable place_free_;
  std::deque<T> values_;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
};

}  // namespace sp

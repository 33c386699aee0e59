// Steps one loop: on a thread of its own, or when it is told to.
//
//     threaded    the thread steps, waits until the next step is due or something changed, and ends with the loop
//     stepped     step(now) steps
//
// Cost:     a thread, if threaded.   Errors: none.
// Threads:  one owner. Destroying it ends the thread after the step it is in; the loop is dropped where it
//           is, as in a crash.
// Source:   ARCHITECTURE.md, "One engine, two clocks".
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "workload/loop.h"

namespace sp::worker {

class LoopRunner {
 public:
  // `clock` outlives this.
  LoopRunner(std::unique_ptr<workload::Loop> loop, MonotonicClock& clock, bool threaded);
  ~LoopRunner();
  LoopRunner(const LoopRunner&) = delete;
  LoopRunner& operator=(const LoopRunner&) = delete;

  // Asks the loop for its orderly end.
  void stop();
  [[nodiscard]] bool done() const { return loop_->done(); }
  [[nodiscard]] workload::Loop& loop() { return *loop_; }
  // Stepped only: the time at which it wants to be stepped next; earlier does no harm.
  MonotonicTime step(MonotonicTime now);

 private:
  void run(const std::stop_token& stop);

  std::unique_ptr<workload::Loop> loop_;
  MonotonicClock& clock_;
  std::mutex mutex_;       // guards changed_
  std::condition_variable change_;
  bool changed_ = false;
  std::jthread thread_;    // last: it uses the others
};

}  // namespace sp::worker

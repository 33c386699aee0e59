// Something that goes on by steps: one producer, one consumer, one raw read.
//
//     loop.step(now) ─► the time of the next step          … until done()
//
// A step does what is due at `now` and never blocks longer than the wait it was configured with: up
// to 50 ms on a thread of its own, not at all in a simulation. Stepping earlier than asked for does
// no harm.
//
// Threads:  step() belongs to one thread; stop(), done(), stats(), refusal() are for any.
// Errors:   none; failures are in stats() and refusal().
// Source:   ARCHITECTURE.md, "One engine, two clocks".
#pragma once

#include <string>

#include "base/clock.h"
#include "workload/stats.h"

namespace sp::workload {

// "Not before something else happens."
constexpr MonotonicTime kNever = MonotonicTime::max();

// How a loop waits. The default is for a thread of its own.
struct Waits {
  Nanoseconds poll_max = std::chrono::milliseconds(50);   // longest wait inside a step; 0: never block (simulation)
  Nanoseconds poll_min = std::chrono::milliseconds(1);    // shortest wait that is worth it
  Nanoseconds interval = std::chrono::milliseconds(5);    // between steps that cannot block

  [[nodiscard]] bool blocking() const { return poll_max > Nanoseconds{0}; }
  // What to pass to a driver's poll() when the next thing of ours is due in `due`.
  [[nodiscard]] Nanoseconds until(Nanoseconds due) const {
    if (!blocking() || due <= Nanoseconds{0}) return Nanoseconds{0};
    return due < poll_min ? poll_min : due > poll_max ? poll_max : due;
  }
  // When to step again after a step that ended at `now`.
  [[nodiscard]] MonotonicTime next(MonotonicTime now, MonotonicTime due) const {
    if (blocking()) return now;
    const MonotonicTime latest = now + interval;
    const MonotonicTime earliest = now + std::chrono::microseconds(1);
    return due > latest ? latest : due < earliest ? earliest : due;
  }
};

class Loop {
 public:
  virtual ~Loop() = default;
  virtual MonotonicTime step(MonotonicTime now) = 0;
  // Asks for an orderly end: the next steps bring it about.
  virtual void stop() = 0;
  // True once nothing will ever happen again and all evidence has been observed.
  [[nodiscard]] virtual bool done() const = 0;
  [[nodiscard]] virtual Stats& stats() = 0;
  // What the system refuses it for good at `now`, nothing having gone through since; empty: nothing.
  [[nodiscard]] virtual std::string refusal(MonotonicTime /*now*/) const { return {}; }
};

}  // namespace sp::workload

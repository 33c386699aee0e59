// Ctrl-C and a polite kill, counted: the first asks to stop in order, the second to stop at once.
//
//     StopSignals stops;      … stops.count() == 0: go on · 1: end in order · 2 or more: at once
//
// While one lives, SIGINT and SIGTERM do nothing else; at its end the former behaviour is back.
//
// Limits:  one at a time in a process (a second one is a bug of ours).   Errors: none.
// Threads: count() and wait() from any.   Source: sigaction(2), signal-safety(7).
#pragma once

#include <csignal>

#include "base/clock.h"

namespace sp::sys {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // How many have come since construction.
  [[nodiscard]] int count() const;
  // Waits up to `wait` until more than `seen` have come; true if so.
  [[nodiscard]] bool wait(int seen, Nanoseconds wait) const;

 private:
  struct sigaction former_interrupt_{};
  struct sigaction former_terminate_{};
};

}  // namespace sp::sys

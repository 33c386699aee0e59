// The two clocks: MonotonicClock for spans and deadlines, WallClock for what people read. Whoever needs time takes one; a
// test or a simulation turns the hands itself with ManualClock. The machine's clocks are read in base/clock.cc only.
//
// Units: nanoseconds.   Errors: none.   Threads: SystemClock from any; ManualClock from any (its hands are atomic).
// Source: STYLE.md 7.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

namespace sp {

using Nanoseconds = std::chrono::nanoseconds;

// A moment of a process's monotonic clock; comparable within that process (and, in a simulation, within the world) only.
struct MonotonicTag {
  using duration = Nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicTag, duration>;
  static constexpr bool is_steady = true;
};
using MonotonicTime = MonotonicTag::time_point;

// A moment of the calendar, UTC, since the Unix epoch.
struct WallTag {
  using duration = Nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WallTag, duration>;
  static constexpr bool is_steady = false;
};
using WallTime = WallTag::time_point;

class MonotonicClock {
 public:
  virtual ~MonotonicClock() = default;
  [[nodiscard]] virtual MonotonicTime now() const = 0;
  // Waits until notified or until `deadline` of this clock; true if notified before. Spurious wake-ups count as notified.
  virtual bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                          MonotonicTime deadline) = 0;
};

class WallClock {
 public:
  virtual ~WallClock() = default;
  [[nodiscard]] virtual WallTime now() const = 0;
};

class SystemMonotonicClock final : public MonotonicClock {
 public:
  [[nodiscard]] MonotonicTime now() const override;
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  MonotonicTime deadline) override;
};

class SystemWallClock final : public WallClock {
 public:
  [[nodiscard]] WallTime now() const override;
};

// A clock whose hands are turned by hand; starts at `start`. wait_until never blocks: it advances to the deadline.
class ManualClock final : public MonotonicClock {
 public:
  explicit ManualClock(MonotonicTime start = MonotonicTime{}) : now_(start.time_since_epoch().count()) {}
  [[nodiscard]] MonotonicTime now() const override { return MonotonicTime(Nanoseconds(now_.load())); }
  bool wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  MonotonicTime deadline) override;
  void set(MonotonicTime now) { now_.store(now.time_since_epoch().count()); }
  void advance(Nanoseconds by) { now_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> now_;
};

// A wall clock that follows a monotonic one from `epoch`, and can be stepped (a test's clock jump).
class ManualWallClock final : public WallClock {
 public:
  ManualWallClock(const MonotonicClock& monotonic, WallTime epoch) : monotonic_(monotonic), epoch_(epoch.time_since_epoch().count()) {}
  [[nodiscard]] WallTime now() const override {
    return WallTime(Nanoseconds(epoch_.load()) + monotonic_.now().time_since_epoch());
  }
  void step(Nanoseconds by) { epoch_.fetch_add(by.count()); }

 private:
  const MonotonicClock& monotonic_;  // outlives this
  std::atomic<std::int64_t> epoch_;
};

// "2026-11-29T20:22:18.000123Z", microseconds.
[[nodiscard]] std::string to_iso8601(WallTime time);

}  // namespace sp

#include "base/clock.h"

#include <ctime>

#include <fmt/core.h>

namespace sp {

MonotonicTime SystemMonotonicClock::now() const {
  return MonotonicTime(std::chrono::duration_cast<Nanoseconds>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

bool SystemMonotonicClock::wait_until(std::unique_lock<std::mutex>& lock,
                                      std::condition_variable& condition, MonotonicTime deadline) {
  return condition.wait_until(lock, std::chrono::steady_clock::time_point(deadline.time_since_epoch())) ==
         std::cv_status::no_timeout;
}

WallTime SystemWallClock::now() const {
  return WallTime(std::chrono::duration_cast<Nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch()));
}

bool ManualClock::wait_until(std::unique_lock<std::mutex>& /*lock*/,
                             std::condition_variable& /*condition*/, MonotonicTime deadline) {
  if (now() < deadline) set(deadline);
  return false;
}

std::string to_iso8601(WallTime time) {
  using std::chrono::duration_cast;
  using std::chrono::floor;
  const auto since_epoch = time.time_since_epoch();
  const auto seconds = floor<std::chrono::seconds>(since_epoch);
  const auto micros = duration_cast<std::chrono::microseconds>(since_epoch - seconds).count();
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros);
}

}  // namespace sp

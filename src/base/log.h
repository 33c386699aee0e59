// The log, for people; no verdict reads it. Quiet until log_open() says otherwise: nothing below a
// warning, and that to stderr.
//
//     log_warn("partition {} has no leader", partition);       20:22:18.000 warning: partition 3 has no leader
//
// Cost:     a call below the level is one load. Above it one line is written before the call returns.
// Limits:   4 KiB a line, control characters shown as escapes.
// Errors:   log_open: kIo names the file. Writing never fails the caller.
// Threads:  any; log_open before others start.   Source: STYLE.md 13.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "base/result.h"

namespace sp {

enum class LogLevel : std::uint8_t { kInfo, kWarn, kError, kSilent };

struct LogOptions {
  LogLevel lowest = LogLevel::kWarn;
  std::string file;  // empty: stderr; else appended to
};
Result<void> log_open(const LogOptions& options);

[[nodiscard]] bool log_enabled(LogLevel level);
void log_write(LogLevel level, std::string_view message);

template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::kInfo))
    log_write(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::kWarn))
    log_write(LogLevel::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(LogLevel::kError))
    log_write(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sp

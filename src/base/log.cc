#include "base/log.h"

#include <atomic>
#include <exception>
#include <memory>

// What spdlog's own CMake target would define; here, so that no other file sees it.
#define SPDLOG_COMPILED_LIB
#define SPDLOG_SHARED_LIB
#define SPDLOG_FMT_EXTERNAL
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/text.h"

namespace sp {
namespace {

constexpr std::size_t kLogLineBytesMax = 4096;
constexpr const char* kLogPattern = "%H:%M:%S.%e %l: %v";

std::atomic<LogLevel> log_lowest{LogLevel::kWarn};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kSilent:
      break;
  }
  return spdlog::level::off;
}

// shared_ptr because spdlog's sinks are handed over that way.
std::unique_ptr<spdlog::logger> make_logger(std::shared_ptr<spdlog::sinks::sink> sink) {
  auto logger = std::make_unique<spdlog::logger>("streaming-proof", std::move(sink));
  logger->set_pattern(kLogPattern, spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::info);
  logger->flush_on(spdlog::level::info);
  return logger;
}

// Never destroyed, so that a thread which still logs at the end of the process finds it.
std::unique_ptr<spdlog::logger>& logger() {
  static auto* const instance = new std::unique_ptr<spdlog::logger>(
      make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  return *instance;
}

}  // namespace

Result<void> log_open(const LogOptions& options) {
  try {
    if (options.file.empty()) {
      logger() = make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    } else {
      logger() = make_logger(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot write the log file '{}': {}", options.file, error.what()));
  }
  log_lowest.store(options.lowest);
  return {};
}

bool log_enabled(LogLevel level) {
  return level != LogLevel::kSilent && level >= log_lowest.load(std::memory_order_relaxed);
}

void log_write(LogLevel level, std::string_view message) {
  if (!log_enabled(level)) return;
  const std::string line = printable(message, kLogLineBytesMax);
  logger()->log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace sp

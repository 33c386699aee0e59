#include "cli/check_progress.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::cli {
namespace {

constexpr Nanoseconds kBetween = std::chrono::seconds{1};

}  // namespace

CheckProgress::CheckProgress(std::uint64_t bytes, const MonotonicClock& clock, Say say)
    : bytes_(bytes), clock_(clock), say_(std::move(say)), begin_(clock.now()), last_(begin_) {}

void CheckProgress::told(std::uint64_t operations) {
  const MonotonicTime now = clock_.now();
  if (now - last_ < kBetween) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  std::string line = fmt::format("{} operations, {} a second", grouped(operations),
                                 grouped(static_cast<std::uint64_t>(static_cast<double>(operations) / seconds)));
  const std::uint64_t read = std::min(bytes_read_.load(std::memory_order_relaxed), bytes_);
  if (bytes_ > 0 && read > 0) {
    const double part = static_cast<double>(read) / static_cast<double>(bytes_);
    line += fmt::format(", {:.0f} %, {} left", 100 * part, human_duration(std::chrono::duration_cast<Nanoseconds>(
                                                               std::chrono::duration<double>(seconds * (1 - part) / part))));
  }
  say_(line);
}

std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files) {
  std::uint64_t sum = 0;
  for (const auto& file : files) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file, error);
    if (error) return 0;
    sum += bytes;
  }
  return sum;
}

}  // namespace sp::cli

// How far a check is, told once a second on a terminal: operations, how many a second, how much of the files, how long it will take.
//
//     12,000,000 operations, 4,100,000 a second, 37 %, 20 s left
//
// Nothing is told in the first second.   Cost: a look at the clock a call.   Errors: none.   Threads: one owner; the counter of bytes
// is the readers'.   Source: docs/reference/commands.md, "streaming-proof check".
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace sp::cli {

class CheckProgress {
 public:
  using Say = std::function<void(const std::string& line)>;
  // `bytes`: of all files; 0: not known. `clock` outlives this.
  CheckProgress(std::uint64_t bytes, const MonotonicClock& clock, Say say);

  // So many operations were read.
  void told(std::uint64_t operations);
  [[nodiscard]] std::atomic<std::uint64_t>* bytes_read() { return &bytes_read_; }

 private:
  std::uint64_t bytes_;
  const MonotonicClock& clock_;
  Say say_;
  MonotonicTime begin_;
  MonotonicTime last_;
  std::atomic<std::uint64_t> bytes_read_{0};
};

// Of all that are ordinary files; 0 if one is not.
[[nodiscard]] std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files);

}  // namespace sp::cli

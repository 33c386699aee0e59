// Keeps what clients say readable: a client that cannot connect says so every 100 ms, a person needs
// it once.
//
//     "consumer 3: … 127.0.0.1:9092 … refused (after 2ms)"   ─►  told, then counted for `quiet`,
//     "consumer 1: … 127.0.0.1:9093 … refused (after 0ms)"       then told with "(57 more like it)"
//
// Two sentences are alike when they differ in digits and in parentheses only.
//
// Cost:     one map look-up a sentence.
// Limits:   `kKindsMax` kinds are kept apart; further ones are told as they come.
// Errors:   none.
// Threads:  one owner.
// Source:   –.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace sp::coordinator {

class Chatter {
 public:
  static constexpr std::size_t kKindsMax = 1000;

  explicit Chatter(Nanoseconds quiet) : quiet_(quiet) {}
  // What to tell of `sentence` now; nothing if it was told a short while ago.
  [[nodiscard]] std::optional<std::string> hear(std::string_view sentence, MonotonicTime now);
  // How many sentences were not told so far.
  [[nodiscard]] std::uint64_t untold() const { return untold_; }

 private:
  struct Kind {
    MonotonicTime told{};
    std::uint64_t more = 0;
  };
  Nanoseconds quiet_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::uint64_t untold_ = 0;
};

}  // namespace sp::coordinator

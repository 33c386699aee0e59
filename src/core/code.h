// The anomaly codes: one row each, the order of every table and report.
//
// Cost: a table look-up.   Errors: none.   Threads: constants.   Source: docs/reference/findings.md (made from this table).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sp::core {

enum class Code : std::uint8_t {
  kLost,
  kLate,
  kDuplicateWrite,
  kDuplicateDelivery,
  kReorderedWrite,
  kReorderedDelivery,
  kSkip,
  kRewind,
  kCommitAhead,
  kPhantom,
  kMisplaced,
  kCorrupt,
  kInconsistentPosition,
  kBeforeStart,
  kDualOwner,
  kTornTransaction,
  kPrecommittedRead,
  kG0,
  kG1c,
  kGSingle,
  kG2,
  kStall,
  kSubDeath,
};
constexpr std::size_t kCodeCount = 23;

struct CodeRow {
  Code code;
  std::string_view name;     // in JSON, reports and flags
  std::string_view alias;    // what Jepsen or driftlab call it, or nothing
  std::string_view unit;     // what is counted
  std::string_view meaning;  // one sentence
  std::string_view look_at;  // what to do about it
  bool lab = false;          // of the histories of a lab only
};

[[nodiscard]] const CodeRow& code_row(Code code);
[[nodiscard]] std::optional<Code> find_code(std::string_view name);

// A number for each code.
template <typename T>
class PerCode {
 public:
  T& operator[](Code code) { return values_[static_cast<std::size_t>(code)]; }
  const T& operator[](Code code) const { return values_[static_cast<std::size_t>(code)]; }
  bool operator==(const PerCode&) const = default;

 private:
  std::array<T, kCodeCount> values_{};
};

// Who is to blame for a loss.
enum class Blame : std::uint8_t { kNone, kLog, kClient, kBehind, kProcessor, kProducer, kUnknown };
[[nodiscard]] std::string_view blame_name(Blame blame);

}  // namespace sp::core

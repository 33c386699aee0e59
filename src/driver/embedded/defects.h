// The defects that the embedded broker can be asked for: one row each, and the reading of what was asked.
//
//     defect  =  KIND [":" option {"," option}]
//     option  =  "count=" N | "rate=" p | "length=" n | "for=" time
//
//     --defect lose:count=5   --defect corrupt:rate=0.001   --defect freeze:count=1,for=3s
//
// `count` plants exactly N, spread over the run by the seed; `rate` gives each candidate that chance; neither:
// count=1. Exactly one of the two. `length` is for lose-prefix and rewind (at most that many records), `for` is for
// freeze.
//
// Cost: a table.   Errors: kInvalid names the option and lists the kinds.   Threads: constants.
// Source: docs/reference/defects.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/code.h"

namespace sp::driver::embedded {

enum class DefectKind : std::uint8_t {
  kLose,
  kLosePrefix,
  kLoseTail,
  kLoseKey,
  kLosePartition,
  kDuplicateWrite,
  kDuplicateDelivery,
  kReorderWrite,
  kReorderDelivery,
  kCorrupt,
  kMisplace,
  kPhantom,
  kRewind,
  kAckUnstored,
  kStoreUnacked,
  kDualOwner,
  kFreeze,
};
constexpr std::size_t kDefectKindCount = 17;

// What is counted by `count` and rolled for by `rate`, and at what moment it is decided.
enum class DefectUnit : std::uint8_t {
  kRecord,     // a record, when it is stored
  kKey,        // a key, when its first record is stored
  kPartition,  // a partition, when the topic is made
  kDelivery,   // a record, when it is handed over for the first time in its group
  kLineage,    // a lineage, after a rebalance that the broker brings about for it
  kBroker,     // the broker itself, when a record is stored
};

struct DefectRow {
  DefectKind kind;
  std::string_view name;                // in --defect and in the truth log
  std::string_view what;                // what is done, and what the log holds afterwards
  DefectUnit unit;
  std::optional<core::Code> code;       // what the checker must count; absent: nothing, the defect is honest
  std::optional<core::Code> also;       // the second code of the same number
  core::Blame blame = core::Blame::kNone;  // of a loss
};
[[nodiscard]] std::span<const DefectRow> defect_rows();
[[nodiscard]] const DefectRow& defect_row(DefectKind kind);

struct DefectSpec {
  DefectKind kind = DefectKind::kLose;
  std::uint64_t count = 0;              // 0: `rate` holds
  double rate = 0;
  std::uint64_t length_max = 10;        // lose-prefix, rewind: records at most
  Nanoseconds duration = std::chrono::seconds{2};  // freeze
};

[[nodiscard]] Result<DefectSpec> parse_defect(std::string_view text);
[[nodiscard]] Result<std::vector<DefectSpec>> parse_defects(const std::vector<std::string>& texts);
// What a run offers for plants.
struct RunShape {
  std::uint32_t partitions = 1;
  std::uint32_t consumers = 1;          // of each group
  std::size_t payload_bytes = 0;
};
// Errors: kInvalid if the defect can never be planted in such a run, with what it needs.
[[nodiscard]] Result<void> check_plantable(const DefectSpec& spec, const RunShape& shape);
// "lose, lose-prefix, …": all kinds.
[[nodiscard]] std::string defect_names();

}  // namespace sp::driver::embedded

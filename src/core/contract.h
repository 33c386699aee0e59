// What a run promises and therefore forbids: guarantees, order scope, thresholds and budgets. Made by proof (from features)
// and by history (from a contract in the meta record), read by judge.
//
// Cost: a value.   Errors: none here; proof/fields.cc refuses contradictions.   Threads: a value.
// Source: docs/reference/findings.md, "What forbids what".
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "core/code.h"

namespace sp::core {

enum class Order : std::uint8_t { kNone, kKey, kPartition };
enum class Acknowledgement : std::uint8_t { kCumulative, kIndividual };
// What may be handed over again without breaking anything; a promise of once (exactly, at most) forbids more.
enum class Redelivery : std::uint8_t {
  kAny,
  kAfterLineageChange,  // what the cumulative commits allow
  kNever,
};
enum class Start : std::uint8_t { kEarliest, kLatest, kCommitted };
// What consumers are promised to see of transactions.
enum class Isolation : std::uint8_t {
  kUnstated,         // read committed where there are transactions; only what is promised besides is forbidden
  kReadCommitted,
  kReadUncommitted,  // what was aborted may be seen
};
enum class RawReadScope : std::uint8_t { kNone, kHoles, kFull };

struct Thresholds {
  std::optional<std::uint64_t> stall_seconds_max;   // maxStallSeconds
  std::optional<std::uint64_t> duplicates_max;      // maxDuplicates: counts minus allowed
  std::optional<std::uint64_t> errors_max;          // maxErrors: failed and unknown attempts
  std::optional<std::uint64_t> timeouts_max;        // maxTimeouts: ticks at which some record newly passed its deadline
  std::optional<double> rate_min;                   // minRate: attempts a second over the load
  bool operator==(const Thresholds&) const = default;
};

struct Contract {
  bool at_least_once = false;
  bool ordering = false;
  bool exactly_once = false;
  bool at_most_once = false;   // never with the other two
  Redelivery redelivery = Redelivery::kAny;
  Start start = Start::kEarliest;  // kLatest: nothing below the first stated start of a group is owed to it
  Order order = Order::kKey;
  Acknowledgement acknowledgement = Acknowledgement::kCumulative;
  Isolation isolation = Isolation::kUnstated;
  bool shared = false;        // a Shared subscription: order rules and skip are not checked
  bool idempotent = false;    // then a late landing of an unknown attempt may not be reordered either
  bool gaps_compaction = false;
  bool gaps_retention = false;
  bool gaps_markers = false;    // positions that hold no record: of transactions
  bool topic_created = true;  // by this run: a record of another run in it is a phantom
  bool partition_change = false;  // a change of the partition count is declared
  RawReadScope raw_read = RawReadScope::kHoles;
  Nanoseconds timeout{};      // the deadline of an acked record
  Thresholds thresholds;

  // True if an occurrence of `code` that is not allowed breaks a declared guarantee.
  [[nodiscard]] bool forbids(Code code) const;
  // True if not even what follows a change of consumers may be handed over again.
  [[nodiscard]] bool never_again() const { return at_most_once || redelivery == Redelivery::kNever; }
};

}  // namespace sp::core

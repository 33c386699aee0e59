// The coordinator's end of the evidence: folds the deltas of all sources into per-key, per-group and per-partition state, and
// keeps what a judge needs to the end of the run, whatever is trimmed on the way.
//
//     apply(delta) …  ─► tick(n, now) ─► apply … ─► tick …     evidence flows between ticks
//     close_load() ─► close_consumers() ─► raw_targets() ─► apply(raw rows) ─► finish() ─► judge
//
// Rows after a source's answer to tick n are folded once tick n is complete, so the state does not depend on which source
// was faster. A delivery that the owner of its key has not issued yet holds its source back until the owner has answered a
// later round (or is known to be silent); then it is a phantom.
//
// Shape:    what is counted is counted from sets, here only; deltas that come twice change nothing.
// Cost:     30 to 60 ns a row; a tick: O(keys). A quiet key is 64 bytes (one group).
// Limits:   LedgerOptions; a limit that is reached shows in not_checked() and makes a pass inconclusive.
// Errors:   none: evidence cannot be wrong, only missing.   Threads: one owner.   Source: docs/algebra.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/code.h"
#include "core/contract.h"
#include "core/ids.h"
#include "core/key_space.h"
#include "core/range_set.h"
#include "track/delta.h"

namespace sp::track {

struct LedgerLimits {
  std::size_t outstanding_max = 20'000'000;  // records whose position is remembered
  std::size_t slots_first = 1024;            // positions of a partition for whose records there is room at first; a power of two from 8
  std::size_t slots_max = 65'536;            // ... and at most
  std::size_t named_max = 100'000;           // anomalies of one code that are named; all are counted
  std::size_t lineages_max = 100'000;        // that are not finished
  std::size_t ranges_max = 1'000'000;        // of one partition's set of positions
};

struct LedgerOptions {
  core::RunId run;
  core::Contract contract;
  std::vector<std::string> groups = {"group"};  // names
  LedgerLimits limits;
  bool quiet_paths = true;   // false: every row takes the long way; tests compare the two
};

// What was noticed at once, on the way; finer than the findings and possibly more.
struct Alarm {
  core::Code code = core::Code::kLost;
  std::optional<core::GroupIndex> group;
  core::KeyRef key;
  core::Sequence sequence;
  std::optional<core::Position> position;
};

enum class Applied : std::uint8_t {
  kFolded,  // its rows count, or will as soon as the tick they belong to is complete
  kSeen,    // its number was applied before; nothing changed
  kEarly,   // a lower number is missing; kept until that comes
};

// What the run is at now, for progress and time series.
struct Progress {
  std::uint64_t issued = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t received = 0;      // distinct records, all groups
  std::uint64_t verified = 0;      // settled below the watermarks, at the last tick
  std::uint64_t outstanding = 0;   // acked, not received, at the last tick
  std::uint64_t timeouts = 0;      // ticks at which some record newly passed its deadline
  Nanoseconds stall{};             // since verified rose while records were outstanding
  Nanoseconds stall_max{};
};

// One range to read by position.
struct RawRange {
  core::PartitionId partition;
  core::Offset begin;
  core::Offset end;
};

struct State;  // all of it, for the judge: track/state.h

class Ledger {
 public:
  explicit Ledger(LedgerOptions options);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // `identity` owns `key_count` keys from now on. Before its first evidence.
  void declare(const core::KeyBlock& identity, std::uint32_t key_count);
  // Evidence of `source` is to be expected; ticks wait for it.
  void expect(core::SourceId source);

  // One more group, that was handed nothing before; its number is the next. At most groups_max in all, of those that the log's memory tells
  // apart.
  static constexpr std::size_t kGroupsMax = 32;
  core::GroupIndex add_group(std::string name);
  // From now on what is handed over follows no order. Before the first delivery.
  void share();
  [[nodiscard]] std::size_t group_count() const;
  // Nobody attempted these sequences of the key of that name, although higher ones were attempted: before close_load().
  void never_attempted(std::string_view key, const core::Range& sequences);

  // A transaction whose commit is known to have happened, and its records by name of the key. One of unknown outcome is committed if
  // something of it was seen: prove_committed() then makes its records of unknown outcome acknowledged ones (coverage still counts them
  // unknown). Both after close_load().
  using TransactionRecords = std::vector<std::pair<std::string, core::Range>>;
  void committed_transaction(std::string name, const TransactionRecords& records);
  void prove_committed(const TransactionRecords& records);
  // Of these records the ones that a group has received, and the ones that the raw read holds.
  [[nodiscard]] std::uint64_t count_received(const TransactionRecords& records) const;
  [[nodiscard]] TransactionRecords absent_from_raw_read(const TransactionRecords& records) const;

  Applied apply(Delta delta);
  // The highest delta number of `source` below which nothing is missing.
  [[nodiscard]] std::uint64_t applied(core::SourceId source) const;
  // A round of polls is over: each live source was asked after the round before ended. Decides what waits for a later answer.
  void round();

  // True if every live source has answered tick n.
  [[nodiscard]] bool answered(std::uint64_t n) const;
  // Completes tick n at `now`: deadlines, stalls; then folds what came after it. answered(n) must hold.
  void tick(std::uint64_t n, MonotonicTime now);

  // `source` is gone: its open attempts and all above its last report are unknown. `away`: it may come back with its evidence.
  void lose(core::SourceId source, bool away);

  // Step 1 of the end: open attempts become unknown. Step 3: deliveries after this do not count.
  void close_load();
  void close_consumers(MonotonicTime now);
  // What is to be read: everything in the log (`bounds`, the same shape) for scope full; what no group was handed, with a
  // margin, for scope holes.
  [[nodiscard]] std::vector<RawRange> raw_targets(const std::vector<RawRange>& bounds, core::RawReadScope scope);
  // One above the highest acked position of each partition: the raw read waits until the log reaches it.
  [[nodiscard]] std::map<core::PartitionId, core::Offset> acked_ends() const;
  // No evidence comes any more.
  void finish();

  [[nodiscard]] bool all_received() const;  // every acked record was received by every group
  [[nodiscard]] Progress progress() const;
  // Counts so far, for a live view; the judge's are the ones that hold.
  [[nodiscard]] core::PerCode<std::uint64_t> counts_so_far() const;
  [[nodiscard]] std::vector<Alarm> take_alarms();
  [[nodiscard]] const std::map<std::string, std::uint64_t>& not_checked() const;
  [[nodiscard]] std::string key_name(core::KeyRef key) const;

  [[nodiscard]] const State& state() const { return *state_; }
  [[nodiscard]] std::size_t bytes() const;  // memory held, estimated

 private:
  void drain();
  void close_attempts();

  std::unique_ptr<State> state_;
};

}  // namespace sp::track

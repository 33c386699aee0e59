// What one worker has seen since its last delta: compact rows in the order in which things happened, numbered, so that it may
// arrive twice, late or after its successor and still count once.
//
//     source 0.1   delta 1 ─ delta 2 ─ delta 3 …      rows: issued, acked, delivered, …, tick 7, …
//
// The algebra: a Checkpoint is a set of numbered deltas of sources; combine is its union, hence associative, commutative and
// idempotent. The Ledger folds a checkpoint into a state that does not depend on the order in which sources were folded.
//
// Shape:    `number` rises by one from 1 for each source. Rows refer to `blocks`, `opens`, `commits` of the same or earlier
//           deltas of that source.
// Units:    a row is 32 bytes.
// Cost:     combine: O(deltas).   Limits: –.   Errors: none.   Threads: values.   Source: docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/key_space.h"
#include "core/observation.h"

namespace sp::track {

enum class RowKind : std::uint8_t {
  kIssued,     // key, sequence: attempted
  kAcked,      // key, sequence, partition in `which`, offset (kHasOffset)
  kFailed,     // key, sequence, core::Failure in `which`
  kUnknown,    // key, sequence
  kDelivered,  // key, sequence, lineage in `which`, offset (kHasOffset), content flags
  kOpen,       // lineage `which` opens: details in opens[sequence]
  kClose,      // lineage `which` closes: core::LineageClose in `sequence`, the generation left in `offset` (kHasOffset)
  kCommit,     // commit of lineage `which`: details in commits[sequence]
  kTick,       // this worker answers tick `sequence`
  kRawRange,   // partition `which`, [offset, sequence): raw read done, kReached if all of it was seen
  kRaw,        // key, sequence, partition in `which`, offset, content flags: one record of the raw read
  kEnd,        // this source ended on purpose
};

// Bits of Row::flags.
constexpr std::uint8_t kHasOffset = 1;
constexpr std::uint8_t kUnchecked = 2;     // content could not be checked
constexpr std::uint8_t kDamaged = 4;       // content is damaged; key and sequence are not to be trusted
constexpr std::uint8_t kOtherRun = 8;      // intact, of another run
constexpr std::uint8_t kReached = 16;
constexpr std::uint8_t kWrongPartition = 32;  // the payload asked for another partition than it was found in
constexpr std::uint8_t kRightPartition = 64;  // the payload asked for the partition it was found in

struct Row {
  RowKind kind = RowKind::kIssued;
  std::uint8_t flags = 0;
  std::uint32_t which = 0;
  core::KeyRef key;
  std::uint64_t sequence = 0;
  std::uint64_t offset = 0;
};
static_assert(sizeof(Row) == 32);

// How a lineage opened.
struct LineageOpen {
  std::uint32_t consumer = 0;      // index within the worker
  core::GroupIndex group;
  core::PartitionId partition;
  std::optional<core::Generation> generation;
  std::optional<core::Offset> start;   // the stated one
  bool classic = true;
  std::string member;
  std::string instance;
};

enum class CommitOutcome : std::uint8_t { kOk, kFail, kInfo };

// One commit that has its outcome.
struct CommitFact {
  core::Offset next;                        // the next to read
  CommitOutcome outcome = CommitOutcome::kOk;
  std::uint64_t handed_end_at_invoke = 0;   // one above the highest offset the lineage had handed over when it was requested; 0: none
};

struct Delta {
  core::SourceId source;
  std::uint64_t number = 0;
  std::uint32_t first_block = 1;            // blocks[i] is the source's block first_block + i
  std::vector<core::KeyBlock> blocks;
  std::uint32_t first_literal = 0;          // literals[i] is the source's literal first_literal + i
  std::vector<std::string> literals;
  std::vector<Row> rows;
  std::vector<LineageOpen> opens;
  std::vector<CommitFact> commits;
  std::uint64_t history_lines = 0;          // of the source's history that tell this and the deltas before it; 0: none is kept

  [[nodiscard]] std::size_t bytes() const;
};

// A set of deltas.
class Checkpoint {
 public:
  void add(Delta delta);
  // The union.
  void combine(const Checkpoint& other);
  [[nodiscard]] const std::map<std::pair<core::SourceId, std::uint64_t>, Delta>& deltas() const { return deltas_; }

 private:
  std::map<std::pair<core::SourceId, std::uint64_t>, Delta> deltas_;
};

}  // namespace sp::track

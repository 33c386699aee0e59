// A worker's end of the evidence: takes observations in their order, makes rows of them, cuts deltas, and keeps each delta
// until the coordinator has acknowledged it.
//
//     observe … observe ─► cut() ─► Delta 1, kept ─► acknowledge(1) ─► dropped; covered() grows
//
// Cost:     10 ns and 32 bytes an observation.
// Limits:   none of its own: `rows_kept()` is what the worker bounds its load by.
// Errors:   none.   Threads: one owner (a worker guards it with its lock).   Source: docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/key_space.h"
#include "core/observation.h"
#include "track/delta.h"

namespace sp::track {

class Recorder final : public core::ObservationSink {
 public:
  Recorder(core::SourceId source, core::RunId run);
  ~Recorder() override;

  // The names of this worker; producers make their blocks here, refs in observations are this space's.
  [[nodiscard]] core::KeySpace& keys() { return keys_; }

  void observe(const core::Observation& observation) override;
  void observe_all(std::span<const core::Observation> observations) override {
    for (const auto& observation : observations) observe(observation);
  }

  // Closes the current delta and keeps it; nothing happened: no delta, and `force` is not set: false.
  bool cut(bool force, std::uint64_t history_lines = 0);
  // Cuts, and hands the delta over for good: for whoever has recorder and ledger in one hand. As cut(), pending() and acknowledge() of
  // all that was cut, but nothing is copied. Nothing else may be pending.
  [[nodiscard]] std::optional<Delta> hand_over(bool force);
  // The deltas above `acknowledged`, lowest first; pointers live until acknowledge().
  [[nodiscard]] std::vector<const Delta*> pending(std::uint64_t acknowledged) const;
  // Everything up to delta `number` is durable at the coordinator.
  void acknowledge(std::uint64_t number);
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t last_cut() const { return next_number_ - 1; }

  // How far commits may go: for each partition that `consumer` holds, one above the highest offset handed over in its open
  // lineage that acknowledged deltas cover. Partitions with nothing new since the last call are left out.
  struct Covered {
    core::PartitionId partition;
    core::Offset next;
  };
  [[nodiscard]] std::vector<Covered> take_covered(std::uint32_t consumer);
  // True if everything that `consumer` was handed is in acknowledged deltas.
  [[nodiscard]] bool all_covered(std::uint32_t consumer) const;

  // Rows not yet acknowledged, the uncut ones included.
  [[nodiscard]] std::size_t rows_kept() const;

 private:
  // Memory of rows that were acknowledged is used again: new memory costs a fault of the page every 128 rows.
  static constexpr std::size_t kSpareMax = 4;
  static constexpr std::size_t kSpareRowsMax = std::size_t{1} << 16U;
  static constexpr std::uint32_t kNoLineage = ~std::uint32_t{0};
  struct Lineage {
    std::uint32_t consumer = 0;
    std::uint32_t partition = 0;
    bool open = true;
    std::uint64_t handed_end = 0;   // one above the highest offset handed over; 0: none
    std::uint64_t covered_end = 0;  // the same, of what acknowledged deltas hold
    std::uint64_t taken_end = 0;    // what take_covered() said last
    std::uint64_t last_delta = 0;   // the delta that holds its last delivery
    bool dirty = false;             // handed over something since the last cut
  };
  struct Mark {                     // how far a lineage was at the end of a delta
    std::uint64_t number = 0;
    std::uint32_t lineage = 0;
    std::uint64_t handed_end = 0;
  };
  struct OpenCommit {
    std::uint32_t lineage = 0;
    core::Offset next;
    std::uint64_t handed_end = 0;
  };

  Row& add(RowKind kind, std::uint32_t which);
  void attempt(const core::Observation& observation, RowKind kind);
  void deliver(const core::Observation& observation);
  void raw(const core::Observation& observation);
  void assign(const core::Observation& observation);
  void revoke(const core::Observation& observation);
  void commit_invoked(const core::Observation& observation);
  void commit_answered(const core::Observation& observation, CommitOutcome outcome);
  std::uint32_t open_lineage(LineageOpen open);
  void close_lineage(std::uint32_t number, core::LineageClose how, std::optional<core::Generation> left);
  [[nodiscard]] std::uint32_t lineage_of(const core::Observation& observation);
  // Where the open lineage of that consumer and partition is noted.
  [[nodiscard]] std::uint32_t& held(std::uint32_t consumer, std::uint32_t partition);
  // The key of a delivered or raw-read record, and what its content adds to the row's flags.
  [[nodiscard]] core::KeyRef resolve(const core::Observation& observation, std::uint8_t& flags);

  core::SourceId source_;
  core::KeySpace keys_;
  Delta current_;
  std::deque<std::unique_ptr<Delta>> kept_;
  std::vector<std::vector<Row>> spare_rows_;  // empty, with their memory
  std::uint64_t next_number_ = 1;
  std::uint64_t acknowledged_ = 0;
  std::size_t rows_in_kept_ = 0;
  std::uint32_t blocks_sent_ = 1;
  std::uint32_t literals_sent_ = 0;
  std::vector<Lineage> lineages_;  // by number
  std::vector<std::vector<std::uint32_t>> open_;  // [consumer][partition] -> lineage, or kNoLineage
  std::vector<std::uint32_t> dirty_;
  std::deque<Mark> marks_;
  std::vector<OpenCommit> commits_;
};

}  // namespace sp::track

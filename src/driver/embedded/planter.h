// Decides which record, key, partition or lineage a defect hits, so that no two defects meet and each one's count
// stays exact.
//
//     candidate ─► due? (count: spaced by the seed over the expected records; rate: a roll) ─► free? ─► planted, taken
//
// Taken is a record with the three sequences before and behind it, a position, or a whole key or partition. What is
// due but meets something taken waits for the next candidate. Honest bad days take their records too.
//
// Cost:    nothing without defects; with them a few steps and, when one is due, a look-up a record.
// Limits:  –.   Errors: none.   Threads: one owner (the broker's lock).   Source: defects.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/prng.h"
#include "core/range_set.h"
#include "driver/embedded/defects.h"
#include "driver/embedded/truth.h"

namespace sp::driver::embedded {

// How long the run is expected to be; 0: not known, then defects come early.
struct Expected {
  std::uint64_t records = 0;
  std::uint64_t keys = 0;
  std::uint64_t groups = 1;
};

// What becomes of a record that is to be stored.
struct Fate {
  std::optional<DefectKind> kind;        // absent: nothing special
  TruthBook::Item item = 0;
  std::uint32_t partition = 0;           // misplace: where to
  Nanoseconds duration{};                // freeze
};

// A record as the planter sees it.
struct Candidate {
  std::string_view key;
  std::uint64_t sequence = 0;
  std::uint32_t partition = 0;
  std::uint64_t offset = 0;              // of records in the log
  std::size_t payload_bytes = 0;
};

class Planter {
 public:
  Planter(const std::vector<DefectSpec>& specs, const Prng& prng, const Expected& expected, TruthBook& book);

  [[nodiscard]] bool active() const { return !plans_.empty(); }
  // A topic of so many partitions is made: chooses those to lose.
  void topic_made(std::uint32_t partitions);
  // What becomes of a record that is about to be stored in a topic of so many partitions.
  [[nodiscard]] Fate on_append(const Candidate& candidate, std::uint32_t partitions);
  // A record is handed over for the first time in its group: steps the plans, says whether one is due.
  [[nodiscard]] bool step_delivery();
  // The kind to plant on that delivery, if one is due and the record is free. Nothing is taken yet.
  [[nodiscard]] std::optional<DefectKind> due_delivery(const Candidate& candidate) const;
  // A delivery or lineage defect was planted. Its item.
  TruthBook::Item planted(Planted planted);
  // What was due could not be planted here (rate: it is given up).
  void missed(DefectKind kind);
  // A rewind or a dual owner is due.
  [[nodiscard]] bool due(DefectKind kind) const;
  [[nodiscard]] std::uint64_t draw_length(DefectKind kind);
  // A plant did not come about after all: it is due again.
  void undo(TruthBook::Item item);

  // True if nothing was planted near that record.
  [[nodiscard]] bool is_free(std::string_view key, std::uint64_t sequence) const;
  [[nodiscard]] bool positions_free(std::uint32_t partition, std::uint64_t first, std::uint64_t last) const;
  // One above the highest taken position below `end`, at least `begin`.
  [[nodiscard]] std::uint64_t free_since(std::uint32_t partition, std::uint64_t begin, std::uint64_t end) const;
  void take(std::string_view key, std::uint64_t first, std::uint64_t last);
  void take_positions(std::uint32_t partition, std::uint64_t first, std::uint64_t last);
  [[nodiscard]] bool partition_lost(std::uint32_t partition) const;
  [[nodiscard]] Prng& prng() { return prng_; }

 private:
  struct Plan {
    DefectSpec spec;
    DefectUnit unit = DefectUnit::kRecord;
    Prng prng;
    std::uint64_t left = 0;       // of count
    std::uint64_t seen = 0;       // candidates
    std::uint64_t next = 0;       // the candidate at which it is due
    std::uint64_t expected = 0;   // candidates in the run; 0: not known
    bool due = false;
  };
  struct WholeKey {
    DefectKind kind = DefectKind::kLoseKey;
    TruthBook::Item item = 0;
    std::uint64_t end = 0;        // sequences below it
  };
  void schedule(Plan& plan);
  void step(Plan& plan);
  void fulfil(Plan& plan);
  [[nodiscard]] Plan* plan_of(DefectKind kind);
  [[nodiscard]] bool fits(const Plan& plan, const Candidate& candidate, std::uint32_t partitions) const;
  [[nodiscard]] Fate plant_append(Plan& plan, const Candidate& candidate, std::uint32_t partitions);
  [[nodiscard]] std::optional<Fate> whole_fate(const Candidate& candidate) const;

  std::vector<Plan> plans_;
  Prng prng_;
  TruthBook& book_;               // outlives this
  std::unordered_map<std::string, WholeKey> whole_keys_;
  std::unordered_map<std::uint32_t, TruthBook::Item> lost_partitions_;
  std::unordered_map<std::string, core::RangeSet> taken_;
  std::unordered_map<std::uint32_t, core::RangeSet> taken_positions_;
};

}  // namespace sp::driver::embedded

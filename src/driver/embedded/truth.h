// The truth log: what was planted, and exactly what the checker must count for it.
//
//     plant ─► what happens to it is noted: acked, handed over to a group, read raw ─► lines(): code, group, count
//
// A line's `count` is what must be in counts of its code, for duplicate-delivery in counts minus allowed. Lines of
// one code add up. A plant that came to nothing (its attempt never acked, its copy never seen) has no line; a freeze
// has one of count 0.
//
// Cost:     200 bytes a plant.   Limits: the plants asked for.   Errors: kIo when a file cannot be written.
// Threads:  one owner (the broker guards it with its lock).   Source: docs/reference/defects.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/code.h"
#include "core/ids.h"
#include "driver/embedded/defects.h"

namespace sp::driver::embedded {

struct TruthLine {
  DefectKind kind = DefectKind::kLose;
  std::optional<core::Code> code;
  core::Blame blame = core::Blame::kNone;
  std::string group;                    // empty: counted once, not by group
  std::string key;                      // empty: many keys, or none
  std::uint64_t first = 0;              // sequences, both inside; of `key`
  std::uint64_t last = 0;
  std::optional<core::PartitionId> partition;
  std::optional<core::Offset> offset;
  std::optional<core::Generation> generation;  // dual-owner
  std::uint64_t count = 0;
};

// One plant while it happens.
struct Planted {
  DefectKind kind = DefectKind::kLose;
  std::string key{};
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<core::PartitionId> partition{};
  std::optional<core::Offset> offset{};
  std::optional<core::Generation> generation{};
  std::string group{};                  // of plants in one group
  bool complete = false;                // it took place
  bool first_seen = false;              // evidence shows the record where it first stands
  bool second_seen = false;             // ... and the second position of plants that have two
  bool raw_seen = false;
  std::uint64_t count = 0;              // losses: acked records; of one group: what to count
  std::set<std::string> groups{};       // that were handed it
};

// What the lines say, as JSON lines.
[[nodiscard]] std::string truth_text(const std::vector<TruthLine>& lines);
[[nodiscard]] Result<void> write_truth(const std::vector<TruthLine>& lines, const std::string& path);

class TruthBook {
 public:
  using Item = std::uint32_t;           // 0: none
  [[nodiscard]] Item plant(Planted planted);
  [[nodiscard]] Planted& operator[](Item item) { return plants_[item - 1]; }
  // Groups of the run: losses and phantoms count in each.
  void add_group(const std::string& name) { groups_.insert(name); }
  // Notes that a plant stands at a position; `second` is the other position of a plant that has two.
  void stand(core::Position position, Item item, bool second);
  // Evidence of a marked position: an ack names it, a group was handed it, a raw read showed it.
  void acked(Item item, std::uint64_t sequence);
  void handed(core::Position position, const std::string& group);
  void read(core::Position position);
  // What stands now; complete once every producer and consumer is closed and the raw read is over.
  [[nodiscard]] std::vector<TruthLine> lines() const;

 private:
  struct Standing {
    Item item = 0;
    bool second = false;
  };
  void add_lines(const Planted& planted, std::vector<TruthLine>& lines) const;

  std::vector<Planted> plants_;
  std::map<core::Position, Standing> standing_;
  std::set<std::string> groups_;
};

}  // namespace sp::driver::embedded

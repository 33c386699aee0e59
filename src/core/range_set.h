// A set of numbers as sorted, disjoint, non-touching half-open ranges: the sequences seen for one key, the offsets handed
// over in one partition.
//
//     insert 4, 5, 6, 9        [4,7) [9,10)
//     insert 7, 8              [4,10)
//
// Shape:    begin < end; ranges rise; no two touch. Checked after every change in debug builds.
// Cost:     O(1) at the tail, O(log ranges) to look up, O(ranges) to change elsewhere; 24 bytes, with more than one range 16 more for each.
// Limits:   numbers up to 2^64 − 2; the caller bounds range_count().
// Errors:   none.   Threads: one owner.   Source: docs/algebra.md 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/range_list.h"

namespace sp::core {

class RangeSet {
 public:
  RangeSet() = default;
  RangeSet(std::initializer_list<Range> ranges) {
    for (const auto& range : ranges) insert_range(range.begin, range.end);
  }

  // True if `number` was not in the set before.
  bool insert(std::uint64_t number) {
    if (ranges_.empty() || number != ranges_.back().end) return insert_elsewhere(number);
    ranges_.back().end = number + 1;
    return true;
  }
  // How many of [begin, end) were not in the set before. begin <= end.
  std::uint64_t insert_range(std::uint64_t begin, std::uint64_t end);
  void insert_all(const RangeSet& other);
  // True if `number` was in the set.
  bool erase(std::uint64_t number) { return erase_range(number, number + 1) != 0; }
  // How many of [begin, end) were in the set.
  std::uint64_t erase_range(std::uint64_t begin, std::uint64_t end);
  void clear() { ranges_.clear(); }

  [[nodiscard]] bool contains(std::uint64_t number) const {
    if (ranges_.empty() || number >= ranges_.back().end) return false;
    return number >= ranges_.back().begin || contains_below(number);
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // How many numbers. O(ranges).
  [[nodiscard]] std::uint64_t size() const;
  // How many numbers of [begin, end) are inside.
  [[nodiscard]] std::uint64_t count_in(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::size_t range_count() const { return ranges_.size(); }
  [[nodiscard]] std::span<const Range> ranges() const& { return {ranges_.data(), ranges_.size()}; }
  std::span<const Range> ranges() && = delete;  // of a temporary: it would be gone before the first range is read
  // The lowest and the highest number; the set must not be empty.
  [[nodiscard]] std::uint64_t first() const { return ranges_.front().begin; }
  [[nodiscard]] std::uint64_t last() const { return ranges_.back().end - 1; }
  // The end of the range that holds `number`; `number` itself if it is not inside.
  [[nodiscard]] std::uint64_t end_of_run(std::uint64_t number) const;

  // Set algebra; O(ranges of both).
  [[nodiscard]] RangeSet intersect(const RangeSet& other) const;
  [[nodiscard]] RangeSet minus(const RangeSet& other) const;
  // The part inside [begin, end).
  [[nodiscard]] RangeSet clip(std::uint64_t begin, std::uint64_t end) const;
  // How many numbers both sets share.
  [[nodiscard]] std::uint64_t count_shared(const RangeSet& other) const;

  // "[4,7) [9,10)"; "" when empty.
  [[nodiscard]] std::string text() const;
  bool operator==(const RangeSet&) const = default;

 private:
  bool insert_elsewhere(std::uint64_t number);
  // `number` is below the last range.
  [[nodiscard]] bool contains_below(std::uint64_t number) const;
  // The first range whose end is above `number`, as an index.
  [[nodiscard]] std::size_t find(std::uint64_t number) const;
  void check() const;

  RangeList ranges_;
};

}  // namespace sp::core

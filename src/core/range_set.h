// A set of numbers as sorted, disjoint, non-touching half-open ranges: the sequences seen for one key, the offsets handed
// over in one partition.
//
//     insert 4, 5, 6, 9        [4,7) [9,10)
//     insert 7, 8              [4,10)
//
// Shape:    begin < end; ranges rise; no two touch. Checked after every change in debug builds.
// Cost:     O(1) at the tail, O(log ranges) to look up, O(ranges) to change elsewhere; 16 bytes a range, 24 when empty.
// Limits:   numbers up to 2^64 − 2; the caller bounds range_count().
// Errors:   none.   Threads: one owner.   Source: docs/algebra.md 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sp::core {

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // not inside
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

class RangeSet {
 public:
  RangeSet() = default;
  RangeSet(std::initializer_list<Range> ranges) {
    for (const auto& range : ranges) insert_range(range.begin, range.end);
  }

  // True if `number` was not in the set before.
  bool insert(std::uint64_t number) {
    if (!ranges_.empty()) {
      Range& tail = ranges_.back();
      if (number == tail.end) {
        tail.end = number + 1;
        return true;
      }
      if (number >= tail.begin) return number < tail.end ? false : (ranges_.push_back({number, number + 1}), true);
      return insert_slow(number);
    }
    ranges_.push_back({number, number + 1});
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

  [[nodiscard]] bool contains(std::uint64_t number) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // How many numbers. O(ranges).
  [[nodiscard]] std::uint64_t size() const;
  // How many numbers of [begin, end) are inside.
  [[nodiscard]] std::uint64_t count_in(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] std::size_t range_count() const { return ranges_.size(); }
  [[nodiscard]] const std::vector<Range>& ranges() const& { return ranges_; }
  const std::vector<Range>& ranges() && = delete;  // of a temporary: it would be gone before the first range is read
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
  bool insert_slow(std::uint64_t number);
  // The first range whose end is above `number`, as an index.
  [[nodiscard]] std::size_t find(std::uint64_t number) const;
  void check() const;

  std::vector<Range> ranges_;
};

}  // namespace sp::core

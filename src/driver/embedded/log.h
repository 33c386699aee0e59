// The log of one partition: records by position, in segments of one arena of bytes each.
//
//     append ─► 0 1 2 … 4095 | 4096 … 8191 | …        drop_before(5000) drops the first segment
//
// Shape:    positions rise by one; an empty position was given out and holds nothing.
// Cost:     O(1) to append and to look up; 23 bytes a record on top of its key and payload.
// Limits:   keys of 65,535 bytes, payloads of 4 GiB; the owner bounds bytes().
// Errors:   none.   Threads: one owner.   Source: –.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace sp::driver::embedded {

constexpr std::size_t kKeyBytesMax = 65'535;

struct LogRecord {
  bool empty = false;        // nothing is stored here
  bool withheld = false;     // stored, a raw read sees it, no consumer is handed it
  bool marked = false;       // a defect was planted here
  MonotonicTime visible{};   // from when on consumers are handed it
  std::string_view key;      // views live until the next append or drop
  std::span<const std::byte> payload;
};

class PartitionLog {
 public:
  static constexpr std::uint64_t kSegmentRecords = 4096;

  // The position that the record got.
  std::uint64_t append(const LogRecord& record);
  // The record at a position in [begin, end).
  [[nodiscard]] LogRecord at(std::uint64_t offset) const;
  // Makes the position empty.
  void clear(std::uint64_t offset);
  // Notes that a defect was planted there.
  void mark(std::uint64_t offset);
  // Drops whole segments below `offset`. How many bytes that freed.
  std::size_t drop_before(std::uint64_t offset);
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Segment {
    std::vector<std::byte> arena;
    std::vector<std::size_t> starts;
  };
  [[nodiscard]] Segment& segment_of(std::uint64_t offset) const;
  void set_flag(std::uint64_t offset, unsigned flag);

  std::vector<std::unique_ptr<Segment>> segments_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace sp::driver::embedded

// What writer and reader of the binary form share: columns, shapes, and how both stand in a block.
//
//     columns =  u64 first index  names*3  u32 shapes  shape*  u8 width of shape numbers  numbers  column*12  lines
//     names   =  u32 count  (u32 bytes  text)*                  new ones of processes, keys, words
//     column  =  u8 width (0, 1, 2, 4, 8)  values               as many as there are operations whose shape has it
//     lines   =  u32 bytes  text                                of the operations that are kept as lines
//
// Cost: –.   Errors: Cursor::good turns false past the end.   Threads: values.   Source: docs/formats/history.md, "The binary form".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "history/schema.h"

namespace sp::history::detail {

enum class Column : std::uint8_t {
  kTime,
  kValue,
  kKey,
  kPositionPartition,
  kOffset,
  kEntry,
  kBatch,
  kPartition,
  kAsked,
  kGeneration,
  kTxn,
  kNumber,
};
constexpr std::size_t kColumnCount = 12;
using ColumnSet = std::uint16_t;
[[nodiscard]] constexpr ColumnSet bit(Column column) { return static_cast<ColumnSet>(1U << static_cast<unsigned>(column)); }

// What many operations of a block have in common. Written as it stands in memory, without gaps, little-endian.
struct Shape {
  MemberSet members = 0;
  MemberSet truths = 0;
  std::uint32_t process = 0;   // names: numbers of the file
  std::uint32_t topic = 0;
  std::uint32_t group = 0;
  std::uint32_t name = 0;
  std::uint8_t type = 0;
  std::uint8_t function = 0;
  std::uint8_t checksum = 0;
  std::uint8_t qos = 0;
  std::uint8_t position_kind = 0;
  std::uint8_t has_partition = 0;
  std::uint8_t has_batch = 0;
  std::uint8_t as_line = 0;    // then all else is 0
  bool operator==(const Shape&) const = default;
};
static_assert(sizeof(Shape) == 40);

// The columns of operations of that shape.
[[nodiscard]] inline ColumnSet columns_of(const Shape& shape) {
  ColumnSet columns = 0;
  const auto when = [&](Member member, Column column) {
    if ((shape.members & history::bit(member)) != 0) columns |= bit(column);
  };
  when(Member::kTime, Column::kTime);
  when(Member::kValue, Column::kValue);
  when(Member::kKey, Column::kKey);
  when(Member::kPartition, Column::kPartition);
  when(Member::kAsked, Column::kAsked);
  when(Member::kGeneration, Column::kGeneration);
  when(Member::kTxn, Column::kTxn);
  when(Member::kN, Column::kNumber);
  when(Member::kWallNs, Column::kNumber);
  when(Member::kDropped, Column::kNumber);
  if ((shape.members & history::bit(Member::kPosition)) == 0) return columns;
  columns |= bit(Column::kOffset);
  if (shape.has_partition != 0) columns |= bit(Column::kPositionPartition);
  if (shape.position_kind == static_cast<std::uint8_t>(Position::Kind::kEntry)) columns |= bit(Column::kEntry);
  if (shape.has_batch != 0) columns |= bit(Column::kBatch);
  return columns;
}

// Small differences of either sign as small numbers; all 64 bits wrap.
[[nodiscard]] constexpr std::uint64_t folded(std::uint64_t difference) {
  return difference << 1U ^ (0 - (difference >> 63U));
}
[[nodiscard]] constexpr std::uint64_t unfolded(std::uint64_t number) { return number >> 1U ^ (0 - (number & 1U)); }

template <typename Number>
void put(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

// Reads a block from front to end; past the end everything is 0 and `good` false.
struct Cursor {
  const char* at = nullptr;
  const char* end = nullptr;
  bool good = true;

  template <typename Number>
  [[nodiscard]] Number get() {
    Number number{};
    if (const char* from = skip(sizeof number)) std::memcpy(&number, from, sizeof number);
    return number;
  }
  // The next `bytes` bytes, or null.
  [[nodiscard]] const char* skip(std::size_t bytes) {
    if (static_cast<std::size_t>(end - at) < bytes) good = false;
    if (!good) return nullptr;
    const char* from = at;
    at += bytes;
    return from;
  }
};

}  // namespace sp::history::detail

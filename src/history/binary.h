// The binary form (.sph): blocks of columns, each with its checksum.
//
//     file    =  "SPH1" meta block* end
//     meta    =  u32 bytes  u32 crc  the meta record as JSON
//     block   =  u32 operations  u32 bytes  u32 raw bytes  u32 crc  zstd(columns)         end = a block of 0 operations, 0 bytes
//
// What most operations have stands in columns: numbers as differences from the one before of the same shape, names as numbers of the
// file. What is rare is kept as the line it would be.
//
// Shape:    reads back to the same operations; what a line can have beyond them (unknown members, blanks, the order of members) is gone.
// Cost:     write 100 ns an operation, read 40 ns; a tenth of the bytes of the lines.
// Limits:   kBlockOperations operations and kBlockBytesMax bytes a block; Names.
// Errors:   reader.h.   Threads: one owner.   Source: docs/formats/history.md, "The binary form".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"
#include "history/reader.h"
#include "history/schema.h"

namespace sp::history {

constexpr std::string_view kBinaryMagic = "SPH1";
constexpr std::uint32_t kBlockOperations = 8192;
constexpr std::uint32_t kBlockBytesMax = std::uint32_t{3} << 24U;  // a line of 16 MiB, names of as much, and columns

// Operations in, bytes out. Names are those of `vocabulary`, which outlives this.
class BinaryEncoder {
 public:
  BinaryEncoder(const Meta& meta, const Vocabulary& vocabulary);
  ~BinaryEncoder();
  // Indices rise by one from 0.
  void add(const Operation& operation);
  // The last block and the end of the file.
  void finish();
  // What is ready, since the last call.
  [[nodiscard]] std::string take();

 private:
  class FileNames;
  struct State;
  std::unique_ptr<State> state_;
};

// Reader of it, for Reader::open().
[[nodiscard]] Result<std::unique_ptr<Reader>> open_binary(std::unique_ptr<codec::ByteSource> source, std::string name,
                                                          Vocabulary& vocabulary, Reader::Options options);

}  // namespace sp::history

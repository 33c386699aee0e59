// Lines out of a stream, many at a time: blocks of whole lines, so that whoever reads them walks through memory.
//
//     stream   …  line \n line \n line \n li | ne \n line …
//     next()   ─► "line \n line \n line \n"      the torn piece is kept and opens the next block
//
// Shape:    every line of a block ends in '\n', but maybe the last one of the stream. kLinePadding bytes behind a block may
//           be read (their value means nothing).
// Cost:     one copy, 0.1 ns a byte.
// Limits:   a line of more than line_bytes_max is kFull; everything before it was given.
// Errors:   those of the source.   Threads: one owner.   Source: docs/formats/history.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"

namespace sp::codec {

constexpr std::size_t kLinePadding = 64;

class LineReader {
 public:
  struct Options {
    std::size_t block_bytes = std::size_t{1} << 18U;
    std::size_t line_bytes_max = std::size_t{1} << 24U;
  };
  explicit LineReader(std::unique_ptr<ByteSource> source) : LineReader(std::move(source), Options{}) {}
  LineReader(std::unique_ptr<ByteSource> source, Options options);

  // The next block; empty: the end. It lives until the next call. After an error or the end nothing more is read.
  [[nodiscard]] Result<std::string_view> next();
  // At the end: whether the source ended where it should not.
  [[nodiscard]] bool torn() const { return source_->torn(); }

 private:
  std::unique_ptr<ByteSource> source_;
  Options options_;
  std::vector<char> buffer_;
  std::size_t given_ = 0;   // of the buffer, in the last block
  std::size_t filled_ = 0;  // of the buffer
  bool at_end_ = false;
};

}  // namespace sp::codec

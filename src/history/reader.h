// A history, read: operations in batches, out of a file of any of the three forms, or standard input.
//
//     open("run.jsonl.zst") ─► meta()      next() ─► up to kBatch operations     next() ─► …     next() ─► none: the end
//
// The form is told by the first bytes, not by the name: JSON Lines, zstd around JSON Lines, the binary form.
//
// Shape:    operations in the order of the file, `index` 0, 1, 2 …; a batch lives until the next call.
// Cost:     JSON Lines as we write them 100 ns an operation, others 1 µs; binary 40 ns. Memory does not grow with the file, but with
//           its names and its longest line.
// Limits:   kLineBytesMax a line; Names. Past one: kFull.
// Errors:   kParse: file, line, column, what is wrong and what to do. All before it was given. kIo, kNotFound.
// Threads:  one owner. zstd files have a thread of their own to decompress.   Source: docs/formats/history.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/byte_source.h"
#include "history/schema.h"

namespace sp::history {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 24U;

// How messages call a file that is to be read; sys/streams.h has another name for standard input.
[[nodiscard]] std::string name_of(const std::filesystem::path& path);

class Reader {
 public:
  static constexpr std::size_t kBatch = 512;
  struct Options {
    bool accept_torn = false;   // a file that ends within a line, frame or block ends before it; else that is an error
    bool threads = true;
    std::atomic<std::uint64_t>* bytes_read = nullptr;  // outlives the reader; grows by what was read of the file, for progress
  };

  // "-" is standard input. `vocabulary` outlives the reader.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(const std::filesystem::path& path, Vocabulary& vocabulary,
                                                            Options options);
  // `name`: what errors call it.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> open(std::unique_ptr<codec::ByteSource> source, std::string name,
                                                            Vocabulary& vocabulary, Options options);
  virtual ~Reader() = default;

  [[nodiscard]] const Meta& meta() const { return meta_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // The next operations; none: the end.
  [[nodiscard]] virtual Result<std::span<const Operation>> next() = 0;
  // At the end: the line that was cut off and left out, 0 if none was.
  [[nodiscard]] std::uint64_t torn_line() const { return torn_line_; }

 protected:
  explicit Reader(std::string name) : name_(std::move(name)) {}
  std::string name_;
  Meta meta_;
  std::uint64_t torn_line_ = 0;
};

}  // namespace sp::history

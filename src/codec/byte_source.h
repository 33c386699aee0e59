// Where bytes come from, one piece after the other: a file, a pipe, a decompressor, a text of a test.
//
//     read(into) ─► n      the first n bytes of `into` are the next ones; 0: the end
//
// Errors:  whoever reads says what; after an error or the end nothing more is read.
// Threads: one owner.   Source: ARCHITECTURE.md, "Rooms and their doors" (a room below names no file).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"

namespace sp::codec {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte unless at the end. `into` is not empty.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<char> into) = 0;
  // At the end: true if the bytes end where by their own rules they should not (a frame cut off).
  [[nodiscard]] virtual bool torn() const { return false; }
};

// A text that outlives the source.
class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(text) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override {
    const std::size_t taken = std::min(into.size(), rest_.size());
    if (taken > 0) std::memcpy(into.data(), rest_.data(), taken);
    rest_.remove_prefix(taken);
    return taken;
  }

 private:
  std::string_view rest_;
};

}  // namespace sp::codec

// A reader that is read ahead on a thread of its own: reading and whatever is done with the operations then take one core each.
//
//     reader ─ thread ─► filled pieces ─► next()
//                     ◄─ empty pieces
//
// Shape:    as that reader, whose meta record and name it has; a batch lives until the next call.
// Cost:     10 ns an operation on either side; kPieces pieces of kPieceOperations operations, most of them of 64 bytes.
// Limits, errors: those of the reader, in their place.
// Threads:  one owner, besides its own, which alone adds names to the reader's vocabulary: the owner may ask for the text of numbers that
//           it was given. Its end waits for a read that is under way, so the reader's source must not be one that may never answer.
// Source:   STYLE.md 6; names.h, Threads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "history/reader.h"

namespace sp::history {

class OperationsAhead final : public Reader {
 public:
  static constexpr std::size_t kPieces = 8;
  static constexpr std::size_t kPieceOperations = 1024;

  explicit OperationsAhead(std::unique_ptr<Reader> reader);
  ~OperationsAhead() override;
  [[nodiscard]] Result<std::span<const Operation>> next() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::history

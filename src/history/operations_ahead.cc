#include "history/operations_ahead.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"

namespace sp::history {

struct OperationsAhead::State {
  struct Piece {
    std::vector<Operation> operations;  // none: the end, or the error
    std::deque<Details> details;        // what they point to
    std::uint64_t torn_line = 0;
    Result<void> error;
  };

  explicit State(std::unique_ptr<Reader> from)
      : reader(std::move(from)),
        filled({.capacity = kPieces, .when_full = WhenFull::kBlock}, clock),
        empty({.capacity = kPieces + 1, .when_full = WhenFull::kBlock}, clock) {
    for (std::size_t i = 0; i < kPieces; ++i) (void)empty.push(Piece{});
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    while (auto piece = empty.pop(stop)) {
      if (stop.stop_requested()) return;
      fill(*piece);
      const bool last = piece->operations.empty() || !piece->error.has_value();
      if (filled.push(std::move(*piece), stop) != Pushed::kTaken || last) return;
    }
  }

  // An error stands behind the operations before it; the end is a piece without any.
  void fill(Piece& piece) const {
    piece.operations.clear();
    piece.details.clear();
    while (piece.operations.size() < kPieceOperations) {
      const auto batch = reader->next();
      if (!batch) {
        piece.error = tl::unexpected(batch.error());
        return;
      }
      if (batch->empty()) break;
      for (const Operation& operation : *batch) {
        Operation& own = piece.operations.emplace_back(operation);
        if (own.details != nullptr) own.details = &piece.details.emplace_back(*own.details);
      }
    }
    piece.torn_line = reader->torn_line();
  }

  std::unique_ptr<Reader> reader;
  SystemMonotonicClock clock;
  BoundedQueue<Piece> filled;
  BoundedQueue<Piece> empty;
  Piece out;                            // being given out
  std::size_t given = 0;
  bool at_end = false;
  std::jthread thread;
};

OperationsAhead::OperationsAhead(std::unique_ptr<Reader> reader) : Reader(reader->name()) {
  meta_ = reader->meta();
  state_ = std::make_unique<State>(std::move(reader));
}
OperationsAhead::~OperationsAhead() = default;

Result<std::span<const Operation>> OperationsAhead::next() {
  State& state = *state_;
  if (state.given == state.out.operations.size() && !state.at_end) {
    state.given = 0;
    if (state.out.error) {
      // The piece that is there at the beginning is none of those that go round.
      if (!state.out.operations.empty()) (void)state.empty.push(std::move(state.out));
      state.out = std::move(*state.filled.pop());
    } else {
      state.out.operations.clear();  // now the error that stood behind them
    }
    state.at_end = state.out.operations.empty();
    torn_line_ = state.out.torn_line;
    if (state.at_end && !state.out.error) return tl::unexpected(std::move(state.out.error).error());
  }
  const std::size_t count = std::min(kBatch, state.out.operations.size() - state.given);
  const std::span<const Operation> batch(state.out.operations.data() + state.given, count);
  state.given += count;
  return batch;
}

}  // namespace sp::history

#include "history/read_ahead.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include "base/bounded_queue.h"

namespace sp::history {

struct ReadAhead::State {
  struct Piece {
    std::string bytes;
    std::size_t size = 0;  // 0: the end, or the error
    bool torn = false;
    Result<void> error;
  };

  explicit State(std::unique_ptr<codec::ByteSource> from)
      : source(std::move(from)),
        filled({.capacity = kBuffers, .when_full = WhenFull::kBlock}, clock),
        empty({.capacity = kBuffers + 1, .when_full = WhenFull::kBlock}, clock) {
    for (std::size_t i = 0; i < kBuffers; ++i) (void)empty.push(std::string(kBufferBytes, '\0'));
    thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  void run(const std::stop_token& stop) {
    while (auto buffer = empty.pop(stop)) {
      if (stop.stop_requested()) return;
      Piece fresh{std::move(*buffer), 0, false, {}};
      auto got = source->read(fresh.bytes);
      if (got) {
        fresh.size = *got;
      } else {
        fresh.error = tl::unexpected(std::move(got).error());
      }
      const bool last = fresh.size == 0;
      fresh.torn = last && source->torn();
      if (filled.push(std::move(fresh), stop) != Pushed::kTaken || last) return;
    }
  }

  std::unique_ptr<codec::ByteSource> source;
  SystemMonotonicClock clock;
  BoundedQueue<Piece> filled;
  BoundedQueue<std::string> empty;
  Piece piece;
  std::size_t taken = 0;
  bool at_end = false;
  bool torn = false;
  std::jthread thread;
};

ReadAhead::ReadAhead(std::unique_ptr<codec::ByteSource> source) : state_(std::make_unique<State>(std::move(source))) {}
ReadAhead::~ReadAhead() = default;

bool ReadAhead::torn() const { return state_->torn; }

Result<std::size_t> ReadAhead::read(std::span<char> into) {
  State& state = *state_;
  if (state.taken == state.piece.size && !state.at_end) {
    if (!state.piece.bytes.empty()) (void)state.empty.push(std::move(state.piece.bytes));
    state.taken = 0;
    state.piece = std::move(*state.filled.pop());
    state.at_end = state.piece.size == 0;
    state.torn = state.piece.torn;
    if (!state.piece.error) return tl::unexpected(std::move(state.piece.error).error());
  }
  const std::size_t count = std::min(into.size(), state.piece.size - state.taken);
  if (count > 0) std::memcpy(into.data(), state.piece.bytes.data() + state.taken, count);
  state.taken += count;
  return count;
}

}  // namespace sp::history

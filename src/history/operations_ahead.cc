#include "history/operations_ahead.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"

namespace sp::history {

// What goes from core to core: one cache line for each of the operations that nearly all of a history are.
struct Packed {
  std::uint64_t index = 0;
  std::uint64_t line = 0;
  std::int64_t time_ns = 0;
  std::uint64_t value = 0;
  std::uint64_t offset = 0;
  std::uint32_t process = 0;
  std::uint32_t key = 0;
  std::uint32_t topic = 0;
  std::uint32_t asked = 0;
  std::uint32_t partition = 0;
  std::uint8_t members = 0;             // as in MemberSet, and kTimeThere
  Type type = Type::kInvoke;
  Function function = Function::kPublish;
  std::uint8_t shape = 0;               // kWhole alone, or the others
};
static_assert(sizeof(Packed) == 64);

namespace {

constexpr MemberSet kPackable =
    bit(Member::kTopic) | bit(Member::kKey) | bit(Member::kValue) | bit(Member::kPosition) | bit(Member::kAsked) | bit(Member::kChecksum);
constexpr std::uint8_t kTimeThere = 128;
static_assert(kPackable < kTimeThere);

constexpr std::uint8_t kWhole = 1;      // it is none of these: it stands among the whole ones
constexpr std::uint8_t kOnNumberLine = 2;
constexpr std::uint8_t kHasPartition = 4;
constexpr std::uint8_t kBad = 8;

bool is_packable(const Operation& operation) {
  const Function function = operation.function;
  if (function != Function::kPublish && function != Function::kDeliver && function != Function::kRead) return false;
  return (operation.members & ~(kPackable | bit(Member::kTime))) == 0 && operation.truths == 0 && operation.details == nullptr &&
         operation.position.kind != Position::Kind::kEntry && !operation.position.has_batch;
}

void pack(const Operation& operation, Packed& packed) {
  packed.index = operation.index;
  packed.line = operation.line;
  packed.time_ns = operation.time_ns;
  packed.value = operation.value;
  packed.offset = operation.position.offset;
  packed.process = operation.process;
  packed.key = operation.key;
  packed.topic = operation.topic;
  packed.asked = operation.asked;
  packed.partition = operation.position.partition;
  packed.members = static_cast<std::uint8_t>((operation.members & kPackable) | (operation.has(Member::kTime) ? kTimeThere : 0U));
  packed.type = operation.type;
  packed.function = operation.function;
  packed.shape = static_cast<std::uint8_t>((operation.position.kind == Position::Kind::kSequence ? kOnNumberLine : 0U) |
                                           (operation.position.has_partition ? kHasPartition : 0U) |
                                           (operation.checksum == Checksum::kBad ? kBad : 0U));
}

void unpack(const Packed& packed, Operation& operation) {
  operation.members = (packed.members & kPackable) | ((packed.members & kTimeThere) != 0 ? bit(Member::kTime) : 0U);
  operation.truths = 0;
  operation.index = packed.index;
  operation.line = packed.line;
  operation.time_ns = packed.time_ns;
  operation.value = packed.value;
  operation.position = {};
  operation.position.kind = (packed.shape & kOnNumberLine) != 0 ? Position::Kind::kSequence : Position::Kind::kOffset;
  operation.position.has_partition = (packed.shape & kHasPartition) != 0;
  operation.position.partition = packed.partition;
  operation.position.offset = packed.offset;
  operation.process = packed.process;
  operation.key = packed.key;
  operation.topic = packed.topic;
  operation.asked = packed.asked;
  operation.type = packed.type;
  operation.function = packed.function;
  operation.checksum = (packed.shape & kBad) != 0 ? Checksum::kBad : Checksum::kOk;
  operation.details = nullptr;
}

}  // namespace

struct OperationsAhead::State {
  struct Piece {
    std::vector<Packed> operations;     // none: the end, or the error
    std::vector<Operation> whole;       // in their order
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
    piece.whole.clear();
    piece.details.clear();
    while (piece.operations.size() < kPieceOperations) {
      const auto batch = reader->next();
      if (!batch) {
        piece.error = tl::unexpected(batch.error());
        return;
      }
      if (batch->empty()) break;
      for (const Operation& operation : *batch) {
        Packed& packed = piece.operations.emplace_back();
        if (is_packable(operation)) {
          pack(operation, packed);
          continue;
        }
        packed.shape = kWhole;
        Operation& own = piece.whole.emplace_back(operation);
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
  std::size_t whole_given = 0;
  std::vector<Operation> unpacked = std::vector<Operation>(kBatch);
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
    state.whole_given = 0;
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
  for (std::size_t at = 0; at < count; ++at) {
    const Packed& packed = state.out.operations[state.given + at];
    if (packed.shape == kWhole) {
      state.unpacked[at] = state.out.whole[state.whole_given++];
    } else {
      unpack(packed, state.unpacked[at]);
    }
  }
  state.given += count;
  return std::span<const Operation>(state.unpacked.data(), count);
}

}  // namespace sp::history

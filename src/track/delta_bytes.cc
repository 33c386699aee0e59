#include "track/delta_bytes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/core.h>

namespace sp::track {
namespace {

constexpr std::uint8_t kVersion = 1;

// A row's tag: its kind, and what follows.
constexpr std::uint8_t kKindBits = 0x0F;
constexpr std::uint8_t kFlagsFollow = 0x10;
constexpr std::uint8_t kWhichFollows = 0x20;
constexpr std::uint8_t kBlockFollows = 0x40;
constexpr std::uint8_t kOffsetFollows = 0x80;
constexpr std::size_t kKinds = static_cast<std::size_t>(RowKind::kEnd) + 1;
static_assert(kKinds <= kKindBits + 1);

// Bits of an open's first byte.
constexpr std::uint8_t kHasGeneration = 1;
constexpr std::uint8_t kHasStart = 2;
constexpr std::uint8_t kClassic = 4;

constexpr unsigned kVarintBits = 7;
constexpr std::uint8_t kVarintMore = 0x80;
constexpr std::size_t kVarintBytesMax = 10;

// The least that one of them takes: what a count can claim is bounded by the bytes that are there.
constexpr std::size_t kBlockBytesMin = 3;
constexpr std::size_t kLiteralBytesMin = 1;
constexpr std::size_t kOpenBytesMin = 6;
constexpr std::size_t kCommitBytesMin = 3;
constexpr std::size_t kRowBytesMin = 3;

std::uint64_t zigzag(std::uint64_t difference) {
  return difference << 1U ^ (std::uint64_t{0} - (difference >> 63U));
}
std::uint64_t unzigzag(std::uint64_t coded) { return coded >> 1U ^ (std::uint64_t{0} - (coded & 1U)); }

// What writer and reader remember of the rows before: both change it alike, so a difference means the same to both.
class Before {
 public:
  struct Kind {
    std::uint8_t flags = 0;
    std::uint32_t which = 0;
    std::uint32_t block = 0;
  };
  struct Key {
    std::uint32_t index = 0;
    std::uint64_t sequence = 0;
  };
  [[nodiscard]] const Kind& kind(RowKind kind) const { return kinds_[number(kind)]; }
  [[nodiscard]] const Key& key(RowKind kind, std::uint32_t block) const { return keys_[number(kind)][slot(block)]; }
  // Where the row stands if it follows on the one before.
  [[nodiscard]] std::uint64_t offset(RowKind kind, std::uint32_t which, std::uint8_t flags) const {
    return offsets_[number(kind)][slot(which)] + ((flags & kHasOffset) != 0 ? 1 : 0);
  }
  void note(const Row& row) {
    kinds_[number(row.kind)] = {row.flags, row.which, row.key.block};
    keys_[number(row.kind)][slot(row.key.block)] = {row.key.index, row.sequence};
    offsets_[number(row.kind)][slot(row.which)] = row.offset;
  }

 private:
  static constexpr std::size_t kSlots = 64;  // blocks and partitions further up share one: longer numbers, not wrong ones
  static std::size_t number(RowKind kind) { return static_cast<std::size_t>(kind); }
  static std::size_t slot(std::uint32_t number) { return number % kSlots; }

  std::array<Kind, kKinds> kinds_{};
  std::array<std::array<Key, kSlots>, kKinds> keys_{};
  std::array<std::array<std::uint64_t, kSlots>, kKinds> offsets_{};
};

class Writer {
 public:
  explicit Writer(std::size_t bytes_about) { out_.reserve(bytes_about); }
  void byte(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void number(std::uint64_t value) {
    while (value >= kVarintMore) {
      byte(static_cast<std::uint8_t>(value | kVarintMore));
      value >>= kVarintBits;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  void difference(std::uint64_t value, std::uint64_t from) { number(zigzag(value - from)); }
  void text(std::string_view text) {
    number(text.size());
    out_.append(text);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_row(Writer& out, Before& before, const Row& row) {
  const Before::Kind& last = before.kind(row.kind);
  const std::uint64_t offset = before.offset(row.kind, row.which, row.flags);
  auto tag = static_cast<std::uint8_t>(row.kind);
  if (row.flags != last.flags) tag |= kFlagsFollow;
  if (row.which != last.which) tag |= kWhichFollows;
  if (row.key.block != last.block) tag |= kBlockFollows;
  if (row.offset != offset) tag |= kOffsetFollows;
  out.byte(tag);
  if ((tag & kFlagsFollow) != 0) out.byte(row.flags);
  if ((tag & kWhichFollows) != 0) out.difference(row.which, last.which);
  if ((tag & kBlockFollows) != 0) out.difference(row.key.block, last.block);
  const Before::Key& key = before.key(row.kind, row.key.block);
  out.difference(row.key.index, key.index);
  out.difference(row.sequence, key.sequence);
  if ((tag & kOffsetFollows) != 0) out.difference(row.offset, offset);
  before.note(row);
}

void write_open(Writer& out, const LineageOpen& open) {
  out.byte(static_cast<std::uint8_t>((open.generation ? kHasGeneration : 0U) | (open.start ? kHasStart : 0U) |
                                     (open.classic ? kClassic : 0U)));
  out.number(open.consumer);
  out.number(open.group.value());
  out.number(open.partition.value());
  if (open.generation) out.number(open.generation->value());
  if (open.start) out.number(open.start->value());
  out.text(open.member);
  out.text(open.instance);
}

void write_commit(Writer& out, const CommitFact& commit) {
  out.byte(static_cast<std::uint8_t>(commit.outcome));
  out.number(commit.next.value());
  out.number(commit.handed_end_at_invoke);
}

// Reads as long as all is well; after the first fault every read says 0 and changes nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool good() const { return fault_.empty(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] Error error() const {
    return {ErrorCode::kParse, fmt::format("a delta of {} bytes: {} at byte {}; it was damaged on its way, or made by another "
                                           "program", bytes_.size(), fault_, at_)};
  }
  void refuse(std::string_view fault) {
    if (good()) fault_ = fault;
  }

  std::uint8_t byte() {
    if (left() == 0) refuse("it ends too early");
    return good() ? static_cast<std::uint8_t>(bytes_[at_++]) : std::uint8_t{0};
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kVarintBytesMax; ++i) {
      const std::uint8_t next = byte();
      if (i + 1 == kVarintBytesMax && next > 1) break;
      value |= static_cast<std::uint64_t>(next & ~kVarintMore) << (kVarintBits * i);
      if ((next & kVarintMore) == 0) return value;
    }
    refuse("a number of more than 64 bits");
    return 0;
  }
  std::uint32_t small_number() { return narrow(number()); }
  std::uint64_t difference(std::uint64_t from) { return from + unzigzag(number()); }
  std::uint32_t small_difference(std::uint32_t from) { return narrow(difference(from)); }
  template <typename Enum>
  Enum choice(Enum last) {
    const std::uint8_t value = byte();
    if (value > static_cast<std::uint8_t>(last)) refuse("an unknown choice");
    return good() ? static_cast<Enum>(value) : Enum{};
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > left()) refuse("a text that is longer than the rest");
    if (!good()) return {};
    std::string text(bytes_.substr(at_, size));
    at_ += size;
    return text;
  }
  // How many follow, each of at least `bytes_min`.
  std::size_t count(std::size_t bytes_min) {
    const std::uint64_t count = number();
    if (count > left() / bytes_min) refuse("more entries than there are bytes for");
    return good() ? count : 0;
  }

 private:
  std::uint32_t narrow(std::uint64_t value) {
    if (value > std::numeric_limits<std::uint32_t>::max()) refuse("a number of more than 32 bits");
    return good() ? static_cast<std::uint32_t>(value) : 0;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string_view fault_;
};

LineageOpen read_open(Reader& in) {
  LineageOpen open;
  const std::uint8_t has = in.byte();
  if (has > (kHasGeneration | kHasStart | kClassic)) in.refuse("an unknown flag of an open");
  open.consumer = in.small_number();
  open.group = core::GroupIndex{in.small_number()};
  open.partition = core::PartitionId{in.small_number()};
  if ((has & kHasGeneration) != 0) open.generation = core::Generation{in.number()};
  if ((has & kHasStart) != 0) open.start = core::Offset{in.number()};
  open.classic = (has & kClassic) != 0;
  open.member = in.text();
  open.instance = in.text();
  return open;
}

CommitFact read_commit(Reader& in) {
  CommitFact commit;
  commit.outcome = in.choice(CommitOutcome::kInfo);
  commit.next = core::Offset{in.number()};
  commit.handed_end_at_invoke = in.number();
  return commit;
}

core::KeyBlock read_block(Reader& in) {
  core::KeyBlock block;
  block.source.worker = in.small_number();
  block.source.incarnation = in.small_number();
  block.producer = in.small_number();
  return block;
}

Row read_row(Reader& in, Before& before) {
  const std::uint8_t tag = in.byte();
  if ((tag & kKindBits) >= kKinds) {
    in.refuse("a row of unknown kind");
    return {};
  }
  Row row;
  row.kind = static_cast<RowKind>(tag & kKindBits);
  const Before::Kind& last = before.kind(row.kind);
  row.flags = (tag & kFlagsFollow) != 0 ? in.byte() : last.flags;
  row.which = (tag & kWhichFollows) != 0 ? in.small_difference(last.which) : last.which;
  row.key.block = (tag & kBlockFollows) != 0 ? in.small_difference(last.block) : last.block;
  const Before::Key& key = before.key(row.kind, row.key.block);
  row.key.index = in.small_difference(key.index);
  row.sequence = in.difference(key.sequence);
  const std::uint64_t offset = before.offset(row.kind, row.which, row.flags);
  row.offset = (tag & kOffsetFollows) != 0 ? in.difference(offset) : offset;
  before.note(row);
  return row;
}

// What a ledger takes for granted.
void check_row(Reader& in, const Delta& delta, const Row& row) {
  const std::uint64_t blocks_end = std::uint64_t{delta.first_block} + delta.blocks.size();
  if (row.key.block != core::KeySpace::kLiteralBlock && row.key.block >= blocks_end) in.refuse("a key of no block");
  if (row.kind == RowKind::kOpen && row.sequence >= delta.opens.size()) in.refuse("a row of no open");
  if (row.kind == RowKind::kCommit && row.sequence >= delta.commits.size()) in.refuse("a row of no commit");
  const bool failure = row.which <= static_cast<std::uint32_t>(core::Failure::kFenced);
  if (row.kind == RowKind::kFailed && !failure) in.refuse("an unknown failure");
  const bool close = row.sequence <= static_cast<std::uint64_t>(core::LineageClose::kClosed);
  if (row.kind == RowKind::kClose && !close) in.refuse("an unknown way to close");
}

template <typename Entry, typename Read>
void read_all(Reader& in, std::vector<Entry>& entries, std::size_t bytes_min, Read read) {
  const std::size_t count = in.count(bytes_min);
  entries.reserve(count);
  for (std::size_t i = 0; i < count && in.good(); ++i) entries.push_back(read(in));
}

void read_tables(Reader& in, Delta& delta) {
  delta.first_block = in.small_number();
  read_all(in, delta.blocks, kBlockBytesMin, read_block);
  delta.first_literal = in.small_number();
  read_all(in, delta.literals, kLiteralBytesMin, [](Reader& from) { return from.text(); });
  read_all(in, delta.opens, kOpenBytesMin, read_open);
  read_all(in, delta.commits, kCommitBytesMin, read_commit);
}

}  // namespace

std::string to_bytes(const Delta& delta) {
  constexpr std::size_t kRowBytesAbout = 6;
  Writer out(64 + delta.rows.size() * kRowBytesAbout);
  out.byte(kVersion);
  out.number(delta.source.worker);
  out.number(delta.source.incarnation);
  out.number(delta.number);
  out.number(delta.history_lines);
  out.number(delta.first_block);
  out.number(delta.blocks.size());
  for (const auto& block : delta.blocks) {
    out.number(block.source.worker);
    out.number(block.source.incarnation);
    out.number(block.producer);
  }
  out.number(delta.first_literal);
  out.number(delta.literals.size());
  for (const auto& literal : delta.literals) out.text(literal);
  out.number(delta.opens.size());
  for (const auto& open : delta.opens) write_open(out, open);
  out.number(delta.commits.size());
  for (const auto& commit : delta.commits) write_commit(out, commit);
  out.number(delta.rows.size());
  Before before;
  for (const auto& row : delta.rows) write_row(out, before, row);
  return out.take();
}

Result<Delta> delta_from_bytes(std::string_view bytes) {
  Reader in(bytes);
  if (const std::uint8_t version = in.byte(); in.good() && version != kVersion) {
    return fail(ErrorCode::kParse, fmt::format("a delta of version {}, and this program reads version {}: let coordinator and "
                                               "workers be of one release", version, kVersion));
  }
  Delta delta;
  delta.source.worker = in.small_number();
  delta.source.incarnation = in.small_number();
  delta.number = in.number();
  delta.history_lines = in.number();
  read_tables(in, delta);
  Before before;
  read_all(in, delta.rows, kRowBytesMin, [&](Reader& from) {
    const Row row = read_row(from, before);
    check_row(from, delta, row);
    return row;
  });
  if (in.left() != 0) in.refuse("bytes behind its end");
  if (!in.good()) return tl::unexpected(in.error());
  return delta;
}

}  // namespace sp::track

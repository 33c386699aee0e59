#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/prng.h"
#include "codec/crc32c.h"
#include "codec/zstd.h"
#include "history/binary.h"
#include "history/detail/columns.h"
#include "history/line.h"

namespace sp::history {

using detail::Column;
using detail::put;
using detail::Shape;

namespace {

constexpr int kLevel = 3;
constexpr std::size_t kTextBytesMax = std::size_t{1} << 20U;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

std::uint8_t width_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t all = 0;
  for (const std::uint64_t value : values) all |= value;
  if (all == 0) return 0;
  if (all <= 0xFF) return 1;
  if (all <= 0xFFFF) return 2;
  return all <= 0xFFFFFFFF ? 4 : 8;
}

void put_values(std::string& out, const std::vector<std::uint64_t>& values) {
  const std::uint8_t width = width_of(values);
  put(out, width);
  const std::size_t begin = out.size();
  out.resize(begin + values.size() * width);
  char* at = out.data() + begin;
  for (std::size_t i = 0; i < values.size() && width > 0; ++i, at += width) std::memcpy(at, &values[i], width);
}

}  // namespace

// The numbers that names have in the file: in the order in which they are first used.
class BinaryEncoder::FileNames {
 public:
  explicit FileNames(const Names& names) : names_(names) {}
  std::uint32_t number(std::uint32_t id) {
    if (id >= numbers_.size()) numbers_.resize(id + 1, kNone);
    if (numbers_[id] == kNone) {
      numbers_[id] = next_++;
      const std::string_view text = names_.text(id);
      put(fresh_, static_cast<std::uint32_t>(text.size()));
      fresh_ += text;
      ++fresh_count_;
    }
    return numbers_[id];
  }
  [[nodiscard]] std::size_t fresh_bytes() const { return fresh_.size(); }
  // Appends the names that are new since the last call.
  void flush(std::string& out) {
    put(out, fresh_count_);
    out += fresh_;
    fresh_.clear();
    fresh_count_ = 0;
  }

 private:
  const Names& names_;  // outlives this
  std::vector<std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
  std::string fresh_;
  std::uint32_t fresh_count_ = 0;
};

struct BinaryEncoder::State {
  State(Dialect of, const Vocabulary& names)
      : dialect(of), vocabulary(names), processes(names.processes), keys(names.keys), words(names.words) {}

  struct Entry {
    Shape shape;
    detail::ColumnSet columns = 0;
    std::array<std::uint64_t, detail::kColumnCount> last{};
  };
  static constexpr std::size_t kSlots = std::size_t{4} * kBlockOperations;

  [[nodiscard]] Shape shape_of(const Operation& operation);
  Entry& entry(const Shape& shape);
  void add_numbers(Entry& entry, const Operation& operation);
  void flush();

  Dialect dialect;
  const Vocabulary& vocabulary;
  FileNames processes, keys, words;
  std::uint64_t first_index = 0;
  std::uint64_t next_index = 0;
  std::vector<Entry> entries;
  std::vector<std::uint32_t> slots = std::vector<std::uint32_t>(kSlots, kNone);
  std::vector<std::uint64_t> shape_numbers;
  std::array<std::vector<std::uint64_t>, detail::kColumnCount> columns;
  std::string lines;
  std::string out;
};

BinaryEncoder::BinaryEncoder(const Meta& meta, const Vocabulary& vocabulary)
    : state_(std::make_unique<State>(meta.dialect, vocabulary)) {
  std::string text;
  append_meta(text, meta);
  state_->out = kBinaryMagic;
  put(state_->out, static_cast<std::uint32_t>(text.size()));
  put(state_->out, codec::crc32c(text));
  state_->out += text;
}

BinaryEncoder::~BinaryEncoder() = default;

Shape BinaryEncoder::State::shape_of(const Operation& operation) {
  Shape shape;
  if ((operation.members & detail_members()) != 0) {
    shape.as_line = 1;
    return shape;
  }
  shape.members = operation.members;
  shape.truths = operation.truths;
  shape.process = processes.number(operation.process);
  if (operation.has(Member::kTopic)) shape.topic = words.number(operation.topic);
  if (operation.has(Member::kGroup)) shape.group = words.number(operation.group);
  if (function_name(operation.function).empty()) shape.name = words.number(operation.name);
  shape.type = static_cast<std::uint8_t>(operation.type);
  shape.function = static_cast<std::uint8_t>(operation.function);
  if (operation.has(Member::kChecksum)) shape.checksum = static_cast<std::uint8_t>(operation.checksum);
  if (operation.has(Member::kQos)) shape.qos = operation.qos;
  if (operation.has(Member::kPosition)) {
    shape.position_kind = static_cast<std::uint8_t>(operation.position.kind);
    shape.has_partition = operation.position.has_partition ? 1 : 0;
    shape.has_batch = operation.position.has_batch ? 1 : 0;
  }
  return shape;
}

BinaryEncoder::State::Entry& BinaryEncoder::State::entry(const Shape& shape) {
  const std::uint64_t kinds = std::uint64_t{shape.type} << 8U | shape.function | std::uint64_t{shape.process} << 16U;
  std::size_t at = mix64(shape.members ^ mix64(kinds ^ std::uint64_t{shape.name} << 32U ^ shape.topic)) % kSlots;
  while (slots[at] != kNone && !(entries[slots[at]].shape == shape)) at = (at + 1) % kSlots;
  if (slots[at] == kNone) {
    slots[at] = static_cast<std::uint32_t>(entries.size());
    entries.push_back({shape, detail::columns_of(shape), {}});
  }
  shape_numbers.push_back(slots[at]);
  return entries[slots[at]];
}

void BinaryEncoder::State::add_numbers(Entry& entry, const Operation& operation) {
  const auto number = [&](Column column, std::uint64_t value) {
    if ((entry.columns & bit(column)) == 0) return;
    std::uint64_t& last = entry.last[static_cast<std::size_t>(column)];
    columns[static_cast<std::size_t>(column)].push_back(detail::folded(value - last));
    last = value;
  };
  number(Column::kTime, static_cast<std::uint64_t>(operation.time_ns));
  number(Column::kValue, operation.value);
  number(Column::kPositionPartition, operation.position.partition);
  number(Column::kOffset, operation.position.offset);
  number(Column::kEntry, operation.position.entry);
  number(Column::kBatch, operation.position.batch);
  number(Column::kPartition, operation.partition);
  number(Column::kAsked, operation.asked);
  number(Column::kGeneration, operation.generation);
  number(Column::kNumber, operation.number);
  // Numbers of names have no order: as they are.
  if (operation.has(Member::kKey)) columns[static_cast<std::size_t>(Column::kKey)].push_back(keys.number(operation.key));
  if (operation.has(Member::kTxn)) columns[static_cast<std::size_t>(Column::kTxn)].push_back(words.number(operation.txn));
}

void BinaryEncoder::add(const Operation& operation) {
  State& state = *state_;
  CHECK(operation.index == state.next_index, "operations come in the order of their indices");
  ++state.next_index;
  State::Entry& entry = state.entry(state.shape_of(operation));
  if (entry.shape.as_line != 0) {
    append_operation(state.lines, operation, state.vocabulary, state.dialect);
  } else {
    state.add_numbers(entry, operation);
  }
  const std::size_t names = state.processes.fresh_bytes() + state.keys.fresh_bytes() + state.words.fresh_bytes();
  if (state.shape_numbers.size() == kBlockOperations || state.lines.size() + names > kTextBytesMax) state.flush();
}

void BinaryEncoder::State::flush() {
  std::string raw;
  put(raw, first_index);
  for (FileNames* names : {&processes, &keys, &words}) names->flush(raw);
  put(raw, static_cast<std::uint32_t>(entries.size()));
  for (const Entry& entry : entries) put(raw, entry.shape);
  put_values(raw, shape_numbers);
  for (const auto& column : columns) put_values(raw, column);
  put(raw, static_cast<std::uint32_t>(lines.size()));
  raw += lines;

  const std::string packed = codec::zstd_block(raw, kLevel);
  put(out, static_cast<std::uint32_t>(shape_numbers.size()));
  put(out, static_cast<std::uint32_t>(packed.size()));
  put(out, static_cast<std::uint32_t>(raw.size()));
  put(out, codec::crc32c(packed));
  out += packed;

  first_index = next_index;
  entries.clear();
  std::ranges::fill(slots, kNone);
  shape_numbers.clear();
  for (auto& column : columns) column.clear();
  lines.clear();
}

void BinaryEncoder::finish() {
  if (!state_->shape_numbers.empty()) state_->flush();
  for (int i = 0; i < 4; ++i) put(state_->out, std::uint32_t{0});
}

std::string BinaryEncoder::take() { return std::exchange(state_->out, {}); }

}  // namespace sp::history

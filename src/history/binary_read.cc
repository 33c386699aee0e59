#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "codec/crc32c.h"
#include "codec/utf8.h"
#include "codec/zstd.h"
#include "history/binary.h"
#include "history/detail/columns.h"
#include "history/line.h"

namespace sp::history {

using detail::Column;
using detail::Shape;

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 16U;
constexpr std::size_t kPadding = 8;

// A column while it is read: values of 0, 1, 2, 4 or 8 bytes. Eight bytes behind its end are readable.
struct Values {
  const char* at = nullptr;
  std::uint64_t mask = 0;
  std::size_t width = 0;

  std::uint64_t next() {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    at += width;
    return value & mask;
  }
};

// A shape of this block, with what its operations have in common filled in.
struct Mould {
  Operation operation;
  detail::ColumnSet columns = 0;
  bool as_line = false;
  std::array<std::uint64_t, detail::kColumnCount> last{};
};

class BinaryReader final : public Reader {
 public:
  BinaryReader(std::unique_ptr<codec::ByteSource> source, std::string name, Vocabulary& vocabulary, Options options)
      : Reader(std::move(name)),
        source_(std::move(source)),
        vocabulary_(vocabulary),
        options_(options),
        parser_(vocabulary),
        batch_(kBatch) {}

  Result<void> start();
  Result<std::span<const Operation>> next() override;

 private:
  enum class Step : std::uint8_t { kGood, kEnd, kError };

  Step read_bytes(std::size_t count);  // into bytes_
  Step torn();
  Step damaged(std::string_view what);
  Step next_block();
  Step open_block(std::uint32_t operations, std::uint32_t raw_bytes);
  bool read_names(detail::Cursor& cursor, Names& names, std::vector<std::uint32_t>& ids);
  bool read_shapes(detail::Cursor& cursor);
  bool make_mould(const Shape& shape, Mould& mould);
  bool read_columns(detail::Cursor& cursor, std::uint32_t operations);
  static bool read_values(detail::Cursor& cursor, std::size_t count, Values& values);
  bool fill(Mould& mould, Operation& operation);
  bool read_line(Operation& operation);
  // There 0 is absent, so no operation has it.
  [[nodiscard]] bool is_zero_in_driftlab(const Operation& operation) const {
    return meta_.dialect == Dialect::kDriftlab && ((operation.has(Member::kValue) && operation.value == 0) ||
                                                   (operation.has(Member::kPosition) && operation.position.offset == 0));
  }

  std::unique_ptr<codec::ByteSource> source_;
  Vocabulary& vocabulary_;
  Options options_;
  LineParser parser_;
  std::vector<Operation> batch_;
  std::deque<Details> details_;
  std::size_t details_used_ = 0;
  std::string bytes_;
  std::vector<char> raw_;
  std::vector<std::uint32_t> processes_, keys_, words_;  // numbers of the file ─► of the vocabulary
  std::vector<Mould> moulds_;
  Values shape_numbers_;
  std::array<Values, detail::kColumnCount> columns_;
  std::string_view lines_;
  std::uint32_t left_ = 0;  // operations of this block
  std::uint64_t index_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
};

BinaryReader::Step BinaryReader::torn() {
  at_end_ = true;
  if (options_.accept_torn) {
    torn_line_ = index_ + 2;
    return Step::kEnd;
  }
  error_ = Error{ErrorCode::kParse, fmt::format("{} line {}: the file is cut off: whoever wrote it did not end properly; --salvage "
                                                "judges what is there and says so",
                                                name_, index_ + 2)};
  return Step::kError;
}

BinaryReader::Step BinaryReader::damaged(std::string_view what) {
  at_end_ = true;
  if (!error_) error_ = Error{ErrorCode::kParse, fmt::format("{} line {}: the block is damaged: {}", name_, index_ + 2, what)};
  return Step::kError;
}

// Grows with what is there, not with what a damaged header announces.
BinaryReader::Step BinaryReader::read_bytes(std::size_t count) {
  bytes_.clear();
  while (bytes_.size() < count) {
    const std::size_t had = bytes_.size();
    bytes_.resize(std::min(count, had + kReadAtOnce));
    auto got = source_->read({bytes_.data() + had, bytes_.size() - had});
    if (!got) {
      at_end_ = true;
      error_ = Error{got.error().code, fmt::format("{} line {}: {}", name_, index_ + 2, got.error().message)};
      return Step::kError;
    }
    bytes_.resize(had + *got);
    if (*got == 0) return torn();
  }
  return Step::kGood;
}

Result<void> BinaryReader::start() {
  const auto refuse = [&](std::string_view what) {
    if (error_) return Result<void>(tl::unexpected(*error_));
    return Result<void>(fail(ErrorCode::kParse, fmt::format("{}: {}", name_, what)));
  };
  constexpr std::size_t kHead = 12;
  if (read_bytes(kHead) != Step::kGood) return refuse("the file is cut off before its meta record");
  std::uint32_t size = 0;
  std::uint32_t crc = 0;
  std::memcpy(&size, bytes_.data() + 4, sizeof size);
  std::memcpy(&crc, bytes_.data() + 8, sizeof crc);
  if (size > kLineBytesMax) return refuse("the meta record is damaged: it has no such size");
  if (read_bytes(size) != Step::kGood) return refuse("the file is cut off within its meta record");
  if (codec::crc32c(bytes_) != crc) return refuse("the meta record is damaged: its checksum does not agree");
  std::string_view line = bytes_;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (const auto fault = parser_.meta(line, meta_)) {
    return refuse(fmt::format("meta record, column {}: {}", fault->at + 1, fault->says));
  }
  return {};
}

BinaryReader::Step BinaryReader::next_block() {
  constexpr std::size_t kHead = 16;
  if (const Step step = read_bytes(kHead); step != Step::kGood) return step;
  std::array<std::uint32_t, 4> head{};
  std::memcpy(head.data(), bytes_.data(), kHead);
  const auto [operations, size, raw_bytes, crc] = head;
  if (operations == 0 && size == 0 && raw_bytes == 0 && crc == 0) {
    at_end_ = true;
    return Step::kEnd;
  }
  if (operations == 0 || operations > kBlockOperations || size > kBlockBytesMax || raw_bytes > kBlockBytesMax) {
    return damaged("no block has such a size");
  }
  if (const Step step = read_bytes(size); step != Step::kGood) return step;
  if (codec::crc32c(bytes_) != crc) return damaged("its checksum does not agree");
  return open_block(operations, raw_bytes);
}

BinaryReader::Step BinaryReader::open_block(std::uint32_t operations, std::uint32_t raw_bytes) {
  if (raw_.size() < raw_bytes + kPadding) raw_.resize(raw_bytes + kPadding);
  if (auto done = codec::zstd_unblock(bytes_, {raw_.data(), raw_bytes}); !done) return damaged(done.error().message);
  detail::Cursor cursor{raw_.data(), raw_.data() + raw_bytes};
  if (cursor.get<std::uint64_t>() != index_) return damaged("its operations are not those that come next");
  if (!read_names(cursor, vocabulary_.processes, processes_) || !read_names(cursor, vocabulary_.keys, keys_) ||
      !read_names(cursor, vocabulary_.words, words_)) {
    return damaged("its names are not what they should be");
  }
  if (!read_shapes(cursor)) return damaged("an operation is none that there can be");
  if (!read_columns(cursor, operations)) return damaged("its columns are not as long as they should be");
  const auto size = cursor.get<std::uint32_t>();
  const char* lines = cursor.skip(size);
  if (lines == nullptr) return damaged("its lines are cut off");
  lines_ = {lines, size};
  left_ = operations;
  return Step::kGood;
}

bool BinaryReader::read_names(detail::Cursor& cursor, Names& names, std::vector<std::uint32_t>& ids) {
  const auto count = cursor.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && cursor.good; ++i) {
    const auto size = cursor.get<std::uint32_t>();
    const char* text = cursor.skip(size);
    if (text == nullptr || codec::utf8_find_invalid({text, size}) != std::string_view::npos) return false;
    const auto id = names.add({text, size});
    if (!id) {
      error_ = Error{ErrorCode::kFull, fmt::format("{} line {}: more than {} different names, or {} bytes of them", name_, index_ + 2,
                                                   names.names_max(), kNameBytesMax)};
      return false;
    }
    ids.push_back(*id);
  }
  return cursor.good;
}

bool BinaryReader::read_shapes(detail::Cursor& cursor) {
  const auto count = cursor.get<std::uint32_t>();
  if (count > kBlockOperations) return false;
  moulds_.clear();
  moulds_.resize(count);
  for (Mould& mould : moulds_) {
    const auto shape = cursor.get<Shape>();
    if (!cursor.good || !make_mould(shape, mould)) return false;
  }
  return true;
}

bool BinaryReader::make_mould(const Shape& shape, Mould& mould) {
  if (shape.as_line > 1) return false;
  mould.as_line = shape.as_line == 1;
  if (mould.as_line) return shape == Shape{.as_line = 1};
  constexpr MemberSet kKnown = (MemberSet{1} << kMemberCount) - 1;
  if ((shape.members & ~kKnown) != 0 || (shape.members & detail_members()) != 0 || (shape.truths & ~shape.members) != 0) return false;
  if (shape.type > static_cast<std::uint8_t>(Type::kInfo) || shape.function >= kFunctionCount) return false;
  if (shape.checksum > 1 || shape.qos > 2 || shape.has_partition > 1 || shape.has_batch > 1) return false;
  if (shape.position_kind > static_cast<std::uint8_t>(Position::Kind::kEntry)) return false;
  Operation& operation = mould.operation;
  operation.members = shape.members;
  operation.truths = shape.truths;
  operation.type = static_cast<Type>(shape.type);
  operation.function = static_cast<Function>(shape.function);
  operation.checksum = static_cast<Checksum>(shape.checksum);
  operation.qos = shape.qos;
  operation.position.kind = static_cast<Position::Kind>(shape.position_kind);
  operation.position.has_partition = shape.has_partition != 0;
  operation.position.has_batch = shape.has_batch != 0;
  mould.columns = detail::columns_of(shape);
  const auto name = [](const std::vector<std::uint32_t>& ids, std::uint32_t number, std::uint32_t& id) {
    if (number >= ids.size()) return false;
    id = ids[number];
    return true;
  };
  if (!name(processes_, shape.process, operation.process)) return false;
  if (operation.has(Member::kTopic) && !name(words_, shape.topic, operation.topic)) return false;
  if (operation.has(Member::kGroup) && !name(words_, shape.group, operation.group)) return false;
  if (vocabulary_.processes.text(operation.process).empty()) return false;
  const bool named = function_name(operation.function).empty();
  if (named && (!name(words_, shape.name, operation.name) || vocabulary_.words.text(operation.name).empty())) return false;
  if ((operation.function == Function::kFault) != (operation.process == vocabulary_.nemesis)) return false;
  if (operation.function == Function::kOther && meta_.dialect == Dialect::kVersion1) return false;
  return is_sayable(operation, meta_.dialect) && what_is_missing(operation, meta_.dialect).empty();
}

bool BinaryReader::read_values(detail::Cursor& cursor, std::size_t count, Values& values) {
  const auto width = cursor.get<std::uint8_t>();
  if (width > 8 || (width & (width - 1U)) != 0) return false;
  values.width = width;
  values.mask = width == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8U * width)) - 1;
  values.at = cursor.skip(count * width);
  return values.at != nullptr;
}

bool BinaryReader::read_columns(detail::Cursor& cursor, std::uint32_t operations) {
  if (!read_values(cursor, operations, shape_numbers_)) return false;
  std::vector<std::uint32_t> used(moulds_.size());
  Values numbers = shape_numbers_;
  for (std::uint32_t i = 0; i < operations; ++i) {
    const std::uint64_t number = numbers.next();
    if (number >= used.size()) return false;
    ++used[number];
  }
  for (std::size_t column = 0; column < detail::kColumnCount; ++column) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < used.size(); ++i) count += (std::uint32_t{moulds_[i].columns} >> column & 1U) != 0 ? used[i] : 0;
    if (!read_values(cursor, count, columns_[column])) return false;
  }
  return true;
}

// False: a name that there is not, or a number that is out of range.
bool BinaryReader::fill(Mould& mould, Operation& operation) {
  operation = mould.operation;
  const detail::ColumnSet columns = mould.columns;
  bool good = true;
  const auto number = [&](Column column) {
    const auto at = static_cast<std::size_t>(column);
    return mould.last[at] += detail::unfolded(columns_[at].next());
  };
  const auto small = [&](Column column) {
    const std::uint64_t value = number(column);
    good = good && value <= UINT32_MAX;
    return static_cast<std::uint32_t>(value);
  };
  if ((columns & bit(Column::kTime)) != 0) operation.time_ns = static_cast<std::int64_t>(number(Column::kTime));
  if ((columns & bit(Column::kValue)) != 0) operation.value = number(Column::kValue);
  if ((columns & bit(Column::kKey)) != 0) {
    const std::uint64_t key = columns_[static_cast<std::size_t>(Column::kKey)].next();
    if (key >= keys_.size()) return false;
    operation.key = keys_[key];
  }
  if ((columns & bit(Column::kPositionPartition)) != 0) operation.position.partition = small(Column::kPositionPartition);
  if ((columns & bit(Column::kOffset)) != 0) operation.position.offset = number(Column::kOffset);
  constexpr detail::ColumnSet kCommon = bit(Column::kTime) | bit(Column::kValue) | bit(Column::kKey) |
                                        bit(Column::kPositionPartition) | bit(Column::kOffset);
  if ((columns & ~kCommon) == 0) return good;
  if ((columns & bit(Column::kEntry)) != 0) operation.position.entry = number(Column::kEntry);
  if ((columns & bit(Column::kBatch)) != 0) operation.position.batch = number(Column::kBatch);
  if ((columns & bit(Column::kPartition)) != 0) operation.partition = small(Column::kPartition);
  if ((columns & bit(Column::kAsked)) != 0) operation.asked = small(Column::kAsked);
  if ((columns & bit(Column::kGeneration)) != 0) operation.generation = number(Column::kGeneration);
  if ((columns & bit(Column::kNumber)) != 0) operation.number = number(Column::kNumber);
  if ((columns & bit(Column::kTxn)) != 0) {
    const std::uint64_t word = columns_[static_cast<std::size_t>(Column::kTxn)].next();
    if (word >= words_.size()) return false;
    operation.txn = words_[word];
  }
  return good;
}

bool BinaryReader::read_line(Operation& operation) {
  const std::size_t end = lines_.find('\n');
  if (end == std::string_view::npos) return false;
  if (details_used_ == details_.size()) details_.emplace_back();
  const auto fault = parser_.operation(lines_.substr(0, end), meta_.dialect, index_, operation, details_[details_used_]);
  lines_.remove_prefix(end + 1);
  if (operation.details != nullptr) ++details_used_;
  return !fault;
}

Result<std::span<const Operation>> BinaryReader::next() {
  std::size_t count = 0;
  details_used_ = 0;
  while (count < kBatch && !at_end_) {
    if (left_ == 0) {
      if (next_block() != Step::kGood) break;
    }
    Mould& mould = moulds_[shape_numbers_.next()];
    Operation& operation = batch_[count];
    if (!(mould.as_line ? read_line(operation) : fill(mould, operation)) || is_zero_in_driftlab(operation)) {
      (void)damaged("an operation is none that there can be");
      break;
    }
    operation.index = index_;
    operation.line = index_ + 2;
    ++index_;
    --left_;
    ++count;
  }
  if (count == 0 && error_) return tl::unexpected(*std::exchange(error_, std::nullopt));
  return std::span<const Operation>(batch_.data(), count);
}

}  // namespace

Result<std::unique_ptr<Reader>> open_binary(std::unique_ptr<codec::ByteSource> source, std::string name, Vocabulary& vocabulary,
                                            Reader::Options options) {
  auto reader = std::make_unique<BinaryReader>(std::move(source), std::move(name), vocabulary, options);
  if (auto started = reader->start(); !started) return tl::unexpected(std::move(started).error());
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace sp::history

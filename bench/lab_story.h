// Histories of a lab in which nothing went wrong, made one operation after the other, so that none need be kept.
//
//     subscribe, assign ─► { invoke, ok, and 16 records later deliver } ─► read-begin { read } read-end ─► end
//
//     LabStory    next() ─► operations          LineSource    the same as lines, for a reader
//
// In the driftlab dialect it is one number line: no assign, no read-begin, no read-end, no end.
//
// Shape:    at least 16 records; equal shapes make equal histories; sequences of a key and offsets of a partition rise by one.
// Cost:     30 ns an operation, 150 ns a line. Memory: 8 bytes a key, and its name.   Limits: those of Names.
// Errors:   none.   Threads: one owner.   Source: docs/formats/history.md, "A file of a lab".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codec/byte_source.h"
#include "history/schema.h"

namespace sp::bench {

struct LabShape {
  std::string name;
  std::uint32_t keys = 1;
  std::uint32_t partitions = 1;
  std::uint32_t consumers = 1;            // at most as many as partitions; as many producers
  history::Dialect dialect = history::Dialect::kVersion1;
  // Added from the middle of the records on, so that there is a hole.
  std::uint64_t sequences_jump = 0;
  std::uint64_t offsets_jump = 0;
};

class LabStory {
 public:
  LabStory(LabShape shape, std::uint64_t records);
  [[nodiscard]] const history::Vocabulary& vocabulary() const { return vocabulary_; }
  [[nodiscard]] history::Meta meta() const;
  [[nodiscard]] const history::Dialect& dialect() const { return shape_.dialect; }
  // The next operation, which lives until the next call; null: the end.
  [[nodiscard]] const history::Operation* next();
  // How many there were.
  [[nodiscard]] std::uint64_t operations() const { return index_; }

 private:
  static constexpr std::uint64_t kLag = 16;  // records between an acknowledgement and its delivery
  enum class Stage : std::uint8_t { kSubscribe, kAssign, kInvoke, kOk, kDeliver, kReadBegin, kRead, kReadEnd, kEnd, kOver };
  struct Placed {
    std::uint32_t key = 0;
    std::uint64_t sequence = 0;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] bool driftlab() const { return shape_.dialect == history::Dialect::kDriftlab; }
  // A number of the dialect, which begins at 0 or 1.
  [[nodiscard]] std::uint64_t numbered(std::uint64_t number, std::uint64_t jump, std::uint64_t record) const;
  Placed place(std::uint64_t record);
  void begin(std::uint32_t process, history::Type type, history::Function function, history::MemberSet members = 0);
  void say_record(const Placed& placed, bool position);
  void subscribe();
  void assign();
  void read_range(bool ends);
  void lived();
  void next_turn();
  void read_back();

  LabShape shape_;
  std::uint64_t records_;
  history::Vocabulary vocabulary_;
  std::vector<std::uint32_t> producers_, consumers_, keys_;
  std::uint32_t final_read_ = 0;
  std::uint32_t group_ = 0;
  std::vector<std::uint64_t> sequences_, offsets_;  // the next ones
  std::array<Placed, kLag> late_{};                 // acknowledged, not delivered
  history::Operation operation_;
  history::Details details_;
  Stage stage_ = Stage::kSubscribe;
  std::uint64_t turn_ = 0;                          // within the stage
  std::uint64_t index_ = 0;
};

// As lines, made as they are read.
class LineSource final : public codec::ByteSource {
 public:
  // Appends the next lines; none: the end.
  using More = std::function<void(std::string& lines)>;
  explicit LineSource(More more) : more_(std::move(more)) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override;

 private:
  More more_;
  std::string lines_;
  std::size_t given_ = 0;
};

// Meta record and all operations, some at a time; `story` outlives it.
[[nodiscard]] LineSource::More lines_of(LabStory& story);

}  // namespace sp::bench

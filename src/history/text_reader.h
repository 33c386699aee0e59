// Reader of JSON Lines: the fast path for lines as we write them, the slow one for all others.
//
// Cost, limits, errors, threads: reader.h.   Source: docs/formats/history.md.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/line_reader.h"
#include "history/fast_line.h"
#include "history/line.h"
#include "history/reader.h"

namespace sp::history {

class TextReader final : public Reader {
 public:
  TextReader(std::unique_ptr<codec::ByteSource> source, std::string name, Vocabulary& vocabulary, Options options);
  // Reads the meta record.
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<std::span<const Operation>> next() override;

 private:
  enum class Step : std::uint8_t { kOperation, kBlank, kEnd, kError };
  // The next block, if this one is read.
  [[nodiscard]] Step refill();
  // The line at at_, up to its newline or the end.
  [[nodiscard]] std::string_view take_line();
  [[nodiscard]] Step read_slowly(Operation& operation);
  // What is written as we write it, up to the first that is not.
  void read_fast(std::size_t& count);
  // False: it went back to a line that is for the slow one.
  [[nodiscard]] bool settle(std::size_t& count);
  // A line that is not as we write it; kBlank: read fast again, there is another block.
  [[nodiscard]] Step read_operation(Operation& operation);
  [[nodiscard]] Step refuse(const LineFault& fault, std::size_t line_bytes, bool cut_off);
  [[nodiscard]] Step end_torn(std::uint64_t line, std::string_view says);
  [[nodiscard]] Step refuse_long();
  Details& fresh_details();

  codec::LineReader lines_;
  Options options_;
  LineParser parser_;
  std::optional<FastLine> fast_;
  Vocabulary& vocabulary_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t line_ = 0;          // that was read last
  std::uint64_t index_ = 0;         // that comes next
  std::vector<Operation> batch_;
  std::deque<Details> details_;
  std::size_t details_used_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace sp::history

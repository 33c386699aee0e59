#include "history/text_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace sp::history {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
}

}  // namespace

TextReader::TextReader(std::unique_ptr<codec::ByteSource> source, std::string name, Vocabulary& vocabulary, Options options)
    : Reader(std::move(name)),
      lines_(std::move(source), {.line_bytes_max = kLineBytesMax}),
      options_(options),
      parser_(vocabulary),
      vocabulary_(vocabulary),
      batch_(kBatch) {}

TextReader::Step TextReader::refill() {
  if (at_ != end_) return Step::kOperation;
  auto block = lines_.next();
  if (!block) {
    ++line_;
    if (block.error().code == ErrorCode::kFull) return refuse_long();
    error_ = Error{block.error().code, fmt::format("{} line {}: {}", name_, line_, block.error().message)};
    return Step::kError;
  }
  at_ = block->data();
  end_ = at_ + block->size();
  if (!block->empty()) return Step::kOperation;
  if (lines_.torn()) return end_torn(line_ + 1, "the compressed file is cut off");
  return Step::kEnd;
}

std::string_view TextReader::take_line() {
  const auto left = static_cast<std::size_t>(end_ - at_);
  const void* newline = std::memchr(at_, '\n', left);
  const std::size_t size =
      newline == nullptr ? left : static_cast<std::size_t>(static_cast<const char*>(newline) - at_);
  const std::string_view line(at_, size);
  at_ += size + (newline == nullptr ? 0 : 1);
  ++line_;
  return line;
}

TextReader::Step TextReader::end_torn(std::uint64_t line, std::string_view says) {
  if (options_.accept_torn) {
    torn_line_ = line;
    return Step::kEnd;
  }
  error_ = Error{ErrorCode::kParse, fmt::format("{} line {}: {}: whoever wrote it did not end properly; --salvage judges what is "
                                                "there and says so",
                                                name_, line, says)};
  return Step::kError;
}

TextReader::Step TextReader::refuse(const LineFault& fault, std::size_t line_bytes, bool cut_off) {
  if (cut_off && fault.no_json) return end_torn(line_, "the last line is cut off");
  const std::size_t column = std::min(fault.at, line_bytes) + 1;
  error_ = Error{fault.full ? ErrorCode::kFull : ErrorCode::kParse,
                 fmt::format("{} line {} column {}: {}", name_, line_, column, fault.says)};
  return Step::kError;
}

TextReader::Step TextReader::refuse_long() {
  error_ = Error{ErrorCode::kFull, fmt::format("{} line {} column {}: the line has more than {} bytes; split what it holds",
                                               name_, line_, kLineBytesMax + 1, kLineBytesMax)};
  return Step::kError;
}

Result<void> TextReader::start() {
  Step step = refill();
  while (step == Step::kOperation) {
    const std::string_view line = take_line();
    const bool cut_off = line.data() + line.size() == end_;
    if (is_blank(line)) {
      step = refill();
      continue;
    }
    if (const auto fault = parser_.meta(line, meta_)) {
      (void)refuse(*fault, line.size(), cut_off);
      if (error_) return tl::unexpected(*error_);
      break;
    }
    fast_.emplace(vocabulary_, meta_.dialect);
    return {};
  }
  if (error_) return tl::unexpected(*error_);
  return fail(ErrorCode::kParse, fmt::format("{}: is empty; a history begins with its meta record, {{\"type\":\"meta\",…}}", name_));
}

Details& TextReader::fresh_details() {
  if (details_used_ == details_.size()) details_.emplace_back();
  return details_[details_used_];
}

TextReader::Step TextReader::read_slowly(Operation& operation) {
  const std::string_view line = take_line();
  const bool cut_off = line.data() + line.size() == end_;
  if (is_blank(line)) return Step::kBlank;
  if (line.size() > kLineBytesMax) return refuse_long();
  if (const auto fault = parser_.operation(line, meta_.dialect, index_, operation, fresh_details())) {
    return refuse(*fault, line.size(), cut_off);
  }
  if (operation.details != nullptr) ++details_used_;
  return Step::kOperation;
}

void TextReader::read_fast(std::size_t& count) {
  while (count < kBatch && at_ != end_) {
    const char* next = fast_->read_ahead(at_, end_, index_, batch_[count]);
    if (next == nullptr) break;
    at_ = next;
    batch_[count].line = ++line_;
    ++index_;
    ++count;
    if (fast_->is_full() && !settle(count)) return;
  }
  (void)settle(count);
}

bool TextReader::settle(std::size_t& count) {
  const FastLine::Later* later = fast_->settle();
  if (later == nullptr) return true;
  at_ = later->line;
  index_ = later->operation->index;
  line_ = later->operation->line - 1;
  count = static_cast<std::size_t>(later->operation - batch_.data());
  return false;
}

TextReader::Step TextReader::read_operation(Operation& operation) {
  if (at_ == end_) {
    const Step step = refill();
    return step == Step::kOperation ? Step::kBlank : step;
  }
  if (const Step step = read_slowly(operation); step != Step::kOperation) return step;
  operation.line = line_;
  ++index_;
  return Step::kOperation;
}

Result<std::span<const Operation>> TextReader::next() {
  std::size_t count = 0;
  details_used_ = 0;
  while (count < kBatch && !at_end_) {
    read_fast(count);
    if (count == kBatch) break;
    const Step step = read_operation(batch_[count]);
    if (step == Step::kOperation) ++count;
    at_end_ = step == Step::kEnd || step == Step::kError;
  }
  if (count == 0 && error_) return tl::unexpected(*std::exchange(error_, std::nullopt));
  return std::span<const Operation>(batch_.data(), count);
}

}  // namespace sp::history

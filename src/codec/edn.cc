#include "codec/edn.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "codec/edn_parser.h"
#include "codec/utf8.h"

namespace sp::codec {
namespace {

std::string long_form() { return fmt::format("one form has more than {} bytes: split what it holds", kEdnFormBytesMax); }

}  // namespace

EdnReader::EdnReader(std::unique_ptr<ByteSource> source, std::string name, Options options)
    : source_(std::move(source)), name_(std::move(name)), options_(options) {}

Error EdnReader::error_at_byte(std::size_t byte, std::string_view says, ErrorCode code) const {
  const std::string_view before = rest().substr(0, byte);
  const auto newlines = static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
  const std::size_t last = before.rfind('\n');
  const std::uint64_t column = last == std::string_view::npos ? column_ + byte : byte - last - 1;
  return {code, fmt::format("{} line {} column {}: {}", name_, line_ + newlines, column + 1, says)};
}

EdnReader::Step EdnReader::refuse(std::size_t byte, std::string_view says, ErrorCode code) {
  error_ = error_at_byte(byte, says, code);
  return Step::kError;
}

void EdnReader::consume(std::size_t bytes) {
  const std::string_view gone = rest().substr(0, bytes);
  line_ += static_cast<std::uint64_t>(std::ranges::count(gone, '\n'));
  const std::size_t last = gone.rfind('\n');
  column_ = last == std::string_view::npos ? column_ + bytes : bytes - last - 1;
  at_ += bytes;
}

EdnReader::Step EdnReader::fill() {
  if (whole_) return cut_off();
  buffer_.erase(0, at_);
  at_ = 0;
  if (buffer_.size() > kEdnFormBytesMax) {
    return refuse(0, long_form(), ErrorCode::kFull);
  }
  const std::size_t room = std::max(options_.read_bytes, buffer_.size());  // so that a long form is not read again too often
  std::size_t filled = buffer_.size();
  const std::size_t end = filled + room;
  buffer_.resize(end);
  while (filled < end && !whole_) {
    auto got = source_->read({buffer_.data() + filled, end - filled});
    if (!got) {
      buffer_.resize(filled);
      error_ = Error{got.error().code, fmt::format("{} line {}: {}", name_, line_, got.error().message)};
      return Step::kError;
    }
    filled += *got;
    whole_ = *got == 0;
  }
  buffer_.resize(filled);
  return Step::kDone;
}

EdnReader::Step EdnReader::cut_off() {
  if (options_.accept_torn) {
    torn_line_ = line_;
    return Step::kEnd;
  }
  return refuse(0, "the file ends within what begins here: it was cut off; --salvage converts what is before it");
}

// Up to the first byte of a form, if there is one more.
EdnReader::Step EdnReader::lead() {
  EdnParser parser(rest(), whole_, nodes_, unescaped_);
  nodes_.clear();
  unescaped_.clear();
  unescaped_.reserve(rest().size());
  const EdnParser::Step step = parser.blanks();
  if (step == EdnParser::Step::kFault) return refuse(parser.fault_at(), parser.says());
  if (step == EdnParser::Step::kMore) {
    consume(parser.skipped());
    return Step::kMore;
  }
  consume(parser.at());
  if (rest().empty()) return closer_ != 0 && !closed_ ? cut_off() : Step::kEnd;
  const char first = rest()[0];
  if (closed_) return refuse(0, "something stands behind the list of operations: a file is one list, or forms side by side");
  if (!begun_ && (first == '[' || first == '(')) {
    begun_ = true;
    closer_ = first == '[' ? ']' : ')';
    consume(1);
    return lead();
  }
  begun_ = true;
  if (closer_ != 0 && first == closer_) {
    closed_ = true;
    consume(1);
    return lead();
  }
  return Step::kDone;
}

EdnReader::Step EdnReader::form() {
  nodes_.clear();
  unescaped_.clear();
  unescaped_.reserve(rest().size());
  EdnParser parser(rest(), whole_, nodes_, unescaped_);
  const EdnParser::Step step = parser.form();
  if (step == EdnParser::Step::kMore) return Step::kMore;
  if (step == EdnParser::Step::kFault) return refuse(parser.fault_at(), parser.says(),
                                                     parser.full() ? ErrorCode::kFull : ErrorCode::kParse);
  const std::size_t bad = utf8_find_invalid(rest().substr(0, parser.at()));
  if (bad != std::string_view::npos) return refuse(bad, "this is not UTF-8: store the file as UTF-8");
  if (parser.at() > kEdnFormBytesMax) return refuse(0, long_form(), ErrorCode::kFull);
  form_bytes_ = parser.at();
  return Step::kDone;
}

Result<std::span<const EdnNode>> EdnReader::next() {
  if (error_) return tl::unexpected(*error_);
  consume(form_bytes_);
  form_bytes_ = 0;
  Step step = lead();
  while (step != Step::kEnd && step != Step::kError) {
    if (step == Step::kDone) step = form();
    if (step == Step::kDone) return std::span<const EdnNode>(nodes_);
    if (step == Step::kMore) step = fill();
    if (step == Step::kDone) step = lead();
  }
  if (error_) return tl::unexpected(*error_);
  return std::span<const EdnNode>{};
}

}  // namespace sp::codec

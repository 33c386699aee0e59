#include "codec/line_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace sp::codec {

LineReader::LineReader(std::unique_ptr<ByteSource> source, Options options)
    : source_(std::move(source)), options_(options), buffer_(options.block_bytes + kLinePadding) {}

Result<std::string_view> LineReader::next() {
  const std::size_t kept = filled_ - given_;
  if (kept > 0 && given_ > 0) std::memmove(buffer_.data(), buffer_.data() + given_, kept);
  given_ = 0;
  filled_ = kept;
  std::size_t searched = kept;
  while (!at_end_) {
    if (filled_ > options_.line_bytes_max) {
      at_end_ = true;
      filled_ = 0;
      return fail(ErrorCode::kFull, fmt::format("a line has more than {} bytes", options_.line_bytes_max));
    }
    if (filled_ + kLinePadding == buffer_.size()) buffer_.resize(kLinePadding + 2 * filled_);
    auto got = source_->read({buffer_.data() + filled_, buffer_.size() - kLinePadding - filled_});
    if (!got || *got == 0) at_end_ = true;
    if (!got) {
      filled_ = 0;
      return tl::unexpected(std::move(got).error());
    }
    filled_ += *got;
    const std::string_view fresh(buffer_.data() + searched, filled_ - searched);
    searched = filled_;
    const std::size_t newline = fresh.rfind('\n');
    if (newline == std::string_view::npos) continue;
    given_ = static_cast<std::size_t>(fresh.data() - buffer_.data()) + newline + 1;
    return std::string_view(buffer_.data(), given_);
  }
  given_ = filled_;
  return std::string_view(buffer_.data(), given_);
}

}  // namespace sp::codec

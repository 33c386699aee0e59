#include "history/reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "codec/zstd.h"
#include "history/binary.h"
#include "history/file_source.h"
#include "history/read_ahead.h"
#include "history/text_reader.h"
#include "sys/streams.h"

namespace sp::history {
namespace {

constexpr std::size_t kMagicBytes = 4;

// A source whose first bytes were looked at.
class LookedAt final : public codec::ByteSource {
 public:
  explicit LookedAt(std::unique_ptr<codec::ByteSource> source) : source_(std::move(source)) {}
  // The first bytes, fewer only at the end.
  Result<std::string_view> look() {
    while (first_.size() < kMagicBytes) {
      char room[kMagicBytes];
      auto got = source_->read({room, kMagicBytes - first_.size()});
      if (!got) return tl::unexpected(std::move(got).error());
      if (*got == 0) break;
      first_.append(room, *got);
    }
    return first_;
  }
  Result<std::size_t> read(std::span<char> into) override {
    if (given_ == first_.size()) return source_->read(into);
    const std::size_t count = std::min(into.size(), first_.size() - given_);
    std::memcpy(into.data(), first_.data() + given_, count);
    given_ += count;
    return count;
  }
  [[nodiscard]] bool torn() const override { return source_->torn(); }

 private:
  std::unique_ptr<codec::ByteSource> source_;
  std::string first_;
  std::size_t given_ = 0;
};

}  // namespace

std::string name_of(const std::filesystem::path& path) {
  return path == sys::kStandardInputFile || path == "-" ? std::string(sys::kStandardInputName) : path.string();
}

Result<std::unique_ptr<Reader>> Reader::open(const std::filesystem::path& path, Vocabulary& vocabulary, Options options) {
  if (path == "-") {
    options.threads = false;  // a pipe may never answer, and a thread would wait for it for ever
    return open(std::make_unique<FileSource>(sys::InputFile::standard_input(), options.bytes_read), name_of(path), vocabulary, options);
  }
  auto file = sys::InputFile::open(path);
  if (!file) return tl::unexpected(std::move(file).error());
  return open(std::make_unique<FileSource>(std::move(*file), options.bytes_read), name_of(path), vocabulary, options);
}

Result<std::unique_ptr<Reader>> Reader::open(std::unique_ptr<codec::ByteSource> source, std::string name,
                                             Vocabulary& vocabulary, Options options) {
  auto looked_at = std::make_unique<LookedAt>(std::move(source));
  const auto first = looked_at->look();
  if (!first) return fail(first.error().code, fmt::format("{}: {}", name, first.error().message));
  const bool zstd = codec::is_zstd(*first);
  std::unique_ptr<codec::ByteSource> bytes = std::move(looked_at);
  if (*first == kBinaryMagic) return open_binary(std::move(bytes), std::move(name), vocabulary, options);
  if (zstd) bytes = std::make_unique<codec::ZstdSource>(std::move(bytes));
  if (zstd && options.threads) bytes = std::make_unique<ReadAhead>(std::move(bytes));
  auto reader = std::make_unique<TextReader>(std::move(bytes), std::move(name), vocabulary, options);
  if (auto started = reader->start(); !started) return tl::unexpected(std::move(started).error());
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace sp::history

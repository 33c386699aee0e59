#include "history/convert.h"

#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "codec/zstd.h"
#include "history/binary.h"
#include "history/line.h"
#include "sys/streams.h"

namespace sp::history {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWriteBytes = std::size_t{1} << 20U;
constexpr int kZstdLevel = 3;

// Operations in, the bytes of one form out.
class Encoder {
 public:
  Encoder(Form form, const Meta& meta, const Vocabulary& vocabulary)
      : form_(form), dialect_(meta.dialect), vocabulary_(vocabulary), compressor_(kZstdLevel) {
    if (form == Form::kBinary) {
      binary_ = std::make_unique<BinaryEncoder>(meta, vocabulary);
    } else {
      append_meta(lines_, meta);
    }
  }
  void add(const Operation& operation) {
    if (binary_) return binary_->add(operation);
    append_operation(lines_, operation, vocabulary_, dialect_);
    if (lines_.size() >= kWriteBytes) pack();
  }
  void finish() {
    if (binary_) return binary_->finish();
    pack();
    if (form_ == Form::kZstdLines) compressor_.end_frame(ready_);
  }
  [[nodiscard]] std::string take() { return binary_ ? binary_->take() : std::exchange(ready_, {}); }

 private:
  void pack() {
    if (form_ == Form::kZstdLines) {
      compressor_.append(lines_, ready_);
    } else {
      ready_ += lines_;
    }
    lines_.clear();
  }

  const Form form_;
  const Dialect dialect_;
  const Vocabulary& vocabulary_;
  codec::ZstdCompressor compressor_;
  std::unique_ptr<BinaryEncoder> binary_;
  std::string lines_;
  std::string ready_;
};

// The new file under its provisional name, which goes unless it became whole.
class Partial {
 public:
  explicit Partial(const fs::path& to) : to_(to), path_(to.string() + ".part") {}
  ~Partial() {
    std::error_code ignored;
    if (!whole_) fs::remove(path_, ignored);
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }
  Result<void> become_whole() {
    std::error_code error;
    fs::rename(path_, to_, error);
    if (error) return fail(ErrorCode::kIo, fmt::format("cannot rename {} to {}: {}", path_.string(), to_.string(), error.message()));
    whole_ = true;
    return {};
  }

 private:
  fs::path to_;
  fs::path path_;
  bool whole_ = false;
};

}  // namespace

std::optional<Form> form_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".jsonl")) return Form::kLines;
  if (name.ends_with(".jsonl.zst")) return Form::kZstdLines;
  if (name.ends_with(".sph")) return Form::kBinary;
  return std::nullopt;
}

Result<Converted> convert(const fs::path& from, const fs::path& to, const ConvertOptions& options) {
  const auto form = form_of(to);
  if (!form) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: the name says no form: end it with .jsonl, .jsonl.zst or .sph", to.string()));
  }
  Vocabulary vocabulary;
  auto reader = Reader::open(from, vocabulary, {.accept_torn = options.salvage});
  if (!reader) return tl::unexpected(std::move(reader).error());
  Partial partial(to);
  auto file = sys::OutputFile::create(partial.path());
  if (!file) return tl::unexpected(std::move(file).error());
  Encoder encoder(*form, (*reader)->meta(), vocabulary);
  Converted converted;
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) return tl::unexpected(batch.error());
    for (const Operation& operation : *batch) encoder.add(operation);
    if (batch->empty()) encoder.finish();
    if (auto written = file->write(encoder.take()); !written) return tl::unexpected(std::move(written).error());
    if (batch->empty()) break;
    converted.operations += batch->size();
    if (options.progress) options.progress(converted.operations);
  }
  if (auto finished = file->finish(); !finished) return tl::unexpected(std::move(finished).error());
  if (auto whole = partial.become_whole(); !whole) return tl::unexpected(std::move(whole).error());
  converted.torn_line = (*reader)->torn_line();
  return converted;
}

}  // namespace sp::history

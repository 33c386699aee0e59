#include "history/new_file.h"

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
constexpr std::uint64_t kOperationsBetweenWrites = 512;
constexpr int kZstdLevel = 3;

}  // namespace

std::optional<Form> form_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".jsonl")) return Form::kLines;
  if (name.ends_with(".jsonl.zst")) return Form::kZstdLines;
  if (name.ends_with(".sph")) return Form::kBinary;
  return std::nullopt;
}

Result<Form> form_to_write(const fs::path& path) {
  if (const auto form = form_of(path)) return *form;
  return fail(ErrorCode::kInvalid, fmt::format("{}: the name says no form: end it with .jsonl, .jsonl.zst or .sph", path.string()));
}

// Operations in, the bytes of one form out.
class NewFile::Encoder {
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
class NewFile::Partial {
 public:
  explicit Partial(const fs::path& to) : to_(to), path_(name_of(to)) {}
  [[nodiscard]] static fs::path name_of(const fs::path& to) { return to.string() + ".part"; }
  ~Partial() {
    std::error_code ignored;
    if (!whole_) fs::remove(path_, ignored);
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
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

struct NewFile::Parts {
  Parts(const fs::path& path, sys::OutputFile output, Form form, const Meta& meta, const Vocabulary& vocabulary)
      : partial(path), file(std::move(output)), encoder(form, meta, vocabulary) {}
  Partial partial;
  sys::OutputFile file;
  Encoder encoder;
  std::uint64_t added = 0;
};

Result<std::unique_ptr<NewFile>> NewFile::create(const fs::path& path, const Meta& meta, const Vocabulary& vocabulary) {
  const auto form = form_to_write(path);
  if (!form) return tl::unexpected(form.error());
  auto file = sys::OutputFile::create(Partial::name_of(path));
  if (!file) return tl::unexpected(std::move(file).error());
  return std::unique_ptr<NewFile>(new NewFile(std::make_unique<Parts>(path, std::move(*file), *form, meta, vocabulary)));
}

NewFile::NewFile(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
NewFile::~NewFile() = default;

Result<void> NewFile::add(const Operation& operation) {
  parts_->encoder.add(operation);
  if (++parts_->added % kOperationsBetweenWrites != 0) return {};
  return parts_->file.write(parts_->encoder.take());
}

Result<void> NewFile::finish() {
  parts_->encoder.finish();
  if (auto written = parts_->file.write(parts_->encoder.take()); !written) return written;
  if (auto finished = parts_->file.finish(); !finished) return finished;
  return parts_->partial.become_whole();
}

}  // namespace sp::history

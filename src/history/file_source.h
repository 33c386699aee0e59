// A file of the operating system as a source of bytes.
//
// Cost: one system call a read.   Errors: those of sys::InputFile, which name the file.   Threads: one owner.
// Source: sys/streams.h, codec/byte_source.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "codec/byte_source.h"
#include "sys/streams.h"

namespace sp::history {

class FileSource final : public codec::ByteSource {
 public:
  // `bytes_read`, if given, grows by what was read.
  explicit FileSource(sys::InputFile file, std::atomic<std::uint64_t>* bytes_read = nullptr)
      : file_(std::move(file)), bytes_read_(bytes_read) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override {
    auto got = file_.read(into);
    if (got && bytes_read_ != nullptr) bytes_read_->fetch_add(*got, std::memory_order_relaxed);
    return got;
  }

 private:
  sys::InputFile file_;
  std::atomic<std::uint64_t>* bytes_read_;
};

}  // namespace sp::history

// A file of the operating system as a source of bytes.
//
// Cost: one system call a read.   Errors: those of sys::InputFile, which name the file.   Threads: one owner.
// Source: sys/streams.h, codec/byte_source.h.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/result.h"
#include "codec/byte_source.h"
#include "sys/streams.h"

namespace sp::history {

class FileSource final : public codec::ByteSource {
 public:
  explicit FileSource(sys::InputFile file) : file_(std::move(file)) {}
  [[nodiscard]] Result<std::size_t> read(std::span<char> into) override { return file_.read(into); }

 private:
  sys::InputFile file_;
};

}  // namespace sp::history

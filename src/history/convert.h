// A history from one form into another, without loss.
//
//     convert("run.jsonl.zst", "run.sph")     the form of the new file is that of its name: .jsonl, .jsonl.zst, .sph
//
// The new file is there once it is whole; until then, and for ever if the old one is refused, it is called NAME.part and removed.
//
// Cost:     that of reading and writing; memory does not grow with the file.
// Limits:   those of Reader.
// Errors:   those of Reader; kInvalid: a name that says no form; kIo.
// Threads:  one owner; zstd files have a thread of their own to decompress.   Source: docs/formats/history.md, "The binary form".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/result.h"
#include "history/new_file.h"
#include "history/reader.h"

namespace sp::history {

struct Converted {
  std::uint64_t operations = 0;
  std::uint64_t torn_line = 0;   // that was left out; 0: none
};
struct ConvertOptions {
  bool salvage = false;          // a file that is cut off becomes one that ends there
  std::function<void(std::uint64_t operations)> progress;  // now and then
};
// `from`: "-" is standard input.
[[nodiscard]] Result<Converted> convert(const std::filesystem::path& from, const std::filesystem::path& to, const ConvertOptions& options);

}  // namespace sp::history

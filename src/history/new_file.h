// A new history file in the form that its name says, there once it is whole.
//
//     create("run.sph", meta, vocabulary)     add(operation) … add(operation)     finish()
//
// Until finish() succeeds it is called NAME.part, which goes with this object; an older file of that name is untouched until then.
//
// Cost:     that of the form; memory does not grow with the file.
// Limits:   –.
// Errors:   kInvalid: a name that says no form; kIo.
// Threads:  one owner.   Source: docs/formats/history.md, "Files".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/result.h"
#include "history/schema.h"

namespace sp::history {

enum class Form : std::uint8_t { kLines, kZstdLines, kBinary };
// By its end, .jsonl, .jsonl.zst or .sph; nullopt: none of them.
[[nodiscard]] std::optional<Form> form_of(const std::filesystem::path& path);
// The same of a file to be written: kInvalid, with the remedy, if it is none of them.
[[nodiscard]] Result<Form> form_to_write(const std::filesystem::path& path);

class NewFile {
 public:
  // `vocabulary` outlives this: the names that operations refer to.
  [[nodiscard]] static Result<std::unique_ptr<NewFile>> create(const std::filesystem::path& path, const Meta& meta,
                                                               const Vocabulary& vocabulary);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Its index is the next one: 0, 1, 2 …
  [[nodiscard]] Result<void> add(const Operation& operation);
  // All is on the disk under its own name. Nothing may be added afterwards.
  [[nodiscard]] Result<void> finish();

 private:
  class Encoder;
  class Partial;
  struct Parts;
  explicit NewFile(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sp::history

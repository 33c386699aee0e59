// Files read and written from front to end: histories, which are too large to be read whole.
//
//     InputFile::open(path) | InputFile::standard_input()     read … read ─► 0 at the end
//     keep_standard_input()                                   InputFile::open(kStandardInputFile), as often as needed
//     OutputFile::create(path)                                write … write ─► finish(), which says what a late error was
//
// Cost:     one system call each; whoever calls chooses the size.
// Errors:   every message names the file and what the system said; a full disk says so.
// Threads:  one owner.   Source: read(2), write(2), fsync(2).
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/descriptor.h"

namespace sp::sys {

class InputFile {
 public:
  // Errors: kNotFound, else kIo; a folder is no file.
  [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);
  // Standard input, which stays open afterwards; its name in errors is "-".
  [[nodiscard]] static InputFile standard_input();

  // At most into.size() bytes, and at least one unless the file is at its end: then 0.
  [[nodiscard]] Result<std::size_t> read(std::span<char> into);
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  InputFile(Descriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Descriptor file_;  // not valid: standard input
  std::string name_;
};

// By which standard input is opened again, from its start, once keep_standard_input() has said that it can be.
constexpr std::string_view kStandardInputFile = "/proc/self/fd/0";
// How messages call it then.
constexpr std::string_view kStandardInputName = "<stdin>";
// Makes standard input a file that can be opened again and again: what it is, or a copy in the temporary folder, which has no name there
// and is gone with the process, however that ends. Waits until all has come. Errors: kIo, kFull, with the remedy.
[[nodiscard]] Result<void> keep_standard_input();

class OutputFile {
 public:
  // A new file, or an old one emptied.
  [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path);

  [[nodiscard]] Result<void> write(std::string_view bytes);
  // What was written is on the disk, and the file is closed. Nothing may be written afterwards.
  [[nodiscard]] Result<void> finish();

 private:
  OutputFile(Descriptor file, std::filesystem::path path) : file_(std::move(file)), path_(std::move(path)) {}
  Descriptor file_;
  std::filesystem::path path_;
};

}  // namespace sp::sys

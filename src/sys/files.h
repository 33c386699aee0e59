// Files: read whole with a limit, written whole or not at all, folders, a lock between processes, a folder for tests.
//
//     write_atomically(path)   path.tmp-<pid>-<n> ─ write ─ fsync ─► rename ─► fsync of the folder
//
// Errors:  every message names the file and what the system said; a full disk says so.
// Limits:  read_file() refuses files above its limit instead of cutting them.
// Threads: any; a FileLock has one owner.   Source: open(2), rename(2), flock(2).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/descriptor.h"

namespace sp::sys {

// Readers see the old content or all of the new one, also after a crash. On an error the old file is as it was.
[[nodiscard]] Result<void> write_atomically(const std::filesystem::path& path, std::string_view content);
// Errors: kNotFound, kFull above `bytes_max`, else kIo.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);
// The last lines of a text, at most `lines_max` and `bytes_max`; "" if there is no such file.
[[nodiscard]] std::string last_lines(const std::filesystem::path& path, std::size_t lines_max,
                                     std::size_t bytes_max = 16384);
// With all folders above it; fine if it is there already.
[[nodiscard]] Result<void> make_folders(const std::filesystem::path& path);
// Everything below it too; fine if it is not there.
[[nodiscard]] Result<void> remove_tree(const std::filesystem::path& path);
// Renames; replaces a file, refuses a folder that is not empty.
[[nodiscard]] Result<void> move_to(const std::filesystem::path& from, const std::filesystem::path& to);

// Holds an exclusive lock on a file (made if absent) until destroyed; other processes and other FileLocks wait.
class FileLock {
 public:
  [[nodiscard]] static Result<FileLock> take(const std::filesystem::path& path);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

// A new folder below the system's temporary one, removed with all its content at the end.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> make(std::string_view prefix = "streaming-proof");
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace sp::sys

#include "sys/streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace sp::sys {
namespace {

tl::unexpected<Error> stream_error(std::string_view what, std::string_view name, int number) {
  return fail(number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", what, name, std::strerror(number)));
}

// A file without a name, gone with the last descriptor of it.
Result<Descriptor> nameless_file() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return fail(ErrorCode::kIo, "there is no temporary folder: " + error.message() + "; set TMPDIR");
  std::string name = (folder / "streaming-proof-XXXXXX").string();
  Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return stream_error("make a file in", folder.string(), errno);
  (void)unlink(name.c_str());
  return file;
}

Result<void> write_all(int number, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(number, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return fail(errno == ENOSPC ? ErrorCode::kFull : ErrorCode::kIo,
                  fmt::format("cannot keep {} in the temporary folder: {}; set TMPDIR to one with more room, or name a file",
                              kStandardInputName, std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

bool can_be_opened_again() {
  struct stat facts{};
  if (fstat(STDIN_FILENO, &facts) != 0 || !S_ISREG(facts.st_mode) || lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return false;
  return Descriptor(::open(kStandardInputFile.data(), O_RDONLY | O_CLOEXEC)).valid();
}

}  // namespace

Result<void> keep_standard_input() {
  const int mode = fcntl(STDIN_FILENO, F_GETFL);
  const bool closed = mode < 0 || (mode & O_ACCMODE) == O_WRONLY;  // or was as the program began: sys/standard_descriptors.h
  if (closed) return stream_error("read", kStandardInputName, EBADF);
  if (can_be_opened_again()) return {};
  const auto file = nameless_file();
  if (!file) return tl::unexpected(file.error());
  InputFile input = InputFile::standard_input();
  std::vector<char> room(std::size_t{1} << 18U);
  while (true) {
    const auto got = input.read(room);
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    if (auto written = write_all(file->get(), {room.data(), *got}); !written) return written;
  }
  if (lseek(file->get(), 0, SEEK_SET) != 0 || dup2(file->get(), STDIN_FILENO) < 0) {
    return stream_error("keep", kStandardInputName, errno);
  }
  return {};
}

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return stream_error("read", path.string(), errno);
  struct stat facts{};
  if (fstat(file.get(), &facts) == 0 && S_ISDIR(facts.st_mode)) return stream_error("read", path.string(), EISDIR);
  (void)posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);  // advice: a refusal changes nothing
  return InputFile(std::move(file), path.string());
}

InputFile InputFile::standard_input() { return {Descriptor(), "-"}; }

Result<std::size_t> InputFile::read(std::span<char> into) {
  const int number = file_.valid() ? file_.get() : STDIN_FILENO;
  while (true) {
    const ssize_t got = ::read(number, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return stream_error("read", name_, errno);
  }
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return stream_error("write", path.string(), errno);
  return OutputFile(std::move(file), path);
}

Result<void> OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return stream_error("write", path_.string(), errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> OutputFile::finish() {
  // A pipe or a device cannot be synced, and need not be.
  if (fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) return stream_error("write", path_.string(), errno);
  if (close(file_.release()) != 0) return stream_error("write", path_.string(), errno);
  return {};
}

}  // namespace sp::sys

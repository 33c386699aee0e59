#include "sys/streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace sp::sys {
namespace {

tl::unexpected<Error> stream_error(std::string_view what, std::string_view name, int number) {
  return fail(number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", what, name, std::strerror(number)));
}

}  // namespace

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

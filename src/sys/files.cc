#include "sys/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/core.h>

namespace sp::sys {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> io_error(std::string_view what, const fs::path& path, int number) {
  return fail(number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(number)));
}

Result<void> write_whole(const fs::path& path, std::string_view content) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) return io_error("write", path, errno);
  while (!content.empty()) {
    const ssize_t written = write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.get()) != 0) return io_error("write", path, errno);
  if (close(file.release()) != 0) return io_error("write", path, errno);
  return {};
}

// Best effort: some file systems refuse to sync a folder, and the content is whole either way.
void sync_folder(const fs::path& folder) {
  const Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.valid()) (void)fsync(file.get());
}

}  // namespace

Result<void> write_atomically(const fs::path& path, std::string_view content) {
  static std::atomic<unsigned> counter{0};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path temporary =
      folder / fmt::format("{}.tmp-{}-{}", path.filename().string(), getpid(), counter.fetch_add(1));
  if (auto written = write_whole(temporary, content); !written) {
    unlink(temporary.c_str());
    return fail_up(std::move(written), fmt::format("{} is not changed", path.string()));
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    unlink(temporary.c_str());
    return io_error("write", path, number);
  }
  sync_folder(folder);
  return {};
}

Result<std::string> read_file(const fs::path& path, std::size_t bytes_max) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return io_error("read", path, errno);
  std::string content;
  char block[16384];
  while (true) {
    const ssize_t got = read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) return content;
    content.append(block, static_cast<std::size_t>(got));
    if (content.size() > bytes_max) {
      return fail(ErrorCode::kFull, fmt::format("{} has more than {} bytes", path.string(), bytes_max));
    }
  }
}

std::string last_lines(const fs::path& path, std::size_t lines_max, std::size_t bytes_max) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts{};
  if (!file.valid() || fstat(file.get(), &facts) != 0) return "";
  const auto size = static_cast<std::size_t>(facts.st_size);
  const std::size_t begin = size > bytes_max ? size - bytes_max : 0;
  std::string text(size - begin, '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), static_cast<off_t>(begin));
  if (got < 0) return "";
  text.resize(static_cast<std::size_t>(got));
  if (begin > 0)
    text.erase(0, text.find('\n') == std::string::npos ? 0 : text.find('\n') + 1);  // a torn first line
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t cut = text.size();
  for (std::size_t lines = 0; lines < lines_max; ++lines) {
    const auto newline = cut == 0 ? std::string::npos : text.rfind('\n', cut - 1);
    if (newline == std::string::npos) return text;
    cut = newline;
  }
  return text.substr(cut + 1);
}

Result<void> make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path, error)) return {};
  return fail(ErrorCode::kIo, fmt::format("cannot make the folder {}: {}", path.string(),
                                          error ? error.message() : "there is a file of that name"));
}

Result<void> remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return fail(ErrorCode::kIo, fmt::format("cannot remove {}: {}", path.string(), error.message()));
  return {};
}

Result<void> move_to(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return {};
  return io_error("rename", fmt::format("{} to {}", from.string(), to.string()), errno);
}

Result<FileLock> FileLock::take(const fs::path& path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return io_error("lock", path, errno);
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return io_error("lock", path, errno);
  }
  return FileLock(std::move(file));
}

Result<TemporaryFolder> TemporaryFolder::make(std::string_view prefix) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return fail(ErrorCode::kIo, "there is no temporary folder: " + error.message() + "; set TMPDIR");
  std::string name = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) return io_error("make a folder in", parent, errno);
  return TemporaryFolder(fs::path(name));
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) (void)remove_tree(path_);
}

}  // namespace sp::sys

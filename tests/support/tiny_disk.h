// A disk of 1 MB of a test's own, so that it can be full. Needs the right to mount.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/mount.h>

#include "sys/files.h"

namespace sp::support {

class TinyDisk {
 public:
  TinyDisk() : folder_(sys::TemporaryFolder::make("sp-tiny-disk").value()) {
    mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!mounted_) problem_ = std::strerror(errno);
  }
  ~TinyDisk() {
    if (mounted_) (void)umount2(folder_.path().c_str(), MNT_DETACH);
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // As much as there is room for, but for `left` bytes or so.
  void fill(std::size_t left) const {
    std::ofstream(path() / "filler") << std::string((std::size_t{1} << 20U) - left, 'x');
  }
  void make_room() const { std::filesystem::remove(path() / "filler"); }

 private:
  sys::TemporaryFolder folder_;
  bool mounted_ = false;
  std::string problem_;
};

}  // namespace sp::support

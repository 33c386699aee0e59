#include "sys/standard_descriptors.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sp::sys {

// Raw calls: a sanitizer's own open() is not there yet.
__attribute__((no_sanitize("address", "thread", "undefined"))) void keep_standard_descriptors() {
  if (syscall(SYS_fcntl, STDIN_FILENO, F_GETFD) < 0) syscall(SYS_openat, AT_FDCWD, "/dev/full", O_WRONLY | O_CLOEXEC);
  if (syscall(SYS_fcntl, STDOUT_FILENO, F_GETFD) < 0) syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
  if (syscall(SYS_fcntl, STDERR_FILENO, F_GETFD) < 0) syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace sp::sys

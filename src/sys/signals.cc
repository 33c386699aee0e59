#include "sys/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "base/check.h"

namespace sp::sys {
namespace {

// A handler can reach globals only; StopSignals owns them while it lives.
std::atomic<int> g_count{0};
std::atomic<bool> g_taken{false};
std::array<int, 2> g_pipe{-1, -1};  // a byte for each signal wakes wait(); the count is the truth

void on_signal(int /*number*/) {
  const int saved = errno;
  g_count.fetch_add(1);
  const char byte = 1;
  [[maybe_unused]] const ssize_t ignored = write(g_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  CHECK(!g_taken.exchange(true), "one StopSignals at a time");
  static_assert(std::atomic<int>::is_always_lock_free, "a handler may touch lock-free atomics only");
  g_count.store(0);
  CHECK(pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0, "a pipe is needed to wake up");
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &former_interrupt_);
  sigaction(SIGTERM, &action, &former_terminate_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &former_interrupt_, nullptr);
  sigaction(SIGTERM, &former_terminate_, nullptr);
  close(g_pipe[0]);
  close(g_pipe[1]);
  g_pipe = {-1, -1};
  g_taken.store(false);
}

int StopSignals::count() const { return g_count.load(); }

bool StopSignals::wait(int seen, Nanoseconds wait) const {
  if (count() > seen) return true;
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  pollfd watched{g_pipe[0], POLLIN, 0};
  if (poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(whole, 0, 1'000'000'000))) > 0) {
    char bytes[16];
    [[maybe_unused]] const ssize_t ignored = read(g_pipe[0], bytes, sizeof bytes);
  }
  return count() > seen;
}

}  // namespace sp::sys

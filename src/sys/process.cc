#include "sys/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/clock.h"
#include "sys/descriptor.h"
#include "sys/files.h"

extern char** environ;

namespace sp::sys {
namespace {

constexpr std::size_t kProcBytesMax = 4U << 20U;

struct Stat {
  char state = '?';
  std::uint64_t start = 0;
};

// /proc/<pid>/stat: "pid (name) state ..."; the name may hold anything, so the last ')' counts. Field 22 is the start.
std::optional<Stat> read_stat(pid_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/stat", pid), kProcBytesMax);
  if (!text) return std::nullopt;
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 1);
  Stat stat;
  for (int field = 3; field <= 22; ++field) {
    const auto begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(begin);
    const auto word = rest.substr(0, rest.find(' '));
    if (field == 3) stat.state = word.front();
    if (field == 22) {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), stat.start);
      if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    }
    rest.remove_prefix(word.size());
  }
  return stat;
}

// That very process, dead but not reaped included.
std::optional<Stat> stat_of(const ProcessId& id) {
  if (id.pid <= 0) return std::nullopt;
  auto stat = read_stat(id.pid);
  if (!stat || stat->start != id.start) return std::nullopt;
  return stat;
}

bool is_dead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

// A handle that means this process for ever, or nothing if it is gone. The start time is read after the handle is open:
// if it still fits, handle and identity are the same process.
std::optional<Descriptor> open_handle(const ProcessId& id) {
  if (id.pid <= 0) return std::nullopt;
  Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, id.pid, 0U)));
  if (!handle.valid() || !stat_of(id)) return std::nullopt;
  return handle;
}

class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  int prepare(const SpawnSpec& spec, int out, int err) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int code = posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    if (code == 0) code = posix_spawnattr_setsigmask(&attributes_, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(&attributes_, &all);
    if (code == 0) code = posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, out, 1);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, err, 2);
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    if (code == 0 && !spec.folder.empty()) {
      code = posix_spawn_file_actions_addchdir_np(&actions_, spec.folder.c_str());
    }
    return code;
  }
  int start(pid_t& pid, char* const* args, char* const* environment) {
    return posix_spawnp(&pid, args[0], &actions_, &attributes_, args, environment);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> lines;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text(*line);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) lines.emplace_back(text);
  }
  for (const auto& [name, value] : added) lines.push_back(std::string(name).append("=").append(value));
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Result<Descriptor> open_output(const std::filesystem::path& path) {
  const std::filesystem::path real = path.empty() ? std::filesystem::path("/dev/null") : path;
  Descriptor file(open(real.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid())
    return fail(ErrorCode::kIo, fmt::format("cannot write to {}: {}", real.string(), std::strerror(errno)));
  return file;
}

}  // namespace

std::string Exit::text() const {
  if (!signalled) return fmt::format("exit status {}", code);
  return fmt::format("signal {} ({})", code, strsignal(code));
}

Result<ProcessId> spawn(const SpawnSpec& spec) {
  if (spec.args.empty()) return fail(ErrorCode::kInvalid, "no program was named");
  std::error_code ignored;
  if (!spec.folder.empty() && !std::filesystem::is_directory(spec.folder, ignored)) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot start {}: no folder {}", spec.args[0], spec.folder.string()));
  }
  auto out = open_output(spec.out);
  if (!out) return fail_up(std::move(out), "cannot start " + spec.args[0]);
  auto err = spec.err == spec.out ? Result<Descriptor>(Descriptor()) : open_output(spec.err);
  if (!err) return fail_up(std::move(err), "cannot start " + spec.args[0]);

  std::vector<std::string> args = spec.args;
  std::vector<std::string> environment = environment_with(spec.environment);
  SpawnPlan plan;
  pid_t pid = 0;
  int code = plan.prepare(spec, out->get(), err->valid() ? err->get() : out->get());
  if (code == 0) code = plan.start(pid, pointers(args).data(), pointers(environment).data());
  if (code != 0) {
    return fail(code == ENOENT ? ErrorCode::kMissingTool : ErrorCode::kIo,
                fmt::format("cannot start {}: {}", spec.args[0], std::strerror(code)));
  }
  return identify(pid);  // a child that has ended already is still there: nobody has reaped it
}

Result<ProcessId> identify(pid_t pid) {
  const auto stat = read_stat(pid);
  if (!stat) return fail(ErrorCode::kNotFound, fmt::format("there is no process {}", pid));
  return ProcessId{pid, stat->start};
}

ProcessId own_process() {
  const auto stat = read_stat(getpid());
  return ProcessId{getpid(), stat ? stat->start : 0};
}

bool alive(const ProcessId& id) {
  const auto stat = stat_of(id);
  return stat && !is_dead(stat->state);
}

bool stopped(const ProcessId& id) {
  const auto stat = stat_of(id);
  return stat && (stat->state == 'T' || stat->state == 't');
}

Result<void> signal(const ProcessId& id, int number) {
  const auto gone = [&id] {
    return fail(ErrorCode::kNotFound, fmt::format("process {} has ended; nothing was signalled", id.pid));
  };
  const auto handle = open_handle(id);
  if (!handle || !alive(id)) return gone();
  if (syscall(SYS_pidfd_send_signal, handle->get(), number, nullptr, 0U) == 0) return {};
  if (errno == ESRCH) return gone();
  return fail(ErrorCode::kIo, fmt::format("cannot signal process {}: {}", id.pid, std::strerror(errno)));
}

bool wait_gone(const ProcessId& id, Nanoseconds wait) {
  const auto handle = open_handle(id);
  if (!handle) return !alive(id);
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  pollfd watched{handle->get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(whole, 0, 1'000'000'000)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;  // not !alive(): the first thread may be gone while others still hold ports and files
}

bool wait_stopped(const ProcessId& id, Nanoseconds wait) {
  const SystemMonotonicClock clock;
  const MonotonicTime end = clock.now() + wait;
  while (!stopped(id)) {
    if (clock.now() >= end || wait_gone(id, std::chrono::milliseconds(1))) return false;
  }
  return true;
}

std::optional<Exit> reap(const ProcessId& id) {
  if (!stat_of(id)) return std::nullopt;
  int status = 0;
  if (waitpid(id.pid, &status, WNOHANG) != id.pid) return std::nullopt;
  if (WIFSIGNALED(status)) return Exit{true, WTERMSIG(status)};
  return Exit{false, WEXITSTATUS(status)};
}

Result<Exit> run(const SpawnSpec& spec, Nanoseconds wait) {
  const auto child = spawn(spec);
  if (!child) return tl::unexpected<Error>(child.error());
  const bool ended = wait_gone(*child, wait);
  if (!ended) {
    // The whole group, because a build tool has children; its number is the child's pid, which is not reaped yet.
    kill(-child->pid, SIGKILL);
    (void)wait_gone(*child, std::chrono::seconds(5));
  }
  const auto exit = reap(*child);
  if (!ended) {
    return fail(ErrorCode::kTimeout,
                fmt::format("{} did not end within {} s and was killed", spec.args[0],
                            std::chrono::duration_cast<std::chrono::seconds>(wait).count()));
  }
  if (!exit)
    return fail(ErrorCode::kInternal, fmt::format("how {} ended was told to somebody else", spec.args[0]));
  return *exit;
}

std::vector<ProcessId> find_by_argument(const std::string& argument) {
  std::vector<ProcessId> found;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator("/proc", error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc{} || end != name.data() + name.size() || pid == getpid()) continue;
    struct stat owner{};
    if (::stat(at->path().c_str(), &owner) != 0 || owner.st_uid != getuid()) continue;
    const auto id = identify(pid);
    const auto arguments = read_file(at->path() / "cmdline", kProcBytesMax);
    if (!id || !arguments) continue;
    const std::string all = std::string(1, '\0') + *arguments;
    if (all.find(std::string(1, '\0') + argument + std::string(1, '\0')) != std::string::npos)
      found.push_back(*id);
  }
  return found;
}

std::string boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", kProcBytesMax);
  if (!text) return "";
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

}  // namespace sp::sys

// Child processes and others, known by pid and start time, so that a pid that was given away again is never signalled.
//
//     spawn(spec) ─► ProcessId{pid, start}     alive · signal · wait_gone · reap      from this process
//                    └─► kept in a file ─►     alive · signal · wait_gone             from any later one
//
// A child gets a session and a group of its own (Ctrl-C of our terminal does not reach it), no descriptor of ours but
// the three standard ones, no blocked signal, and lives on when we end. Nobody is killed by a destructor.
//
// Units:   `start` is in clock ticks since boot, as /proc/<pid>/stat counts them.
// Cost:    signal and alive: two or three system calls.
// Errors:  kMissingTool a program that is not there; kIo what the system refused, kNotFound a process that is gone.
// Threads: any.   Source: proc(5), pidfd_open(2), posix_spawn(3).
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::sys {

struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start = 0;
  auto operator<=>(const ProcessId&) const = default;
};

struct SpawnSpec {
  std::vector<std::string> args;  // args[0] is the program, looked up in PATH if it has no slash
  std::map<std::string, std::string> environment;  // added to ours, replacing what has the same name
  std::filesystem::path folder;                    // working folder; empty: ours
  std::filesystem::path out;                       // appended to, made if absent; empty: /dev/null
  std::filesystem::path err;                       // as `out`; the same file is opened once
};

// How a child ended.
struct Exit {
  bool signalled = false;
  int code = 0;  // exit status, or the signal's number
  // "exit status 1", "signal 9 (Killed)".
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Result<ProcessId> spawn(const SpawnSpec& spec);

// The identity of the process that has this pid now.
[[nodiscard]] Result<ProcessId> identify(pid_t pid);
// Ours.
[[nodiscard]] ProcessId own_process();
// True while that very process runs, stopped ones included; an ended one that nobody has reaped is not alive.
[[nodiscard]] bool alive(const ProcessId& id);
// True if it is stopped (SIGSTOP).
[[nodiscard]] bool stopped(const ProcessId& id);
// Sends `number`; kNotFound if that process is gone, even if another one has its pid by now.
[[nodiscard]] Result<void> signal(const ProcessId& id, int number);
// True as soon as it has ended with all its threads (only then are its ports free), false after `wait`.
[[nodiscard]] bool wait_gone(const ProcessId& id, Nanoseconds wait);
// True as soon as it is stopped, false if it ends or after `wait`. Looks every millisecond: the system tells nobody but
// its parent.
[[nodiscard]] bool wait_stopped(const ProcessId& id, Nanoseconds wait);
// How our own child ended, told once; nullopt while it runs or if it is no child of ours. Never waits.
[[nodiscard]] std::optional<Exit> reap(const ProcessId& id);
// Runs a program to its end; past `wait` it is killed and the answer is kTimeout.
[[nodiscard]] Result<Exit> run(const SpawnSpec& spec, Nanoseconds wait);
// Processes of this user that have `argument` among their arguments, ours excluded.
[[nodiscard]] std::vector<ProcessId> find_by_argument(const std::string& argument);
// Changes with every boot of the machine: start times compare within one boot only. "" where the system does not tell.
[[nodiscard]] std::string boot_id();

}  // namespace sp::sys

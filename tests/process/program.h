// The real program as a child process, with what it said and how it ended.
//
//     Program run({"run", "--duration", "5s"});      run.says("load", 10s)   run.signal(SIGINT)
//     Outcome end = run.end(30s);                    code · out · err · took
//
// Each has a folder of its own, gone with the object: the working folder, with out and err in it. A
// program that still runs when its object goes is killed, so that no test leaves one behind.
#pragma once

#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "sys/files.h"
#include "sys/process.h"

namespace sp::process_test {

struct Outcome {
  int code = -1;  // exit code, or minus the number of the signal that ended it; -1 at first
  std::string out;
  std::string err;
  Nanoseconds took{};
};

// What a person types: "cat file | $PROGRAM check -".
struct Shell {
  std::string command;
};

class Program {
 public:
  explicit Program(std::vector<std::string> arguments,
                   std::map<std::string, std::string> environment = {})
      : folder_(sys::TemporaryFolder::make("sp-process-test").value()), begin_(clock_.now()) {
    sys::SpawnSpec spec;
    spec.args = std::move(arguments);
    spec.args.insert(spec.args.begin(), SP_PROGRAM);
    spec.environment = std::move(environment);
    spawn(std::move(spec));
  }
  explicit Program(const Shell& shell, std::map<std::string, std::string> environment = {})
      : folder_(sys::TemporaryFolder::make("sp-process-test").value()), begin_(clock_.now()) {
    sys::SpawnSpec spec;
    spec.args = {"/bin/sh", "-c", shell.command};
    spec.environment = std::move(environment);
    spec.environment.emplace("PROGRAM", SP_PROGRAM);
    spawn(std::move(spec));
  }
  ~Program() {
    if (ended_) return;
    (void)sys::signal(id_, SIGKILL);
    (void)sys::wait_gone(id_, std::chrono::seconds{10});
    (void)sys::reap(id_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::string out() const { return text_of("out.txt"); }
  [[nodiscard]] std::string err() const { return text_of("err.txt"); }
  void signal(int number) const { EXPECT_TRUE(sys::signal(id_, number).has_value()); }
  [[nodiscard]] bool running() const { return sys::alive(id_); }

  // True once `text` stands on stderr so many times; false after `wait`, or when the program ended
  // without it.
  [[nodiscard]] bool says(std::string_view text, Nanoseconds wait, std::size_t times = 1) const {
    const MonotonicTime end = clock_.now() + wait;
    bool gone = false;
    while (count(err(), text) < times) {
      if (gone || clock_.now() >= end) return false;
      gone = sys::wait_gone(id_, std::chrono::milliseconds{20});
    }
    return true;
  }
  // True once what stands on stderr holds a match of `pattern`; false as above.
  [[nodiscard]] bool says_match(const char* pattern, Nanoseconds wait) const {
    const auto matches = testing::Matches(testing::ContainsRegex(pattern));
    const MonotonicTime end = clock_.now() + wait;
    bool gone = false;
    while (!matches(err())) {
      if (gone || clock_.now() >= end) return false;
      gone = sys::wait_gone(id_, std::chrono::milliseconds{20});
    }
    return true;
  }
  Outcome end(Nanoseconds wait) {
    Outcome outcome;
    if (!sys::wait_gone(id_, wait)) {
      ADD_FAILURE() << "it still runs after " << std::chrono::duration<double>(wait).count()
                    << " s:\n"
                    << err();
      (void)sys::signal(id_, SIGKILL);
      (void)sys::wait_gone(id_, std::chrono::seconds{10});
    }
    outcome.took = clock_.now() - begin_;
    if (const auto exit = sys::reap(id_)) outcome.code = exit->signalled ? -exit->code : exit->code;
    ended_ = true;
    outcome.out = out();
    outcome.err = err();
    return outcome;
  }

 private:
  void spawn(sys::SpawnSpec spec) {
    spec.folder = folder_.path();
    spec.out = folder_.path() / "out.txt";
    spec.err = folder_.path() / "err.txt";
    auto started = sys::spawn(spec);
    EXPECT_TRUE(started.has_value()) << started.error().message;
    if (started) id_ = *started;
  }
  static std::size_t count(std::string_view all, std::string_view text) {
    std::size_t found = 0;
    for (auto at = all.find(text); at != std::string_view::npos;
         at = all.find(text, at + text.size()))
      ++found;
    return found;
  }
  [[nodiscard]] std::string text_of(const char* name) const {
    auto text = sys::read_file(folder_.path() / name, std::size_t{256} << 20U);
    return text ? std::move(*text) : std::string();
  }

  sys::TemporaryFolder folder_;
  SystemMonotonicClock clock_;
  MonotonicTime begin_;
  sys::ProcessId id_;
  bool ended_ = false;
};

inline Outcome run_program(std::vector<std::string> arguments,
                           Nanoseconds wait = std::chrono::seconds{180}) {
  return Program(std::move(arguments)).end(wait);
}

}  // namespace sp::process_test

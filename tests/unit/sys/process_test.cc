#include "sys/process.h"

#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include "sys/files.h"

namespace sp::sys {
namespace {

using std::chrono::seconds;

// A child that must not outlive its test.
class ProcessTest : public testing::Test {
 protected:
  ProcessId start(std::vector<std::string> args) {
    SpawnSpec spec;
    spec.args = std::move(args);
    const auto child = spawn(spec);
    EXPECT_TRUE(child.has_value()) << child.error().message;
    child_ = child.value_or(ProcessId{});
    return child_;
  }
  void TearDown() override {
    (void)signal(child_, SIGKILL);
    (void)wait_gone(child_, seconds(10));
    (void)reap(child_);
  }
  ProcessId child_;
};

TEST_F(ProcessTest, ChildIsAliveUntilItIsKilledAndItsEndIsToldOnce) {
  const ProcessId child = start({"sleep", "600"});
  EXPECT_TRUE(alive(child));
  EXPECT_EQ(reap(child), std::nullopt);
  ASSERT_TRUE(signal(child, SIGKILL).has_value());
  ASSERT_TRUE(wait_gone(child, seconds(10)));
  EXPECT_FALSE(alive(child)) << "dead though nobody has reaped it";
  const auto exit = reap(child);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->text(), "signal 9 (Killed)");
  EXPECT_FALSE(reap(child).has_value());
}

TEST_F(ProcessTest, SignalRefusesAPidThatBelongsToALaterProcess) {
  const ProcessId child = start({"sleep", "600"});
  const ProcessId earlier{child.pid, child.start - 1};  // had the same pid before
  EXPECT_FALSE(alive(earlier));
  const auto sent = signal(earlier, SIGKILL);
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(wait_gone(earlier, seconds(0)));
  EXPECT_FALSE(wait_gone(child, std::chrono::milliseconds(50)))
      << "the later process must not have been touched";
}

TEST_F(ProcessTest, NoProcessHasPidZeroSoNoGroupIsEverSignalled) {
  EXPECT_FALSE(signal(ProcessId{0, 0}, SIGKILL).has_value());
  EXPECT_FALSE(signal(ProcessId{-1, 0}, SIGKILL).has_value());
  EXPECT_FALSE(alive(ProcessId{}));
}

TEST_F(ProcessTest, StoppedChildIsAliveAndStoppedUntilItGoesOn) {
  const ProcessId child = start({"sleep", "600"});
  EXPECT_FALSE(stopped(child));
  ASSERT_TRUE(signal(child, SIGSTOP).has_value());
  EXPECT_TRUE(wait_stopped(child, seconds(10))) << "the kernel does it at the child's next step";
  EXPECT_TRUE(stopped(child));
  EXPECT_TRUE(alive(child));
  ASSERT_TRUE(signal(child, SIGCONT).has_value());
  while (stopped(child)) {
  }
  EXPECT_TRUE(alive(child));
}

TEST_F(ProcessTest, NobodyWaitsForTheStopOfWhatRunsOrHasEnded) {
  const ProcessId child = start({"sleep", "600"});
  EXPECT_FALSE(wait_stopped(child, std::chrono::milliseconds(20)));
  ASSERT_TRUE(signal(child, SIGKILL).has_value());
  EXPECT_FALSE(wait_stopped(child, seconds(600))) << "returns as soon as it has ended";
}

TEST_F(ProcessTest, ChildHasASessionOfItsOwn) {
  const ProcessId child = start({"sleep", "600"});
  EXPECT_EQ(getsid(child.pid), child.pid);
  EXPECT_EQ(getpgid(child.pid), child.pid);
}

TEST_F(ProcessTest, FindByArgumentWantsTheWholeArgument) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.has_value());
  const std::string mark = (folder->path() / "mark").string();
  ASSERT_TRUE(write_atomically(mark, "").has_value());
  const ProcessId child = start({"tail", "-f", mark});
  std::vector<ProcessId> found;
  while (found.empty())
    found = find_by_argument(mark);  // its arguments are to be seen a moment after its birth
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front(), child);
  EXPECT_TRUE(find_by_argument(folder->path().string()).empty());
}

TEST(ProcessRunTest, OutputEnvironmentFolderAndStatusArrive) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.has_value());
  SpawnSpec spec;
  spec.args = {"sh", "-c", "pwd -P; echo \"$SP_WORD\"; echo oops >&2; exit 7"};
  spec.environment["SP_WORD"] = "two words";
  spec.folder = folder->path();
  spec.out = folder->path() / "out";
  spec.err = folder->path() / "err";
  const auto exit = run(spec, seconds(30));
  ASSERT_TRUE(exit.has_value()) << exit.error().message;
  EXPECT_EQ(exit->text(), "exit status 7");
  EXPECT_EQ(read_file(spec.out, 4096).value(),
            std::filesystem::canonical(folder->path()).string() + "\ntwo words\n");
  EXPECT_EQ(read_file(spec.err, 4096).value(), "oops\n");
}

TEST(ProcessRunTest, OutputIsAppendedSoARestartKeepsTheOldLog) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.has_value());
  SpawnSpec spec;
  spec.args = {"sh", "-c", "echo out; echo err >&2"};
  spec.out = folder->path() / "log";
  spec.err = spec.out;
  ASSERT_TRUE(run(spec, seconds(30)).has_value());
  ASSERT_TRUE(run(spec, seconds(30)).has_value());
  EXPECT_EQ(read_file(spec.out, 4096).value(), "out\nerr\nout\nerr\n");
}

TEST(ProcessRunTest, MissingProgramIsToldByName) {
  SpawnSpec spec;
  spec.args = {"no-such-program-here"};
  const auto child = spawn(spec);
  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().code, ErrorCode::kMissingTool);
  EXPECT_EQ(child.error().message, "cannot start no-such-program-here: No such file or directory");
}

TEST(ProcessRunTest, MissingFolderIsNotTakenForAMissingProgram) {
  SpawnSpec spec;
  spec.args = {"true"};
  spec.folder = "/no/such/folder";
  const auto child = spawn(spec);
  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().message, "cannot start true: no folder /no/such/folder");
}

TEST(ProcessRunTest, ProgramThatDoesNotEndIsKilledAndToldAsTimeout) {
  SpawnSpec spec;
  spec.args = {"sleep", "600"};
  const auto exit = run(spec, std::chrono::milliseconds(20));
  ASSERT_FALSE(exit.has_value());
  EXPECT_EQ(exit.error().code, ErrorCode::kTimeout);
}

TEST(ProcessRunTest, BlockedSignalsAreNotHandedDown) {
  sigset_t blocked;
  sigset_t former;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &blocked, &former), 0);
  SpawnSpec spec;
  spec.args = {"sh", "-c", "kill -TERM $$; exit 3"};
  const auto exit = run(spec, seconds(30));
  ASSERT_EQ(sigprocmask(SIG_SETMASK, &former, nullptr), 0);
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->text(), "signal 15 (Terminated)");
}

TEST(ProcessIdentityTest, WeKnowOurselvesAndTheBoot) {
  const auto self = identify(getpid());
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(alive(*self));
  EXPECT_GT(self->start, 0U);
  EXPECT_EQ(own_process(), *self);
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace sp::sys

// Bad days of a run, from outside: the right message, the right verdict, nothing lost of what was
// gathered.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "process/program.h"
#include "process/result.h"
#include "support/tiny_disk.h"
#include "sys/net.h"

namespace sp::process_test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using support::TinyDisk;
using testing::StartsWith;
using namespace std::chrono_literals;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(BadDayTest, ABrokerThatIsDownAtTheStartIsNamedInBoundedTime) {
  const auto port = sys::free_ports(1).value().front();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  Program program({"run", "--bootstrap", address, "--duration", "5s", "--out", "r"});
  const auto outcome = program.end(60s);
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("COULD NOT RUN"));
  EXPECT_THAT(outcome.out, HasSubstr(address));
  EXPECT_THAT(outcome.out, HasSubstr("refused"));
  EXPECT_LT(outcome.took, 45s);
  EXPECT_THAT(outcome.err, HasSubstr("on " + address + " this creates topic sp-"))
      << "what it would do there is told before it does it";
  const auto kept = sys::read_file(program.folder() / "r" / "result.json", 1U << 20U);
  ASSERT_TRUE(kept.has_value());
  EXPECT_THAT(*kept, HasSubstr("\"verdict\": null"));
}

// Whoever shares a cluster must be told before anything is done to it.
TEST(BadDayTest, WhatBecomesOfATopicThatMayBeThereIsToldAsItIs) {
  const auto port = sys::free_ports(1).value().front();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  const auto told = [&](const std::string& policy) {
    Program program({"run", "--bootstrap", address, "--topic", "orders", "--topic-exists", policy,
                     "--partitions", "3", "--out", "r"});
    EXPECT_TRUE(program.says("and creates consumer group r", 60s)) << program.err();
    return program.err();
  };
  const auto reused = told("reuse");
  EXPECT_THAT(reused, HasSubstr("on " + address +
                                " this uses topic orders as it is, or creates it if it is not there "
                                "(3 partitions, replication 1); it stays there and creates"));
  EXPECT_THAT(reused, Not(HasSubstr("this creates topic")));
  EXPECT_THAT(told("recreate"),
              HasSubstr("on " + address +
                        " this deletes topic orders with all its records if it is there, creates it "
                        "anew (3 partitions, replication 1; deleted after a pass) and creates"));
}

TEST(BadDayTest, CtrlCOnceRunsTheWholeEndAndSaysStopped) {
  Program program({"run", "--duration", "600s", "--msg-rate", "500", "--out", "r"});
  ASSERT_TRUE(program.says(" acknowledged", 60s)) << program.err();
  program.signal(SIGINT);
  const auto outcome = program.end(60s);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("STOPPED"));
  EXPECT_THAT(outcome.err, HasSubstr("stopping in order; Ctrl-C again ends at once"));
  const auto result = ResultJson::in(program.folder() / "r");
  EXPECT_EQ(result.text("/verdict"), "stopped");
  EXPECT_THAT(result.stages(),
              ElementsAre("prepare", "assign", "load", "stop-producers", "final-wait",
                          "stop-consumers", "raw-read", "judge", "clean-up"));
  EXPECT_GT(result.number("/coverage/acked"), 0U);
  EXPECT_EQ(result.number("/coverage/received"), result.number("/coverage/acked"));
}

TEST(BadDayTest, CtrlCTwiceEndsAtOnceWithWhatIsThere) {
  // Consumers that take their time would make the orderly end last half a minute.
  Program program(
      {"run", "--duration", "600s", "--msg-rate", "500", "--consume-delay", "25s", "--out", "r"});
  ASSERT_TRUE(program.says(" acknowledged", 60s)) << program.err();
  program.signal(SIGINT);
  ASSERT_TRUE(program.says("stopping in order", 10s)) << program.err();
  ASSERT_TRUE(program.says("final wait", 20s)) << program.err();
  const SystemMonotonicClock clock;
  const MonotonicTime second = clock.now();
  program.signal(SIGINT);
  const auto outcome = program.end(60s);
  EXPECT_LT(clock.now() - second, 5s);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  const auto result = ResultJson::in(program.folder() / "r");
  EXPECT_THAT(result.text("/verdict"), AnyOf("stopped", "inconclusive"));
  EXPECT_GT(result.number("/coverage/acked"), 0U) << "what was gathered is there";
  EXPECT_EQ(result.count("lost"), 0U) << "what is outstanding is not judged";
  EXPECT_THAT(outcome.out, HasSubstr("stopped manually"));
}

TEST(BadDayTest, APoliteKillIsLikeCtrlC) {
  Program program({"run", "--duration", "600s", "--msg-rate", "500", "--out", "r"});
  ASSERT_TRUE(program.says("load ", 60s)) << program.err();
  program.signal(SIGTERM);
  const auto outcome = program.end(60s);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(ResultJson::in(program.folder() / "r").text("/verdict"),
              AnyOf("stopped", "inconclusive"));
}

TEST(BadDayTest, NothingEverAcknowledgedIsInconclusive) {
  // The first record freezes the broker for longer than a producer waits for its outcome.
  const auto outcome =
      run_program({"run", "--duration", "1s", "--msg-rate", "1", "--producers", "1", "--defect",
                   "freeze:count=1,for=14s", "--final-wait-seconds", "1", "--out", "r"});
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("INCONCLUSIVE"));
  EXPECT_THAT(first_line(outcome.out), HasSubstr("acknowledged"));
}

TEST(BadDayTest, ADiskThatIsFullLeavesTheWholeReportOnStdoutAndNoHalfFile) {
  const TinyDisk disk;
  if (!disk.problem().empty())
    GTEST_SKIP() << "needs root to mount a file system of 1 MB: " << disk.problem();
  disk.fill(16'384);  // room for the proof, not for the result
  const auto out = disk.path() / "r";
  const auto outcome =
      run_program({"run", "--duration", "3s", "--msg-rate", "500", "--defect", "lose:count=300",
                   "--final-wait-seconds", "1", "--out", out.string()});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("FAILED"));
  // As many of the 300 as the load had time for.
  EXPECT_THAT(outcome.out, HasSubstr("Findings\n  lost ")) << "nothing that was gathered is lost";
  EXPECT_THAT(outcome.err, HasSubstr("the results could not be kept: "));
  EXPECT_THAT(outcome.err, HasSubstr(out.string()));
  EXPECT_THAT(outcome.err, HasSubstr("No space left"));
  EXPECT_THAT(outcome.err, HasSubstr("this verdict stands"));
  EXPECT_TRUE(std::filesystem::exists(out / "proof.yaml"));
  EXPECT_FALSE(std::filesystem::exists(out / "result.json"));
  for (const auto& entry : std::filesystem::directory_iterator(out))
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr(".tmp"))) << "no half file stays";
}

TEST(BadDayTest, ADiskThatIsFullFromTheStartStillGivesTheVerdict) {
  const TinyDisk disk;
  if (!disk.problem().empty())
    GTEST_SKIP() << "needs root to mount a file system of 1 MB: " << disk.problem();
  disk.fill(0);
  const auto outcome = run_program(
      {"run", "--duration", "1s", "--msg-rate", "200", "--out", (disk.path() / "r").string()});
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("PASSED"));
  EXPECT_THAT(outcome.err, HasSubstr("warning: "));
  EXPECT_THAT(outcome.err, HasSubstr("the report will be on stdout only"));
}

}  // namespace
}  // namespace sp::process_test

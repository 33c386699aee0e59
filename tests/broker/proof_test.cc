// Proofs of a real Kafka cluster that is broken meanwhile, by the real program. Every number that
// can be counted without our own code is counted a second time with Kafka's console consumer.
#include <algorithm>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/console.h"
#include "broker/local.h"
#include "process/program.h"
#include "process/result.h"

namespace sp::broker_test {
namespace {

using process_test::Outcome;
using process_test::Program;
using process_test::ResultJson;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kReceived = "[1-9][0-9,]* received";

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What every run here is told, besides where.
std::vector<std::string> run_command(const std::filesystem::path& out, int replication,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> all = {"run",         "--keys",      "1000", "--partitions",
                                  "12",          "--producers", "4",    "--consumers",
                                  "4",           "--out",       out,    "--replication",
                                  std::to_string(replication), "--history", out / "history"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Judged again from its files, the run gets the same judgement.
void expect_same_from_its_history(const std::filesystem::path& run) {
  const auto offline = process_test::run_program({"check", run / "history", "--json"});
  EXPECT_EQ(ResultJson::of(offline.out).judged(), ResultJson::in(run).judged()) << offline.err;
}

// Every fault has begun, was seen to work, and is over.
void expect_kills(const ResultJson& result, std::size_t least) {
  std::size_t kills = 0;
  for (const auto fault : result.list("/coverage/faults")) {
    ++kills;
    EXPECT_EQ(std::string_view(fault["name"]), "kill-leader");
    EXPECT_THAT(std::string(std::string_view(fault["seen"])),
                HasSubstr("leader of partition 0 moved from "));
    EXPECT_TRUE(bool(fault["effect"]));
  }
  EXPECT_GE(kills, least);
}

TEST(KafkaProofTest, KilledLeadersOfASafeClusterLoseAndReorderNothing) {
  const RunFolderGuard folder;
  const auto outcome =
      Program(run_command(folder.run(), 3,
                          {"--cluster", "kafka", "--nodes", "3", "--msg-rate", "3000", "--duration",
                           "34s", "--features", "at_least_once,ordering", "--chaos",
                           "kill-leader:at=4s,every=14s,down=5s", "-X", "acks=all"}))
          .end(200s);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto result = ResultJson::in(folder.run());
  EXPECT_EQ(result.text("/verdict"), "passed");
  expect_kills(result, 2);
  EXPECT_EQ(result.count("lost"), 0U);
  EXPECT_EQ(result.count("reordered-write"), 0U);
  EXPECT_EQ(result.count("reordered-delivery"), 0U);
  EXPECT_EQ(result.count("duplicate-write"), 0U) << "an idempotent producer writes once";
  EXPECT_EQ(result.count("duplicate-delivery"), result.allowed("duplicate-delivery"))
      << "each one is explained";
  EXPECT_EQ(result.number("/coverage/attempts"), result.number("/coverage/acked") +
                                                     result.number("/coverage/failed") +
                                                     result.number("/coverage/unknown"));
  EXPECT_GT(result.number("/coverage/acked"), 3000U * 34U * 8U / 10U);
  EXPECT_LT(lines(outcome.err), 150U) << "clients that cannot connect do not flood\n"
                                      << outcome.err;
  expect_same_from_its_history(folder.run());
  const auto nodes = folder.cluster().value().status().value();
  for (const auto& node : nodes) EXPECT_FALSE(node.running) << "the cluster was for this run alone";
}

// A run by the program on one node of its own that is killed for good in the load. It ends by
// itself, mostly by waiting: other tests need not wait for it.
class DesertedRun {
 public:
  DesertedRun()
      : program_(run_command(folder_.run(), 1,
                             {"--cluster", "kafka", "--nodes", "1", "--msg-rate", "1000",
                              "--duration", "8s", "--features", "at_least_once,ordering",
                              "--final-wait-seconds", "3", "--timeout", "600s"})) {
    EXPECT_TRUE(program_.says_match(kReceived, 90s)) << program_.err();
    auto cluster = folder_.cluster();
    EXPECT_TRUE(cluster.has_value() && cluster->kill(1).has_value());
  }
  Outcome end() { return program_.end(200s); }
  [[nodiscard]] ResultJson result() const { return ResultJson::in(folder()); }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.run(); }

 private:
  RunFolderGuard folder_;
  Program program_;
};

// Three nodes for all tests of the suite; what a test breaks it mends.
class BrokenClusterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_.emplace();
    const auto up = shared_->up();
    ASSERT_TRUE(up.has_value()) << up.error().message;
    deserted_.emplace();
  }
  static void TearDownTestSuite() {
    deserted_.reset();
    shared_.reset();
  }
  BrokenClusterTest() : folder_(sys::TemporaryFolder::make("sp-broken-test").value()) {}

  [[nodiscard]] std::filesystem::path run_folder() const { return folder_.path() / "r"; }
  [[nodiscard]] std::vector<std::string> command(const std::string& topic,
                                                 std::vector<std::string> more) const {
    more.insert(more.end(), {"--bootstrap", shared_->cluster().bootstrap(), "--topic", topic,
                             "--keep-topic"});
    return run_command(run_folder(), 3, more);
  }
  [[nodiscard]] ResultJson result() const { return ResultJson::in(run_folder()); }
  // What the console consumer finds there once every replica is back in sync.
  static LogCounts second_opinion(const std::string& topic, std::size_t payload_bytes) {
    EXPECT_TRUE(shared_->whole(topic));
    auto log = read_log(shared_->cluster().bootstrap(), topic, payload_bytes);
    EXPECT_TRUE(log.has_value()) << (log ? "" : log.error().message);
    return log ? count(std::move(*log)) : LogCounts{};
  }

  static inline std::optional<SharedCluster> shared_;
  static inline std::optional<DesertedRun> deserted_;
  sys::TemporaryFolder folder_;
};

// Requests that frozen followers hold up are sent again by a client that is not idempotent, and what
// stands in the log already is stored a second time, or out of order. How often is for the cluster to
// say; that we count it to the last one is for the console consumer to confirm.
TEST_F(BrokenClusterTest, WhatAnUnsafeClientWritesTwiceOrOutOfOrderIsCountedExactlyAndFailsIfNotAllowed) {
  Program program(command("unsafe", {"--msg-rate", "2000", "--message-size", "8", "--duration", "18s",
                                     "--features", "at_least_once,ordering", "-X", "acks=all", "-X",
                                     "enable.idempotence=false", "-X", "request.timeout.ms=1000",
                                     "--raw-read", "full"}));
  ASSERT_TRUE(program.says_match(kReceived, 90s)) << program.err();
  auto& cluster = shared_->cluster();
  const auto leader = shared_->leader("unsafe");
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    EXPECT_TRUE(node == leader || cluster.freeze(node).has_value());
  }
  ASSERT_TRUE(program.says_match("load (9|1[0-9]) s", 30s)) << program.err();
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    EXPECT_TRUE(node == leader || cluster.thaw(node).has_value());
  }
  const auto outcome = program.end(200s);
  const auto result = this->result();
  const auto counts = second_opinion("unsafe", 8);
  EXPECT_GT(counts.records, 10'000U);
  EXPECT_GT(counts.duplicate_write, 0U);
  EXPECT_EQ(result.count("duplicate-write"), counts.duplicate_write);
  EXPECT_EQ(result.count("reordered-write"), counts.reordered_write);
  EXPECT_EQ(result.number("/coverage/acked") + result.number("/coverage/landed"),
            counts.present.size() + result.count("lost"));
  const bool broken = result.count("lost") > 0 ||
                      result.count("reordered-write") > result.allowed("reordered-write");
  EXPECT_EQ(result.text("/verdict"), broken ? "failed" : "passed") << outcome.out;
  EXPECT_EQ(outcome.code, broken ? 1 : 0) << outcome.out << outcome.err;
  expect_same_from_its_history(run_folder());
  std::printf("  %llu records, %llu written twice, %llu out of order\n",
              static_cast<unsigned long long>(counts.records),
              static_cast<unsigned long long>(counts.duplicate_write),
              static_cast<unsigned long long>(counts.reordered_write));
}

// With acks=1 the leader acknowledges alone what frozen followers do not have.
TEST_F(BrokenClusterTest, AcknowledgedRecordsThatAKilledLeaderTookAlongAreNamedAndTrulyGone) {
  Program program(command("taken", {"--msg-rate", "2000", "--features", "at_least_once,ordering",
                                    "--duration", "24s", "--final-wait-seconds", "3", "-X", "acks=1",
                                    "-X", "enable.idempotence=false"}));
  ASSERT_TRUE(program.says_match(kReceived, 90s)) << program.err();
  auto& cluster = shared_->cluster();
  const auto leader = shared_->leader("taken");
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    EXPECT_TRUE(node == leader || cluster.freeze(node).has_value());
  }
  ASSERT_TRUE(program.says_match("load (9|1[0-9]) s", 30s)) << "some seconds alone\n" << program.err();
  EXPECT_TRUE(cluster.kill(leader).has_value());
  for (const std::uint32_t node : {1U, 2U, 3U}) {
    EXPECT_TRUE(node == leader || cluster.thaw(node).has_value());
  }
  EXPECT_TRUE(shared_->moved_from(leader, "taken"));
  ASSERT_TRUE(cluster.restart(leader).has_value());
  const auto outcome = program.end(200s);
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("FAILED"));
  const auto result = this->result();
  EXPECT_EQ(result.text("/verdict"), "failed");
  EXPECT_GT(result.count("lost"), 0U);
  const auto lost = result.named("lost");
  EXPECT_EQ(lost.size(), result.count("lost")) << "each is named";
  for (const auto finding : result.list("/findings")) {
    if (std::string_view(finding["code"]) == "lost") {
      EXPECT_EQ(std::string_view(finding["blame"]), "log");
    }
  }
  const auto counts = second_opinion("taken", 100);
  EXPECT_GT(counts.records, 20'000U);
  std::size_t there = 0;
  for (const auto& record : lost) there += counts.present.count(record);
  EXPECT_EQ(there, 0U) << "Kafka's own consumer finds none of the " << lost.size()
                       << " records that are named lost";
  EXPECT_EQ(
      result.number("/coverage/acked") + result.number("/coverage/landed") - result.count("lost"),
      counts.present.size());
  expect_same_from_its_history(run_folder());
}

TEST_F(BrokenClusterTest, BrokersThatAreKilledForGoodAreNeverAPassAndWhatWasGatheredStays) {
  const auto outcome = deserted_->end();
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  const auto result = deserted_->result();
  EXPECT_EQ(result.text("/verdict"), "inconclusive");
  EXPECT_GT(result.number("/coverage/acked"), 0U);
  EXPECT_GT(result.number("/coverage/received"), 0U);
  EXPECT_THAT(outcome.err, HasSubstr("refused"));
  EXPECT_LT(lines(outcome.err), 150U) << outcome.err;
  EXPECT_EQ(result.count("lost"), 0U) << "nobody could look, and nothing is overdue: nothing is called lost";
  expect_same_from_its_history(deserted_->folder());
  // Of the client's own accord a commit would be waited for as long as a session lasts, 45 s.
  EXPECT_LT(result.stage("stop-producers"), 25s);
  EXPECT_LT(result.stage("stop-consumers"), 25s);
}

}  // namespace
}  // namespace sp::broker_test

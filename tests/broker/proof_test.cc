// Proofs of a real Kafka cluster that is broken meanwhile, by the real program. Every number that
// can be counted without our own code is counted a second time with Kafka's console consumer.
#include <algorithm>

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
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class KafkaProofTest : public testing::Test {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"run",
                                    "--cluster",
                                    "kafka",
                                    "--nodes",
                                    "3",
                                    "--replication",
                                    "3",
                                    "--keys",
                                    "1000",
                                    "--partitions",
                                    "12",
                                    "--producers",
                                    "4",
                                    "--consumers",
                                    "4",
                                    "--out",
                                    folder_.run().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome run(const std::vector<std::string>& more) { return Program(command(more)).end(200s); }
  ResultJson result() const { return ResultJson::in(folder_.run()); }
  // What the console consumer finds in the topic of the run.
  LogCounts second_opinion(std::size_t payload_bytes) const {
    const std::string topic = result().text("/topic");
    const auto bootstrap = folder_.bring_back(topic);
    EXPECT_TRUE(bootstrap.has_value()) << (bootstrap ? "" : bootstrap.error().message);
    if (!bootstrap) return {};
    auto log = read_log(*bootstrap, topic, payload_bytes);
    EXPECT_TRUE(log.has_value()) << (log ? "" : log.error().message);
    return log ? count(std::move(*log)) : LogCounts{};
  }
  // Every fault has begun, was seen to work, and is over.
  static void expect_kills(const ResultJson& result, std::size_t least) {
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

  RunFolderGuard folder_;
};

TEST_F(KafkaProofTest, KilledLeadersOfASafeClusterLoseAndReorderNothing) {
  const auto outcome =
      run({"--msg-rate", "3000", "--duration", "60s", "--features", "at_least_once,ordering",
           "--chaos", "kill-leader:every=20s,down=6s", "-X", "acks=all"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto result = this->result();
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
  EXPECT_GT(result.number("/coverage/acked"), 3000U * 60U * 8U / 10U);
  EXPECT_LT(lines(outcome.err), 150U) << "clients that cannot connect do not flood\n"
                                      << outcome.err;
  const auto nodes = folder_.cluster().value().status().value();
  for (const auto& node : nodes) EXPECT_FALSE(node.running) << "the cluster was for this run alone";
}

// Retries of a client that is not idempotent write twice and out of order. How often is for the
// cluster to say; that we count it to the last one is for the console consumer to confirm.
class UnsafeClientTest : public KafkaProofTest {
 protected:
  ResultJson run_and_count(const std::string& features, LogCounts& counts, Outcome& outcome) {
    outcome = run({"--msg-rate", "2000", "--message-size", "8", "--duration", "26s", "--features",
                   features, "--chaos", "kill-leader:at=6s,down=8s", "-X", "acks=all", "-X",
                   "enable.idempotence=false", "--raw-read", "full", "--keep-topic"});
    auto result = this->result();
    counts = second_opinion(8);
    return result;
  }
};

TEST_F(UnsafeClientTest, WhatItWritesTwiceOrOutOfOrderIsCountedExactly) {
  LogCounts counts;
  Outcome outcome;
  const auto result = run_and_count("at_least_once", counts, outcome);
  EXPECT_EQ(outcome.code, result.count("lost") == 0 ? 0 : 1) << outcome.out << outcome.err;
  EXPECT_THAT(result.text("/verdict"), result.count("lost") == 0 ? "passed" : "failed");
  EXPECT_GT(counts.records, 30'000U);
  EXPECT_EQ(result.count("duplicate-write"), counts.duplicate_write);
  EXPECT_EQ(result.count("reordered-write"), counts.reordered_write);
  EXPECT_EQ(result.number("/coverage/acked") + result.number("/coverage/landed"),
            counts.present.size() + result.count("lost"));
  std::printf("  %llu records, %llu written twice, %llu out of order\n",
              static_cast<unsigned long long>(counts.records),
              static_cast<unsigned long long>(counts.duplicate_write),
              static_cast<unsigned long long>(counts.reordered_write));
}

TEST_F(UnsafeClientTest, OrderingFailsExactlyWhenSomethingOutOfOrderIsNotAllowed) {
  LogCounts counts;
  Outcome outcome;
  const auto result = run_and_count("at_least_once,ordering", counts, outcome);
  EXPECT_EQ(result.count("reordered-write"), counts.reordered_write);
  EXPECT_EQ(result.count("duplicate-write"), counts.duplicate_write);
  const bool broken = result.count("lost") > 0 ||
                      result.count("reordered-write") > result.allowed("reordered-write");
  EXPECT_EQ(result.text("/verdict"), broken ? "failed" : "passed") << outcome.out;
  EXPECT_EQ(outcome.code, broken ? 1 : 0);
}

TEST_F(KafkaProofTest, AcknowledgedRecordsThatAKilledLeaderTookAlongAreNamedAndTrulyGone) {
  const auto outcome =
      run({"--msg-rate", "5000", "--features", "at_least_once,ordering", "--duration", "30s", "-X",
           "acks=1", "-X", "enable.idempotence=false", "--chaos", "freeze-followers:at=5s,for=3s",
           "--chaos", "kill-leader:at=6s,down=10s"});
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
  const auto counts = second_opinion(100);
  EXPECT_GT(counts.records, 50'000U);
  std::size_t there = 0;
  for (const auto& record : lost) there += counts.present.count(record);
  EXPECT_EQ(there, 0U) << "Kafka's own consumer finds none of the " << lost.size()
                       << " records that are named lost";
  EXPECT_EQ(
      result.number("/coverage/acked") + result.number("/coverage/landed") - result.count("lost"),
      counts.present.size());
}

TEST_F(KafkaProofTest, BrokersThatAreAllKilledForGoodAreNeverAPassAndWhatWasGatheredStays) {
  Program program(
      command({"--msg-rate", "1000", "--duration", "14s", "--features", "at_least_once,ordering",
               "--final-wait-seconds", "3", "--timeout", "600s", "-X", "session.timeout.ms=6000"}));
  ASSERT_TRUE(program.says(" received", 90s, 2)) << program.err();
  auto cluster = folder_.cluster();
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  for (const std::uint32_t node : {1U, 2U, 3U}) EXPECT_TRUE(cluster->kill(node).has_value());
  const SystemMonotonicClock clock;
  const MonotonicTime killed = clock.now();
  const auto outcome = program.end(200s);
  EXPECT_LT(clock.now() - killed, 150s);
  EXPECT_THAT(outcome.code, AnyOf(1, 2)) << outcome.out << outcome.err;
  const auto result = this->result();
  EXPECT_THAT(result.text("/verdict"), AnyOf("failed", "inconclusive"));
  EXPECT_GT(result.number("/coverage/acked"), 0U);
  EXPECT_GT(result.number("/coverage/received"), 0U);
  EXPECT_THAT(outcome.err, HasSubstr("refused"));
  EXPECT_LT(lines(outcome.err), 150U) << outcome.err;
  EXPECT_EQ(result.count("lost"), 0U) << "nobody could look, and nothing is overdue: nothing is called lost";
}

}  // namespace
}  // namespace sp::broker_test

// The commands of `cluster` from other processes, and runs against a cluster that is already there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "driver/kafka/kafka.h"
#include "process/program.h"
#include "process/result.h"
#include "scenario/cluster/cluster.h"
#include "sys/paths.h"

namespace sp::broker_test {
namespace {

using process_test::Outcome;
using process_test::Program;
using process_test::ResultJson;
using process_test::run_program;
using scenario::cluster::KafkaCluster;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

// A named cluster of this test alone; ended and removed with the object, whatever happened to it.
class NamedCluster {
 public:
  explicit NamedCluster(const std::string& kind)
      : name_("sp-test-" + kind + "-" + std::to_string(getpid())) {}
  ~NamedCluster() {
    EXPECT_EQ(call({"down"}).code, 0);
    for (const std::uint32_t node : {1U, 2U, 3U})
      EXPECT_TRUE(processes_of(node).empty()) << "server " << node << " is left behind";
    EXPECT_TRUE(sys::remove_tree(folder()).has_value());
  }
  NamedCluster(const NamedCluster&) = delete;
  NamedCluster& operator=(const NamedCluster&) = delete;

  [[nodiscard]] Outcome call(std::vector<std::string> arguments) const {
    return run_program(command(std::move(arguments)), 120s);
  }
  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "cluster");
    arguments.insert(arguments.end(), {"--name", name_});
    return arguments;
  }
  [[nodiscard]] std::filesystem::path folder() const {
    return scenario::cluster::named_cluster_folder(sys::cache_folder().value(), name_).value();
  }
  [[nodiscard]] std::vector<sys::ProcessId> processes_of(std::uint32_t node) const {
    return sys::find_by_argument(
        (folder() / ("node-" + std::to_string(node)) / "server.properties").string());
  }
  [[nodiscard]] ResultJson status() const { return ResultJson::of(call({"status", "--json"}).out); }
  [[nodiscard]] std::string state(std::uint64_t node) const {
    return status().text("/nodes/" + std::to_string(node - 1) + "/state");
  }

 private:
  std::string name_;
};

std::unique_ptr<driver::Driver> client(const std::string& bootstrap, SystemMonotonicClock& clock) {
  auto opened = driver::kafka::open({{"bootstrap.servers", bootstrap}}, clock);
  EXPECT_TRUE(opened.has_value());
  return std::move(*opened);
}

TEST(ClusterCommandTest, AnotherProcessControlsEveryNode) {
  const NamedCluster cluster("control");
  const SystemMonotonicClock clock;
  const MonotonicTime begin = clock.now();
  const auto up = cluster.call({"up", "--nodes", "3"});
  ASSERT_EQ(up.code, 0) << up.err;
  EXPECT_LT(clock.now() - begin, 60s);
  EXPECT_THAT(up.out, HasSubstr("Try: streaming-proof run --bootstrap 127.0.0.1:"));
  const std::string bootstrap = cluster.status().text("/bootstrap");
  SystemMonotonicClock driver_clock;
  const auto driver = client(bootstrap, driver_clock);
  driver::TopicSpec topic;
  topic.name = "orders";
  topic.partitions = 2;
  topic.replication = 3;
  ASSERT_TRUE(driver->create_topic(topic).has_value());

  EXPECT_THAT(cluster.call({"leader"}).err, HasSubstr("leader of which topic? Add --topic NAME"));
  EXPECT_EQ(cluster.call({"leader", "--topic", "nosuch"}).code, 3);
  const auto leader = cluster.call({"leader", "--topic", "orders", "--partition", "1"});
  ASSERT_EQ(leader.code, 0) << leader.err;
  const auto node = static_cast<std::uint32_t>(std::stoul(leader.out));
  EXPECT_EQ(driver->cluster_state("orders")->partitions[1].leader, static_cast<std::int32_t>(node));

  const auto killed = cluster.call({"kill", "leader", "--topic", "orders", "--partition", "1"});
  EXPECT_EQ(killed.out, "node " + std::to_string(node) + " killed\n") << killed.err;
  EXPECT_EQ(cluster.state(node), "down");
  for (const MonotonicTime end = clock.now() + 30s; clock.now() < end;) {
    const auto state = driver->cluster_state("orders");
    if (state && state->partitions[1].leader &&
        *state->partitions[1].leader != static_cast<std::int32_t>(node))
      break;
  }
  EXPECT_NE(driver->cluster_state("orders")->partitions[1].leader, static_cast<std::int32_t>(node));
  EXPECT_THAT(cluster.call({"kill", std::to_string(node)}).err,
              HasSubstr("node " + std::to_string(node)))
      << "it does not run";
  EXPECT_EQ(cluster.call({"restart", std::to_string(node)}).code, 0);
  EXPECT_EQ(cluster.state(node), "running");

  const std::uint32_t other = node % 3 + 1;
  EXPECT_EQ(cluster.call({"freeze", std::to_string(other)}).code, 0);
  EXPECT_EQ(cluster.state(other), "frozen");
  EXPECT_EQ(cluster.call({"thaw", std::to_string(other)}).code, 0);
  EXPECT_EQ(cluster.state(other), "running");
  const auto none = cluster.call({"kill", "4"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("node '4': 1 to 3, or leader with --topic NAME"));

  const auto second = cluster.call({"up", "--nodes", "3"});
  EXPECT_EQ(second.code, 3) << "it runs already";
  EXPECT_EQ(cluster.call({"down"}).code, 0);
  for (const std::uint64_t each : {1U, 2U, 3U}) EXPECT_EQ(cluster.state(each), "down");
  EXPECT_EQ(cluster.call({"down"}).code, 0) << "twice is fine";
}

TEST(ClusterCommandTest, DownEndsWhatACrashedUpLeftBehind) {
  const NamedCluster cluster("crash");
  {
    Program up(cluster.command({"up", "--nodes", "3"}));
    const SystemMonotonicClock clock;
    for (const MonotonicTime end = clock.now() + 60s; clock.now() < end && up.running();) {
      if (!cluster.processes_of(2).empty()) break;
    }
    ASSERT_FALSE(cluster.processes_of(2).empty()) << up.err();
    up.signal(SIGKILL);
    EXPECT_EQ(up.end(10s).code, -SIGKILL);
  }
  EXPECT_FALSE(cluster.processes_of(1).empty()) << "servers outlive who started them";
  const auto down = cluster.call({"down"});
  EXPECT_EQ(down.code, 0) << down.err;
  for (const std::uint32_t node : {1U, 2U, 3U})
    EXPECT_TRUE(cluster.processes_of(node).empty()) << node;
}

TEST(ClusterCommandTest, WhatIsNotThereIsToldWithTheRemedy) {
  const auto status = run_program({"cluster", "status", "--name", "sp-test-nothing-there"});
  EXPECT_EQ(status.code, 3);
  EXPECT_THAT(status.err, HasSubstr("streaming-proof cluster up --name sp-test-nothing-there"));
  const auto bad = run_program({"cluster", "status", "--name", "../x"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, HasSubstr("../x"));
}

// One server for several runs.
class ClusterThatIsThereTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_.emplace("there");
    const auto up = cluster_->call({"up", "--nodes", "1"});
    ASSERT_EQ(up.code, 0) << up.err;
    bootstrap_ = cluster_->status().text("/bootstrap");
  }
  static void TearDownTestSuite() { cluster_.reset(); }
  static std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"run", "--bootstrap", bootstrap_, "--duration",
                                    "1s",  "--msg-rate",  "300",      "--keys",
                                    "40",  "--out",       "r"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static inline std::optional<NamedCluster> cluster_;
  static inline std::string bootstrap_;
};

// A topic of the run's own is deleted after a pass and kept on request; another run's and other
// programs' records are no findings.
TEST_F(ClusterThatIsThereTest, ATopicIsReusedWithEverythingThatStandsThere) {
  SystemMonotonicClock clock;
  const auto driver = client(bootstrap_, clock);
  Program first(command({"--topic", "orders", "--partitions", "2", "--keep-topic"}));
  const auto before = first.end(120s);
  ASSERT_EQ(before.code, 0) << before.out << before.err;
  EXPECT_THAT(before.err,
              HasSubstr("on " + bootstrap_ +
                        " this creates topic orders (2 partitions, replication 1; it stays "
                        "there) and creates consumer group "));
  const std::uint64_t stored = ResultJson::in(first.folder() / "r").number("/coverage/acked");
  ASSERT_TRUE(driver->describe_topic("orders").has_value());

  driver::ProducerSpec spec;
  spec.topic = "orders";
  spec.name = "another program";
  auto producer = driver->open_producer(spec);
  ASSERT_TRUE(producer.has_value());
  class DeafSink final : public core::ObservationSink {
    void observe(const core::Observation& /*observation*/) override {}
  } sink;
  const std::vector<std::byte> text(30, std::byte{'x'});
  core::Envelope envelope;
  envelope.key = "order-17";
  envelope.payload = text;
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ((*producer)->send(envelope, core::KeyRef{}), driver::SendStatus::kAccepted);
  (*producer)->close(20s, sink);

  const auto refused = run_program(command({"--topic", "orders", "--partitions", "2"}));
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr("--topic-exists reuse"));
  const auto fewer =
      run_program(command({"--topic", "orders", "--partitions", "6", "--topic-exists", "reuse"}));
  EXPECT_EQ(fewer.code, 3);
  EXPECT_THAT(fewer.out,
              HasSubstr("it has 2 partitions, but 6 were asked for; run with --partitions 2"));

  Program again(command({"--topic", "orders", "--partitions", "2", "--topic-exists", "reuse"}));
  const auto after = again.end(120s);
  EXPECT_EQ(after.code, 0) << after.out << after.err;
  const auto result = ResultJson::in(again.folder() / "r");
  EXPECT_EQ(result.number("/coverage/foreign"), stored + 5);
  EXPECT_EQ(result.count("phantom"), 0U);
  EXPECT_EQ(result.count("corrupt"), 0U);
  EXPECT_TRUE(driver->describe_topic("orders").has_value()) << "it was there before the run";

  Program own(command({}));
  ASSERT_EQ(own.end(120s).code, 0);
  const auto its_own = ResultJson::in(own.folder() / "r");
  EXPECT_FALSE(driver->describe_topic(its_own.text("/topic")).has_value())
      << "deleted after a pass";
}

TEST_F(ClusterThatIsThereTest, ConsumersThatTheGroupRefusesAreNamedAndNothingIsProduced) {
  const auto outcome =
      Program(command({"-X", "group.protocol=consumer", "-X", "group.remote.assignor=nosuch"}))
          .end(150s);
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("COULD NOT RUN"));
  EXPECT_THAT(outcome.out, HasSubstr("UNSUPPORTED_ASSIGNOR"));
  EXPECT_LT(outcome.took, 30s) << "what is refused is not waited for";
}

}  // namespace
}  // namespace sp::broker_test

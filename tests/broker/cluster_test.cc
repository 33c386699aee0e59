// Real Kafka nodes: started, killed, frozen, restarted, ended. Every node is down when a test is over.
#include "scenario/cluster/cluster.h"

#include <csignal>

#include <gtest/gtest.h>

#include "scenario/cluster/artefacts.h"
#include "sys/files.h"
#include "sys/process.h"

namespace sp::scenario::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ClusterTest : public testing::Test {
 protected:
  ClusterTest() : folder_(sys::TemporaryFolder::make("sp-cluster-test").value()) {}
  void TearDown() override {
    auto cluster = KafkaCluster::load(folder_.path() / "c");
    if (!cluster) return;
    const auto down = cluster->down();
    EXPECT_TRUE(down.has_value()) << down.error().message;
    const auto nodes = cluster->status();
    for (const auto& node : nodes.value()) EXPECT_FALSE(node.running);
  }
  static void SetUpTestSuite() {
    const auto options = usual_fetch();
    ASSERT_TRUE(options.has_value()) << options.error().message;
    auto kafka = fetch_kafka(*options, {});
    ASSERT_TRUE(kafka.has_value()) << kafka.error().message;
    kafka_ = std::move(*kafka);
  }
  Result<KafkaCluster> up(const KafkaSpec& spec, const UpHooks& hooks = {}) {
    return KafkaCluster::up(spec, folder_.path() / "c", kafka_, clock_, hooks);
  }
  // True once the node answers or not, as wanted.
  static bool comes_to(const KafkaCluster& cluster, std::uint32_t node, bool answering) {
    const SystemMonotonicClock clock;
    const MonotonicTime end = clock.now() + seconds(30);
    while (clock.now() < end) {
      if (cluster.answers(node, milliseconds(500)) == answering) return true;
    }
    return false;
  }
  // True once its process is gone: one that is killed lets go of its port first and of its memory then.
  static bool ends(const KafkaCluster& cluster, std::uint32_t node) {
    const SystemMonotonicClock clock;
    const MonotonicTime end = clock.now() + seconds(30);
    while (clock.now() < end) {
      const auto status = cluster.status();
      if (status && !(*status)[node - 1].running) return true;
      (void)cluster.answers(node, milliseconds(50));
    }
    return false;
  }
  static inline KafkaArtefacts kafka_;
  sys::TemporaryFolder folder_;
  SystemMonotonicClock clock_;
};

TEST_F(ClusterTest, ThreeNodesComeUpInTimeAndEachCanBeBrokenAndMended) {
  KafkaSpec spec;
  spec.nodes = 3;
  const MonotonicTime begin = clock_.now();
  auto cluster = up(spec);
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  EXPECT_LT(clock_.now() - begin, seconds(30));
  for (const std::uint32_t node : {1U, 2U, 3U}) EXPECT_TRUE(cluster->answers(node, seconds(5)));

  ASSERT_TRUE(cluster->freeze(2).has_value());
  EXPECT_TRUE(comes_to(*cluster, 2, false)) << "a frozen node keeps its port but answers nothing";
  ASSERT_TRUE(cluster->thaw(2).has_value());
  EXPECT_TRUE(comes_to(*cluster, 2, true));

  auto other = KafkaCluster::load(folder_.path() / "c");  // as another terminal does
  ASSERT_TRUE(other.has_value());
  ASSERT_TRUE(other->kill(3).has_value());
  EXPECT_TRUE(comes_to(*cluster, 3, false));
  EXPECT_TRUE(ends(*cluster, 3));
  ASSERT_TRUE(other->restart(3).has_value());
  EXPECT_TRUE(comes_to(*cluster, 3, true));

  ASSERT_TRUE(cluster->stop(1).has_value());
  EXPECT_TRUE(comes_to(*cluster, 1, false));
  ASSERT_TRUE(cluster->restart(1).has_value());
  EXPECT_TRUE(comes_to(*cluster, 1, true));
}

TEST_F(ClusterTest, OneNodeIsReadyOnlyWhenTheCallerSaysSo) {
  int asked = 0;
  std::string where;
  UpHooks hooks;
  hooks.ready = [&](const std::string& bootstrap) -> Result<bool> {
    where = bootstrap;
    if (++asked == 1) return fail(ErrorCode::kUnavailable, "not yet");
    return asked == 3;
  };
  auto cluster = up(KafkaSpec{}, hooks);
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(where, cluster->bootstrap());
  const auto second = up(KafkaSpec{});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  ASSERT_TRUE(cluster->down().has_value());
  ASSERT_TRUE(cluster->restart(1).has_value()) << "a cluster that is down keeps its data";
  EXPECT_TRUE(comes_to(*cluster, 1, true));
}

TEST_F(ClusterTest, ANodeThatEndsWhileStartingIsNoticedWithItsLastWords) {
  KafkaSpec spec;
  spec.properties["metric.reporters"] = "no.such.Reporter";
  const MonotonicTime begin = clock_.now();
  const auto cluster = up(spec);
  ASSERT_FALSE(cluster.has_value());
  EXPECT_LT(clock_.now() - begin, seconds(30)) << "noticed at once, not by waiting";
  EXPECT_NE(cluster.error().message.find("node 1 ended while it was starting (exit status 1)"),
            std::string::npos)
      << cluster.error().message;
  EXPECT_NE(cluster.error().message.find("no.such.Reporter"), std::string::npos) << cluster.error().message;
}

TEST_F(ClusterTest, ASettingThatKafkaRefusesIsShown) {
  KafkaSpec spec;
  spec.properties["num.network.threads"] = "-3";
  const auto cluster = up(spec);
  ASSERT_FALSE(cluster.has_value());
  EXPECT_NE(cluster.error().message.find("Invalid value -3 for configuration num.network.threads"),
            std::string::npos)
      << cluster.error().message;
}

TEST_F(ClusterTest, WhatUpLeavesWhenItFailsIsNothingRunning) {
  UpHooks hooks;
  hooks.ready = [](const std::string&) -> Result<bool> {
    return fail(ErrorCode::kDenied, "no right to write");
  };
  const auto cluster = up(KafkaSpec{}, hooks);
  ASSERT_FALSE(cluster.has_value());
  EXPECT_EQ(cluster.error().message, "no right to write");
  const auto rest = KafkaCluster::load(folder_.path() / "c");
  ASSERT_TRUE(rest.has_value());
  EXPECT_FALSE(rest->status().value()[0].running);
}

}  // namespace
}  // namespace sp::scenario::cluster

#include "scenario/cluster/state.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/cluster/cluster.h"
#include "sys/files.h"

namespace sp::scenario::cluster {
namespace {

using testing::HasSubstr;

StoredCluster sample() {
  StoredCluster cluster;
  cluster.cluster_id = "AAAAAAAAAAAAAAAAAAAAAQ";
  cluster.boot = sys::boot_id();
  cluster.java = "/usr/bin/java";
  cluster.artefacts = "/cache/with \"quotes\"/kafka-4.4.0";
  cluster.heap_megabytes = 384;
  cluster.nodes = {{{65535, 1}, {4711, 18446744073709551615U}}, {{3, 4}, {}}};
  return cluster;
}

TEST(StoredClusterTest, IsReadBackAsWritten) {
  const auto back = parse_stored(to_json(sample()), "cluster.json");
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(*back, sample());
}

TEST(StoredClusterTest, DamageIsToldWithPlaceAndRemedy) {
  std::string text = to_json(sample());
  const auto at = text.find("65535");
  text.replace(at, 5, "65536");
  const auto back = parse_stored(text, "x/cluster.json");
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code, ErrorCode::kParse);
  EXPECT_THAT(back.error().message, HasSubstr("x/cluster.json line 13 column 22"));
  EXPECT_THAT(back.error().message, HasSubstr("'broker_port' must be a whole number up to 65535"));
  EXPECT_THAT(back.error().message, HasSubstr("remove the folder"));
}

TEST(StoredClusterTest, CutOrForeignTextIsRefused) {
  const std::string text = to_json(sample());
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_FALSE(parse_stored(text.substr(0, size), "f").has_value()) << size;
  }
  const auto foreign = parse_stored("{\"format\": \"other\"}", "f");
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().message, HasSubstr("the format is 'other'"));
  EXPECT_FALSE(parse_stored("[1, 2]", "f").has_value());
}

TEST(StoredClusterTest, NodesOutOfOrderAreRefused) {
  std::string text = to_json(sample());
  text.replace(text.find("\"node\": 2"), 9, "\"node\": 3");
  const auto back = parse_stored(text, "f");
  ASSERT_FALSE(back.has_value());
  EXPECT_THAT(back.error().message, HasSubstr("node 2 is expected"));
}

// A cluster whose "servers" are sleepers that this test starts.
class ControlTest : public testing::Test {
 protected:
  ControlTest() : folder_(sys::TemporaryFolder::make().value()) {}
  void TearDown() override {
    for (const auto& id : started_) {
      (void)sys::signal(id, SIGKILL);
      (void)sys::wait_gone(id, std::chrono::seconds(10));
      (void)sys::reap(id);
    }
  }
  sys::ProcessId sleeper(std::vector<std::string> args = {"sleep", "600"}) {
    sys::SpawnSpec spec;
    spec.args = std::move(args);
    started_.push_back(sys::spawn(spec).value());
    return started_.back();
  }
  KafkaCluster cluster_with(std::vector<sys::ProcessId> processes, const std::string& boot = sys::boot_id()) {
    StoredCluster stored = sample();
    stored.boot = boot;
    stored.nodes.clear();
    for (const auto& id : processes) stored.nodes.push_back({{1, 2}, id});
    EXPECT_TRUE(write_stored(folder_.path(), stored).has_value());
    return KafkaCluster::load(folder_.path()).value();
  }
  sys::TemporaryFolder folder_;
  std::vector<sys::ProcessId> started_;
};

TEST_F(ControlTest, KillFreezeAndThawReachTheNamedNodeOnly) {
  const auto first = sleeper();
  const auto second = sleeper();
  KafkaCluster cluster = cluster_with({first, second});
  EXPECT_EQ(cluster.bootstrap(), "127.0.0.1:1,127.0.0.1:1");
  ASSERT_TRUE(cluster.freeze(2).has_value());
  while (!cluster.status().value()[1].frozen) {
  }
  EXPECT_FALSE(cluster.status().value()[0].frozen);
  ASSERT_TRUE(cluster.thaw(2).has_value());
  ASSERT_TRUE(cluster.kill(2).has_value());
  ASSERT_TRUE(sys::wait_gone(second, std::chrono::seconds(10)));
  EXPECT_TRUE(sys::alive(first));
  EXPECT_FALSE(cluster.status().value()[1].running);
  const auto again = cluster.kill(2);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message, "node 2 is not running");
  EXPECT_EQ(cluster.freeze(3).error().message, "there is no node 3: this cluster has nodes 1 to 2");
}

TEST_F(ControlTest, APidOfAnotherProcessOrAnotherBootIsLeftAlone) {
  const auto alive = sleeper();
  KafkaCluster reused = cluster_with({{alive.pid, alive.start - 1}});
  EXPECT_FALSE(reused.kill(1).has_value());
  EXPECT_TRUE(reused.down().has_value());
  KafkaCluster rebooted = cluster_with({alive}, "another boot");
  EXPECT_FALSE(rebooted.kill(1).has_value());
  EXPECT_FALSE(rebooted.status().value()[0].running);
  EXPECT_TRUE(rebooted.down().has_value());
  EXPECT_FALSE(sys::wait_gone(alive, std::chrono::milliseconds(50)));
}

TEST_F(ControlTest, DownFindsANodeThatWasStartedButNotWrittenDown) {
  KafkaCluster cluster = cluster_with({{}});
  const auto properties = cluster.folder() / "node-1" / "server.properties";
  ASSERT_TRUE(sys::make_folders(properties.parent_path()).has_value());
  ASSERT_TRUE(sys::write_atomically(properties, "").has_value());
  const auto forgotten = sleeper({"tail", "-f", properties.string()});
  while (sys::find_by_argument(properties.string())
             .empty()) {  // its arguments are to be seen a moment after its birth
  }
  ASSERT_TRUE(cluster.down().has_value());
  EXPECT_FALSE(sys::alive(forgotten));
  EXPECT_TRUE(cluster.down().has_value()) << "a second time is fine";
}

TEST_F(ControlTest, UpRefusesAFolderWhoseClusterRuns) {
  cluster_with({sleeper()});
  SystemMonotonicClock clock;
  const auto up = KafkaCluster::up(KafkaSpec{}, folder_.path(), KafkaArtefacts{}, clock, UpHooks{});
  ASSERT_FALSE(up.has_value());
  EXPECT_EQ(up.error().code, ErrorCode::kExists);
}

TEST(ClusterFolderTest, LoadOfNothingSaysSo) {
  const auto folder = sys::TemporaryFolder::make().value();
  const auto cluster = KafkaCluster::load(folder.path() / "none");
  ASSERT_FALSE(cluster.has_value());
  EXPECT_EQ(cluster.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(cluster.error().message, HasSubstr("there is no cluster in"));
}

TEST(ClusterFolderTest, NamesThatAreNoFolderNamesAreRefused) {
  EXPECT_EQ(named_cluster_folder("/cache", "dev-1").value(), std::filesystem::path("/cache/clusters/dev-1"));
  for (const char* name : {"", "..", "a/b", ".hidden", "-n", "a b"}) {
    EXPECT_FALSE(named_cluster_folder("/cache", name).has_value()) << name;
  }
}

}  // namespace
}  // namespace sp::scenario::cluster

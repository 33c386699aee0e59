// What tests on real Kafka share: a folder whose cluster is ended whatever happens, and a cluster
// for several tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "driver/kafka/kafka.h"
#include "scenario/cluster/artefacts.h"
#include "scenario/cluster/cluster.h"
#include "sys/files.h"

namespace sp::broker_test {

// The folder of a run, `run()`, and with it the cluster that the run starts there. Ends that
// cluster, then removes all.
class RunFolderGuard {
 public:
  RunFolderGuard() : folder_(sys::TemporaryFolder::make("sp-broker-test").value()) {}
  ~RunFolderGuard() {
    if (auto left = scenario::cluster::KafkaCluster::load(run() / "cluster")) {
      EXPECT_TRUE(left->down().has_value());
      const auto nodes = left->status();
      for (const auto& node : nodes.value())
        EXPECT_FALSE(node.running) << "a server is left behind";
    }
  }
  RunFolderGuard(const RunFolderGuard&) = delete;
  RunFolderGuard& operator=(const RunFolderGuard&) = delete;
  [[nodiscard]] std::filesystem::path run() const { return folder_.path() / "r"; }
  [[nodiscard]] Result<scenario::cluster::KafkaCluster> cluster() const {
    return scenario::cluster::KafkaCluster::load(run() / "cluster");
  }
 private:
  sys::TemporaryFolder folder_;
};

// Three nodes that several tests share and break. Ended with the object.
class SharedCluster {
 public:
  SharedCluster() : folder_(sys::TemporaryFolder::make("sp-shared-test").value()) {}
  ~SharedCluster() {
    looker_.reset();
    if (!cluster_) return;
    EXPECT_TRUE(cluster_->down().has_value());
    const auto nodes = cluster_->status();
    for (const auto& node : nodes.value()) EXPECT_FALSE(node.running) << "a server is left behind";
  }
  SharedCluster(const SharedCluster&) = delete;
  SharedCluster& operator=(const SharedCluster&) = delete;

  [[nodiscard]] Result<void> up() {
    const auto options = scenario::cluster::usual_fetch();
    if (!options) return tl::unexpected(options.error());
    const auto kafka = scenario::cluster::fetch_kafka(*options, {});
    if (!kafka) return tl::unexpected(kafka.error());
    scenario::cluster::KafkaSpec spec;
    spec.nodes = 3;
    auto cluster = scenario::cluster::KafkaCluster::up(spec, folder_.path() / "c", *kafka, clock_, {});
    if (!cluster) return tl::unexpected(std::move(cluster).error());
    cluster_.emplace(std::move(*cluster));
    auto looker = driver::kafka::open({{"bootstrap.servers", cluster_->bootstrap()}}, clock_);
    if (!looker) return tl::unexpected(std::move(looker).error());
    looker_ = std::move(*looker);
    return {};
  }
  [[nodiscard]] scenario::cluster::KafkaCluster& cluster() { return *cluster_; }

  // Of partition 0; 0: none.
  [[nodiscard]] std::uint32_t leader(const std::string& topic) const {
    const auto state = looker_->cluster_state(topic);
    if (!state || state->partitions.empty()) return 0;
    return static_cast<std::uint32_t>(state->partitions.front().leader.value_or(0));
  }
  // True once another node than `former` leads partition 0.
  [[nodiscard]] bool moved_from(std::uint32_t former, const std::string& topic) const {
    return comes([&] {
      const auto now = leader(topic);
      return now != 0 && now != former;
    });
  }
  // True once every replica of every partition is in sync.
  [[nodiscard]] bool whole(const std::string& topic) const {
    return comes([&] {
      const auto state = looker_->cluster_state(topic);
      return state && std::all_of(state->partitions.begin(), state->partitions.end(), [](const auto& partition) {
               return partition.leader && partition.in_sync.size() == partition.replicas.size();
             });
    });
  }

 private:
  // Each look waits for its answer.
  [[nodiscard]] bool comes(const std::function<bool()>& wanted) const {
    for (const MonotonicTime end = clock_.now() + std::chrono::seconds{60}; clock_.now() < end;) {
      if (wanted()) return true;
    }
    return false;
  }

  sys::TemporaryFolder folder_;
  SystemMonotonicClock clock_;
  std::optional<scenario::cluster::KafkaCluster> cluster_;
  std::unique_ptr<driver::Driver> looker_;
};

}  // namespace sp::broker_test

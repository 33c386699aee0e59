// What tests on real Kafka share: a folder whose cluster is ended whatever happens, and clusters
// that are brought back to be read.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "driver/kafka/kafka.h"
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
  // Starts all its nodes again, over the data that they have, and waits until every partition of
  // `topic` is led.
  [[nodiscard]] Result<std::string> bring_back(const std::string& topic) const {
    auto cluster = this->cluster();
    if (!cluster) return tl::unexpected(std::move(cluster).error());
    for (std::uint32_t node = 1; node <= cluster->nodes(); ++node) {
      if (auto started = cluster->restart(node); !started)
        return tl::unexpected(std::move(started).error());
    }
    const SystemMonotonicClock clock;
    SystemMonotonicClock driver_clock;
    auto driver = driver::kafka::open({{"bootstrap.servers", cluster->bootstrap()}}, driver_clock);
    if (!driver) return tl::unexpected(std::move(driver).error());
    for (const MonotonicTime end = clock.now() + std::chrono::seconds{60}; clock.now() < end;) {
      const auto state = (*driver)->cluster_state(topic);
      bool ready = state.has_value();
      if (state) {
        for (const auto& partition : state->partitions)
          ready =
              ready && partition.leader && partition.in_sync.size() == partition.replicas.size();
      }
      if (ready) return cluster->bootstrap();
    }
    return fail(ErrorCode::kTimeout, "the cluster did not come back");
  }

 private:
  sys::TemporaryFolder folder_;
};

}  // namespace sp::broker_test

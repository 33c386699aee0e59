// What the nemesis can do to a system: the nodes of a local cluster, or a fake of a test.
//
// Waiting:  none of these waits; restart() returns when the process is made.
// Errors:   as the cluster says; the nemesis notes them and goes on.   Threads: one caller.
// Source:   scenario/cluster/cluster.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "scenario/cluster/cluster.h"

namespace sp::scenario::fault {

class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual std::vector<std::int32_t> nodes() const = 0;
  virtual Result<void> kill(std::int32_t node) = 0;
  virtual Result<void> stop(std::int32_t node) = 0;  // asks for an orderly end
  virtual Result<void> freeze(std::int32_t node) = 0;
  virtual Result<void> thaw(std::int32_t node) = 0;
  virtual Result<void> restart(std::int32_t node) = 0;
  [[nodiscard]] virtual bool running(std::int32_t node) = 0;
};

class ClusterTarget final : public Target {
 public:
  explicit ClusterTarget(cluster::KafkaCluster& cluster) : cluster_(cluster) {}
  [[nodiscard]] std::vector<std::int32_t> nodes() const override;
  Result<void> kill(std::int32_t node) override;
  Result<void> stop(std::int32_t node) override;
  Result<void> freeze(std::int32_t node) override;
  Result<void> thaw(std::int32_t node) override;
  Result<void> restart(std::int32_t node) override;
  [[nodiscard]] bool running(std::int32_t node) override;

 private:
  cluster::KafkaCluster& cluster_;  // outlives this
};

}  // namespace sp::scenario::fault

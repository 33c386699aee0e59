// What a cluster's folder remembers, so that any later process can control it: ports, and each node's process by pid
// and start time.
//
//     {"format": "streaming-proof-cluster-1", "system": "kafka", "release": "4.4.0", "cluster_id": "…", "boot": "…",
//      "java": "/usr/bin/java", "artefacts": "…/kafka-4.4.0", "heap_megabytes": 256,
//      "nodes": [{"node": 1, "broker_port": 19092, "controller_port": 19093, "pid": 4711, "start": 123456}, …]}
//
// A node that does not run has pid 0. Start times of another boot mean that nothing of it runs.
//
// Errors:  kParse with file, line and the remedy; kNotFound no such file.   Threads: a value.
// Source:  the picture above.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scenario/cluster/kafka_files.h"
#include "sys/process.h"

namespace sp::scenario::cluster {

struct NodeState {
  NodePorts ports;
  sys::ProcessId process;  // pid 0: not started, or ended by us
  bool operator==(const NodeState& other) const {
    return ports.broker == other.ports.broker && ports.controller == other.ports.controller &&
           process == other.process;
  }
};

struct StoredCluster {
  std::string cluster_id;
  std::string boot;
  std::filesystem::path java;
  std::filesystem::path artefacts;
  std::uint32_t heap_megabytes = 256;
  std::vector<NodeState> nodes;  // node n is nodes[n - 1]
  bool operator==(const StoredCluster&) const = default;
};

inline constexpr std::string_view kStateFile = "cluster.json";

[[nodiscard]] std::string to_json(const StoredCluster& cluster);
// `name` is what errors call the text.
[[nodiscard]] Result<StoredCluster> parse_stored(std::string_view text, std::string_view name);
[[nodiscard]] Result<StoredCluster> read_stored(const std::filesystem::path& folder);
[[nodiscard]] Result<void> write_stored(const std::filesystem::path& folder, const StoredCluster& cluster);

}  // namespace sp::scenario::cluster

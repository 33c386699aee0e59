// Where the files of one node are, and its process: shared by starting and controlling a cluster.
//
// Errors: none; absent things are empty or dead.   Threads: values.   Source: scenario/cluster/cluster.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "scenario/cluster/java.h"
#include "scenario/cluster/state.h"
#include "sys/process.h"

namespace sp::scenario::cluster {

struct NodeFiles {
  std::filesystem::path folder;
  [[nodiscard]] std::filesystem::path properties() const { return folder / "server.properties"; }
  [[nodiscard]] std::filesystem::path data() const { return folder / "data"; }
  [[nodiscard]] std::filesystem::path log() const { return folder / "server.log"; }
  [[nodiscard]] std::filesystem::path format_log() const { return folder / "format.log"; }
};

[[nodiscard]] NodeFiles node_files(const std::filesystem::path& cluster, std::uint32_t node);
[[nodiscard]] std::filesystem::path lock_file(const std::filesystem::path& cluster);
// The command that runs the nodes of that cluster.
[[nodiscard]] Result<JavaCommand> java_command(const std::filesystem::path& cluster,
                                               const StoredCluster& stored);
// Every living process of that node: the remembered one, and whoever has its properties file among its arguments.
[[nodiscard]] std::vector<sys::ProcessId> node_processes(const std::filesystem::path& cluster,
                                                         const StoredCluster& stored, std::uint32_t node);
// Kills them all and waits for their end; kTimeout if one is still there after 10 s.
[[nodiscard]] Result<void> end_nodes(const std::filesystem::path& cluster, const StoredCluster& stored);

}  // namespace sp::scenario::cluster

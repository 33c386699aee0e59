// The files that a Kafka server needs, as text: what is fetched (pom), how it logs, its settings, its identity.
//
//     server_properties    our settings  <  spec.properties    (later wins; what we own is refused by check_spec)
//
// The settings are for short-lived clusters on small machines: small caches, fast fencing of dead brokers (3 s), fast
// shrinking of the in-sync set (2 s), one partition for offsets and transactions, no topics made by accident.
//
// Errors:  kInvalid names the property and the remedy.   Threads: values.
// Source:  Kafka 4.4 broker configuration; the values were tried on two cores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "base/result.h"

namespace sp::scenario::cluster {

inline constexpr std::string_view kKafkaRelease = "4.4.0";

// What is asked for.
struct KafkaSpec {
  std::uint32_t nodes = 1;                        // 1 or 3
  std::optional<std::uint32_t> replication;       // default of new topics; absent: the number of nodes
  std::optional<std::uint32_t> min_in_sync;       // absent: 2 with a replication of 3, else 1
  std::map<std::string, std::string> properties;  // of the servers, replacing ours
  std::uint32_t heap_megabytes = 256;             // of each node
};

[[nodiscard]] Result<void> check_spec(const KafkaSpec& spec);

// Where one node listens.
struct NodePorts {
  std::uint16_t broker = 0;
  std::uint16_t controller = 0;
};

// The Maven project whose runtime dependencies are the server; fixed versions only.
[[nodiscard]] std::string kafka_pom();
// log4j2: everything from INFO to standard output.
[[nodiscard]] std::string log_properties();
// server.properties of node `node` (from 1); `ports` has one entry a node, `data` is that node's log.dirs.
[[nodiscard]] std::string server_properties(const KafkaSpec& spec, const std::vector<NodePorts>& ports,
                                            std::uint32_t node, const std::filesystem::path& data);
// meta.properties of a formatted data folder.
[[nodiscard]] std::string meta_properties(std::string_view cluster_id, std::uint32_t node,
                                          std::string_view directory_id);
// 16 bytes as 22 characters of url-safe base64, never beginning with '-' (a command line would see an option).
[[nodiscard]] std::string make_id(Prng& chance);

}  // namespace sp::scenario::cluster

// A Kafka cluster on this machine: one or three servers as processes in one folder.
//
//     up(spec, folder) ─► KafkaCluster ── kill · freeze · thaw · stop · restart · status ── down
//                            ▲
//     load(folder) ──────────┘   from another terminal, or after a crash of whoever called up
//
//     <folder>/cluster.json            what is remembered (state.h)
//             /log4j2.properties
//             /node-1/server.properties   data/   server.log (all starts, one after the other)   format.log
//
// Nodes are numbered from 1. Nothing is ever signalled but the very process that was started (pid and start time). The
// object holds no process: destroying it leaves the cluster running, only down() ends it.
//
// Cost:    up: 4 to 9 s when the jars are there; kill, freeze, thaw, stop: microseconds; restart: some ms, it returns
//          when the process is made (a node that still runs is killed first and its end awaited, up to 10 s).
// Waiting: up() and down() only, on real time, within stated limits.
// Errors:  kNotFound no such node, or it does not run; kExists a cluster runs in that folder; kUnavailable a node ended
//          while starting and kTimeout it did not get ready, with the last lines of its log.
// Threads: any; each call locks the folder against other processes and threads.   Source: README.md of this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "scenario/cluster/artefacts.h"
#include "scenario/cluster/kafka_files.h"
#include "scenario/cluster/state.h"

namespace sp::scenario::cluster {

// What up() asks its caller while it works. All may be empty.
struct UpHooks {
  // True when the cluster does its job (a record went through on every partition); called again until true. `bootstrap`
  // is "127.0.0.1:P1,127.0.0.1:P2". kUnavailable, kTimeout and kNotFound mean not yet; another error ends the wait.
  std::function<Result<bool>(const std::string& bootstrap)> ready;
  std::function<bool()> cancelled;  // true: give up, end what was started
  Say say;
};

struct NodeStatus {
  std::uint32_t node = 0;
  std::uint16_t port = 0;
  pid_t pid = 0;         // 0: not running
  bool running = false;  // stopped ones included
  bool frozen = false;
};

class KafkaCluster {
 public:
  // Starts a new cluster in `folder` and waits until it is ready, at most `wait`. What an earlier cluster that is down
  // left there is removed. On an error nothing of it runs; the logs stay.
  [[nodiscard]] static Result<KafkaCluster> up(const KafkaSpec& spec, const std::filesystem::path& folder,
                                               const KafkaArtefacts& kafka, MonotonicClock& clock,
                                               const UpHooks& hooks,
                                               Nanoseconds wait = std::chrono::seconds(60));
  // The cluster of that folder, whether it runs or not; kNotFound if there is none.
  [[nodiscard]] static Result<KafkaCluster> load(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(ports_.size()); }
  [[nodiscard]] std::string bootstrap() const;
  [[nodiscard]] const NodePorts& ports(std::uint32_t node) const { return ports_[node - 1]; }
  [[nodiscard]] std::filesystem::path log_of(std::uint32_t node) const;

  [[nodiscard]] Result<std::vector<NodeStatus>> status() const;
  [[nodiscard]] Result<void> kill(std::uint32_t node);  // SIGKILL
  [[nodiscard]] Result<void> stop(
      std::uint32_t node);  // SIGTERM: an orderly end, which takes a second or more
  [[nodiscard]] Result<void> freeze(std::uint32_t node);   // SIGSTOP
  [[nodiscard]] Result<void> thaw(std::uint32_t node);     // SIGCONT
  // A signal is sent in no time and takes effect a little later: these wait until it has, kTimeout after ten seconds.
  [[nodiscard]] Result<void> wait_ended(std::uint32_t node);
  [[nodiscard]] Result<void> wait_frozen(std::uint32_t node);
  [[nodiscard]] Result<void> restart(std::uint32_t node);  // with its data; kills it first if it runs
  // Kills every node, found by the remembered process or, after a crash, by its command line. Fine if nothing runs.
  [[nodiscard]] Result<void> down();
  // True if the node answers a request within `wait`.
  [[nodiscard]] bool answers(std::uint32_t node, Nanoseconds wait) const;

 private:
  KafkaCluster(std::filesystem::path folder, const StoredCluster& stored);
  [[nodiscard]] Result<sys::ProcessId> process_of_node(std::uint32_t node) const;
  [[nodiscard]] Result<void> signal_node(std::uint32_t node, int number);

  std::filesystem::path folder_;
  std::vector<NodePorts> ports_;
};

// <cache>/clusters/<name>; kInvalid unless the name is of letters, digits, '-', '_' and '.', and begins with one of the
// first two.
[[nodiscard]] Result<std::filesystem::path> named_cluster_folder(const std::filesystem::path& cache,
                                                                 std::string_view name);

}  // namespace sp::scenario::cluster

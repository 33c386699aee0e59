#include "scenario/cluster/cluster.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "scenario/cluster/node_files.h"
#include "scenario/cluster/probe.h"
#include "sys/files.h"

namespace sp::scenario::cluster {
namespace {

namespace fs = std::filesystem;

constexpr auto kEndWait = std::chrono::seconds(10);

// A remembered process means something within the boot in which it was started.
sys::ProcessId process_of(const StoredCluster& stored, std::uint32_t node) {
  return stored.boot == sys::boot_id() ? stored.nodes[node - 1].process : sys::ProcessId{};
}

tl::unexpected<Error> no_such_node(std::uint32_t node, std::size_t nodes) {
  return fail(ErrorCode::kNotFound,
              nodes == 1 ? fmt::format("there is no node {}: this cluster has node 1 only", node)
                         : fmt::format("there is no node {}: this cluster has nodes 1 to {}", node, nodes));
}

// The folder's state, locked for as long as this lives.
struct Locked {
  sys::FileLock lock;
  StoredCluster stored;
};

Result<Locked> lock_and_read(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kStateFile, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no cluster in {}", folder.string()));
  }
  auto lock = sys::FileLock::take(lock_file(folder));
  if (!lock) return tl::unexpected<Error>(std::move(lock).error());
  auto stored = read_stored(folder);
  if (!stored) return tl::unexpected<Error>(std::move(stored).error());
  return Locked{std::move(*lock), std::move(*stored)};
}

}  // namespace

NodeFiles node_files(const fs::path& cluster, std::uint32_t node) {
  return NodeFiles{cluster / fmt::format("node-{}", node)};
}

fs::path lock_file(const fs::path& cluster) { return cluster / "cluster.lock"; }

Result<JavaCommand> java_command(const fs::path& cluster, const StoredCluster& stored) {
  auto kafka = find_kafka(stored.artefacts, stored.java);
  if (!kafka) return tl::unexpected<Error>(std::move(kafka).error());
  return JavaCommand{std::move(*kafka), cluster / "log4j2.properties", stored.heap_megabytes, ""};
}

std::vector<sys::ProcessId> node_processes(const fs::path& cluster, const StoredCluster& stored,
                                           std::uint32_t node) {
  std::vector<sys::ProcessId> found;
  for (const auto& id : sys::find_by_argument(node_files(cluster, node).properties().string())) {
    if (sys::alive(id)) found.push_back(id);
  }
  const sys::ProcessId remembered = process_of(stored, node);
  if (sys::alive(remembered) && std::find(found.begin(), found.end(), remembered) == found.end()) {
    found.push_back(remembered);
  }
  return found;
}

Result<void> end_nodes(const fs::path& cluster, const StoredCluster& stored) {
  std::vector<sys::ProcessId> all;
  for (std::uint32_t node = 1; node <= stored.nodes.size(); ++node) {
    for (const auto& id : node_processes(cluster, stored, node)) all.push_back(id);
  }
  for (const auto& id : all) {
    if (auto sent = sys::signal(id, SIGKILL); !sent && sent.error().code != ErrorCode::kNotFound) return sent;
  }
  for (const auto& id : all) {
    if (!sys::wait_gone(id, kEndWait)) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("process {} of the cluster in {} did not end", id.pid, cluster.string()));
    }
    (void)sys::reap(id);
  }
  for (const auto& node : stored.nodes) (void)sys::reap(node.process);  // those that ended earlier
  return {};
}

KafkaCluster::KafkaCluster(fs::path folder, const StoredCluster& stored) : folder_(std::move(folder)) {
  for (const auto& node : stored.nodes) ports_.push_back(node.ports);
}

Result<KafkaCluster> KafkaCluster::load(const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(folder, error);
  if (error)
    return fail(ErrorCode::kIo,
                fmt::format("cannot use the folder {}: {}", folder.string(), error.message()));
  const auto locked = lock_and_read(absolute);
  if (!locked) return tl::unexpected<Error>(locked.error());
  return KafkaCluster(absolute, locked->stored);
}

std::string KafkaCluster::bootstrap() const {
  std::string text;
  for (const auto& ports : ports_)
    text += fmt::format("{}127.0.0.1:{}", text.empty() ? "" : ",", ports.broker);
  return text;
}

fs::path KafkaCluster::log_of(std::uint32_t node) const { return node_files(folder_, node).log(); }

Result<std::vector<NodeStatus>> KafkaCluster::status() const {
  const auto locked = lock_and_read(folder_);
  if (!locked) return tl::unexpected<Error>(locked.error());
  std::vector<NodeStatus> all;
  for (std::uint32_t node = 1; node <= locked->stored.nodes.size(); ++node) {
    const sys::ProcessId process = process_of(locked->stored, node);
    NodeStatus status;
    status.node = node;
    status.port = locked->stored.nodes[node - 1].ports.broker;
    status.running = sys::alive(process);
    status.frozen = sys::stopped(process);
    status.pid = status.running ? process.pid : 0;
    all.push_back(status);
  }
  return all;
}

Result<sys::ProcessId> KafkaCluster::process_of_node(std::uint32_t node) const {
  const auto locked = lock_and_read(folder_);
  if (!locked) return tl::unexpected<Error>(locked.error());
  if (node < 1 || node > locked->stored.nodes.size()) return no_such_node(node, locked->stored.nodes.size());
  return process_of(locked->stored, node);
}

Result<void> KafkaCluster::signal_node(std::uint32_t node, int number) {
  const auto process = process_of_node(node);
  if (!process) return tl::unexpected<Error>(process.error());
  auto sent = sys::signal(*process, number);
  if (sent || sent.error().code != ErrorCode::kNotFound) return sent;
  return fail(ErrorCode::kNotFound, fmt::format("node {} is not running", node));
}

Result<void> KafkaCluster::kill(std::uint32_t node) { return signal_node(node, SIGKILL); }
Result<void> KafkaCluster::stop(std::uint32_t node) { return signal_node(node, SIGTERM); }
Result<void> KafkaCluster::freeze(std::uint32_t node) { return signal_node(node, SIGSTOP); }
Result<void> KafkaCluster::thaw(std::uint32_t node) { return signal_node(node, SIGCONT); }

Result<void> KafkaCluster::wait_ended(std::uint32_t node) {
  const auto process = process_of_node(node);
  if (!process) return tl::unexpected<Error>(process.error());
  if (sys::wait_gone(*process, kEndWait)) return {};
  return fail(ErrorCode::kTimeout, fmt::format("node {} (process {}) did not end", node, process->pid));
}

Result<void> KafkaCluster::wait_frozen(std::uint32_t node) {
  const auto process = process_of_node(node);
  if (!process) return tl::unexpected<Error>(process.error());
  if (sys::wait_stopped(*process, kEndWait)) return {};
  return fail(ErrorCode::kTimeout, fmt::format("node {} (process {}) did not stop", node, process->pid));
}

Result<void> KafkaCluster::restart(std::uint32_t node) {
  auto locked = lock_and_read(folder_);
  if (!locked) return tl::unexpected<Error>(std::move(locked).error());
  StoredCluster& stored = locked->stored;
  if (node < 1 || node > stored.nodes.size()) return no_such_node(node, stored.nodes.size());
  const sys::ProcessId former = process_of(stored, node);
  (void)sys::signal(former, SIGKILL);
  if (!sys::wait_gone(former, kEndWait)) {
    return fail(ErrorCode::kTimeout, fmt::format("node {} (process {}) did not end", node, former.pid));
  }
  (void)sys::reap(former);
  const auto command = java_command(folder_, stored);
  if (!command) return tl::unexpected<Error>(command.error());
  const NodeFiles files = node_files(folder_, node);
  const auto process = start_server(*command, files.properties(), files.folder, files.log());
  if (!process) return tl::unexpected<Error>(process.error());
  stored.boot = sys::boot_id();
  stored.nodes[node - 1].process = *process;
  return write_stored(folder_, stored);
}

Result<void> KafkaCluster::down() {
  auto locked = lock_and_read(folder_);
  if (!locked) return tl::unexpected<Error>(std::move(locked).error());
  if (auto ended = end_nodes(folder_, locked->stored); !ended) return ended;
  for (auto& node : locked->stored.nodes) node.process = {};
  return write_stored(folder_, locked->stored);
}

bool KafkaCluster::answers(std::uint32_t node, Nanoseconds wait) const {
  return node >= 1 && node <= ports_.size() && broker_answers(ports_[node - 1].broker, wait).has_value();
}

Result<fs::path> named_cluster_folder(const fs::path& cache, std::string_view name) {
  constexpr std::size_t kNameBytesMax = 64;
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  const bool fine = !name.empty() && name.size() <= kNameBytesMax &&
                    name.find_first_not_of(kAllowed) == std::string_view::npos && name.front() != '-' &&
                    name.front() != '_' && name.front() != '.';
  if (fine) return cache / "clusters" / name;
  return fail(ErrorCode::kInvalid,
              fmt::format("'{}' is no name for a cluster: use up to {} letters, digits, '-', '_' and '.', "
                          "beginning with a letter or digit",
                          name, kNameBytesMax));
}

}  // namespace sp::scenario::cluster

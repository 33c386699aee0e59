// KafkaCluster::up: from a specification to a cluster that does its job.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/prng.h"
#include "scenario/cluster/cluster.h"
#include "scenario/cluster/node_files.h"
#include "scenario/cluster/probe.h"
#include "sys/files.h"
#include "sys/net.h"

namespace sp::scenario::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr auto kLookEvery = milliseconds(100);
constexpr auto kAnswerWait = milliseconds(500);

// Unique on this machine: no two processes of one boot share pid and start.
Prng make_chance() {
  std::uint64_t seed = 0;
  for (const char c : sys::boot_id()) seed = mix64(seed ^ static_cast<unsigned char>(c));
  const sys::ProcessId self = sys::own_process();
  static std::atomic<std::uint64_t> calls{0};
  seed = mix64(seed ^ static_cast<std::uint64_t>(self.pid));
  return Prng(mix64(seed ^ self.start) + calls.fetch_add(1));
}

bool worth_waiting(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout || code == ErrorCode::kNotFound;
}

class Starter {
 public:
  Starter(const KafkaSpec& spec, fs::path folder, const KafkaArtefacts& kafka, MonotonicClock& clock,
          const UpHooks& hooks, MonotonicTime deadline)
      : spec_(spec),
        folder_(std::move(folder)),
        kafka_(kafka),
        clock_(clock),
        hooks_(hooks),
        deadline_(deadline) {}

  // Refuses a folder whose cluster runs, removes what a dead one left.
  Result<void> clear() {
    std::error_code error;
    if (!fs::exists(folder_ / kStateFile, error)) return {};
    const auto former = read_stored(folder_);
    if (!former) return tl::unexpected<Error>(former.error());
    for (std::uint32_t node = 1; node <= former->nodes.size(); ++node) {
      if (node_processes(folder_, *former, node).empty()) continue;
      return fail(ErrorCode::kExists,
                  fmt::format("a cluster runs in {}: end it with 'cluster down' first", folder_.string()));
    }
    for (std::uint32_t node = 1; node <= former->nodes.size(); ++node) {
      if (auto removed = sys::remove_tree(node_files(folder_, node).folder); !removed) return removed;
    }
    return sys::remove_tree(folder_ / kStateFile);
  }

  Result<void> write_files() {
    auto numbers = sys::free_ports(std::size_t{2} * spec_.nodes);
    if (!numbers) return tl::unexpected<Error>(std::move(numbers).error());
    std::vector<NodePorts> ports;
    for (std::size_t i = 0; i < spec_.nodes; ++i) ports.push_back({(*numbers)[2 * i], (*numbers)[2 * i + 1]});
    stored_.cluster_id = make_id(chance_);
    stored_.boot = sys::boot_id();
    stored_.java = kafka_.java;
    stored_.artefacts = kafka_.folder;
    stored_.heap_megabytes = spec_.heap_megabytes;
    for (const auto& each : ports) stored_.nodes.push_back({each, {}});
    if (auto written = sys::write_atomically(folder_ / "log4j2.properties", log_properties()); !written)
      return written;
    for (std::uint32_t node = 1; node <= spec_.nodes; ++node) {
      const NodeFiles files = node_files(folder_, node);
      if (auto made = sys::make_folders(files.folder); !made) return made;
      const std::string text = server_properties(spec_, ports, node, files.data());
      if (auto written = sys::write_atomically(files.properties(), text); !written) return written;
    }
    return write_stored(folder_, stored_);
  }

  // Kafka's tool formats the first node; what it writes beside meta.properties is the same for all, so it is copied.
  Result<void> format() {
    auto command = java_command(folder_, stored_);
    if (!command) return tl::unexpected<Error>(std::move(command).error());
    const NodeFiles first = node_files(folder_, 1);
    auto formatted = format_storage(*command, stored_.cluster_id, first.properties(), first.format_log());
    if (!formatted) return formatted;
    for (std::uint32_t node = 2; node <= spec_.nodes; ++node) {
      const fs::path data = node_files(folder_, node).data();
      std::error_code error;
      fs::copy(first.data(), data, fs::copy_options::recursive, error);
      if (error)
        return fail(ErrorCode::kIo, fmt::format("cannot fill {}: {}", data.string(), error.message()));
      const std::string meta = meta_properties(stored_.cluster_id, node, make_id(chance_));
      if (auto written = sys::write_atomically(data / "meta.properties", meta); !written) return written;
    }
    return {};
  }

  Result<void> start() {
    const auto command = java_command(folder_, stored_);
    if (!command) return tl::unexpected<Error>(command.error());
    for (std::uint32_t node = 1; node <= spec_.nodes; ++node) {
      const NodeFiles files = node_files(folder_, node);
      const auto process = start_server(*command, files.properties(), files.folder, files.log());
      if (!process) return tl::unexpected<Error>(process.error());
      stored_.nodes[node - 1].process = *process;
      if (auto written = write_stored(folder_, stored_); !written) return written;
    }
    return {};
  }

  Result<void> wait_until_ready(const std::string& bootstrap) {
    std::vector<std::uint32_t> silent;
    for (std::uint32_t node = 1; node <= spec_.nodes; ++node) silent.push_back(node);
    std::string waiting_for;
    while (true) {
      if (auto running = check_running(); !running) return running;
      std::erase_if(silent, [this](std::uint32_t node) {
        return broker_answers(stored_.nodes[node - 1].ports.broker, kAnswerWait).has_value();
      });
      if (!silent.empty()) {
        waiting_for = fmt::format("node {} does not answer yet", silent.front());
      } else {
        const auto ready = hooks_.ready ? hooks_.ready(bootstrap) : Result<bool>(true);
        if (ready && *ready) return {};
        if (!ready && !worth_waiting(ready.error().code)) return tl::unexpected<Error>(ready.error());
        waiting_for = ready ? "no record went through yet" : ready.error().message;
      }
      if (auto more = pause(waiting_for, silent.empty() ? 1 : silent.front()); !more) return more;
    }
  }

  void abandon() { (void)end_nodes(folder_, stored_); }
  [[nodiscard]] const StoredCluster& stored() const { return stored_; }

 private:
  Result<void> check_running() {
    for (std::uint32_t node = 1; node <= spec_.nodes; ++node) {
      const sys::ProcessId process = stored_.nodes[node - 1].process;
      if (sys::alive(process)) continue;
      (void)sys::wait_gone(process, kAnswerWait);  // its last threads; only then is its exit status told
      const auto exit = sys::reap(process);
      return fail(ErrorCode::kUnavailable,
                  fmt::format("node {} ended while it was starting ({}); {}", node,
                              exit ? exit->text() : "how is not known", log_end(node)));
    }
    return {};
  }

  Result<void> pause(const std::string& waiting_for, std::uint32_t node) {
    if (hooks_.cancelled && hooks_.cancelled())
      return fail(ErrorCode::kTimeout, "stopped while the cluster was starting");
    const MonotonicTime now = clock_.now();
    if (now >= deadline_) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("the cluster did not get ready in time: {}; {}", waiting_for, log_end(node)));
    }
    std::mutex mutex;
    std::condition_variable nobody;  // the clock is what is waited for
    std::unique_lock<std::mutex> lock(mutex);
    (void)clock_.wait_until(lock, nobody, std::min(deadline_, now + kLookEvery));
    return {};
  }

  [[nodiscard]] std::string log_end(std::uint32_t node) const {
    const fs::path log = node_files(folder_, node).log();
    return fmt::format("{} ends with:\n{}", log.string(), last_words(log));
  }

  const KafkaSpec& spec_;  // these four outlive this
  fs::path folder_;
  const KafkaArtefacts& kafka_;
  MonotonicClock& clock_;
  const UpHooks& hooks_;
  MonotonicTime deadline_;
  Prng chance_ = make_chance();
  StoredCluster stored_;
};

}  // namespace

Result<KafkaCluster> KafkaCluster::up(const KafkaSpec& spec, const fs::path& folder,
                                      const KafkaArtefacts& kafka, MonotonicClock& clock,
                                      const UpHooks& hooks, Nanoseconds wait) {
  const MonotonicTime deadline = clock.now() + wait;
  if (auto fine = check_spec(spec); !fine) return tl::unexpected<Error>(std::move(fine).error());
  if (auto made = sys::make_folders(folder); !made) return tl::unexpected<Error>(std::move(made).error());
  std::error_code error;
  const fs::path absolute = fs::canonical(folder, error);
  if (error)
    return fail(ErrorCode::kIo,
                fmt::format("cannot use the folder {}: {}", folder.string(), error.message()));
  auto taken = sys::FileLock::take(lock_file(absolute));
  if (!taken) return tl::unexpected<Error>(std::move(taken).error());
  std::optional<sys::FileLock> lock(std::move(*taken));

  Starter starter(spec, absolute, kafka, clock, hooks, deadline);
  if (hooks.say)
    hooks.say(fmt::format("starting Kafka {} with {} node{} in {}", kKafkaRelease, spec.nodes,
                          spec.nodes == 1 ? "" : "s", absolute.string()));
  auto done = starter.clear();
  if (!done) return tl::unexpected<Error>(std::move(done).error());
  done = starter.write_files();
  if (done) done = starter.format();
  if (done) done = starter.start();
  lock.reset();  // from here on others may look, and down() may end the wait
  if (done) {
    KafkaCluster cluster(absolute, starter.stored());
    done = starter.wait_until_ready(cluster.bootstrap());
    if (done) return cluster;
  }
  starter.abandon();
  return tl::unexpected<Error>(std::move(done).error());
}

}  // namespace sp::scenario::cluster

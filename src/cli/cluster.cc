// streaming-proof cluster up | status | leader | kill | freeze | thaw | restart | down
#include "scenario/cluster/cluster.h"

#include <functional>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "cli/wiring.h"
#include "codec/json_writer.h"
#include "sys/paths.h"
#include "sys/signals.h"

namespace sp::cli {
namespace {

using scenario::cluster::KafkaCluster;
using scenario::cluster::NodeStatus;

struct ClusterFlags {
  std::string name = "default";
  std::optional<std::uint64_t> nodes;
  std::string node;  // a number, or "leader"
  std::string topic;
  std::optional<std::uint64_t> partition;
  bool json = false;
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes.value_or(3)); }
};

Result<std::filesystem::path> folder_of(const ClusterFlags& flags) {
  auto cache = sys::cache_folder();
  if (!cache) return cache;
  return scenario::cluster::named_cluster_folder(*cache, flags.name);
}

Result<KafkaCluster> load(const ClusterFlags& flags) {
  auto folder = folder_of(flags);
  if (!folder) return tl::unexpected(std::move(folder).error());
  auto cluster = KafkaCluster::load(*folder);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no cluster '{}': start one with streaming-proof cluster up{}",
                            flags.name, flags.name == "default" ? "" : " --name " + flags.name));
  }
  return cluster;
}

std::string state_of(const NodeStatus& node) {
  return !node.running ? "down" : node.frozen ? "frozen" : "running";
}

int print_status(const KafkaCluster& cluster, const ClusterFlags& flags, const Terminal& terminal) {
  auto nodes = cluster.status();
  if (!nodes) return terminal.could_not_run(nodes.error());
  if (flags.json) {
    codec::JsonWriter json({.indent = 2});
    json.begin_object().member("name", flags.name).member("bootstrap", cluster.bootstrap());
    json.member("folder", cluster.folder().string()).key("nodes").begin_array();
    for (const auto& node : *nodes) {
      json.begin_object()
          .member("node", node.node)
          .member("state", state_of(node))
          .member("port", node.port);
      json.member("pid", node.pid).end_object();
    }
    json.end_array().end_object();
    terminal.print(json.take() + "\n");
    return kExitGood;
  }
  terminal.print(fmt::format("cluster {}  {}\n", flags.name, cluster.bootstrap()));
  for (const auto& node : *nodes) {
    terminal.print(fmt::format("  node {}  {:<8} port {}{}\n", node.node, state_of(node), node.port,
                               node.running ? fmt::format("  pid {}", node.pid) : ""));
  }
  terminal.print(fmt::format("  logs in {}\n", cluster.folder().string()));
  return kExitGood;
}

int up(const ClusterFlags& flags, const Terminal& terminal) {
  auto folder = folder_of(flags);
  if (!folder) return terminal.could_not_run(folder.error());
  const auto say = [&](std::string_view text) { terminal.complain(text); };
  auto fetch = scenario::cluster::usual_fetch();
  if (!fetch) return terminal.could_not_run(fetch.error());
  auto kafka = scenario::cluster::fetch_kafka(*fetch, say);
  if (!kafka) return terminal.could_not_run(kafka.error());
  SystemMonotonicClock clock;
  const SystemWallClock wall;
  const sys::StopSignals stops;
  scenario::cluster::KafkaSpec spec;
  spec.nodes = flags.node_count();
  scenario::cluster::UpHooks hooks;
  hooks.ready = ready_probe(flags.node_count(), clock, wall);
  hooks.cancelled = [&] { return stops.count() > 0; };
  hooks.say = say;
  auto cluster = KafkaCluster::up(spec, *folder, *kafka, clock, hooks);
  if (!cluster) return terminal.could_not_run(cluster.error());
  const int code = print_status(*cluster, flags, terminal);
  if (!flags.json) {
    terminal.print(fmt::format("Try: streaming-proof run --bootstrap {} --replication {}\n",
                               cluster->bootstrap(), flags.node_count()));
  }
  return code;
}

int status(const ClusterFlags& flags, const Terminal& terminal) {
  auto cluster = load(flags);
  return cluster ? print_status(*cluster, flags, terminal) : terminal.could_not_run(cluster.error());
}

Result<std::uint32_t> find_leader(const KafkaCluster& cluster, const ClusterFlags& flags) {
  if (flags.topic.empty())
    return fail(ErrorCode::kInvalid, "leader of which topic? Add --topic NAME");
  SystemMonotonicClock clock;
  auto leader =
      leader_of(cluster.bootstrap(), flags.topic, core::PartitionId{static_cast<std::uint32_t>(flags.partition.value_or(0))}, clock);
  if (!leader) return tl::unexpected(std::move(leader).error());
  return static_cast<std::uint32_t>(*leader);
}

int leader(const ClusterFlags& flags, const Terminal& terminal) {
  auto cluster = load(flags);
  if (!cluster) return terminal.could_not_run(cluster.error());
  auto found = find_leader(*cluster, flags);
  if (!found) return terminal.could_not_run(found.error());
  terminal.print(flags.json ? fmt::format("{{\"leader\": {}}}\n", *found)
                            : fmt::format("{}\n", *found));
  return kExitGood;
}

Result<std::uint32_t> chosen_node(const KafkaCluster& cluster, const ClusterFlags& flags) {
  if (flags.node == "leader") return find_leader(cluster, flags);
  auto number = parse_unsigned(flags.node);
  if (!number || *number == 0 || *number > cluster.nodes()) {
    return fail(ErrorCode::kInvalid, fmt::format("node '{}': 1 to {}, or leader with --topic NAME",
                                                 flags.node, cluster.nodes()));
  }
  return static_cast<std::uint32_t>(*number);
}

using NodeCall = Result<void> (KafkaCluster::*)(std::uint32_t);

// A command is done when its effect is there: the next one may ask for it.
struct NodeAction {
  NodeCall call = nullptr;
  NodeCall effect = nullptr;  // waits for it; null: `call` does
  const char* done = nullptr;
};

int on_node(const ClusterFlags& flags, const Terminal& terminal, const NodeAction& action) {
  auto cluster = load(flags);
  if (!cluster) return terminal.could_not_run(cluster.error());
  auto node = chosen_node(*cluster, flags);
  if (!node) return terminal.could_not_run(node.error());
  for (const NodeCall step : {action.call, action.effect}) {
    if (step == nullptr) continue;
    if (auto result = ((*cluster).*step)(*node); !result) return terminal.could_not_run(result.error());
  }
  terminal.print(flags.json ? fmt::format("{{\"node\": {}, \"done\": \"{}\"}}\n", *node, action.done)
                            : fmt::format("node {} {}\n", *node, action.done));
  return kExitGood;
}

int down(const ClusterFlags& flags, const Terminal& terminal) {
  auto folder = folder_of(flags);
  if (!folder) return terminal.could_not_run(folder.error());
  auto cluster = KafkaCluster::load(*folder);
  if (!cluster) {
    if (cluster.error().code != ErrorCode::kNotFound) return terminal.could_not_run(cluster.error());
    terminal.print(flags.json ? "{\"down\": true}\n"
                              : fmt::format("there is no cluster '{}'\n", flags.name));
    return kExitGood;
  }
  if (auto ended = cluster->down(); !ended) return terminal.could_not_run(ended.error());
  terminal.print(flags.json ? "{\"down\": true}\n"
                            : fmt::format("cluster {} is down\n", flags.name));
  return kExitGood;
}

class ClusterCommands {
 public:
  ClusterCommands(CLI::App& command, Session& session) : command_(command), session_(session) {}

  using Action = std::function<int(const ClusterFlags&, const Terminal&)>;
  struct Input {
    Input(CLI::App& command, Session& session) : reader(command, session) {}
    ClusterFlags flags;
    FlagReader reader;
  };
  Input& add(const char* name, const char* help, const char* example, Action action) {
    CLI::App* command = command_.add_subcommand(name, help);
    command->footer(std::string("Example: streaming-proof cluster ") + example);
    auto input = std::make_shared<Input>(*command, session_);  // shared with the callback, which outlives this object
    input->reader.text("--name", input->flags.name, "which cluster (default: default)");
    input->reader.yes("--json", input->flags.json, "print the result as JSON");
    command->callback([input, &session = session_, action = std::move(action)] {
      const auto faults = input->reader.read();
      session.exit_code = faults.empty() ? action(input->flags, session.terminal)
                                         : input->reader.refuse(proof::to_error(faults));
    });
    return *input;
  }
  void add_node(const char* name, const char* help, NodeAction action) {
    const std::string example = std::string(name) + " 2";
    Input& input = add(name, help, example.c_str(),
                       [action](const ClusterFlags& flags, const Terminal& terminal) {
                         return on_node(flags, terminal, action);
                       });
    input.reader.word("NODE", input.flags.node, {.required = true, .spare = "one node at a time: there is another word before it"},
                      "its number, from 1; or leader");
    add_partition(input);
  }
  static void add_partition(Input& input) {
    input.reader.text("--topic", input.flags.topic, "of which topic the leader is meant");
    input.reader.number("--partition", input.flags.partition, {0, kPartitionMax}, "of which partition (default 0)");
  }

 private:
  static constexpr std::uint64_t kPartitionMax = 1'000'000;
  CLI::App& command_;
  Session& session_;
};

}  // namespace

void add_cluster(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "cluster", "Real Kafka nodes as local processes, controlled from any terminal");
  command->require_subcommand(1);
  command->footer(
      "Example: streaming-proof cluster up --nodes 3 && streaming-proof cluster kill leader "
      "--topic sp-x");
  ClusterCommands commands(*command, session);
  ClusterCommands::Input& up_input =
      commands.add("up", "Starts one and waits until a record went through on every partition",
                   "up --nodes 3", up);
  up_input.reader.number("--nodes", up_input.flags.nodes, {1, 3}, "1 or 3 (default 3)");
  commands.add("status", "Says which nodes run", "status", status);
  ClusterCommands::Input& leader_input = commands.add("leader", "Names the node that leads a partition",
                                          "leader --topic sp-x", leader);
  ClusterCommands::add_partition(leader_input);
  commands.add_node("kill", "Ends a node at once (SIGKILL)", {&KafkaCluster::kill, &KafkaCluster::wait_ended, "killed"});
  commands.add_node("freeze", "Stops a node where it is (SIGSTOP)",
                    {&KafkaCluster::freeze, &KafkaCluster::wait_frozen, "frozen"});
  commands.add_node("thaw", "Lets a frozen node go on", {&KafkaCluster::thaw, nullptr, "thawed"});
  commands.add_node("restart", "Starts a node again with its data; kills it first if it runs",
                    {&KafkaCluster::restart, nullptr, "restarted"});
  commands.add("down", "Ends all nodes, also after a crash of whoever started them", "down", down);
}

}  // namespace sp::cli

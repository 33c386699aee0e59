#include "scenario/cluster/kafka_files.h"

#include <array>
#include <utility>

#include <fmt/core.h>

namespace sp::scenario::cluster {
namespace {

constexpr std::string_view kPom = R"(<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>streaming-proof</groupId>
  <artifactId>kafka-server</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_2.13</artifactId>
      <version>@RELEASE@</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-tools</artifactId>
      <version>@RELEASE@</version>
      <exclusions>
        <exclusion>
          <groupId>org.apache.kafka</groupId>
          <artifactId>connect-runtime</artifactId>
        </exclusion>
      </exclusions>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>2.25.5</version>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
      </plugin>
    </plugins>
  </build>
</project>
)";

constexpr std::string_view kLog = R"(status=WARN
appender.out.type=Console
appender.out.name=Out
appender.out.target=SYSTEM_OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1} %m%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=Out
)";

using Properties = std::map<std::string, std::string>;

// The same for every cluster.
const Properties& common_properties() {
  static const Properties properties = {
      {"auto.create.topics.enable", "false"},
      {"background.threads", "2"},
      {"broker.heartbeat.interval.ms", "500"},
      {"broker.session.timeout.ms", "3000"},
      {"controller.quorum.election.timeout.ms", "500"},
      {"controller.quorum.fetch.timeout.ms", "1000"},
      {"group.coordinator.background.threads", "1"},
      {"group.coordinator.threads", "1"},
      {"group.initial.rebalance.delay.ms", "0"},
      {"log.cleaner.dedupe.buffer.size", "2097152"},  // the default alone is more than a small heap has
      {"log.cleaner.io.buffer.size", "65536"},
      {"log.index.size.max.bytes", "1048576"},
      {"log.initial.task.delay.ms", "5000"},
      {"num.io.threads", "2"},
      {"num.network.threads", "2"},
      {"num.partitions", "1"},
      {"num.recovery.threads.per.data.dir", "1"},
      {"offsets.topic.num.partitions", "1"},
      {"replica.fetch.wait.max.ms", "250"},
      {"replica.lag.time.max.ms", "2000"},
      {"share.coordinator.state.topic.num.partitions", "1"},
      {"transaction.state.log.num.partitions", "1"},
  };
  return properties;
}

// What makes the cluster this cluster; changing it would cut our own branch.
constexpr std::array kOwned = {
    std::string_view("advertised.listeners"),
    std::string_view("controller.listener.names"),
    std::string_view("controller.quorum.voters"),
    std::string_view("controller.quorum.bootstrap.servers"),
    std::string_view("listeners"),
    std::string_view("log.dir"),
    std::string_view("log.dirs"),
    std::string_view("metadata.log.dir"),
    std::string_view("node.id"),
    std::string_view("process.roles"),
};

std::uint32_t replication_of(const KafkaSpec& spec) { return spec.replication.value_or(spec.nodes); }

std::uint32_t min_in_sync_of(const KafkaSpec& spec) {
  return spec.min_in_sync.value_or(replication_of(spec) >= 3 ? 2U : 1U);
}

// A value as a Java properties file takes it back unchanged.
std::string escaped(std::string_view value) {
  std::string result;
  for (const char c : value) {
    if (c == '\\')
      result += "\\\\";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == ' ' && result.empty())
      result += "\\ ";
    else
      result += c;
  }
  return result;
}

bool is_property_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '-' || c == '_';
    if (!fine) return false;
  }
  return true;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

Result<void> check_spec(const KafkaSpec& spec) {
  if (spec.nodes != 1 && spec.nodes != 3) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a local Kafka cluster has 1 or 3 nodes, not {}", spec.nodes));
  }
  if (replication_of(spec) < 1 || replication_of(spec) > spec.nodes) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a replication of {} does not fit {} node{}: use 1 to {}", replication_of(spec),
                            spec.nodes, spec.nodes == 1 ? "" : "s", spec.nodes));
  }
  if (min_in_sync_of(spec) < 1 || min_in_sync_of(spec) > replication_of(spec)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("min.insync.replicas {} does not fit a replication of {}: use 1 to {}",
                            min_in_sync_of(spec), replication_of(spec), replication_of(spec)));
  }
  if (spec.heap_megabytes < 128) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("a Kafka node does not run in {} MB of heap: use 128 at least", spec.heap_megabytes));
  }
  for (const auto& [name, value] : spec.properties) {
    if (!is_property_name(name)) {
      return fail(ErrorCode::kInvalid, fmt::format("'{}' is no name of a server property", name));
    }
    for (const auto owned : kOwned) {
      if (name != owned) continue;
      return fail(ErrorCode::kInvalid,
                  fmt::format("server property '{}' is chosen by the cluster itself: leave it out", name));
    }
  }
  return {};
}

std::string kafka_pom() {
  std::string text(kPom);
  replace_all(text, "@RELEASE@", kKafkaRelease);
  return text;
}

std::string log_properties() { return std::string(kLog); }

std::string server_properties(const KafkaSpec& spec, const std::vector<NodePorts>& ports, std::uint32_t node,
                              const std::filesystem::path& data) {
  Properties all = common_properties();
  const std::string replication = std::to_string(replication_of(spec));
  const std::string min_in_sync = std::to_string(min_in_sync_of(spec));
  all["default.replication.factor"] = replication;
  all["min.insync.replicas"] = min_in_sync;
  for (const char* topic : {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
    all[fmt::format("{}.replication.factor", topic)] = std::to_string(spec.nodes);
  }
  const std::string internal_min = spec.nodes == 3 ? "2" : "1";
  all["transaction.state.log.min.isr"] = internal_min;
  all["share.coordinator.state.topic.min.isr"] = internal_min;
  for (const auto& [name, value] : spec.properties) all[name] = value;

  std::string voters;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    voters += fmt::format("{}{}@127.0.0.1:{}", i == 0 ? "" : ",", i + 1, ports[i].controller);
  }
  const NodePorts& own = ports[node - 1];
  all["process.roles"] = "broker,controller";
  all["node.id"] = std::to_string(node);
  all["listeners"] =
      fmt::format("PLAINTEXT://127.0.0.1:{},CONTROLLER://127.0.0.1:{}", own.broker, own.controller);
  all["advertised.listeners"] = fmt::format("PLAINTEXT://127.0.0.1:{}", own.broker);
  all["controller.listener.names"] = "CONTROLLER";
  all["controller.quorum.voters"] = voters;
  all["log.dirs"] = data.string();
  std::string text;
  for (const auto& [name, value] : all) text += fmt::format("{}={}\n", name, escaped(value));
  return text;
}

std::string meta_properties(std::string_view cluster_id, std::uint32_t node, std::string_view directory_id) {
  return fmt::format("version=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n", cluster_id, node,
                     directory_id);
}

std::string make_id(Prng& chance) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr int kDigits = 21;  // of 6 bits; the last 2 bits of 16 bytes make one of four characters
  std::string id;
  for (int i = 0; i < kDigits; ++i) id += kAlphabet[chance.below(i == 0 ? 62 : 64)];
  id += kAlphabet[chance.below(4) * 16];
  return id;
}

}  // namespace sp::scenario::cluster

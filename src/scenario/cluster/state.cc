#include "scenario/cluster/state.h"

#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "codec/document.h"
#include "codec/json_writer.h"
#include "sys/files.h"

namespace sp::scenario::cluster {
namespace {

constexpr std::string_view kFormat = "streaming-proof-cluster-1";
constexpr std::size_t kStateBytesMax = 1U << 16U;

// Takes members out of a map; remembers the first thing that is wrong.
class Taker {
 public:
  Taker(const codec::Node& node, std::string_view name) : node_(node), name_(name) {
    if (node.kind != codec::Node::Kind::kMap) refuse(node.place, "an object is expected");
  }
  std::string text(std::string_view member) {
    const codec::Node* found = scalar(member);
    return found == nullptr ? "" : found->text;
  }
  template <typename Number>
  Number number(std::string_view member) {
    const codec::Node* found = scalar(member);
    if (found == nullptr) return 0;
    Number value{};
    const char* const end = found->text.data() + found->text.size();
    const auto [stop, bad] = std::from_chars(found->text.data(), end, value);
    if (bad != std::errc{} || stop != end) {
      refuse(found->place,
             fmt::format("'{}' must be a whole number up to {}", member, std::numeric_limits<Number>::max()));
    }
    return value;
  }
  const codec::Node* list(std::string_view member) {
    const codec::Node* found = node_.find(member);
    if (found != nullptr && found->kind == codec::Node::Kind::kList) return found;
    refuse(node_.place, fmt::format("the list '{}' is missing", member));
    return nullptr;
  }
  void refuse(codec::Place place, std::string_view why) {
    if (error_) return;
    error_ = Error{
        ErrorCode::kParse,
        fmt::format(
            "{}: {}; if the file is damaged, end the servers of its folder by hand and remove the folder",
            codec::place_text(name_, place), why)};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const codec::Node* scalar(std::string_view member) {
    const codec::Node* found = node_.find(member);
    if (found != nullptr && found->kind == codec::Node::Kind::kScalar) return found;
    refuse(node_.place, fmt::format("'{}' is missing", member));
    return nullptr;
  }

  const codec::Node& node_;  // outlives this
  std::string_view name_;
  std::optional<Error> error_;
};

Result<NodeState> take_node(const codec::Node& node, std::size_t number, std::string_view name) {
  Taker taker(node, name);
  NodeState state;
  if (taker.number<std::uint32_t>("node") != number)
    taker.refuse(node.place, fmt::format("node {} is expected", number));
  state.ports.broker = taker.number<std::uint16_t>("broker_port");
  state.ports.controller = taker.number<std::uint16_t>("controller_port");
  state.process.pid = taker.number<pid_t>("pid");
  state.process.start = taker.number<std::uint64_t>("start");
  if (state.process.pid < 0) taker.refuse(node.place, "'pid' must not be negative");
  if (taker.error()) return tl::unexpected<Error>(*taker.error());
  return state;
}

}  // namespace

std::string to_json(const StoredCluster& cluster) {
  codec::JsonWriter json({.indent = 2});
  json.begin_object().member("format", kFormat).member("system", "kafka").member("release", kKafkaRelease);
  json.member("cluster_id", cluster.cluster_id).member("boot", cluster.boot);
  json.member("java", cluster.java.string()).member("artefacts", cluster.artefacts.string());
  json.member("heap_megabytes", cluster.heap_megabytes).key("nodes").begin_array();
  std::uint32_t number = 0;
  for (const auto& node : cluster.nodes) {
    json.begin_object().member("node", ++number);
    json.member("broker_port", node.ports.broker).member("controller_port", node.ports.controller);
    json.member("pid", node.process.pid).member("start", node.process.start).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

Result<StoredCluster> parse_stored(std::string_view text, std::string_view name) {
  codec::DocumentOptions options;
  options.name = name;
  options.bytes_max = kStateBytesMax;
  auto document = codec::parse_document(text, options);
  if (!document) return tl::unexpected<Error>(std::move(document).error());
  Taker taker(*document, name);
  if (const std::string format = taker.text("format"); format != kFormat) {
    taker.refuse(document->place,
                 fmt::format("the format is '{}', and this program reads '{}'", format, kFormat));
  }
  StoredCluster cluster;
  cluster.cluster_id = taker.text("cluster_id");
  cluster.boot = taker.text("boot");
  cluster.java = taker.text("java");
  cluster.artefacts = taker.text("artefacts");
  cluster.heap_megabytes = taker.number<std::uint32_t>("heap_megabytes");
  const codec::Node* nodes = taker.list("nodes");
  if (taker.error()) return tl::unexpected<Error>(*taker.error());
  for (const auto& item : nodes->items) {
    auto node = take_node(item, cluster.nodes.size() + 1, name);
    if (!node) return tl::unexpected<Error>(std::move(node).error());
    cluster.nodes.push_back(*node);
  }
  return cluster;
}

Result<StoredCluster> read_stored(const std::filesystem::path& folder) {
  const auto path = folder / kStateFile;
  auto text = sys::read_file(path, kStateBytesMax);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no cluster in {}", folder.string()));
  }
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  return parse_stored(*text, path.string());
}

Result<void> write_stored(const std::filesystem::path& folder, const StoredCluster& cluster) {
  return sys::write_atomically(folder / kStateFile, to_json(cluster));
}

}  // namespace sp::scenario::cluster

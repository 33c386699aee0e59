#include "coordinator/world.h"

#include <utility>

#include "base/text.h"
#include "codec/document.h"
#include "codec/json_writer.h"

namespace sp::coordinator {
namespace {

std::string text_in(const codec::Node& node, std::string_view name) {
  const codec::Node* const found = node.find(name);
  return found == nullptr ? std::string() : found->text;
}

World read_world(const codec::Node& root) {
  World world;
  if (const auto* const workers = root.find("workers")) {
    for (const codec::Node& each : workers->items) world.workers.push_back({text_in(each, "name"), text_in(each, "url")});
  }
  if (const auto* const targets = root.find("targets")) {
    for (const codec::Node& each : targets->items) {
      ClusterTarget target{text_in(each, "role"), text_in(each, "driver"), text_in(each, "type"), {}, std::nullopt};
      if (const auto* const endpoints = each.find("endpoints")) {
        for (const codec::Member& member : endpoints->members) target.endpoints.push_back({member.name, json_of(member.value)});
      }
      if (const auto* const metadata = each.find("metadata")) target.metadata = json_of(*metadata);
      world.targets.push_back(std::move(target));
    }
  }
  if (const auto* const points = root.find("seriesPointsMax"))
    world.series_points_max = parse_unsigned(points->text).value_or(world.series_points_max);
  return world;
}

}  // namespace

std::string world_json(const World& world) {
  codec::JsonWriter json;
  json.begin_object().key("workers").begin_array();
  for (const NamedWorker& worker : world.workers) {
    json.begin_object().member("name", worker.name).member("url", worker.url).end_object();
  }
  json.end_array().key("targets").begin_array();
  for (const ClusterTarget& target : world.targets) {
    json.begin_object().member("role", target.role).member("driver", target.driver).member("type", target.type);
    json.key("endpoints").begin_object();
    for (const JsonMember& member : target.endpoints) json.key(member.name).raw(member.json);
    json.end_object();
    if (target.metadata) json.key("metadata").raw(*target.metadata);
    json.end_object();
  }
  return json.end_array().member("seriesPointsMax", world.series_points_max).end_object().take();
}

World world_of_json(std::string_view json) {
  auto root = codec::parse_document(json, {.name = "world", .bytes_max = std::size_t{64} << 20U, .nodes_max = 1'000'000});
  return root ? read_world(*root) : World{};
}

}  // namespace sp::coordinator

#include "codec/json_tree.h"

#include <algorithm>

#include <simdjson.h>

#include "base/check.h"
#include "codec/json_writer.h"

namespace sp::codec {
namespace {

namespace dom = simdjson::dom;
using Kind = JsonNode::Kind;

// False: nested too deeply. (simdjson has a limit too, but does not count containers that are empty.)
bool flatten(dom::element value, std::string_view name, std::size_t depth, std::vector<JsonNode>& nodes) {
  const std::size_t index = nodes.size();
  JsonNode& node = nodes.emplace_back();
  node.name = name;
  switch (value.type()) {
    case dom::element_type::NULL_VALUE: node.kind = Kind::kNull; break;
    case dom::element_type::BOOL:
      node.kind = Kind::kBool;
      node.yes = value.get_bool().value_unsafe();
      break;
    case dom::element_type::UINT64:
      node.kind = Kind::kUnsigned;
      node.number = value.get_uint64().value_unsafe();
      break;
    case dom::element_type::INT64: {
      const std::int64_t number = value.get_int64().value_unsafe();
      node.kind = number < 0 ? Kind::kNegative : Kind::kUnsigned;
      node.number = static_cast<std::uint64_t>(number);
      break;
    }
    case dom::element_type::DOUBLE:
      node.kind = Kind::kReal;
      node.real = value.get_double().value_unsafe();
      break;
    case dom::element_type::STRING:
      node.kind = Kind::kString;
      node.text = value.get_string().value_unsafe();
      break;
    case dom::element_type::ARRAY: {
      node.kind = Kind::kArray;
      if (depth == kJsonDepthMax) return false;
      const dom::array items = value.get_array().value_unsafe();  // a name of its own: value_unsafe() refers to a temporary
      for (const dom::element item : items) {
        if (!flatten(item, {}, depth + 1, nodes)) return false;
      }
      break;
    }
    case dom::element_type::OBJECT: {
      node.kind = Kind::kObject;
      if (depth == kJsonDepthMax) return false;
      const dom::object members = value.get_object().value_unsafe();
      for (const auto& member : members) {
        if (!flatten(member.value, member.key, depth + 1, nodes)) return false;
      }
      break;
    }
  }
  nodes[index].end = static_cast<std::uint32_t>(nodes.size());
  return true;
}

void write_node(std::span<const JsonNode> nodes, std::size_t index, JsonWriter& json) {
  const JsonNode& node = nodes[index];
  switch (node.kind) {
    case Kind::kNull: json.null(); return;
    case Kind::kBool: json.value(node.yes); return;
    case Kind::kUnsigned: json.value(node.number); return;
    case Kind::kNegative: json.value(static_cast<std::int64_t>(node.number)); return;
    case Kind::kReal: json.value(node.real); return;
    case Kind::kString: json.value(node.text); return;
    case Kind::kArray: json.begin_array(); break;
    case Kind::kObject: json.begin_object(); break;
  }
  for (std::size_t child = index + 1; child < node.end; child = nodes[child].end) {
    if (node.kind == Kind::kObject) json.key(nodes[child].name);
    write_node(nodes, child, json);
  }
  node.kind == Kind::kObject ? json.end_object() : json.end_array();
}

}  // namespace

struct JsonTree::Parser {
  dom::parser dom;
  std::size_t capacity = 0;
};

JsonTree::JsonTree() : parser_(std::make_unique<Parser>()) {}
JsonTree::~JsonTree() = default;

std::optional<JsonFault> JsonTree::parse(std::string_view text) {
  nodes_.clear();
  if (text.size() > parser_->capacity) {
    parser_->capacity = std::max<std::size_t>(2 * text.size(), 4096);
    const auto error = parser_->dom.allocate(parser_->capacity, kJsonDepthMax + 2);
    CHECK(error == simdjson::SUCCESS, "there is memory for a parser of JSON");
  }
  padded_.assign(text);
  padded_.append(simdjson::SIMDJSON_PADDING, ' ');
  dom::element root;
  const auto error = parser_->dom.parse(padded_.data(), text.size(), false).get(root);
  if (error != simdjson::SUCCESS || !flatten(root, {}, 0, nodes_)) {
    nodes_.clear();
    JsonFault fault = find_in_json(text, SIZE_MAX);
    if (fault.reason.empty()) fault.reason = simdjson::error_message(error);
    return fault;
  }
  return std::nullopt;
}

void JsonTree::append(std::string& out, std::size_t index) const {
  JsonWriter json;
  write_node(nodes_, index, json);
  out += json.text();
}

}  // namespace sp::codec

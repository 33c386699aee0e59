#include "api/json_body.h"

#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>

#include "codec/json_tree.h"

namespace sp::api {
namespace {

using codec::JsonNode;
using codec::Node;

class Converter {
 public:
  Converter(const codec::JsonTree& tree, std::size_t depth_max) : tree_(tree), depth_max_(depth_max) {}

  std::optional<Node> convert(std::size_t index, std::size_t depth) {
    const JsonNode& from = tree_.nodes()[index];
    Node node;
    if (depth > depth_max_) return std::nullopt;
    switch (from.kind) {
      case JsonNode::Kind::kNull:
        return node;
      case JsonNode::Kind::kArray:
      case JsonNode::Kind::kObject:
        node.kind = from.kind == JsonNode::Kind::kArray ? Node::Kind::kList : Node::Kind::kMap;
        return children(index, depth, std::move(node));
      case JsonNode::Kind::kString:
        node.quoted = true;
        node.text = from.text;
        break;
      case JsonNode::Kind::kBool:
      case JsonNode::Kind::kUnsigned:
      case JsonNode::Kind::kNegative:
      case JsonNode::Kind::kReal:
        tree_.append(node.text, index);
        break;
    }
    node.kind = Node::Kind::kScalar;
    return node;
  }

 private:
  std::optional<Node> children(std::size_t index, std::size_t depth, Node node) {
    std::unordered_set<std::string_view> names;
    for (std::size_t at = index + 1; at < tree_.nodes()[index].end; at = tree_.nodes()[at].end) {
      auto child = convert(at, depth + 1);
      if (!child) return std::nullopt;
      if (node.kind == Node::Kind::kList) {
        node.items.push_back(*std::move(child));
        continue;
      }
      const std::string_view name = tree_.nodes()[at].name;
      if (!names.insert(name).second) return std::nullopt;
      node.members.push_back({std::string(name), {}, *std::move(child)});
    }
    return node;
  }

  const codec::JsonTree& tree_;
  std::size_t depth_max_;
};

}  // namespace

std::optional<codec::Node> node_of_json(std::string_view text, const codec::DocumentOptions& options) {
  if (text.size() > options.bytes_max) return std::nullopt;
  codec::JsonTree tree;
  if (tree.parse(text) || tree.nodes().empty() || tree.nodes().size() > options.nodes_max) return std::nullopt;
  return Converter(tree, options.depth_max).convert(0, 1);
}

}  // namespace sp::api

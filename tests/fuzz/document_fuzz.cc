// Any bytes at all are a document or an error that names a place; limits hold; nothing is thrown.
//
// links: codec
#include "codec/document.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::size_t nodes_of(const sp::codec::Node& node, std::size_t depth, std::size_t depth_max) {
  sp::fuzz::demand(depth <= depth_max, "a document keeps to its depth");
  std::size_t nodes = 1;
  for (const auto& item : node.items) nodes += nodes_of(item, depth + 1, depth_max);
  for (const auto& member : node.members) {
    sp::fuzz::demand(node.find(member.name) == &member.value,
                     "a member is found by its name, and no name stands twice");
    nodes += nodes_of(member.value, depth + 1, depth_max);
  }
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{static_cast<const char*>(static_cast<const void*>(data)), size};
  const sp::codec::DocumentOptions options{.name = "fuzz", .bytes_max = 1U << 16U, .depth_max = 12, .nodes_max = 500};
  const auto document = sp::codec::parse_document(text, options);
  if (document) {
    sp::fuzz::demand(nodes_of(*document, 0, options.depth_max + 1) <= options.nodes_max + 1,
                     "a document keeps to its nodes");
  } else {
    const auto code = document.error().code;
    sp::fuzz::demand(code == sp::ErrorCode::kParse || code == sp::ErrorCode::kFull, "an error is kParse or kFull");
    sp::fuzz::demand(document.error().message.find("fuzz") != std::string::npos, "an error names the document");
  }
  return 0;
}

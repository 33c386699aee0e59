// A small tree out of YAML or JSON text (JSON is read as the YAML that it is), with line and column
// of every node: for files and bodies that people write. Not for histories.
//
//     node    =  nothing | scalar | list of nodes | map of name ─► node
//     scalar  =  its text as written, and whether it stood in quotes; so a number of 64 bits stays exact
//
// Shape:    the members of a map keep their order; no name stands twice. All text is valid UTF-8.
// Cost:     some 100 ns a node.
// Limits:   DocumentOptions; past one it is an error that names the limit.
// Errors:   kParse with name, line and column: not YAML, a name twice in one map, a name that is no
//           scalar, an alias, a tag of nobody's, two documents. kFull: a limit. Never anything else,
//           whatever the bytes are.
// Threads:  a value.   Source: YAML 1.2; RFC 8259.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sp::codec {

// From 1; 0: there is none (an empty document).
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
  bool operator==(const Place&) const = default;
};

struct Member;

struct Node {
  enum class Kind : std::uint8_t { kNothing, kScalar, kList, kMap };

  Kind kind = Kind::kNothing;  // kNothing: null, ~ or not there
  bool quoted = false;         // kScalar
  std::string text;            // kScalar
  Place place;
  std::vector<Node> items;      // kList
  std::vector<Member> members;  // kMap

  // The member of that name; nullptr if there is none. O(members).
  [[nodiscard]] const Node* find(std::string_view name) const;
};

struct Member {
  std::string name;
  Place place;  // of the name
  Node value;
};

struct DocumentOptions {
  std::string_view name = "document";  // what errors call it: the file's name
  std::size_t bytes_max = 1U << 20U;
  std::size_t depth_max = 32;
  std::size_t nodes_max = 100'000;
};

// The one document in `text`; an empty text is a node of kind kNothing.
[[nodiscard]] Result<Node> parse_document(std::string_view text,
                                          const DocumentOptions& options = {});

// "proof.yaml line 3 column 5"; without a line just the name.
[[nodiscard]] std::string place_text(std::string_view name, Place place);

}  // namespace sp::codec

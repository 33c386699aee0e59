// One JSON text as a flat list of values, read strictly: for lines that are not written as we write them.
//
//     {"a":[1,"x"],"b":2}   ─►   object end 5 · "a" array end 4 · 1 · "x" · "b" 2       in the order in which they stand
//
// Shape:    a value's children follow it up to `end`; nodes[0] is the whole. Whole numbers of 64 bits are exact.
// Cost:     some 5 ns a byte; memory in proportion to the text, kept for the next one.
// Limits:   kJsonDepthMax levels; whole numbers from −2^63 to 2^64 − 1, others within the range of a double.
// Errors:   a JsonFault: where it is, and what is wrong there. Never anything else, whatever the bytes are.
// Threads:  one owner.   Source: RFC 8259.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sp::codec {

constexpr std::size_t kJsonDepthMax = 100;

struct JsonNode {
  enum class Kind : std::uint8_t { kNull, kBool, kUnsigned, kNegative, kReal, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool yes = false;             // kBool
  std::uint32_t end = 0;        // one behind the last node that belongs to this one
  std::uint64_t number = 0;     // kUnsigned; kNegative: two's complement
  double real = 0;              // kReal
  std::string_view name;        // of a member
  std::string_view text;        // kString
};

struct JsonFault {
  std::size_t at = 0;  // bytes before it
  std::string reason;
};

class JsonTree {
 public:
  JsonTree();
  ~JsonTree();
  JsonTree(const JsonTree&) = delete;
  JsonTree& operator=(const JsonTree&) = delete;

  // Reads `text`; its values are in nodes() until the next call.
  [[nodiscard]] std::optional<JsonFault> parse(std::string_view text);
  [[nodiscard]] std::span<const JsonNode> nodes() const { return nodes_; }

  // Appends the value at `index` as compact JSON.
  void append(std::string& out, std::size_t index) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string padded_;
  std::vector<JsonNode> nodes_;
};

// Where value number `index` of nodes() begins in `text`, or the first fault: slow, for messages.
[[nodiscard]] JsonFault find_in_json(std::string_view text, std::size_t index);

}  // namespace sp::codec

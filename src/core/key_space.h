// Keys: who owns them, what they are called, and how a name is found again without a table of names.
//
// A *block* is the keys of one producer of one incarnation of one worker; a key is a place in a block. The name is made from
// both, so ten million keys cost no names in memory, and a delivered name is parsed instead of looked up.
//
//     name  =  run "." worker "." incarnation "." producer "." index        r7f3a2k9.0.1.3.17
//
// Block 0 holds literal names: those of histories, and foreign ones found in the system.
//
// Cost:    name() one string; find() 30 ns for a made name, a hash look-up for a literal one.
// Limits:  2^32 − 1 blocks, 2^32 − 1 keys a block; literal names up to `literals_max` (find() then says nullopt).
// Errors:  none.   Threads: one owner.   Source: ARCHITECTURE.md, "Keys".
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ids.h"

namespace sp::core {

// Who owns a block.
struct KeyBlock {
  SourceId source;
  std::uint32_t producer = 0;  // index within the worker
  auto operator<=>(const KeyBlock&) const = default;
};

// A key, by place. Refs of two KeySpaces are not comparable.
struct KeyRef {
  std::uint32_t block = 0;
  std::uint32_t index = 0;
  auto operator<=>(const KeyRef&) const = default;
};

// True if `name` begins as the made names of that run do.
[[nodiscard]] bool is_name_of(RunId run, std::string_view name);

class KeySpace {
 public:
  static constexpr std::uint32_t kLiteralBlock = 0;

  explicit KeySpace(RunId run, std::size_t literals_max = 1'000'000);

  [[nodiscard]] RunId run() const { return run_; }
  // The number of the block, made if it is new.
  std::uint32_t block(const KeyBlock& identity);
  [[nodiscard]] std::optional<std::uint32_t> find_block(const KeyBlock& identity) const;
  // The identity of a block above 0.
  [[nodiscard]] const KeyBlock& identity(std::uint32_t block) const { return blocks_[block]; }
  // One above the highest block number.
  [[nodiscard]] std::uint32_t blocks_end() const { return static_cast<std::uint32_t>(blocks_.size()); }

  // The key of that name: of a block of this run, made if new, else a literal; nullopt when literals_max is reached.
  [[nodiscard]] std::optional<KeyRef> find(std::string_view name);
  // The key of that literal name, made if new; nullopt when literals_max is reached.
  [[nodiscard]] std::optional<KeyRef> literal(std::string_view name);
  [[nodiscard]] std::string name(KeyRef key) const;
  // The name, written over `out`, whose capacity is kept.
  void name_to(KeyRef key, std::string& out) const;
  [[nodiscard]] std::size_t literal_count() const { return literals_.size(); }
  [[nodiscard]] const std::string& literal_name(std::uint32_t index) const { return literals_[index]; }

 private:
  RunId run_;
  std::string prefix_;  // run_text and a dot
  std::size_t literals_max_;
  std::vector<KeyBlock> blocks_;
  std::map<KeyBlock, std::uint32_t> numbers_;
  std::vector<std::string> literals_;
  std::unordered_map<std::string, std::uint32_t> literal_index_;
  std::uint32_t last_found_ = 0;  // the block of the last find(), tried first
  std::string last_prefix_;       // of its keys, up to the index
};

}  // namespace sp::core

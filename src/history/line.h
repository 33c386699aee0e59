// One line of a history, written and read: the slow reader that understands all of JSON, and says what is wrong where.
//
//     append_operation(out, operation, …)  ─►  {"index":7,"time_ns":73,"process":"p","type":"ok","f":"publish",…}\n
//     LineParser::operation(line, …)       ─►  the operation, or a LineFault
//
// Shape:    written members stand in the order of enum Member; equal operations are equal bytes. Read members stand in any order;
//           unknown ones are ignored.
// Cost:     write 150 ns a line; read 5 ns a byte (fast_line.h is the fast one).
// Limits:   those of codec/json_tree.h and of Names.
// Errors:   a LineFault: the byte, and a sentence that says what to do. Never anything else, whatever the bytes are.
// Threads:  one owner.   Source: docs/formats/history.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/json_tree.h"
#include "history/schema.h"

namespace sp::history {

// With its newline. Names are those of `vocabulary`; but a key that is given is written instead of the operation's.
void append_operation(std::string& out, const Operation& operation, const Vocabulary& vocabulary, Dialect dialect,
                      std::optional<std::string_view> key = std::nullopt);
void append_meta(std::string& out, const Meta& meta);

struct LineFault {
  std::size_t at = 0;     // bytes of the line before it
  std::string says;
  bool no_json = false;   // the line is not even JSON: it may have been cut off
  bool full = false;      // a limit is reached
};

class LineParser {
 public:
  // `vocabulary` outlives this.
  explicit LineParser(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  // Reads `line` (without its newline) into `operation`, whose line is left alone; `details` is where it keeps what is rare.
  // Its index must be `index`.
  [[nodiscard]] std::optional<LineFault> operation(std::string_view line, Dialect dialect, std::uint64_t index,
                                                   Operation& operation, Details& details);
  [[nodiscard]] std::optional<LineFault> meta(std::string_view line, Meta& meta);

 private:
  struct Frame;
  [[nodiscard]] bool read_root(std::string_view line);
  bool stop(std::size_t node, std::string says);
  bool refuse_kind(std::size_t node, std::string_view expects);
  [[nodiscard]] const codec::JsonNode& node(std::size_t index) const { return tree_.nodes()[index]; }

  bool read_frame(Frame& frame, Operation& operation);
  bool read_function(const Frame& frame, Operation& operation);
  bool read_members(const Frame& frame, Operation& operation, Details& details);
  bool read_member(std::size_t at, const MemberRow& row, Operation& operation, Details& details);
  bool read_unsigned(std::size_t at, const MemberRow& row, Operation& operation);
  bool read_small(std::size_t at, const MemberRow& row, Operation& operation);
  bool read_id(std::size_t at, const MemberRow& row, Operation& operation);
  bool read_position(std::size_t at, std::string_view expects, Position& position, std::optional<std::size_t>& topic);
  bool read_start(std::size_t at, const MemberRow& row, Operation& operation, Details& details);
  bool read_json(std::size_t at, const MemberRow& row, Details& details);
  bool read_text(std::size_t at, const MemberRow& row, Operation& operation, Details& details);
  bool read_list(std::size_t at, const MemberRow& row, Details& details);
  bool read_target(std::size_t at, const MemberRow& row, Target& target);
  bool read_stream_seq(std::size_t at, Operation& operation);
  bool read_topic(std::size_t at, Operation& operation);

  bool read_meta(Meta& meta);
  bool read_meta_member(std::size_t at, Meta& meta);
  bool read_meta_text(std::size_t at, std::string& into);
  bool read_meta_choice(std::size_t at, std::string_view first, std::string_view second, bool& is_second);

  Vocabulary& vocabulary_;
  codec::JsonTree tree_;
  Dialect dialect_ = Dialect::kVersion1;
  // What was found wrong: the node (its place is looked for afterwards), or the place itself.
  std::size_t fault_node_ = 0;
  std::optional<LineFault> fault_;
};

}  // namespace sp::history

// One form of EDN out of a piece of text that may end too early: EdnReader's other half.
//
//     "{:a 1} {:b"     form() ─► kDone, at() 6      form() ─► kMore: the text ends within the form
//
// Shape:    nodes and unescaped texts are appended; `unescaped` has room for as many bytes as the text, so that no text in it moves.
// Cost:     20 ns a byte.   Limits: those of edn.h.   Errors: kFault: where, and what is wrong and what to do.
// Threads:  one owner.   Source: as edn.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/edn.h"

namespace sp::codec {

class EdnParser {
 public:
  enum class Step : std::uint8_t { kDone, kMore, kFault };
  EdnParser(std::string_view text, bool whole, std::vector<EdnNode>& nodes, std::string& unescaped)
      : text_(text), whole_(whole), nodes_(nodes), unescaped_(unescaped) {}

  // Blanks, comments and discarded forms.
  Step blanks();
  // At a byte that is no blank.
  Step form();

  [[nodiscard]] std::size_t at() const { return at_; }
  // What of the blanks around all forms is read for good, whatever follows.
  [[nodiscard]] std::size_t skipped() const { return skipped_; }
  [[nodiscard]] std::size_t fault_at() const { return fault_at_; }
  [[nodiscard]] const std::string& says() const { return says_; }
  [[nodiscard]] bool full() const { return full_; }

 private:
  Step fault(std::size_t at, std::string says) {
    fault_at_ = at;
    says_ = std::move(says);
    return Step::kFault;
  }
  Step deeper(std::size_t at);
  Step discard();
  Step sequence(EdnNode::Kind kind, std::size_t opener_bytes, char closer);
  Step tagged();
  Step symbolic();
  Step string();
  Step escape(std::size_t opened);
  Step unicode(std::uint32_t& code);
  Step character();
  Step token();
  Step number(std::string_view token, std::size_t index);
  // Of the token at at_, cut at its delimiter; kMore if it may go on behind the text.
  Step take_token(std::string_view& token);
  std::size_t open(EdnNode::Kind kind) {
    EdnNode& node = nodes_.emplace_back();
    node.kind = kind;
    node.first_byte = static_cast<std::uint32_t>(at_);
    return nodes_.size() - 1;
  }
  Step close(std::size_t index) {
    nodes_[index].end = static_cast<std::uint32_t>(nodes_.size());
    nodes_[index].end_byte = static_cast<std::uint32_t>(at_);
    return Step::kDone;
  }

  std::string_view text_;
  bool whole_;
  std::vector<EdnNode>& nodes_;
  std::string& unescaped_;
  std::size_t at_ = 0;
  std::size_t skipped_ = 0;
  std::size_t depth_ = 0;
  std::size_t fault_at_ = 0;
  std::string says_;
  bool full_ = false;
};

}  // namespace sp::codec

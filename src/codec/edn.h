// EDN, the notation in which Clojure prints data, read one form after the other out of a stream.
//
//     {:f :send, :value [[:send 1 2]]}      ─►   map end 8 · :f · :send · :value · vector end 8 · vector end 8 · :send · 1 · 2
//     {…} {…} {…}   or   [{…} {…} {…}]      ─►   next() {…}   next() {…}   next() {…}   next() none
//
// Shape:    a form's children follow it up to `end`; nodes[0] is the whole. Blanks, comments and what #_ discards are gone. Whether a
//           name stands twice in a map or a set is not looked at. If the first thing in the file is a vector or list, its items are
//           the forms, and nothing may follow it.
// Cost:     some 20 ns a byte. Memory is that of the longest form, not of the file.
// Limits:   kEdnDepthMax levels, kEdnFormBytesMax and kEdnNodesMax a form: beyond the first kParse, beyond the others kFull. Whole numbers
//           of 64 bits are exact, larger ones are kBig.
// Errors:   name, line, column (in bytes), what is wrong there and what to do. Never anything else, whatever the bytes are.
// Threads:  one owner.   Source: github.com/edn-format/edn, and what Clojure's printer adds: ratios, ##Inf, octal escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/byte_source.h"

namespace sp::codec {

constexpr std::size_t kEdnDepthMax = 100;
constexpr std::size_t kEdnFormBytesMax = std::size_t{1} << 24U;
constexpr std::size_t kEdnNodesMax = std::size_t{1} << 20U;

struct EdnNode {
  enum class Kind : std::uint8_t {
    kNil, kBool, kInteger, kBig, kRatio, kReal, kString, kCharacter, kKeyword, kSymbol, kList, kVector, kMap, kSet,
    kTagged,                    // one child
  };
  Kind kind = Kind::kNil;
  bool yes = false;             // kBool
  std::uint32_t end = 0;        // one behind the last node that belongs to this one
  std::uint32_t first_byte = 0; // of the form's text
  std::uint32_t end_byte = 0;
  std::int64_t number = 0;      // kInteger
  double real = 0;              // kReal
  std::string_view text;        // kString, kCharacter: what they hold; kKeyword: without its colon; kSymbol; kTagged: without its #
};

class EdnReader {
 public:
  struct Options {
    std::size_t read_bytes = std::size_t{1} << 18U;   // at a time; at least 1
    bool accept_torn = false;   // a stream that ends within a form ends before it; else that is an error
  };
  // `name`: what errors call it.
  EdnReader(std::unique_ptr<ByteSource> source, std::string name, Options options);

  // The next form; empty: the end. It and all texts in it live until the next call.
  [[nodiscard]] Result<std::span<const EdnNode>> next();
  // Of the last form: all its text, or that of a node of it.
  [[nodiscard]] std::string_view text() const { return {buffer_.data() + at_, form_bytes_}; }
  [[nodiscard]] std::string_view text(const EdnNode& node) const {
    return text().substr(node.first_byte, node.end_byte - node.first_byte);
  }
  // Of the last form.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  // An error about a node of the last form: "name line 3 column 7: says".
  [[nodiscard]] Error error_at(const EdnNode& node, std::string_view says) const { return error_at_byte(node.first_byte, says); }
  // At the end: the line at which the form begins that was cut off and left out, 0 if none was.
  [[nodiscard]] std::uint64_t torn_line() const { return torn_line_; }

 private:
  enum class Step : std::uint8_t { kDone, kMore, kEnd, kError };
  [[nodiscard]] std::string_view rest() const { return {buffer_.data() + at_, buffer_.size() - at_}; }
  Step lead();
  Step form();
  Step fill();
  Step cut_off();
  Step refuse(std::size_t byte, std::string_view says, ErrorCode code = ErrorCode::kParse);
  void consume(std::size_t bytes);
  [[nodiscard]] Error error_at_byte(std::size_t byte, std::string_view says, ErrorCode code = ErrorCode::kParse) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  Options options_;
  std::string buffer_;
  std::size_t at_ = 0;             // of the buffer: where the last form, or the next one, begins
  std::size_t form_bytes_ = 0;
  std::uint64_t line_ = 1;         // of at_
  std::uint64_t column_ = 0;       // bytes of its line before at_
  bool whole_ = false;             // the buffer holds the stream's last byte
  bool begun_ = false;
  char closer_ = 0;                // of the vector or list around the forms
  bool closed_ = false;
  std::uint64_t torn_line_ = 0;
  std::optional<Error> error_;
  std::vector<EdnNode> nodes_;
  std::string unescaped_;          // texts that do not stand in the stream as they are
};

}  // namespace sp::codec

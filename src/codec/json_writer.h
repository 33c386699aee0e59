// JSON out: members stand in the order in which they are written, so equal calls give equal bytes.
//
//     JsonWriter json({.indent = 2});
//     json.begin_object().member("run", "r7f3").key("counts").begin_array().value(1).end_array();
//     json.end_object().take()       {"run": "r7f3", "counts": [1]}, over several lines
//
// Shape:    always valid UTF-8 and, when complete(), valid JSON. A call out of turn is a bug of ours
//           and ends the program. Whole numbers are exact, others the shortest text that reads back
//           the same; NaN and infinities are null. Bytes of a string that are not UTF-8 become
//           U+FFFD, control characters escapes.
// Cost:     2 ns a byte.   Limits: memory.   Errors: none.   Threads: one owner.   Source: RFC 8259.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sp::codec {

// Appends `text` as a JSON string, quotes included.
void append_json_string(std::string& out, std::string_view text);

struct JsonOptions {
  unsigned indent = 0;  // 0: all on one line
};

class JsonWriter {
 public:
  explicit JsonWriter(JsonOptions options = {}) : options_(options) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  // The name of the next member; a value, object or array follows.
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(bool yes);
  JsonWriter& value(double number);
  template <std::integral Number>
  JsonWriter& value(Number number) {
    if constexpr (std::signed_integral<Number>)
      return signed_value(number);
    else
      return unsigned_value(number);
  }
  JsonWriter& null();
  template <typename T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  // Valid JSON made elsewhere, put in as it is.
  JsonWriter& raw(std::string_view json);

  template <typename T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }

  // True when exactly one value has been begun and ended.
  [[nodiscard]] bool complete() const { return levels_.empty() && !text_.empty() && !after_key_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  // The text; the writer is empty again.
  [[nodiscard]] std::string take();

 private:
  enum class Kind : std::uint8_t { kObject, kArray };
  struct Level {
    Kind kind;
    bool empty = true;
  };

  JsonWriter& signed_value(std::int64_t number);
  JsonWriter& unsigned_value(std::uint64_t number);
  void before_value();
  void next_place(Level& level);
  void new_line();
  JsonWriter& begin(Kind kind, char bracket);
  JsonWriter& end(Kind kind, char bracket);

  JsonOptions options_;
  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace sp::codec

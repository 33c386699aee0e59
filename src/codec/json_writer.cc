#include "codec/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "codec/utf8.h"

namespace sp::codec {
namespace {

void append_json_escape(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
  }
}

bool json_plain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

template <typename Number>
void append_json_number(std::string& out, Number number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t plain_end = at;
    while (plain_end < text.size() && json_plain(static_cast<unsigned char>(text[plain_end])))
      ++plain_end;
    out.append(text, at, plain_end - at);
    at = plain_end;
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      append_json_escape(out, byte);
      ++at;
      continue;
    }
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out.append(text, at, length);
      at += length;
    }
  }
  out += '"';
}

void JsonWriter::new_line() {
  if (options_.indent == 0) return;
  text_ += '\n';
  text_.append(options_.indent * levels_.size(), ' ');
}

void JsonWriter::next_place(Level& level) {
  if (!level.empty) text_ += ',';
  level.empty = false;
  new_line();
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) {
    CHECK(text_.empty(), "a JSON text is one value");
    return;
  }
  CHECK(levels_.back().kind == Kind::kArray, "in an object a key stands before each value");
  next_place(levels_.back());
}

JsonWriter& JsonWriter::key(std::string_view name) {
  CHECK(!levels_.empty() && levels_.back().kind == Kind::kObject && !after_key_,
        "a key stands in an object");
  next_place(levels_.back());
  append_json_string(text_, name);
  text_ += options_.indent == 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin(Kind kind, char bracket) {
  before_value();
  text_ += bracket;
  levels_.push_back({kind});
  return *this;
}

JsonWriter& JsonWriter::end(Kind kind, char bracket) {
  CHECK(!levels_.empty() && levels_.back().kind == kind && !after_key_, "what ends was begun");
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) new_line();
  text_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::begin_object() { return begin(Kind::kObject, '{'); }
JsonWriter& JsonWriter::end_object() { return end(Kind::kObject, '}'); }
JsonWriter& JsonWriter::begin_array() { return begin(Kind::kArray, '['); }
JsonWriter& JsonWriter::end_array() { return end(Kind::kArray, ']'); }

JsonWriter& JsonWriter::value(std::string_view text) {
  before_value();
  append_json_string(text_, text);
  return *this;
}

JsonWriter& JsonWriter::value(bool yes) { return raw(yes ? "true" : "false"); }

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  append_json_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::signed_value(std::int64_t number) {
  before_value();
  append_json_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::unsigned_value(std::uint64_t number) {
  before_value();
  append_json_number(text_, number);
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  before_value();
  text_ += json;
  return *this;
}

std::string JsonWriter::take() {
  CHECK(complete(), "what was begun is ended");
  return std::exchange(text_, {});
}

}  // namespace sp::codec

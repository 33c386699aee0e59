#include "codec/edn_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "codec/utf8.h"

namespace sp::codec {
namespace {

using EdnKind = EdnNode::Kind;

bool is_edn_digit(char c) { return c >= '0' && c <= '9'; }
bool is_edn_blank(char c) { return c == ' ' || c == ',' || (c >= '\t' && c <= '\r'); }
// Looked at for every byte, hence tables.
constexpr auto kTokenEnds = [] {
  std::array<bool, 256> ends{};
  for (const char c : std::string_view("()[]{}\";, \t\n\v\f\r")) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();
constexpr auto kSymbolBytes = [] {
  std::array<bool, 256> bytes{};
  for (std::size_t c = 0; c < bytes.size(); ++c) bytes[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
  for (const char c : std::string_view("0123456789.*+!-_?$%&=<>/:#'|")) bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}();
bool ends_token(char c) { return kTokenEnds[static_cast<unsigned char>(c)]; }
bool is_symbol_byte(char c) { return kSymbolBytes[static_cast<unsigned char>(c)]; }

// As a symbol may be: a name, or a prefix, one slash and a name.
bool is_symbol(std::string_view token) {
  if (token == "/") return true;
  if (token.empty() || !std::ranges::all_of(token, is_symbol_byte)) return false;
  if (is_edn_digit(token[0]) || token[0] == ':' || token[0] == '#' || token.back() == ':') return false;
  const std::size_t slash = token.find('/');
  if (slash == std::string_view::npos) return true;
  return slash != 0 && slash + 1 != token.size() && token.find('/', slash + 1) == std::string_view::npos;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | code >> 6U);
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | code >> 12U);
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | code >> 18U);
    out += static_cast<char>(0x80U | (code >> 12U & 0x3FU));
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

// All of `digits` as a number of that base.
std::optional<std::uint32_t> number_in_base(std::string_view digits, int base) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

EdnParser::Step EdnParser::blanks() {
  while (at_ < text_.size()) {
    if (depth_ == 0) skipped_ = at_;
    if (is_edn_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == ';') {
      const std::size_t newline = text_.find('\n', at_);
      if (newline == std::string_view::npos && !whole_) return Step::kMore;
      at_ = newline == std::string_view::npos ? text_.size() : newline + 1;
    } else if (text_[at_] != '#') {
      return Step::kDone;
    } else if (at_ + 1 == text_.size()) {
      return Step::kMore;
    } else if (text_[at_ + 1] != '_') {
      return Step::kDone;
    } else if (const Step step = discard(); step != Step::kDone) {
      return step;
    }
  }
  if (depth_ == 0) skipped_ = at_;
  return whole_ ? Step::kDone : Step::kMore;
}

EdnParser::Step EdnParser::deeper(std::size_t at) {
  if (++depth_ <= kEdnDepthMax) return Step::kDone;
  return fault(at, fmt::format("forms are nested more than {} deep: no history needs that", kEdnDepthMax));
}

EdnParser::Step EdnParser::discard() {
  const std::size_t before = nodes_.size();
  const std::size_t began = at_;
  if (const Step step = deeper(began); step != Step::kDone) return step;
  at_ += 2;
  if (const Step step = blanks(); step != Step::kDone) return step;
  if (at_ == text_.size()) return Step::kMore;
  if (const Step step = form(); step != Step::kDone) return step;
  nodes_.resize(before);
  --depth_;
  return Step::kDone;
}

EdnParser::Step EdnParser::form() {
  if (nodes_.size() >= kEdnNodesMax) {
    full_ = true;
    return fault(at_, fmt::format("one form holds more than {} values: split what it holds", kEdnNodesMax));
  }
  switch (text_[at_]) {
    case '(': return sequence(EdnKind::kList, 1, ')');
    case '[': return sequence(EdnKind::kVector, 1, ']');
    case '{': return sequence(EdnKind::kMap, 1, '}');
    case '"': return string();
    case '\\': return character();
    case ')':
    case ']':
    case '}': return fault(at_, fmt::format("'{}' closes nothing: remove it, or open what it closes", text_[at_]));
    case '#': break;
    default: return token();
  }
  if (at_ + 1 == text_.size()) return Step::kMore;
  switch (text_[at_ + 1]) {
    case '{': return sequence(EdnKind::kSet, 2, '}');
    case '#': return symbolic();
    default: return tagged();
  }
}

EdnParser::Step EdnParser::sequence(EdnKind kind, std::size_t opener_bytes, char closer) {
  const std::size_t index = open(kind);
  const std::size_t began = at_;
  if (const Step step = deeper(began); step != Step::kDone) return step;
  at_ += opener_bytes;
  std::size_t items = 0;
  while (true) {
    if (const Step step = blanks(); step != Step::kDone) return step;
    if (at_ == text_.size()) return Step::kMore;
    if (text_[at_] == closer) break;
    if (const Step step = form(); step != Step::kDone) return step;
    ++items;
  }
  if (kind == EdnKind::kMap && items % 2 != 0) return fault(began, fmt::format("a map holds {} forms: each key needs one value", items));
  ++at_;
  --depth_;
  return close(index);
}

EdnParser::Step EdnParser::tagged() {
  const std::size_t index = open(EdnKind::kTagged);
  const std::size_t began = at_;
  ++at_;
  std::string_view tag;
  if (const Step step = take_token(tag); step != Step::kDone) return step;
  const bool letter = is_symbol(tag) && std::string_view(".*+!-_?$%&=<>/'|").find(tag[0]) == std::string_view::npos;
  if (!letter) return fault(began, "'#' opens a set #{…}, a tag #name, or a discard #_: EDN knows no other use of it");
  nodes_[index].text = tag;
  if (const Step step = deeper(began); step != Step::kDone) return step;
  if (const Step step = blanks(); step != Step::kDone) return step;
  if (at_ == text_.size()) return Step::kMore;
  if (const Step step = form(); step != Step::kDone) return step;
  --depth_;
  return close(index);
}

EdnParser::Step EdnParser::symbolic() {
  const std::size_t index = open(EdnKind::kReal);
  const std::size_t began = at_;
  at_ += 2;
  std::string_view name;
  if (const Step step = take_token(name); step != Step::kDone) return step;
  if (name == "Inf") {
    nodes_[index].real = std::numeric_limits<double>::infinity();
  } else if (name == "-Inf") {
    nodes_[index].real = -std::numeric_limits<double>::infinity();
  } else if (name == "NaN") {
    nodes_[index].real = std::nan("");
  } else {
    return fault(began, "'##' opens ##Inf, ##-Inf or ##NaN and nothing else");
  }
  return close(index);
}

EdnParser::Step EdnParser::string() {
  const std::size_t index = open(EdnKind::kString);
  const std::size_t begin = ++at_;
  std::size_t plain = text_.find_first_of("\"\\", at_);
  if (plain == std::string_view::npos) return Step::kMore;
  if (text_[plain] == '"') {
    nodes_[index].text = text_.substr(begin, plain - begin);
    at_ = plain + 1;
    return close(index);
  }
  const std::size_t unescaped_begin = unescaped_.size();
  while (true) {
    plain = text_.find_first_of("\"\\", at_);
    if (plain == std::string_view::npos) return Step::kMore;
    unescaped_.append(text_.substr(at_, plain - at_));
    at_ = plain + 1;
    if (text_[plain] == '"') break;
    if (const Step step = escape(plain); step != Step::kDone) return step;
  }
  nodes_[index].text = std::string_view(unescaped_).substr(unescaped_begin);
  return close(index);
}

EdnParser::Step EdnParser::escape(std::size_t opened) {
  if (at_ == text_.size()) return Step::kMore;
  constexpr std::string_view kNames = "tnrbf\"\\";
  constexpr std::string_view kMeanings = "\t\n\r\b\f\"\\";
  const char name = text_[at_];
  if (const std::size_t found = kNames.find(name); found != std::string_view::npos) {
    unescaped_ += kMeanings[found];
    ++at_;
    return Step::kDone;
  }
  if (name >= '0' && name <= '7') {
    std::size_t digits = 1;
    while (digits < 3 && at_ + digits < text_.size() && text_[at_ + digits] >= '0' && text_[at_ + digits] <= '7') ++digits;
    if (at_ + digits == text_.size()) return Step::kMore;
    const std::uint32_t code = number_in_base(text_.substr(at_, digits), 8).value_or(0);
    if (code > 0xFF) return fault(opened, "an octal escape ends at \\377");
    append_utf8(unescaped_, code);
    at_ += digits;
    return Step::kDone;
  }
  if (name != 'u') return fault(opened, "unknown escape: known are \\t \\n \\r \\b \\f \\\" \\\\ \\u0000 and \\000");
  std::uint32_t code = 0;
  if (const Step step = unicode(code); step != Step::kDone) return step;
  if (code >= 0xD800 && code < 0xDC00) {
    std::uint32_t low = 0;
    for (const char expected : {'\\', 'u'}) {
      if (at_ == text_.size()) return Step::kMore;
      if (text_[at_++] != expected) return fault(opened, "half of a pair: a \\uDC00 to \\uDFFF follows \\uD800 to \\uDBFF");
    }
    --at_;
    if (const Step step = unicode(low); step != Step::kDone) return step;
    if (low < 0xDC00 || low > 0xDFFF) return fault(opened, "half of a pair: a \\uDC00 to \\uDFFF follows \\uD800 to \\uDBFF");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return fault(opened, "half of a pair: \\uDC00 to \\uDFFF follow a \\uD800 to \\uDBFF");
  }
  append_utf8(unescaped_, code);
  return Step::kDone;
}

// At the 'u'.
EdnParser::Step EdnParser::unicode(std::uint32_t& code) {
  if (text_.size() - at_ < 5) return Step::kMore;
  const auto number = number_in_base(text_.substr(at_ + 1, 4), 16);
  if (!number) return fault(at_, "\\u needs four hexadecimal digits");
  code = *number;
  at_ += 5;
  return Step::kDone;
}

EdnParser::Step EdnParser::character() {
  const std::size_t index = open(EdnKind::kCharacter);
  const std::size_t began = at_++;
  if (at_ == text_.size()) return Step::kMore;
  std::size_t end = at_ + std::max<std::size_t>(utf8_length(text_.substr(at_)), 1);
  while (end < text_.size() && !ends_token(text_[end])) ++end;
  if (end >= text_.size() && !whole_) return Step::kMore;
  const std::string_view name = text_.substr(at_, end - at_);
  at_ += name.size();
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {{"newline", "\n"}, {"return", "\r"},    {"space", " "},
                                                                      {"tab", "\t"},     {"formfeed", "\f"}, {"backspace", "\b"}};
  for (const auto& [known, meaning] : kNamed) {
    if (name == known) nodes_[index].text = meaning;
  }
  if (!nodes_[index].text.empty()) return close(index);
  if (utf8_length(name) == name.size()) {
    nodes_[index].text = name;
    return close(index);
  }
  std::optional<std::uint32_t> code;
  if (name.size() == 5 && name[0] == 'u') code = number_in_base(name.substr(1), 16);
  if (name.size() <= 4 && name[0] == 'o') code = number_in_base(name.substr(1), 8);
  if (!code || (*code >= 0xD800 && *code <= 0xDFFF)) {
    return fault(began, "unknown character: known are \\c, \\newline \\return \\space \\tab \\formfeed \\backspace, \\u0041 and \\o101");
  }
  const std::size_t begin = unescaped_.size();
  append_utf8(unescaped_, *code);
  nodes_[index].text = std::string_view(unescaped_).substr(begin);
  return close(index);
}

EdnParser::Step EdnParser::take_token(std::string_view& token) {
  std::size_t end = at_;
  while (end < text_.size() && !ends_token(text_[end])) ++end;
  if (end == text_.size() && !whole_) return Step::kMore;
  token = text_.substr(at_, end - at_);
  at_ = end;
  return Step::kDone;
}

EdnParser::Step EdnParser::token() {
  const std::size_t began = at_;
  const std::size_t index = open(EdnKind::kSymbol);
  std::string_view token;
  if (const Step step = take_token(token); step != Step::kDone) return step;
  EdnNode& node = nodes_[index];
  node.text = token;
  const std::size_t sign = token[0] == '+' || token[0] == '-' ? 1 : 0;
  if (token.size() > sign && is_edn_digit(token[sign])) {
    if (const Step step = number(token, index); step != Step::kDone) return step;
  } else if (token == "nil") {
    node.kind = EdnKind::kNil;
  } else if (token == "true" || token == "false") {
    node.kind = EdnKind::kBool;
    node.yes = token == "true";
  } else if (token[0] == ':' && is_symbol(token.substr(1))) {
    node.kind = EdnKind::kKeyword;
    node.text = token.substr(1);
  } else if (token[0] == ':' && token.size() > 1 && is_edn_digit(token[1]) && std::ranges::all_of(token, is_symbol_byte)) {
    node.kind = EdnKind::kKeyword;  // Clojure prints (keyword "0") so
    node.text = token.substr(1);
  } else if (!is_symbol(token)) {
    return fault(began, "this is no EDN form: a number, a :keyword, a symbol, a \"string\" or one of ( [ { # is expected");
  }
  return close(index);
}

EdnParser::Step EdnParser::number(std::string_view token, std::size_t index) {
  EdnNode& node = nodes_[index];
  const std::size_t began = node.first_byte;
  std::string_view body = token;
  if (body[0] == '+') body.remove_prefix(1);
  const std::string_view digits = body.substr(body[0] == '-' ? 1 : 0);
  const auto all_digits = [](std::string_view part) { return !part.empty() && std::ranges::all_of(part, is_edn_digit); };
  const bool big = digits.back() == 'N';
  const std::string_view whole_digits = big ? digits.substr(0, digits.size() - 1) : digits;
  if (all_digits(whole_digits)) {
    if (whole_digits.size() > 1 && whole_digits[0] == '0') return fault(began, "a number does not begin with 0: remove it");
    const char* end = whole_digits.data() + whole_digits.size();
    const auto read = std::from_chars(body.data(), end, node.number);
    node.kind = read.ec == std::errc() ? EdnKind::kInteger : EdnKind::kBig;
    return Step::kDone;
  }
  const std::size_t slash = digits.find('/');
  if (slash != std::string_view::npos && all_digits(digits.substr(0, slash)) && all_digits(digits.substr(slash + 1))) {
    node.kind = EdnKind::kRatio;
    return Step::kDone;
  }
  node.kind = EdnKind::kReal;
  const std::string_view real = body.back() == 'M' ? body.substr(0, body.size() - 1) : body;
  const bool plain = real.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  const auto read = std::from_chars(real.data(), real.data() + real.size(), node.real);
  if (!plain || read.ptr != real.data() + real.size()) return fault(began, "this is no number: 7, -7, 7N, 7.5, 7.5e3, 7.5M and 7/2 are");
  if (read.ec != std::errc()) node.kind = EdnKind::kBig;  // out of a double's range
  return Step::kDone;
}

}  // namespace sp::codec

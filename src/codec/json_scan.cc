// find_in_json(): a second, slow reader that knows where it is. It runs only when there is something to say.
#include <charconv>
#include <system_error>

#include "codec/json_tree.h"
#include "codec/utf8.h"

namespace sp::codec {
namespace {

class Scan {
 public:
  Scan(std::string_view text, std::size_t wanted) : text_(text), wanted_(wanted) {}

  JsonFault run() {
    blanks();
    if (value(0)) {
      blanks();
      if (at_ != text_.size()) stop("something stands behind the value");
    }
    return {found_, std::move(reason_)};
  }

 private:
  bool stop(std::string_view reason) {
    if (!stopped_) {
      stopped_ = true;
      found_ = at_;
      reason_ = reason;
    }
    return false;
  }
  [[nodiscard]] bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool at_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (at(' ') || at('\t') || at('\n') || at('\r')) ++at_;
  }

  bool value(std::size_t depth) {
    if (seen_++ == wanted_) {
      stopped_ = true;
      found_ = at_;
      return false;
    }
    if (at_ == text_.size()) return stop("the text ends where a value is expected");
    switch (text_[at_]) {
      case '{': return depth < kJsonDepthMax ? container('}', depth) : stop("nested too deeply");
      case '[': return depth < kJsonDepthMax ? container(']', depth) : stop("nested too deeply");
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }
  bool container(char close, std::size_t depth) {
    ++at_;
    blanks();
    if (take(close)) return true;
    while (true) {
      blanks();
      if (close == '}') {
        if (!at('"')) return stop("a member's name in quotes is expected");
        if (!string()) return false;
        blanks();
        if (!take(':')) return stop("':' is expected");
        blanks();
      }
      if (!value(depth + 1)) return false;
      blanks();
      if (take(close)) return true;
      if (!take(',')) return stop(close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    }
  }
  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return stop("no value begins like this");
    at_ += expected.size();
    return true;
  }
  bool digits() {
    if (!at_digit()) return stop("a digit is expected");
    while (at_digit()) ++at_;
    return true;
  }
  bool number() {
    const std::size_t begin = at_;
    const bool negative = take('-');
    if (!at_digit()) return stop(negative ? "a digit is expected" : "no value begins like this");
    if (at('0')) {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (at_digit()) return stop("a number does not begin with a zero");
    const bool whole = !at('.') && !at('e') && !at('E');
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      if (!digits()) return false;
    }
    return in_range(begin, whole, negative);
  }
  bool in_range(std::size_t begin, bool whole, bool negative) {
    const std::string_view digits = text_.substr(begin, at_ - begin);
    std::errc error{};
    if (whole && negative) {
      std::int64_t number = 0;
      error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
    } else if (whole) {
      std::uint64_t number = 0;
      error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
    }
    if (error == std::errc{}) return true;
    at_ = begin;
    return stop("a whole number is from -9223372036854775808 to 18446744073709551615");
  }
  bool string() {
    ++at_;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return stop("a control character within a string is written as an escape");
      if (c == '\\') {
        if (!escape()) return false;
      } else {
        const std::size_t length = utf8_length(text_.substr(at_));
        if (length == 0) return stop("not UTF-8");
        at_ += length;
      }
    }
    return stop("a string is not ended");
  }
  bool escape() {
    const std::size_t begin = at_;
    ++at_;
    constexpr std::string_view kKnown = "\"\\/bfnrt";
    if (at_ < text_.size() && kKnown.find(text_[at_]) != std::string_view::npos) {
      ++at_;
      return true;
    }
    unsigned unit = 0;
    if (!code_unit(unit)) return stop_at(begin, "an unknown escape");
    if (unit >= 0xDC00 && unit <= 0xDFFF) return stop_at(begin, "half of a surrogate pair");
    if (unit < 0xD800 || unit > 0xDBFF) return true;
    unsigned second = 0;
    if (!take('\\') || !code_unit(second) || second < 0xDC00 || second > 0xDFFF) {
      return stop_at(begin, "half of a surrogate pair");
    }
    return true;
  }
  bool stop_at(std::size_t begin, std::string_view reason) {
    at_ = begin;
    return stop(reason);
  }
  bool code_unit(unsigned& unit) {
    if (!take('u') || text_.size() - at_ < 4) return false;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
    at_ += 4;
    return error == std::errc{} && end == begin + 4;
  }

  std::string_view text_;
  std::size_t wanted_;
  std::size_t at_ = 0;
  std::size_t seen_ = 0;
  std::size_t found_ = 0;
  bool stopped_ = false;
  std::string reason_;
};

}  // namespace

JsonFault find_in_json(std::string_view text, std::size_t index) { return Scan(text, index).run(); }

}  // namespace sp::codec

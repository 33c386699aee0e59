#include "codec/document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/text.h"
#include "codec/utf8.h"

namespace sp::codec {
namespace {

constexpr std::string_view kYamlTag = "tag:yaml.org,2002:";

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

Place place_at(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          byte - line_begin + 1};
}

// The number of an escape "\u" and four hexadecimal digits at the front of `text`.
std::optional<std::uint32_t> unicode_escape(std::string_view text) {
  constexpr std::size_t kLength = 6;
  if (text.size() < kLength || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + kLength;
  const auto parsed = std::from_chars(text.data() + 2, end, number, 16);
  return parsed.ptr == end ? std::optional(number) : std::nullopt;
}

// JSON writes what is past U+FFFF as two escapes, which YAML does not know: "\ud83d\ude00" becomes "\U0001f600". Only for
// text that begins as JSON does.
std::string with_whole_escapes(std::string_view text) {
  const std::string_view begin = trim(text);
  if (!begin.starts_with('{') && !begin.starts_with('[')) return std::string(text);
  std::string result;
  while (!text.empty()) {
    const auto high = unicode_escape(text);
    const auto low =
        high && *high >= 0xD800 && *high < 0xDC00 ? unicode_escape(text.substr(6)) : std::nullopt;
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      result += fmt::format("\\U{:08x}", 0x10000 + ((*high - 0xD800) << 10U) + (*low - 0xDC00));
      text.remove_prefix(12);
      continue;
    }
    // A backslash takes the next character with it, so that "\\u" is not taken for an escape.
    const std::size_t taken = text.front() == '\\' ? std::min<std::size_t>(2, text.size()) : 1;
    result += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return result;
}

bool means_nothing(std::string_view plain) {
  constexpr std::array<std::string_view, 5> kNothing = {"", "~", "null", "Null", "NULL"};
  return std::find(kNothing.begin(), kNothing.end(), plain) != kNothing.end();
}

// Builds the tree from the parser's events. The first error stays and the rest of the events is
// passed over: an exception of ours would cross the library.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const DocumentOptions& options) : options_(options) {}

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] Error error() const { return error_.value_or(Error{}); }
  [[nodiscard]] Place begin() const { return begin_; }
  [[nodiscard]] Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override { begin_ = place_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { leaf(mark, {}, "?"); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    leaf(mark, value, tag);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    refuse(place_of(mark), ErrorCode::kParse, "an alias (*) is not supported; write the value out");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Node::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Node::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map that is not complete yet.
  struct Open {
    Node node;
    std::map<std::string, std::size_t> lines;           // of the names so far
    std::optional<std::pair<std::string, Place>> name;  // waits for its value
  };

  void refuse(Place place, ErrorCode code, std::string_view what) {
    if (!error_)
      error_ = Error{code, fmt::format("{}: {}", place_text(options_.name, place), what)};
  }

  // False when this node must not be taken.
  bool admit(Place place, std::string_view tag) {
    if (error_) return false;
    if (++nodes_ > options_.nodes_max) {
      refuse(place, ErrorCode::kFull, fmt::format("more than {} values", options_.nodes_max));
      return false;
    }
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with(kYamlTag)) return true;
    refuse(place, ErrorCode::kParse,
           fmt::format("the tag '{}' is not supported", printable(tag, 60)));
    return false;
  }

  void leaf(const YAML::Mark& mark, const std::string& text, std::string_view tag) {
    const Place place = place_of(mark);
    if (!admit(place, tag)) return;
    Node node;
    node.place = place;
    node.quoted = tag == "!" || (tag.starts_with(kYamlTag) && tag.ends_with(":str"));
    if (node.quoted || !means_nothing(text)) {
      node.kind = Node::Kind::kScalar;
      node.text = text;
    }
    if (!open_.empty() && open_.back().node.kind == Node::Kind::kMap && !open_.back().name) {
      take_name(text, place);
    } else {
      place_value(std::move(node));
    }
  }

  void take_name(const std::string& name, Place place) {
    const auto [before, is_new] = open_.back().lines.emplace(name, place.line);
    if (!is_new) {
      refuse(place, ErrorCode::kParse,
             fmt::format("'{}' stands here and in line {}; keep one of them", printable(name, 60),
                         before->second));
      return;
    }
    open_.back().name.emplace(name, place);
  }

  void open(const YAML::Mark& mark, std::string_view tag, Node::Kind kind) {
    const Place place = place_of(mark);
    if (!admit(place, tag)) return;
    if (!open_.empty() && open_.back().node.kind == Node::Kind::kMap && !open_.back().name) {
      refuse(place, ErrorCode::kParse,
             "the name of a member must be a plain word, not a list or a map");
      return;
    }
    if (open_.size() >= options_.depth_max) {
      refuse(place, ErrorCode::kFull,
             fmt::format("nested deeper than {} levels", options_.depth_max));
      return;
    }
    Open opened;
    opened.node.kind = kind;
    opened.node.place = place;
    open_.push_back(std::move(opened));
  }

  void close() {
    if (error_ || open_.empty()) return;
    Node node = std::move(open_.back().node);
    open_.pop_back();
    place_value(std::move(node));
  }

  void place_value(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == Node::Kind::kList) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    Member member;
    member.name = std::move(parent.name->first);
    member.place = parent.name->second;
    member.value = std::move(node);
    parent.node.members.push_back(std::move(member));
    parent.name.reset();
  }

  const DocumentOptions& options_;
  std::vector<Open> open_;
  Node root_;
  Place begin_;
  std::optional<Error> error_;
  std::size_t nodes_ = 0;
};

tl::unexpected<Error> refuse_text(const DocumentOptions& options, Place place, ErrorCode code,
                                  std::string_view what) {
  return fail(code, fmt::format("{}: {}", place_text(options.name, place), what));
}

}  // namespace

const Node* Node::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string place_text(std::string_view name, Place place) {
  if (place.line == 0) return std::string(name);
  return fmt::format("{} line {} column {}", name, place.line, place.column);
}

Result<Node> parse_document(std::string_view text, const DocumentOptions& options) {
  if (text.size() > options.bytes_max) {
    return refuse_text(options, {}, ErrorCode::kFull,
                       fmt::format("larger than {}", human_bytes(options.bytes_max)));
  }
  // The library would put replacement characters for these without a word, and read UTF-16 where it
  // sees a mark of it.
  const std::size_t invalid = utf8_find_invalid(text);
  if (invalid != std::string_view::npos) {
    return refuse_text(options, place_at(text, invalid), ErrorCode::kParse, "not UTF-8 text");
  }
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    return refuse_text(options, place_at(text, zero), ErrorCode::kParse, "a zero byte is no text");
  }
  try {
    std::istringstream stream{with_whole_escapes(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(options);
    parser.HandleNextDocument(builder);
    if (builder.failed()) return tl::unexpected(builder.error());
    TreeBuilder second(options);
    if (parser.HandleNextDocument(second)) {
      return refuse_text(options, second.begin(), ErrorCode::kParse,
                         "a second document begins; keep one in a file");
    }
    return builder.take();
  } catch (const YAML::DeepRecursion&) {
    return refuse_text(options, {}, ErrorCode::kFull,
                       fmt::format("nested deeper than {} levels", options.depth_max));
  } catch (const YAML::Exception& error) {
    return refuse_text(options, place_of(error.mark), ErrorCode::kParse, error.msg);
  } catch (const std::exception& error) {
    return refuse_text(options, {}, ErrorCode::kParse, error.what());
  }
}

}  // namespace sp::codec

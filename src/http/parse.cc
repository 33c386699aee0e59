#include "http/parse.h"

#include <http_parser.h>

#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"

namespace sp::http {

struct MessageReader::Impl {
  http_parser parser{};
  Kind kind;
  MessageLimits limits;
  Message message;
  State state = State::kHead;
  Fault fault;
  std::string name, value;  // of the header under way
  bool in_value = false;
  bool touched = false;
  bool expects = false;
  std::size_t head_bytes = 0;
  std::size_t headers = 0;

  Impl(Kind what, MessageLimits most) : kind(what), limits(most) { reset(); }

  void reset() {
    http_parser_init(&parser, kind == Kind::kRequest ? HTTP_REQUEST : HTTP_RESPONSE);
    parser.data = this;
    message = {};
    state = State::kHead;
    name.clear();
    value.clear();
    in_value = touched = expects = false;
    head_bytes = headers = 0;
  }

  int bad(int status, std::string sentence) {
    state = State::kBad;
    fault = {status, std::move(sentence)};
    return 1;
  }

  int count_head(std::size_t bytes) {
    head_bytes += bytes;
    if (head_bytes <= limits.head_bytes_max) return 0;
    return bad(431, fmt::format("the head of the request has more than {} bytes; send fewer or shorter headers",
                                limits.head_bytes_max));
  }

  int end_header() {
    if (name.empty()) return 0;
    if (++headers > limits.headers_max)
      return bad(431, fmt::format("the request has more than {} headers; send fewer", limits.headers_max));
    std::string& known = message.headers[lower(name)];
    known += known.empty() ? value : ", " + value;
    name.clear();
    value.clear();
    in_value = false;
    return 0;
  }

  int header_piece(std::string_view piece, bool of_value) {
    if (!of_value && in_value && end_header() != 0) return 1;
    in_value = of_value;
    (of_value ? value : name) += piece;
    return count_head(piece.size());
  }

  int too_long() {
    return bad(413, fmt::format("the body has more than {} bytes, which is the limit", limits.body_bytes_max));
  }

  // 0: go on; 1: there is no body; -1: bad.
  int end_head() {
    if (end_header() != 0) return -1;
    if (parser.http_major != 1) {
      bad(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
      return -1;
    }
    message.method = kind == Kind::kRequest ? http_method_str(static_cast<http_method>(parser.method)) : "";
    message.status = static_cast<int>(parser.status_code);
    message.keep_alive = http_should_keep_alive(&parser) != 0;
    const bool has_length = parser.content_length != UINT64_MAX;
    if (kind != Kind::kAnswerWithoutBody && has_length && parser.content_length > limits.body_bytes_max) {
      too_long();
      return -1;
    }
    state = State::kBody;
    const auto expect = message.headers.find("expect");
    expects = expect != message.headers.end() && lower(expect->second) == "100-continue";
    return kind == Kind::kAnswerWithoutBody ? 1 : 0;
  }

  int body_piece(std::string_view piece) {
    if (message.body.size() + piece.size() > limits.body_bytes_max) return too_long();
    message.body += piece;
    return 0;
  }

  static Impl& of(http_parser* parser) { return *static_cast<Impl*>(parser->data); }
  static const http_parser_settings& settings();
};

const http_parser_settings& MessageReader::Impl::settings() {
  static const http_parser_settings kSettings = [] {
    http_parser_settings made{};
    made.on_message_begin = [](http_parser* parser) {
      of(parser).touched = true;
      return 0;
    };
    made.on_url = [](http_parser* parser, const char* at, std::size_t size) {
      Impl& self = of(parser);
      self.message.target.append(at, size);
      if (self.message.target.size() > self.limits.target_bytes_max)
        return self.bad(414, fmt::format("the address has more than {} bytes", self.limits.target_bytes_max));
      return self.count_head(size);
    };
    made.on_header_field = [](http_parser* parser, const char* at, std::size_t size) {
      return of(parser).header_piece({at, size}, false);
    };
    made.on_header_value = [](http_parser* parser, const char* at, std::size_t size) {
      return of(parser).header_piece({at, size}, true);
    };
    made.on_headers_complete = [](http_parser* parser) { return of(parser).end_head(); };
    made.on_body = [](http_parser* parser, const char* at, std::size_t size) {
      return of(parser).body_piece({at, size});
    };
    made.on_message_complete = [](http_parser* parser) {
      Impl& self = of(parser);
      if (self.end_header() != 0) return 1;  // trailers
      self.state = State::kWhole;
      http_parser_pause(parser, 1);  // what follows is the next message's
      return 0;
    };
    return made;
  }();
  return kSettings;
}

MessageReader::MessageReader(Kind kind, MessageLimits limits) : impl_(std::make_unique<Impl>(kind, limits)) {}
MessageReader::~MessageReader() = default;
MessageReader::MessageReader(MessageReader&&) noexcept = default;
MessageReader& MessageReader::operator=(MessageReader&&) noexcept = default;

std::size_t MessageReader::feed(std::string_view bytes) {
  Impl& self = *impl_;
  if (bytes.empty() || self.state == State::kWhole || self.state == State::kBad) return 0;
  const std::size_t used = http_parser_execute(&self.parser, &Impl::settings(), bytes.data(), bytes.size());
  const auto number = HTTP_PARSER_ERRNO(&self.parser);
  if (self.state == State::kWhole) return used;
  if (number == HPE_OK || self.state == State::kBad) return used;
  if (number == HPE_INVALID_METHOD) {
    self.bad(405, "this is no method of HTTP that is known here");
  } else if (number == HPE_HEADER_OVERFLOW) {
    self.bad(431, "the head of the request is too long; send fewer or shorter headers");
  } else {
    self.bad(400, fmt::format("this is no HTTP/1.1: {}", http_errno_description(number)));
  }
  return used;
}

void MessageReader::end() {
  Impl& self = *impl_;
  if (self.state == State::kWhole || self.state == State::kBad) return;
  http_parser_execute(&self.parser, &Impl::settings(), nullptr, 0);
  if (self.state != State::kWhole && self.state != State::kBad) self.bad(400, "the message ends before its end");
}

MessageReader::State MessageReader::state() const { return impl_->state; }
bool MessageReader::untouched() const { return !impl_->touched; }
bool MessageReader::take_expectation() { return std::exchange(impl_->expects, false); }
const MessageReader::Fault& MessageReader::fault() const { return impl_->fault; }
const Message& MessageReader::message() const { return impl_->message; }
std::string MessageReader::take_body() { return std::exchange(impl_->message.body, {}); }

Message MessageReader::take() {
  CHECK(impl_->state == State::kWhole, "only a whole message is taken");
  Message taken = std::move(impl_->message);
  impl_->reset();
  return taken;
}

Result<Request> to_request(Message message) {
  Request request;
  request.method = std::move(message.method);
  request.headers = std::move(message.headers);
  request.body = std::move(message.body);
  std::string_view target = message.target;
  if (target.starts_with("http://") || target.starts_with("https://")) {  // as a proxy is asked
    const std::size_t path = target.find('/', target.find("://") + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  if (!target.starts_with('/')) return fail(ErrorCode::kParse, "the address of a request begins with '/'");
  target = target.substr(0, target.find('#'));
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question == std::string_view::npos) return request;
  for (const std::string_view pair : split(target.substr(question + 1), {.separator = '&'})) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto name = unescape(pair.substr(0, equals), true);
    auto value = unescape(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1), true);
    if (!name || !value) return tl::unexpected<Error>(name ? std::move(value).error() : std::move(name).error());
    request.query[*std::move(name)] = *std::move(value);
  }
  return request;
}

}  // namespace sp::http

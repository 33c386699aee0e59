#include "http/client.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "sys/sockets.h"

namespace sp::http {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

tl::unexpected<Error> no_url(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("'{}' is no address: {}; write http://HOST:PORT or https://HOST:PORT", printable(text), why));
}

bool has_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) return true;
  }
  return false;
}

std::string host_text(const Url& url) { return url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]"; }

// One exchange with a server: bytes out, bytes in, until a deadline.
class Exchange {
 public:
  Exchange(sys::Descriptor socket, std::optional<TlsSession> tls, MonotonicClock& clock)
      : socket_(std::move(socket)), tls_(std::move(tls)), clock_(clock) {}

  void send(std::string_view text) {
    if (tls_)
      tls_->send(text, out_);
    else
      out_ += text;
  }

  enum class Came : std::uint8_t { kBytes, kEnd, kLate, kStopped };
  // Sends what is to be sent and appends what came to `plain`. Errors: of TLS.
  Result<Came> more(std::string& plain, MonotonicTime deadline, const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { waker_.wake(); });
    while (true) {
      if (stop.stop_requested()) return Came::kStopped;
      const Nanoseconds left = deadline - clock_.now();
      if (left <= Nanoseconds::zero()) return Came::kLate;
      std::vector<sys::Watch> watches{{.number = waker_.number(), .read = true},
                                      {.number = socket_.get(), .read = true, .write = !out_.empty()}};
      sys::wait_ready(watches, left);
      if (watches[1].writable && !push()) out_.clear();  // what the server said before it went is read all the same
      if (!watches[1].readable) continue;
      const auto came = pull(plain);
      if (!came || *came) return came ? Result<Came>(**came) : tl::unexpected(came.error());
    }
  }

 private:
  bool push() {
    const sys::Transfer put = sys::transmit(socket_, out_);
    out_.erase(0, put.bytes);
    return put.state != sys::Transfer::State::kEnd;
  }

  // Nothing: nothing that can be read has come yet.
  Result<std::optional<Came>> pull(std::string& plain) {
    const sys::Transfer got = sys::receive(socket_, block_);
    if (got.state == sys::Transfer::State::kWait) return std::nullopt;
    if (got.state == sys::Transfer::State::kEnd) return Came::kEnd;
    const std::string_view bytes(block_.data(), got.bytes);
    const std::size_t before = plain.size();
    if (tls_) {
      if (auto received = tls_->receive(bytes, plain, out_); !received) return tl::unexpected(std::move(received).error());
      if (plain.size() == before) return tls_->ended() ? std::optional(Came::kEnd) : std::nullopt;
    } else {
      plain += bytes;
    }
    return Came::kBytes;
  }

  sys::Descriptor socket_;
  std::optional<TlsSession> tls_;
  MonotonicClock& clock_;
  sys::Waker waker_;
  std::string out_;
  std::vector<char> block_ = std::vector<char>(kBlockBytes);
};

Result<Exchange> open(const Url& url, const TlsMaterial& material, MonotonicClock& clock, MonotonicTime deadline) {
  auto socket = sys::connect_tcp(url.host, url.port, clock, deadline);
  if (!socket) return tl::unexpected(std::move(socket).error());
  std::optional<TlsSession> session;
  if (url.tls) {
    auto side = TlsSide::client(material);
    if (!side) return tl::unexpected(std::move(side).error());
    auto made = side->session(url.host);
    if (!made) return tl::unexpected(std::move(made).error());
    session = *std::move(made);
  }
  return Result<Exchange>(tl::in_place, *std::move(socket), std::move(session), clock);
}

std::string request_text(const Call& call, const Url& url, const Headers& common) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n", call.method, url.target,
                                 host_text(url), url.port);
  Headers headers = call.headers;
  headers.insert(common.begin(), common.end());
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  if (!call.body.empty() || (call.method != "GET" && call.method != "HEAD"))
    text += fmt::format("Content-Length: {}\r\n", call.body.size());
  return text + "\r\n" + call.body;
}

Result<void> check(const Call& call, const Headers& common) {
  constexpr std::string_view kForbidden("\r\n\0", 3);
  const auto bad = [&](std::string_view text) { return text.find_first_of(kForbidden) != std::string_view::npos; };
  for (const Headers* headers : {&call.headers, &common}) {
    for (const auto& [name, value] : *headers) {
      if (name.empty() || bad(name) || bad(value))
        return fail(ErrorCode::kInvalid, fmt::format("the header '{}' has a line end in it", printable(name)));
    }
  }
  if (call.method.empty() || has_control(call.method)) return fail(ErrorCode::kInvalid, "the method of a request is a word");
  return {};
}

Answer to_answer(Message message) { return {message.status, std::move(message.headers), std::move(message.body)}; }

tl::unexpected<Error> why_bad(const MessageReader::Fault& fault) {
  if (fault.status == 413) return fail(ErrorCode::kFull, "the answer is too long: " + fault.message);
  return fail(ErrorCode::kUnavailable, "what answers speaks no HTTP: " + fault.message);
}

MessageReader reader_for(const Call& call, const MessageLimits& limits) {
  using Kind = MessageReader::Kind;
  return {call.method == "HEAD" ? Kind::kAnswerWithoutBody : Kind::kAnswer, limits};
}

// Feeds what is there; interim answers (100 Continue) are passed over.
void feed(MessageReader& reader, std::string& bytes) {
  while (true) {
    bytes.erase(0, reader.feed(bytes));
    if (reader.state() != MessageReader::State::kWhole || reader.message().status >= 200) return;
    static_cast<void>(reader.take());
  }
}

using Came = Exchange::Came;

Result<Answer> read_answer(Exchange& exchange, const Call& call, const MessageLimits& limits, MonotonicTime deadline) {
  MessageReader reader = reader_for(call, limits);
  std::string bytes;
  while (true) {
    auto came = exchange.more(bytes, deadline, {});
    if (!came) return tl::unexpected(std::move(came).error());
    if (*came == Came::kLate) return fail(ErrorCode::kTimeout, fmt::format("no whole answer within {}", human_duration(call.wait)));
    feed(reader, bytes);
    if (*came == Came::kEnd) {
      if (reader.untouched()) return fail(ErrorCode::kUnavailable, "the connection was closed without an answer");
      reader.end();
    }
    if (reader.state() == MessageReader::State::kBad) return why_bad(reader.fault());
    if (reader.state() == MessageReader::State::kWhole) return to_answer(reader.take());
  }
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  Url url;
  std::string_view rest = text;
  if (has_control(text)) return no_url(text, "there is a space or a control character in it");
  if (rest.starts_with("https://")) {
    url.tls = true;
    url.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return no_url(text, "it begins with neither http:// nor https://");
  }
  rest = rest.substr(0, rest.find('#'));
  const std::size_t path = rest.find_first_of("/?");
  std::string_view where = rest.substr(0, path);
  if (path != std::string_view::npos) url.target = (rest[path] == '?' ? "/" : "") + std::string(rest.substr(path));
  if (where.find('@') != std::string_view::npos) return no_url(text, "a user has no place in it");
  if (where.starts_with('[')) {
    const std::size_t end = where.find(']');
    if (end == std::string_view::npos) return no_url(text, "a ']' is missing");
    url.host = where.substr(1, end - 1);
    where.remove_prefix(end + 1);
  } else {
    const std::size_t colon = where.find(':');
    url.host = where.substr(0, colon);
    where = colon == std::string_view::npos ? std::string_view{} : where.substr(colon);
  }
  if (url.host.empty()) return no_url(text, "it names no host");
  if (where.empty()) return url;
  const auto port = where.starts_with(':') ? parse_unsigned(where.substr(1)) : fail(ErrorCode::kParse, "");
  if (!port || *port == 0 || *port > 65'535) return no_url(text, "a port is a number from 1 to 65535");
  url.port = static_cast<std::uint16_t>(*port);
  return url;
}

Result<Answer> Client::call(const Call& call) const {
  const auto url = parse_url(call.url);
  if (!url) return tl::unexpected(url.error());
  if (auto good = check(call, options_.headers); !good) return tl::unexpected(std::move(good).error());
  const MonotonicTime deadline = clock_.now() + call.wait;
  const std::string context = fmt::format("{} {}", call.method, call.url);
  auto exchange = open(*url, options_.tls, clock_, deadline);
  if (!exchange) return fail_up(std::move(exchange), context);
  exchange->send(request_text(call, *url, options_.headers));
  auto answer = read_answer(*exchange, call, options_.message, deadline);
  if (!answer) return fail_up(std::move(answer), context);
  return answer;
}

Result<Answer> Client::follow(const Call& call, const std::function<bool(const Event&)>& each,
                              const std::stop_token& stop) const {
  const auto url = parse_url(call.url);
  if (!url) return tl::unexpected(url.error());
  if (auto good = check(call, options_.headers); !good) return tl::unexpected(std::move(good).error());
  const std::string context = fmt::format("{} {}", call.method, call.url);
  auto exchange = open(*url, options_.tls, clock_, clock_.now() + call.wait);
  if (!exchange) return fail_up(std::move(exchange), context);
  exchange->send(request_text(call, *url, options_.headers));
  MessageReader reader = reader_for(call, options_.message);
  EventReader events(options_.event_bytes_max);
  std::string bytes;
  while (true) {
    auto came = exchange->more(bytes, clock_.now() + call.wait, stop);
    if (!came) return fail_up(std::move(came), context);
    if (*came == Came::kLate) return fail(ErrorCode::kTimeout, fmt::format("{}: silent for {}", context, human_duration(call.wait)));
    if (*came == Came::kStopped) return Answer{reader.message().status, reader.message().headers, ""};
    feed(reader, bytes);
    if (*came == Came::kEnd) reader.end();
    if (reader.state() == MessageReader::State::kBad) return fail_up(Result<Answer>(why_bad(reader.fault())), context);
    const bool has_head = reader.state() != MessageReader::State::kHead;
    const auto type = reader.message().headers.find("content-type");
    const bool streams = has_head && type != reader.message().headers.end() && type->second.starts_with("text/event-stream");
    if (streams) {
      std::vector<Event> came_now;
      auto fed = events.feed(reader.take_body(), came_now);
      if (!fed) return fail_up(Result<Answer>(tl::unexpected(std::move(fed).error())), context);
      for (const Event& event : came_now) {
        if (!each(event)) return Answer{reader.message().status, reader.message().headers, ""};
      }
    }
    if (reader.state() == MessageReader::State::kWhole) return to_answer(reader.take());
  }
}

}  // namespace sp::http

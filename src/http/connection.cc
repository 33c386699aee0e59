#include "http/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace sp::http {
namespace {

constexpr Nanoseconds kCloseWait = std::chrono::seconds(2);
constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::size_t kSentBytesKept = 64 * 1024;  // then what was sent makes room

std::string clean(std::string_view text) {
  std::string value(text);
  std::replace_if(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return value;
}

std::string head_of(const Response& response, bool close) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (!response.content_type.empty()) head += fmt::format("Content-Type: {}\r\n", clean(response.content_type));
  for (const auto& [name, value] : response.headers) head += fmt::format("{}: {}\r\n", clean(name), clean(value));
  if (!response.stream) head += fmt::format("Content-Length: {}\r\n", response.body.size());
  head += "X-Content-Type-Options: nosniff\r\n";
  return head + (close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n");
}

}  // namespace

Connection::Connection(sys::Descriptor socket, std::optional<TlsSession> tls, const ServerOptions& options,
                       MonotonicTime now)
    : socket_(std::move(socket)),
      tls_(std::move(tls)),
      options_(options),
      reader_(MessageReader::Kind::kRequest, options.message),
      began_(now) {}

bool Connection::wants_read() const {
  if (peer_ended_) return false;
  if (stage_ == Stage::kReading) return true;
  return stage_ == Stage::kStreaming || stage_ == Stage::kClosing;
}

std::optional<MonotonicTime> Connection::deadline() const {
  switch (stage_) {
    case Stage::kReading:
      return began_ + (idle() && !first_ ? options_.idle_wait : options_.request_wait);
    case Stage::kAnswering:
      return began_ + options_.answer_wait;
    case Stage::kStreaming:
      if (wants_write()) return began_ + options_.answer_wait;
      return std::nullopt;
    case Stage::kClosing:
      return began_ + kCloseWait;
    case Stage::kBad:
    case Stage::kHandling:
    case Stage::kGone:
      return std::nullopt;
  }
  return std::nullopt;
}

std::size_t Connection::body_bytes() const { return stage_ == Stage::kReading ? reader_.message().body.size() : 0; }

void Connection::on_readable(MonotonicTime now) {
  std::array<char, kReadBytes> block{};
  const sys::Transfer got = sys::receive(socket_, block);
  if (got.state == sys::Transfer::State::kWait) return;
  if (got.state == sys::Transfer::State::kEnd) {
    peer_ended_ = true;
    // Half an end is lawful: who has asked and then ended its side still gets the answer.
    if (stage_ != Stage::kAnswering && stage_ != Stage::kHandling) drop();
    return;
  }
  const std::string_view bytes(block.data(), got.bytes);
  if (stage_ == Stage::kClosing) return;
  const bool untouched = idle() && in_.empty();
  if (tls_) {
    const bool received = tls_->receive(bytes, in_, out_).has_value();
    if (!received) stage_ = Stage::kClosing;  // what must be said of it is in out_
    if (tls_->ended()) {
      drop();
      return;
    }
  } else {
    in_ += bytes;
  }
  if (stage_ == Stage::kStreaming) {
    in_.clear();  // whoever listens to a stream has nothing to ask
    return;
  }
  if (stage_ == Stage::kReading) parse();
  if (untouched && !first_ && !reader_.untouched()) began_ = now;
  if (wants_write()) on_writable(now);
}

void Connection::parse() {
  const std::size_t used = reader_.feed(in_);
  in_.erase(0, used);
  if (reader_.state() == MessageReader::State::kBad) {
    stage_ = Stage::kBad;
    return;
  }
  if (reader_.take_expectation() && reader_.state() == MessageReader::State::kBody) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (tls_)
      tls_->send(kContinue, out_);
    else
      out_ += kContinue;
  }
}

std::optional<Message> Connection::take_request(MonotonicTime now) {
  if (stage_ != Stage::kReading || reader_.state() != MessageReader::State::kWhole) return std::nullopt;
  Message message = reader_.take();
  keep_alive_ = message.keep_alive;
  head_only_ = message.method == "HEAD";
  first_ = false;
  stage_ = Stage::kHandling;
  began_ = now;
  return message;
}

void Connection::send(std::string_view plain, MonotonicTime now) {
  if (tls_)
    tls_->send(plain, out_);
  else
    out_ += plain;
  on_writable(now);
}

void Connection::answer(const Response& response, bool close, MonotonicTime now) {
  if (stage_ == Stage::kGone) return;
  keep_alive_ = keep_alive_ && !close && stage_ == Stage::kHandling && !peer_ended_;
  stage_ = Stage::kAnswering;
  began_ = now;
  std::string text = head_of(response, !keep_alive_);
  if (!head_only_) text += response.body;
  send(text, now);
}

void Connection::begin_stream(const Response& response, MonotonicTime now) {
  stage_ = Stage::kStreaming;
  keep_alive_ = false;
  began_ = now;
  send(head_of(response, true), now);
}

void Connection::stream(std::string_view bytes, MonotonicTime now) {
  if (stage_ != Stage::kStreaming) return;
  if (!wants_write()) began_ = now;
  send(bytes, now);
}

void Connection::end_stream(MonotonicTime now) {
  if (stage_ != Stage::kStreaming) return;
  stage_ = Stage::kAnswering;
  began_ = now;
  if (!wants_write()) sent_all(now);
}

void Connection::on_writable(MonotonicTime now) {
  while (wants_write()) {
    const sys::Transfer put = sys::transmit(socket_, std::string_view(out_).substr(out_at_));
    if (put.state == sys::Transfer::State::kWait) return;
    if (put.state == sys::Transfer::State::kEnd) {
      drop();
      return;
    }
    out_at_ += put.bytes;
    if (out_at_ > kSentBytesKept) {
      out_.erase(0, out_at_);
      out_at_ = 0;
    }
    if (stage_ == Stage::kStreaming) began_ = now;
  }
  out_.clear();
  out_at_ = 0;
  if (stage_ == Stage::kAnswering) sent_all(now);
}

void Connection::sent_all(MonotonicTime now) {
  began_ = now;
  if (keep_alive_) {
    stage_ = Stage::kReading;
    parse();  // the next request may be there already
    return;
  }
  if (tls_) {
    tls_->close(out_);
    static_cast<void>(sys::transmit(socket_, out_));  // a courtesy
    out_.clear();
    out_at_ = 0;
  }
  stage_ = Stage::kClosing;
  if (peer_ended_) drop();
  sys::end_sending(socket_);
}

bool Connection::expire() {
  const bool tell = stage_ == Stage::kReading && !reader_.untouched();
  if (!tell) drop();
  return tell;
}

}  // namespace sp::http

// One connection of a server: bytes to a request, an answer to bytes, each with its deadline.
//
//     kReading ─► kHandling ─► kAnswering ─┬─► kReading …                  (kept alive)
//         │                        ▲       └─► kClosing ─► kGone
//         └─► kBad, told to whom ──┘   kHandling ─► kStreaming ─► kClosing ─► kGone
//
// kClosing: all is sent; what still comes is read and thrown away for a moment, so that the client sees the answer and not a reset.
//
// Cost:     O(bytes).   Limits: those of ServerOptions.   Errors: a broken connection is kGone.
// Threads:  one owner.   Source: RFC 9112, 9.6.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/parse.h"
#include "http/server.h"
#include "http/tls.h"
#include "sys/descriptor.h"
#include "sys/sockets.h"

namespace sp::http {

class Connection {
 public:
  enum class Stage : std::uint8_t { kReading, kBad, kHandling, kAnswering, kStreaming, kClosing, kGone };

  // `options` outlives it.
  Connection(sys::Descriptor socket, std::optional<TlsSession> tls, const ServerOptions& options, MonotonicTime now);

  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] int number() const { return socket_.get(); }
  [[nodiscard]] bool wants_read() const;
  [[nodiscard]] bool wants_write() const { return out_at_ < out_.size(); }
  [[nodiscard]] std::optional<MonotonicTime> deadline() const;
  [[nodiscard]] MonotonicTime began() const { return began_; }
  // Between two requests, or before the first byte of one.
  [[nodiscard]] bool idle() const { return stage_ == Stage::kReading && reader_.untouched(); }
  // Of a request that is being read or handled.
  [[nodiscard]] std::size_t body_bytes() const;
  // Of the last request: HEAD.
  [[nodiscard]] bool head_only() const { return head_only_; }
  [[nodiscard]] std::size_t unsent() const { return out_.size() - out_at_; }
  [[nodiscard]] const MessageReader::Fault& fault() const { return reader_.fault(); }

  void on_readable(MonotonicTime now);
  void on_writable(MonotonicTime now);
  // Its deadline has passed: true if the client is to be told by an answer.
  bool expire();
  // The request, if it is whole: kHandling from now on.
  [[nodiscard]] std::optional<Message> take_request(MonotonicTime now);

  void answer(const Response& response, bool close, MonotonicTime now);
  // The head of a stream; pieces follow until end_stream.
  void begin_stream(const Response& response, MonotonicTime now);
  void stream(std::string_view bytes, MonotonicTime now);
  void end_stream(MonotonicTime now);
  void drop() { stage_ = Stage::kGone; }

 private:
  void parse();
  void send(std::string_view plain, MonotonicTime now);
  void sent_all(MonotonicTime now);

  sys::Descriptor socket_;
  std::optional<TlsSession> tls_;
  const ServerOptions& options_;
  MessageReader reader_;
  Stage stage_ = Stage::kReading;
  std::string in_;   // plain text that was not looked at
  std::string out_;  // as the net gets it, from out_at_ on
  std::size_t out_at_ = 0;
  bool first_ = true;
  bool keep_alive_ = false;
  bool head_only_ = false;
  bool peer_ended_ = false;
  MonotonicTime began_;     // what the deadline counts from
};

}  // namespace sp::http

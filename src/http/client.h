// One request to a server and its answer, or its events, within a deadline.
//
//     client.call({.method = "PUT", .url = "http://127.0.0.1:8080/configs", .body = …})  ─► Answer {200, headers, body}
//     client.follow({.url = "https://…/proofs/aB3dE/events"}, each)                      ─► each event as it comes
//
//     url  =  ("http" | "https") "://" host [":" port] [path ["?" query]]        [::1] in brackets
//
// Shape:    any status is an Answer; only what is no answer is an error. Redirects are not followed.
// Cost:     a connection for each call.
// Limits:   ClientOptions; `Call::wait` for all of a call, from the connection to the last byte.
// Errors:   kInvalid an address that is none; kUnavailable nobody answers, or not HTTP, or TLS says no; kTimeout; kFull an answer
//           past the limit. Each names the address.
// Threads:  any, at once.   Waiting: as long as the call says; looking a name up is not counted.   Source: RFC 9110, 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/parse.h"
#include "http/tls.h"

namespace sp::http {

struct Url {
  bool tls = false;
  std::string host;          // without brackets
  std::uint16_t port = 80;
  std::string target = "/";  // path and query
  bool operator==(const Url&) const = default;
};
[[nodiscard]] Result<Url> parse_url(std::string_view text);

struct ClientOptions {
  TlsMaterial tls = {};  // `ca` empty: what the system trusts; a certificate only where the server demands one
  MessageLimits message = {.body_bytes_max = 64 << 20};
  std::size_t event_bytes_max = 1 << 20;
  Headers headers = {};  // of every request
};

struct Call {
  std::string method = "GET";
  std::string url = "";
  Headers headers = {};
  std::string body = "";
  Nanoseconds wait = std::chrono::seconds(30);
};

struct Answer {
  int status = 0;
  Headers headers;
  std::string body;
};

class Client {
 public:
  // `clock` outlives the client.
  Client(ClientOptions options, MonotonicClock& clock) : options_(std::move(options)), clock_(clock) {}

  [[nodiscard]] Result<Answer> call(const Call& call) const;
  // Hands every event of a stream to `each` until that says false, the server ends the stream, or `stop`. `call.wait` is how long
  // the server may be silent; it sends heartbeats. If the answer is no stream it comes back with its body, and `each` was not called.
  Result<Answer> follow(const Call& call, const std::function<bool(const Event&)>& each, const std::stop_token& stop = {}) const;

 private:
  ClientOptions options_;
  MonotonicClock& clock_;
};

}  // namespace sp::http

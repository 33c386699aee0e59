// A server of HTTP/1.1: routes to handlers, event streams, TLS; it keeps its limits whoever comes.
//
//     net ─► one thread: accept, read, write, deadlines ─► whole requests ─► a few threads of each lane: handlers
//                       ▲                                                        │
//                       └────────── answers, pieces of streams ◄─────────────────┴──► one thread: pulls event sources
//
// A request takes a handler's thread only once it is whole, a stream takes none: hundreds of slow clients cost descriptors and
// buffers, and a handler that waits takes none of the threads of the quick ones.
//
// Cost:     O(connections) a wake-up of the first thread; 100 µs a request.
// Limits:   ServerOptions, each with what happens past it. One that cannot be told to the client any more closes the connection.
// Errors:   start: see sys::Listener and TlsSide. A handler that throws answers 500 and is logged.
// Threads:  start and stop by one owner; handlers are called from several at once; sources from one.
// Waiting:  stop() waits `stop_wait` for answers under way, and then for handlers that still run.
// Source:   RFC 9110, 9112; docs/decisions/0018-an-http-server-that-keeps-its-limits.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/message.h"
#include "http/parse.h"
#include "http/routes.h"
#include "http/tls.h"

namespace sp::http {

struct LaneOptions {
  std::size_t threads = 4;
  std::size_t waiting_max = 256;  // whole requests that wait for a thread; past it 503
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                  // 0: a free one
  std::optional<TlsMaterial> tls = {};     // absent: without
  MessageLimits message = {};              // 413, 414, 431
  std::size_t connections_max = 800;       // past it the oldest one without a whole request goes; if there is none: 503
  std::size_t bodies_bytes_max = 64 << 20; // of all requests that are being read; past it 503
  std::size_t streams_max = 256;           // open event streams; past it 503
  std::size_t stream_bytes_max = 256 << 10;  // not yet taken by the client of a stream; past it nothing is pulled for it
  LaneOptions quick = {};
  LaneOptions waiting = {.threads = 16, .waiting_max = 64};
  Nanoseconds request_wait = std::chrono::seconds(10);  // from the first byte to the last, TLS included; past it 408 and closed
  Nanoseconds idle_wait = std::chrono::seconds(30);     // between two requests of a connection; past it closed
  Nanoseconds answer_wait = std::chrono::seconds(60);   // until an answer, or the next piece of a stream, is taken; past it closed
  Nanoseconds stop_wait = std::chrono::seconds(5);
  Nanoseconds stream_period = std::chrono::milliseconds(100);
  Nanoseconds stream_heartbeat = std::chrono::seconds(15);  // a comment, so that a dead client is noticed
  // What is answered where no handler is: 400, 404, 405, 408, 413, 414, 431, 500, 503, 505. Absent: the message as text.
  std::function<Response(int status, const std::string& message)> error_page = {};
};

struct ServerStats {
  std::size_t connections = 0;
  std::size_t streams = 0;
  std::uint64_t requests = 0;  // whole ones
  std::uint64_t refused = 0;   // by a limit or as malformed
  std::uint64_t cut = 0;       // by a deadline
};

class Server {
 public:
  // Listens when it returns. `clock` outlives the server.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Routes routes, MonotonicClock& clock);
  ~Server();  // as stop()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] ServerStats stats() const;
  // Takes no connection any more, ends streams, finishes what is under way. Again: nothing.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sp::http

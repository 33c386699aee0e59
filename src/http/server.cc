#include "http/server.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/bounded_queue.h"
#include "base/log.h"
#include "http/board.h"
#include "http/connection.h"
#include "http/pump.h"

namespace sp::http {
namespace {

using Stage = Connection::Stage;

constexpr std::size_t kAcceptsAtOnce = 64;
constexpr Nanoseconds kExhaustedPause = std::chrono::milliseconds(100);
constexpr Nanoseconds kYoung = std::chrono::seconds(1);  // a connection of that age is not cut to make room
constexpr Nanoseconds kWakeAtLeast = std::chrono::seconds(1);

Response run_handler(const Route& route, const Request& request) {
  try {
    return route.handler(request);
  } catch (const std::exception& error) {
    log_error("{} {} ended with an exception: {}", request.method, route.pattern, error.what());
  } catch (...) {
    log_error("{} {} ended with an exception of no known kind", request.method, route.pattern);
  }
  Response failed;
  failed.status = 500;
  return failed;
}

}  // namespace

struct Server::Impl {
  Impl(ServerOptions given, Routes those, MonotonicClock& time, sys::Listener listening, std::optional<TlsSide> side)
      : options(std::move(given)),
        routes(std::move(those)),
        clock(time),
        listener(std::move(listening)),
        tls(std::move(side)),
        quick({.capacity = options.quick.waiting_max, .when_full = WhenFull::kFail}, clock),
        waiting({.capacity = options.waiting.waiting_max, .when_full = WhenFull::kFail}, clock),
        pump(options, board, clock) {}

  void begin();
  void loop();
  void handle(BoundedQueue<Job>& jobs, const std::stop_token& stop);

  void watch_all(std::vector<sys::Watch>& watches, std::vector<ConnectionId>& ids, MonotonicTime now);
  [[nodiscard]] Nanoseconds patience(MonotonicTime now) const;
  void accept_new(MonotonicTime now);
  bool make_room(MonotonicTime now);
  void after_io(ConnectionId id, Connection& connection, MonotonicTime now);
  void dispatch(ConnectionId id, Connection& connection, Message message, MonotonicTime now);
  void take_board(MonotonicTime now);
  void start_stream(Done done, Connection& connection, MonotonicTime now);
  void refuse(Connection& connection, int status, const std::string& message, MonotonicTime now, Headers headers = {});
  void expire(MonotonicTime now);
  void sweep();
  [[nodiscard]] std::size_t bodies() const;
  [[nodiscard]] bool finished(MonotonicTime now);

  const ServerOptions options;
  const Routes routes;
  MonotonicClock& clock;
  sys::Listener listener;
  const std::uint16_t bound = listener.port();
  std::optional<TlsSide> tls;
  Board board;
  BoundedQueue<Job> quick;
  BoundedQueue<Job> waiting;
  Pump pump;

  // Of the loop's thread.
  std::map<ConnectionId, Connection> connections;
  ConnectionId next_id = 1;
  MonotonicTime accept_from{};
  std::optional<MonotonicTime> stop_by;

  std::atomic<bool> stopping{false};
  std::atomic<std::size_t> connection_count{0};
  std::atomic<std::size_t> stream_count{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> cut{0};
  bool stopped = false;
  std::vector<std::jthread> threads;  // handlers and pump
  std::jthread looping;
};

void Server::Impl::begin() {
  const auto lane = [this](const LaneOptions& of, BoundedQueue<Job>& jobs) {
    for (std::size_t i = 0; i < of.threads; ++i)
      threads.emplace_back([this, &jobs](const std::stop_token& stop) { handle(jobs, stop); });
  };
  lane(options.quick, quick);
  lane(options.waiting, waiting);
  threads.emplace_back([this](const std::stop_token& stop) { pump.run(stop); });
  looping = std::jthread([this] { loop(); });
}

void Server::Impl::handle(BoundedQueue<Job>& jobs, const std::stop_token& stop) {
  while (auto job = jobs.pop(stop)) {
    if (stopping) continue;  // its client is told nothing any more
    Response response = run_handler(*job->route, job->request);
    if (response.status == 500 && response.body.empty() && options.error_page)
      response = options.error_page(500, "the request could not be carried out; the log says why");
    board.put(Done{job->connection, std::move(response)});
  }
}

void Server::Impl::loop() {
  std::vector<sys::Watch> watches;
  std::vector<ConnectionId> ids;
  while (!finished(clock.now())) {
    const MonotonicTime before = clock.now();
    watch_all(watches, ids, before);
    sys::wait_ready(watches, patience(before));
    const MonotonicTime now = clock.now();
    if (watches[0].readable) board.waker().drain();
    take_board(now);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto found = connections.find(ids[i]);
      if (found == connections.end()) continue;
      Connection& connection = found->second;
      const sys::Watch& watch = watches[i + 2];
      if (watch.writable) connection.on_writable(now);
      if (watch.readable && connection.wants_read()) connection.on_readable(now);
      after_io(found->first, connection, now);
    }
    if (watches[1].readable) accept_new(now);
    expire(now);
    sweep();
  }
  connections.clear();
  connection_count = 0;
  stream_count = 0;
}

void Server::Impl::watch_all(std::vector<sys::Watch>& watches, std::vector<ConnectionId>& ids, MonotonicTime now) {
  watches.clear();
  ids.clear();
  watches.push_back({.number = board.waker().number(), .read = true});
  const bool accepts = !stop_by && now >= accept_from;
  watches.push_back({.number = accepts ? listener.number() : -1, .read = true});
  for (const auto& [id, connection] : connections) {
    const bool read = connection.wants_read();
    const bool write = connection.wants_write();
    // Who wants neither is not asked: a broken connection would make each wait return at once.
    watches.push_back({.number = read || write ? connection.number() : -1, .read = read, .write = write});
    ids.push_back(id);
  }
}

Nanoseconds Server::Impl::patience(MonotonicTime now) const {
  Nanoseconds least = kWakeAtLeast;
  if (now < accept_from) least = std::min(least, accept_from - now);
  for (const auto& [id, connection] : connections) {
    const auto deadline = connection.deadline();
    if (deadline) least = std::min(least, std::max(*deadline - now, Nanoseconds::zero()));
  }
  return least;
}

void Server::Impl::accept_new(MonotonicTime now) {
  for (std::size_t i = 0; i < kAcceptsAtOnce; ++i) {
    sys::Descriptor socket;
    const auto accepted = listener.accept(socket);
    if (accepted == sys::Listener::Accepted::kExhausted) {
      if (!make_room(now)) accept_from = now + kExhaustedPause;
      return;
    }
    if (accepted == sys::Listener::Accepted::kNone) return;
    if (connections.size() >= options.connections_max && !make_room(now)) {
      ++refused;
      constexpr std::string_view kFull = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      if (!tls) static_cast<void>(sys::transmit(socket, kFull));  // as far as it goes: it is closed anyway
      continue;
    }
    std::optional<TlsSession> session;
    if (tls) {
      auto made = tls->session();
      if (!made) continue;
      session = *std::move(made);
    }
    connections.try_emplace(next_id++, std::move(socket), std::move(session), options, now);
  }
}

// Of those without a whole request the one that has been so for longest goes.
bool Server::Impl::make_room(MonotonicTime now) {
  auto oldest = connections.end();
  for (auto at = connections.begin(); at != connections.end(); ++at) {
    if (at->second.stage() != Stage::kReading && at->second.stage() != Stage::kClosing) continue;
    if (oldest == connections.end() || at->second.began() < oldest->second.began()) oldest = at;
  }
  if (oldest == connections.end() || now - oldest->second.began() < kYoung) return false;
  ++cut;
  connections.erase(oldest);
  return true;
}

void Server::Impl::after_io(ConnectionId id, Connection& connection, MonotonicTime now) {
  if (connection.stage() == Stage::kBad) {
    Headers headers;
    if (connection.fault().status == 405) headers["Allow"] = routes.methods();
    refuse(connection, connection.fault().status, connection.fault().message, now, std::move(headers));
  } else if (auto message = connection.take_request(now)) {
    ++requests;
    dispatch(id, connection, *std::move(message), now);
  } else if (connection.body_bytes() > 0 && bodies() > options.bodies_bytes_max) {
    refuse(connection, 503, "too many requests with large bodies at once; try again later", now);
  }
}

void Server::Impl::dispatch(ConnectionId id, Connection& connection, Message message, MonotonicTime now) {
  auto request = to_request(std::move(message));
  if (!request) return refuse(connection, 400, request.error().message, now);
  auto found = routes.find(*request);
  if (const auto* miss = std::get_if<Routes::Miss>(&found)) {
    Headers headers;
    if (!miss->allowed.empty()) headers["Allow"] = miss->allowed;
    return refuse(connection, miss->status, miss->message, now, std::move(headers));
  }
  const Route* route = std::get<const Route*>(found);
  if (stop_by) return refuse(connection, 503, "the server is stopping", now);
  BoundedQueue<Job>& jobs = route->lane == Lane::kQuick ? quick : waiting;
  if (jobs.push(Job{id, route, *std::move(request)}) != Pushed::kTaken)
    refuse(connection, 503, "too many requests are being handled; try again later", now);
}

void Server::Impl::take_board(MonotonicTime now) {
  Board::Taken taken = board.take();
  for (Done& done : taken.done) {
    const auto found = connections.find(done.connection);
    if (found == connections.end()) continue;
    Connection& connection = found->second;
    if (done.response.stream) {
      start_stream(std::move(done), connection, now);
    } else {
      connection.answer(done.response, stop_by.has_value(), now);
    }
    after_io(found->first, connection, now);
  }
  for (const Piece& piece : taken.pieces) {
    const auto found = connections.find(piece.connection);
    if (found == connections.end()) continue;
    found->second.stream(piece.bytes, now);
    if (piece.over) found->second.end_stream(now);
  }
}

void Server::Impl::start_stream(Done done, Connection& connection, MonotonicTime now) {
  if (stop_by) return refuse(connection, 503, "the server is stopping", now);
  done.response.content_type = "text/event-stream";
  if (connection.head_only()) {  // a stream without a body is a head
    done.response.stream.reset();
    return connection.answer(done.response, true, now);
  }
  if (stream_count >= options.streams_max) {
    return refuse(connection, 503, fmt::format("{} event streams are open, which is the limit; try again later",
                                               options.streams_max), now);
  }
  ++stream_count;
  connection.begin_stream(done.response, now);
  board.add_source(done.connection, std::move(done.response.stream));
}

void Server::Impl::refuse(Connection& connection, int status, const std::string& message, MonotonicTime now,
                          Headers headers) {
  const bool misses = connection.stage() == Stage::kHandling && (status == 404 || status == 405);
  if (!misses && status != 408) ++refused;  // who is late is counted as cut
  Response response;
  if (options.error_page) {
    response = options.error_page(status, message);
  } else {
    response.content_type = "text/plain; charset=utf-8";
    response.body = message;
  }
  response.status = status;
  response.headers.merge(headers);
  // Whose request was whole may ask again on the same connection.
  connection.answer(response, connection.stage() != Stage::kHandling || stop_by.has_value(), now);
}

void Server::Impl::expire(MonotonicTime now) {
  for (auto& [id, connection] : connections) {
    const auto deadline = connection.deadline();
    if (!deadline || *deadline > now) continue;
    if (connection.stage() != Stage::kClosing) ++cut;  // that one has its answer
    if (connection.expire()) refuse(connection, 408, "the request was not complete in time", now);
  }
}

void Server::Impl::sweep() {
  std::map<ConnectionId, std::size_t> unsent;
  for (auto at = connections.begin(); at != connections.end();) {
    if (at->second.stage() == Stage::kGone) {
      at = connections.erase(at);
      continue;
    }
    if (at->second.stage() == Stage::kStreaming) unsent.emplace_hint(unsent.end(), at->first, at->second.unsent());
    ++at;
  }
  connection_count = connections.size();
  stream_count = unsent.size();
  board.set_unsent(std::move(unsent));
}

std::size_t Server::Impl::bodies() const {
  std::size_t bytes = 0;
  for (const auto& [id, connection] : connections) bytes += connection.body_bytes();
  return bytes;
}

// Once it is to stop: true when nothing is under way any more, or the time for it is over.
bool Server::Impl::finished(MonotonicTime now) {
  if (!stopping) return false;
  if (!stop_by) {
    stop_by = now + options.stop_wait;
    listener.close();
    for (auto& [id, connection] : connections) {
      if (connection.stage() == Stage::kStreaming) connection.end_stream(now);
      if (connection.stage() == Stage::kReading) connection.drop();
    }
    sweep();
  }
  const bool busy = std::any_of(connections.begin(), connections.end(), [](const auto& entry) {
    return entry.second.stage() == Stage::kHandling || entry.second.stage() == Stage::kAnswering;
  });
  return !busy || now >= *stop_by;
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Routes routes, MonotonicClock& clock) {
  std::optional<TlsSide> side;
  if (options.tls) {
    auto made = TlsSide::server(*options.tls);
    if (!made) return fail_up(std::move(made), "for the HTTP server");
    side = *std::move(made);
  }
  auto listener = sys::Listener::open({.address = options.address, .port = options.port});
  if (!listener) return fail_up(std::move(listener), "for the HTTP server");
  auto impl = std::make_unique<Impl>(std::move(options), std::move(routes), clock, *std::move(listener), std::move(side));
  impl->begin();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->bound; }

ServerStats Server::stats() const {
  return {.connections = impl_->connection_count,
          .streams = impl_->stream_count,
          .requests = impl_->requests,
          .refused = impl_->refused,
          .cut = impl_->cut};
}

void Server::stop() {
  if (std::exchange(impl_->stopped, true)) return;
  impl_->stopping = true;
  impl_->board.waker().wake();
  impl_->looping.join();
  impl_->quick.close();
  impl_->waiting.close();
  for (std::jthread& thread : impl_->threads) thread.request_stop();
  for (std::jthread& thread : impl_->threads) thread.join();
}

}  // namespace sp::http

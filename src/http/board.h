// What the threads of a server hand each other: requests to handlers, answers and pieces of streams back to the one thread that
// owns the connections.
//
// Cost:     one lock a hand-over.
// Limits:   the queues of the lanes; pieces of a stream stop at ServerOptions::stream_bytes_max.
// Errors:   none.   Threads: any.   Source: STYLE.md 6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/message.h"
#include "http/routes.h"
#include "sys/sockets.h"

namespace sp::http {

using ConnectionId = std::uint64_t;

struct Job {
  ConnectionId connection = 0;
  const Route* route = nullptr;  // of the server, which outlives its jobs
  Request request;
};
struct Done {
  ConnectionId connection = 0;
  Response response;
};
struct Piece {
  ConnectionId connection = 0;
  std::string bytes;
  bool over = false;
};

class Board {
 public:
  void put(Done done) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(done));
    waker_.wake();
  }
  void put(Piece piece) {
    const std::lock_guard lock(mutex_);
    unsent_[piece.connection] += piece.bytes.size();
    pieces_.push_back(std::move(piece));
    waker_.wake();
  }
  struct Taken {
    std::vector<Done> done;
    std::vector<Piece> pieces;
  };
  [[nodiscard]] Taken take() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(done_, {}), std::exchange(pieces_, {})};
  }

  // How much the client of an open stream has not taken; a stream that is not among them is gone.
  void set_unsent(std::map<ConnectionId, std::size_t> unsent) {
    const std::lock_guard lock(mutex_);
    for (const Piece& piece : pieces_) {
      const auto found = unsent.find(piece.connection);
      if (found != unsent.end()) found->second += piece.bytes.size();
    }
    unsent_ = std::move(unsent);
  }
  [[nodiscard]] std::map<ConnectionId, std::size_t> unsent() {
    const std::lock_guard lock(mutex_);
    return unsent_;
  }

  // Sources of new streams, on their way to who pulls them.
  using Sources = std::vector<std::pair<ConnectionId, std::unique_ptr<EventSource>>>;
  void add_source(ConnectionId connection, std::unique_ptr<EventSource> source) {
    const std::lock_guard lock(mutex_);
    unsent_[connection] = 0;
    sources_.emplace_back(connection, std::move(source));
  }
  [[nodiscard]] Sources take_sources() {
    const std::lock_guard lock(mutex_);
    return std::exchange(sources_, {});
  }

  [[nodiscard]] const sys::Waker& waker() const { return waker_; }

 private:
  sys::Waker waker_;
  std::mutex mutex_;  // guards all below
  std::vector<Done> done_;
  std::vector<Piece> pieces_;
  std::map<ConnectionId, std::size_t> unsent_;
  Sources sources_;
};

}  // namespace sp::http

// Pulls the sources of all open event streams, every `stream_period`, and puts what they give on the board.
//
// Cost:     one pull a stream and period.   Limits: kEventsAtOnce events a pull; a stream whose client does not read is not pulled.
// Errors:   a source that throws is logged, and its stream ends.
// Threads:  run() is one.   Waiting: run() until its token stops.   Source: the HTML standard, "Server-sent events".
#pragma once

#include <map>
#include <memory>
#include <stop_token>

#include "base/clock.h"
#include "http/board.h"
#include "http/server.h"

namespace sp::http {

class Pump {
 public:
  Pump(const ServerOptions& options, Board& board, MonotonicClock& clock)
      : options_(options), board_(board), clock_(clock) {}
  void run(const std::stop_token& stop);

 private:
  struct Stream {
    std::unique_ptr<EventSource> source;
    MonotonicTime last{};
  };
  // False: it is over.
  bool pull(ConnectionId connection, Stream& stream);

  const ServerOptions& options_;  // all outlive it
  Board& board_;
  MonotonicClock& clock_;
  std::map<ConnectionId, Stream> streams_;
};

}  // namespace sp::http

// Serves a worker process to coordinators over gRPC: the service Worker of proto/worker.proto, for one control::WorkerHost.
//
//     start(host, {.port = 0}) ─► port() is a free one ─► … ─► destroyed: no new calls, those going on end or are cancelled
//
// Each call is carried out by a thread of the library, so a slow one keeps no other waiting. A call whose caller has gone before it
// was begun is not made.
//
// Limits:   ServerOptions; messages of 64 MiB; a report hands out at most 500,000 rows, and the rest with the next.
// Errors:   kInvalid: credentials that contradict themselves; kIo: the address cannot be listened on, or the certificate is none.
//           Callers hear kDenied without the token.
// Threads:  one owner; the host is called from many.   Source: proto/worker.proto; control/worker_host.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/worker_host.h"
#include "rpc/credentials.h"

namespace sp::rpc {

struct ServerOptions {
  std::string address = "127.0.0.1";  // "0.0.0.0" or "[::]": all of this machine
  std::uint16_t port = 0;             // 0: a free one
  ServerCredentials credentials;
  Nanoseconds shutdown_wait = std::chrono::seconds(2);  // then what goes on is cancelled
  int threads_max = 64;
};

class WorkerServer {
 public:
  // `host` outlives the server. Its info() is told with the port of the server, if it names none.
  [[nodiscard]] static Result<std::unique_ptr<WorkerServer>> start(control::WorkerHost& host, const ServerOptions& options);
  ~WorkerServer();
  WorkerServer(const WorkerServer&) = delete;
  WorkerServer& operator=(const WorkerServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // "127.0.0.1:40123".
  [[nodiscard]] std::string address() const;

 private:
  struct Parts;
  explicit WorkerServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sp::rpc

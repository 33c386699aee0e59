// Serves one embedded broker to the worker processes that share it: the service Broker of proto/broker.proto.
//
//     Broker ◄── BrokerServer ◄── gRPC ── RemoteDriver (one for each worker)        start(broker, clock, {.port = 0}) ─► port()
//
//     a handle that nobody calls for `lease`   is dropped as a crash drops it: a producer's open attempts stay unknown, a consumer's
//                                              partitions move when the broker's own session_timeout is over too
//     a call that comes again under its number is answered as before, and not carried out again
//
// Limits:   kHandlesMax handles; `threads_max` calls at once, each of which waits for the broker kWaitMax at most; messages of 64 MiB;
//           kDeliveriesMax deliveries in an answer; keys of kKeyBytesMax.
// Errors:   kInvalid: credentials that contradict themselves; kIo: the address cannot be listened on. Callers hear kNotFound for a
//           handle that was dropped or is of a former life of the broker, kInvalid for a record that no broker stores.
// Threads:  one owner.   Source: proto/broker.proto; driver/driver.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "driver/embedded/broker.h"
#include "rpc/credentials.h"

namespace sp::rpc::broker {

inline constexpr std::size_t kHandlesMax = 10'000;
inline constexpr std::size_t kDeliveriesMax = 4'096;
inline constexpr std::size_t kKeyBytesMax = 8'192;
inline constexpr Nanoseconds kWaitMax = std::chrono::milliseconds(250);

struct BrokerServerOptions {
  std::string address = "127.0.0.1";  // "0.0.0.0" or "[::]": all of this machine
  std::uint16_t port = 0;             // 0: a free one
  ServerCredentials credentials{};
  Nanoseconds lease = std::chrono::seconds(5);
  Nanoseconds shutdown_wait = std::chrono::seconds(2);  // then what goes on is cancelled
  int threads_max = 512;
};

class BrokerServer {
 public:
  // `broker`, its clock and `wall` outlive the server. The wall clock tells the lives of a broker apart.
  [[nodiscard]] static Result<std::unique_ptr<BrokerServer>> start(driver::embedded::Broker& broker, MonotonicClock& clock,
                                                                  const WallClock& wall, const BrokerServerOptions& options);
  // Drops all handles.
  ~BrokerServer();
  BrokerServer(const BrokerServer&) = delete;
  BrokerServer& operator=(const BrokerServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // "127.0.0.1:40123".
  [[nodiscard]] std::string address() const;
  // How many handles are there now.
  [[nodiscard]] std::size_t handles() const;

 private:
  struct Parts;
  explicit BrokerServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace sp::rpc::broker

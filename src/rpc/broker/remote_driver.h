// The driver of an embedded broker in another process: gRPC to a BrokerServer. Several worker processes share a broker this way.
//
//     open(clock, {.address = "host:port"}, settings) ─► Driver ── open_producer, open_consumer, open_raw_reader
//
// The clients gather what they are given and make one call at a time; what is told comes from the poll that asked.
//
//     no answer              the same call again with the next poll: the broker carries it out once
//     … for the lease        the client is lost: what was sent and has no outcome is kInfo, what was not sent kFail; partitions are
//     or: "I do not know you"    revoked as lost, open commits are kCommitInfo; a raw read gives up. It is opened anew every second.
//
// Waiting:  a call blocks for its way there and back even with a wait of 0, `call_deadline` at most; send() does not.
// Limits:   a producer keeps kQueueRecordsMax records and kQueueBytesMax bytes that were not sent.
// Errors:   kUnavailable: it cannot be reached or does not answer; kInvalid: the setting; else the broker's own. What a broker
//           of another release does not know is kUnsupported.
// Threads:  Driver from any; a client belongs to one thread at a time. The clock is that of the machine.
// Source:   driver/driver.h; proto/broker.proto.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "rpc/credentials.h"

namespace sp::rpc::broker {

inline constexpr std::size_t kQueueRecordsMax = 100'000;
inline constexpr std::size_t kQueueBytesMax = std::size_t{64} << 20U;

struct RemoteBroker {
  std::string address;  // "host:port"
  ClientCredentials credentials{};
  Nanoseconds call_deadline = std::chrono::seconds(2);
  Nanoseconds reopen_every = std::chrono::seconds(1);
};

// Asks the broker who it is. The clock outlives the driver, and the driver its clients. broker.address among the settings is ignored.
[[nodiscard]] Result<std::unique_ptr<driver::Driver>> open(MonotonicClock& clock, const RemoteBroker& broker,
                                                           const driver::Settings& settings = {});
// What the broker has planted, as its truth log says it. Errors: kUnavailable.
[[nodiscard]] Result<std::string> read_truth(const RemoteBroker& broker);

}  // namespace sp::rpc::broker

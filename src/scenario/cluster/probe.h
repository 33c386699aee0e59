// Whether a Kafka broker answers a request. A stopped process, a port that is open but not served yet, and a port that
// somebody else took all fail.
//
//     length(4) api_key=18(2) version=0(2) correlation(4) client_id(2+n)   ─►   length(4) correlation(4) error=0(2) …
//
// Cost:    one connection, 30 bytes.   Errors: kUnavailable, naming the port.   Threads: any.
// Source:  Kafka protocol guide, ApiVersions version 0.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"

namespace sp::scenario::cluster {

[[nodiscard]] Result<void> broker_answers(std::uint16_t port, Nanoseconds wait);

}  // namespace sp::scenario::cluster

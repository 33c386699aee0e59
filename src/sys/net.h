// Loopback ports: free ones for servers that we start, and whether somebody answers on one.
//
// Ports are taken below the range from which the kernel serves outgoing connections: a killed server's port must still
// be free when it comes back, and a client that keeps knocking at a dead port inside that range can end up talking to
// itself.
//
// Limits:  65,535 ports; only where the low range is used up do ports come from the kernel's own choice.
// Waiting: never longer than the `wait` passed.   Errors: kUnavailable nobody answers; kIo no port is free.
// Threads: any.   Source: ip(7), tcp(7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::sys {

// `count` different ports of 127.0.0.1 that nobody has bound at this moment. They are not reserved: use them soon.
[[nodiscard]] Result<std::vector<std::uint16_t>> free_ports(std::size_t count);
// Connects to 127.0.0.1:port, sends `request` and reads until `bytes_min` bytes of answer are there (at most 64 kB).
[[nodiscard]] Result<std::string> ask(std::uint16_t port, std::string_view request, std::size_t bytes_min,
                                      Nanoseconds wait);

}  // namespace sp::sys

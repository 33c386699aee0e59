// Whether a system does its job: one record goes to every partition of a topic of its own, and is
// read back from the log.
//
//     create topic ─► send, acked ─► raw read, every one found ─► delete topic; false: not yet
//
// Waiting:  a look waits at most `look_wait`.
// Errors:   those of the driver.
// Threads:  one owner.
// Source:   –.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"

namespace sp::cli {

struct ReadyOptions {
  std::string topic = "sp-ready";
  std::uint32_t partitions = 1;
  std::uint32_t replication = 1;
  Nanoseconds look_wait{std::chrono::seconds{5}};
};

[[nodiscard]] Result<bool> goes_through(driver::Driver& driver, const ReadyOptions& options,
                                        MonotonicClock& clock, const WallClock& wall);

}  // namespace sp::cli

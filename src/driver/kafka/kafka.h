// The door of this room: Kafka as a Driver.
//
//     auto driver = kafka::open({{"bootstrap.servers", "localhost:9092"}}, clock);
//
// Every setting goes to librdkafka unchanged under its own name or, translated, under the Java
// client's (settings.h). All of them are tried on real client objects before this returns, without
// a connection.
//
// Cost:    a client of its own for administration.
// Errors:  kInvalid names every unknown, impossible or contradictory setting, unreadable
//          certificate files included; kUnsupported a librdkafka that is too old.
// Threads: as driver.h says.
// Source:  docs/formats/driver.md.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"

namespace sp::driver::kafka {

// `clock` outlives the driver and all that it opens.
[[nodiscard]] Result<std::unique_ptr<Driver>> open(const Settings& settings, MonotonicClock& clock);

// "2.16.0": the librdkafka that this process runs on, whatever it was compiled against.
[[nodiscard]] std::string library_version();

// Every setting tried on client objects without a server; bootstrap.servers may be missing. Errors:
// as open().
[[nodiscard]] Result<void> check_settings(const Settings& settings);

// Says whether that librdkafka can be used at all. Error: kUnsupported with version and remedy.
[[nodiscard]] Result<void> check_library();

}  // namespace sp::driver::kafka

// From the settings a person gave to those of each kind of client.
//
//     user ─► Java names translated ─► aliases resolved ─► our defaults where the user is silent
//          ─► producer · consumer · admin (what both share)
//
//     producer   acks=all  enable.idempotence=true  partitioner=murmur2_random
//                max.in.flight.requests.per.connection=5
//     consumer   auto.offset.reset=earliest  enable.auto.commit=false
//                enable.auto.offset.store=false  isolation.level=read_uncommitted
//                partition.assignment.strategy=cooperative-sticky
//     all        topic.metadata.refresh.interval.ms=5000  allow.auto.create.topics=false
//
// A user's setting that contradicts one of our defaults withdraws that default and leaves a note;
// settings that contradict each other are the library's to refuse, which probe() asks it. Weak
// settings are no error: they are what is tested.
//
// Errors:  kInvalid, every wrong name or value at once, with the nearest known name; secrets are
//          never shown.
// Threads: values.
// Source:  docs/formats/driver.md, "What a native driver sets unless the user does".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {

struct Plan {
  Settings producer;
  Settings consumer;
  Settings admin;
  std::vector<std::string> notes;
};

[[nodiscard]] Result<Plan> plan_settings(const Library& library, const Settings& user);

// Tries a plan on client objects that have no server to connect to; the values they would use,
// secrets masked.
[[nodiscard]] Result<Settings> probe(const Library& library, const Plan& plan);

// Adds to a plan's consumer settings what the spec decides; the user's own words win where both
// speak. kInvalid: there is no group.
[[nodiscard]] Result<void> apply_consumer_spec(const ConsumerSpec& spec, Settings& settings);

// Its value; empty if it is not there.
[[nodiscard]] std::string setting(const Settings& settings, const std::string& name);

// True if the value of that setting must not be shown.
[[nodiscard]] bool is_secret(std::string_view name);

// The known name, the library's or the Java client's, nearest to `name`; empty if none is near.
[[nodiscard]] std::string nearest_name(const Library& library, std::string_view name);

}  // namespace sp::driver::kafka

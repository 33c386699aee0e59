// What is done about the topic of a proof that is there already.
//
//     fail       kExists, with the ways out
//     reuse      taken as it is, if it has the partitions asked for at least; made if it is not there
//     recreate   deleted and made anew
//
// Cost:     a few requests; recreate waits until the old one is gone, at most kGoneMax.
// Errors:   the driver's, with the topic's name; kInvalid names both partition counts.
// Threads:  one.   Source: docs/reference/proof.md, topicExists.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "proof/proof.h"

namespace sp::worker {

constexpr Nanoseconds kGoneMax = std::chrono::seconds(20);

[[nodiscard]] driver::TopicSpec topic_spec(const proof::Proof& proof, const std::string& topic);

// The partitions that the topic has.
[[nodiscard]] Result<std::uint32_t> make_topic(driver::Driver& driver, const driver::TopicSpec& spec,
                                               proof::TopicExists policy, MonotonicClock& clock);

}  // namespace sp::worker

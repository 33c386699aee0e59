// A consumer of a group. How a rebalance becomes lineages:
//
//     assign event ─► committed offsets are asked for ─► the library's assign, from them ─► kAssign
//     each (start, generation) revoke event ─► revoking(), nothing more of them is delivered ─►
//     release() ─► the library's unassign ─► kRevoke kRevoked lost (session over, fenced) ─► the
//     library's unassign at once ─► kRevoke kLost close() ─► open commits ─► leaves the group ─►
//     kRevoke kClosed
//
// A start is stated where the group has a committed offset; elsewhere the reset policy decides and
// it is absent. Records are taken off the client's queue in batches; what the client says of itself
// on the way (rebalances, answers to commits, errors) is kept until they are handed over, then served.
//
// Cost:    100 ns a record, of which the payload's check is a third; no copy of payload or key.
// Limits:  as driver.h; one topic.
// Errors:  outcomes are observations; open_consumer refuses bad settings.   Threads: one owner.
// Source:  driver.h; librdkafka/rdkafka.h, "Rebalance callback".
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {

// `settings` are a plan's consumer settings. `library` and `clock` outlive the consumer.
[[nodiscard]] Result<std::unique_ptr<Consumer>> open_consumer(const ConsumerSpec& spec,
                                                              Settings settings,
                                                              const Library& library,
                                                              MonotonicClock& clock);

}  // namespace sp::driver::kafka

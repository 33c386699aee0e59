// A consumer of a group. How a rebalance becomes lineages:
//
//     assign   committed offsets are asked for, then the client's assign ─► kAssign with start
//     revoke   revoking(), nothing more is delivered, until release() ─► kRevoke, kRevoked
//     lost     session over or fenced: the client's unassign at once ─► kRevoke, kLost
//     close()  open commits are waited for, the group is left ─► kRevoke, kClosed
//
// A start is stated where the group has a committed offset; elsewhere the reset policy decides and
// it is absent. Records are taken off the client's queue in batches; what the client says of itself
// on the way (rebalances, answers to commits, errors) is kept until they are handed over, then
// served.
//
// Cost:    100 ns a record, a third of it the payload's check; payload and key are not copied.
// Limits:  as driver.h; one topic; at most kBatchMax records are taken at once.
// Errors:  outcomes are observations; open_consumer refuses bad settings.
// Threads: one owner.
// Source:  driver.h; librdkafka/rdkafka.h, "Rebalance callback".
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/library.h"
#include "driver/kafka/stragglers.h"

namespace sp::driver::kafka {

// Few enough to be still in the cache when they are handed over and given back.
constexpr std::size_t kBatchMax = 256;

// `settings` are a plan's consumer settings. `library` and `clock` outlive the consumer; the
// stragglers are shared, because a consumer may outlive its driver.
[[nodiscard]] Result<std::unique_ptr<Consumer>> open_consumer(
    const ConsumerSpec& spec, Settings settings, const Library& library,
    std::shared_ptr<Stragglers> stragglers,  // shared with the driver, which may end before the consumer
    MonotonicClock& clock);

}  // namespace sp::driver::kafka

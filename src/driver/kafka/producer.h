// A producer: records in, delivery reports out, each attempt answered exactly once.
//
//     send() ─► the library, the attempt's address as opaque ─► report ─► poll(): its outcome
//
// Cost:    20 ns a record over the library's own; one copy of the payload, made by the library; the
//          attempt's 32 bytes come from a pool.
// Limits:  what the library's queue takes (queue.buffering.max.messages, …kbytes); past it
//          kQueueFull.
// Errors:  outcomes are observations; open_producer refuses bad settings.
// Threads: one owner.
// Source:  driver.h; outcome.h.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {

// `settings` are a plan's producer settings. `clock` outlives the producer.
[[nodiscard]] Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec,
                                                              Settings settings,
                                                              MonotonicClock& clock);

}  // namespace sp::driver::kafka

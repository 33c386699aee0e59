// What a client reports of itself, as an observation with a sentence a person can act on.
//
// Errors: none.   Threads: the client's owner.   Source: outcome.h.
#pragma once

#include <cstdint>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "core/observation.h"
#include "driver/kafka/outcome.h"

namespace sp::driver::kafka {

// Passes the error as kClientError, the loss of all connections as kDisconnect; nothing for the end
// of a partition, which is no error. `reason`: the client's own words.
void pass_client_error(rd_kafka_t* handle, rd_kafka_resp_err_t error, std::string_view reason,
                       const Subject& subject, std::uint32_t process, core::GroupIndex group,
                       MonotonicTime now, core::ObservationSink& sink);

}  // namespace sp::driver::kafka

// What librdkafka's answers mean in our words: `fail` or `info` for a record, definite or not for a
// commit, error code for everything else.
//
//     success                                                                          ok
//     status NOT_PERSISTED and a code that speaks of the record itself (size, form)    fail
//     status NOT_PERSISTED and a code of rights or names, and provably no earlier try  fail
//     everything else: timeouts, lost connections, leaders that moved, purges          info
//
// NOT_PERSISTED alone proves nothing: a leader may append and still answer NOT_LEADER. That no
// earlier try was made is known if the record never had a partition, or if its whole life was
// shorter than the pause before a second try.
//
// Errors:  none.
// Threads: functions of their arguments.
// Source:  docs/formats/driver.md, "fail or info".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/result.h"
#include "core/observation.h"
#include "driver/kafka/rights.h"

namespace sp::driver::kafka {

struct DeliveryFacts {
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  rd_kafka_msg_status_t status = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
  std::int32_t partition = RD_KAFKA_PARTITION_UA;
  std::optional<Nanoseconds> life;  // from the hand-over to the report
};

// kOk, kFail or kInfo. `retry_pause` is the shortest time after which the library may try a record
// again.
[[nodiscard]] core::Event outcome_of(const DeliveryFacts& facts, Nanoseconds retry_pause);

// How many of a batch handed over are attempts: up to the last that is not refused for a full queue. The library takes
// nothing behind such a one; if it did, that one could not be sent again without being overtaken, and is an attempt that failed.
[[nodiscard]] std::size_t attempts_in(std::span<const rd_kafka_message_t> batch);

// True for codes by which a broker refuses a commit for good.
[[nodiscard]] bool refuses_commit(rd_kafka_resp_err_t error);

// "create topic 'x': denied, needs CREATE on topic 'x' or on the cluster: Broker: Topic
// authorization failed; grant it: kafka-acls.sh …".
[[nodiscard]] Error to_error(rd_kafka_resp_err_t error, const Subject& subject,
                             std::string_view detail = {});

}  // namespace sp::driver::kafka

// A record as the client hands it over, in our words.
//
// Errors:  none.
// Threads: functions of their arguments; views live as long as the message.
// Source:  core/observation.h.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "core/observation.h"
#include "core/payload.h"

namespace sp::driver::kafka {

[[nodiscard]] inline std::span<const std::byte> payload_of(const rd_kafka_message_t& message) {
  return {static_cast<const std::byte*>(message.payload),
          message.payload == nullptr ? 0 : message.len};
}
[[nodiscard]] inline std::string_view key_of(const rd_kafka_message_t& message) {
  return {static_cast<const char*>(message.key), message.key == nullptr ? 0 : message.key_len};
}

// Adds place, name and content of the record to `observation`.
inline void describe_record(const rd_kafka_message_t& message, const core::PayloadReading& reading,
                            core::Observation& observation) {
  observation.content = reading.content;
  observation.sequence = reading.fields.sequence;
  observation.asked_partition = core::PartitionId(reading.fields.partition);
  if (reading.content == core::Content::kIntact) observation.published = reading.fields.published;
  observation.partition = core::PartitionId(static_cast<std::uint32_t>(message.partition));
  observation.has_position = true;
  observation.offset = core::Offset(static_cast<std::uint64_t>(message.offset));
  observation.name = key_of(message);
}

}  // namespace sp::driver::kafka

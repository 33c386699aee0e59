// A record as the client hands it over, in our words.
//
// Errors:  none.
// Threads: functions of their arguments; views live as long as the message.
// Source:  core/observation.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "core/observation.h"
#include "core/payload.h"
#include "driver/kafka/handle.h"

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

using Message = std::unique_ptr<rd_kafka_message_t, Destroyer<rd_kafka_message_destroy>>;

// One record between the client's queue and a sink.
struct Taken {
  Message message;
  core::PayloadReading reading;
};

// Passes records on in their order, several at once; each is `blank` and what the record shows. Inside a bracket.
inline void pass_records(std::span<const Taken> records, const core::Observation& blank,
                         core::ObservationSink& sink) {
  std::array<core::Observation, 16> observations;
  while (!records.empty()) {
    const std::size_t count = std::min(observations.size(), records.size());
    for (std::size_t i = 0; i < count; ++i) {
      observations[i] = blank;
      describe_record(*records[i].message, records[i].reading, observations[i]);
    }
    sink.observe_all(std::span(observations).first(count));
    records = records.subspan(count);
  }
}

}  // namespace sp::driver::kafka

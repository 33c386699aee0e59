#include "driver/kafka/client_errors.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace sp::driver::kafka {

void pass_client_error(rd_kafka_t* handle, rd_kafka_resp_err_t error, std::string_view reason,
                       const Subject& subject, std::uint32_t process, core::GroupIndex group,
                       MonotonicTime now, core::ObservationSink& sink) {
  if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF) return;
  std::string text;
  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    std::array<char, 512> why{};
    error = rd_kafka_fatal_error(handle, why.data(), why.size());
    text = fmt::format("fatal: {}: {}", rd_kafka_err2name(error), why.data());
  } else {
    text = fmt::format("{}: {}", rd_kafka_err2name(error), reason);
  }
  text += what_is_missing(error, subject);
  core::Observation observation;
  observation.event = error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ? core::Event::kDisconnect
                                                                   : core::Event::kClientError;
  observation.process = process;
  observation.group = group;
  observation.time = now;
  observation.refusal = refusal_of(error);
  observation.text = text;
  sink.begin();
  sink.observe(observation);
  sink.end();
}

}  // namespace sp::driver::kafka

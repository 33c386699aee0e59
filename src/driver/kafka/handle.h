// Owners of librdkafka's objects, and the building of clients from settings.
//
// Errors:  kInvalid names the setting that the library refuses, in the library's words.
// Threads: an owner belongs to one thread; what it owns is as thread-safe as librdkafka says.
// Source:  librdkafka/rdkafka.h.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "base/result.h"
#include "core/ids.h"
#include "driver/driver.h"

namespace sp::driver::kafka {

template <auto kDestroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, Destroyer<rd_kafka_conf_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroyer<rd_kafka_topic_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroyer<rd_kafka_queue_destroy>>;
using ClientEvent = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                      Destroyer<rd_kafka_topic_partition_list_destroy>>;
using ClientError = std::unique_ptr<rd_kafka_error_t, Destroyer<rd_kafka_error_destroy>>;

// Destroyed without leaving its group; a consumer that is to leave closes before.
struct HandleDestroyer {
  void operator()(rd_kafka_t* handle) const {
    rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }
};
using Handle = std::unique_ptr<rd_kafka_t, HandleDestroyer>;

// A configuration with these settings. The library's log is silent unless `debug` is set.
[[nodiscard]] Result<Conf> make_conf(const Settings& settings);
[[nodiscard]] Result<Handle> make_handle(rd_kafka_type_t type, Conf conf);
[[nodiscard]] PartitionList make_list(std::size_t capacity);

[[nodiscard]] inline core::PartitionId partition_of(const rd_kafka_topic_partition_t& partition) {
  return core::PartitionId(static_cast<std::uint32_t>(partition.partition));
}
[[nodiscard]] inline std::span<rd_kafka_topic_partition_t> elements(
    const rd_kafka_topic_partition_list_t& list) {
  return {list.elems, static_cast<std::size_t>(list.cnt)};
}

// Whole milliseconds, rounded down, so that a wait is never longer than asked for.
[[nodiscard]] int to_milliseconds(Nanoseconds wait);

}  // namespace sp::driver::kafka

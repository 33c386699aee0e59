#include "driver/kafka/handle.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "driver/kafka/settings.h"

namespace sp::driver::kafka {
namespace {

void silent_log(const rd_kafka_t* /*handle*/, int /*level*/, const char* /*facility*/,
                const char* /*text*/) {}

}  // namespace

Result<Conf> make_conf(const Settings& settings) {
  Conf conf(rd_kafka_conf_new());
  std::array<char, 512> why{};
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), why.data(), why.size()) ==
        RD_KAFKA_CONF_OK)
      continue;
    if (is_secret(name))
      return fail(ErrorCode::kInvalid, fmt::format("{}: the value is not accepted", name));
    return fail(ErrorCode::kInvalid, fmt::format("{}={}: {}", name, value, why.data()));
  }
  if (!settings.contains("debug")) rd_kafka_conf_set_log_cb(conf.get(), silent_log);
  return conf;
}

Result<Handle> make_handle(rd_kafka_type_t type, Conf conf) {
  std::array<char, 512> why{};
  rd_kafka_t* handle = rd_kafka_new(type, conf.get(), why.data(), why.size());
  if (handle == nullptr) return fail(ErrorCode::kInvalid, why.data());
  static_cast<void>(conf.release());  // the client owns it now
  return Handle(handle);
}

PartitionList make_list(std::size_t capacity) {
  CHECK(capacity <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
        "a topic has fewer partitions");
  return PartitionList(rd_kafka_topic_partition_list_new(static_cast<int>(capacity)));
}

int to_milliseconds(Nanoseconds wait) {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(wait).count();
  return static_cast<int>(
      std::clamp<std::int64_t>(milliseconds, 0, std::numeric_limits<int>::max()));
}

}  // namespace sp::driver::kafka

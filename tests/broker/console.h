// A second opinion about what stands in a topic: Kafka's own console consumer, none of our code but
// the parsing of its output.
//
//     read_log(bootstrap, topic, payload_bytes)  ─►  partition, offset, key, sequence of every
//     record count(log)                                 ─►  duplicate-write and reordered-write,
//     counted the plain way
//
// The formatter writes key and value as the bytes they are, so lines are taken apart by length. The
// sequence is the first eight bytes of a value, big-endian.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/result.h"

namespace sp::broker_test {

struct LogRecord {
  std::uint32_t partition = 0;
  std::uint64_t offset = 0;
  std::string key;
  std::uint64_t sequence = 0;
};

// All of the topic, in no particular order of partitions.
[[nodiscard]] Result<std::vector<LogRecord>> read_log(const std::string& bootstrap,
                                                      const std::string& topic,
                                                      std::size_t payload_bytes);

struct LogCounts {
  std::uint64_t records = 0;
  std::uint64_t duplicate_write = 0;  // copies beyond the first
  std::uint64_t reordered_write =
      0;  // records whose first copy stands after the first copy of a higher sequence of its key
  std::set<process_test::RecordName> present;
};
[[nodiscard]] LogCounts count(std::vector<LogRecord> log);

}  // namespace sp::broker_test

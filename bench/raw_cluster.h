// The Kafka that a bench runs against: one real node, started for it, or librdkafka's mock in this process.
//
//     start_kafka() · start_mock(topics)  ─►  bootstrap(), topic(…)       gone with the object
//
// The mock makes no topics on request: they are named beforehand.
//
// Cost:    a node starts in some 5 s; the first time its jars are fetched.
// Errors:  those of the cluster; kUnsupported where there is no such tool.
// Threads: one owner.   Source: scenario/cluster/cluster.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace sp::bench {

struct JavaRate {
  double records_a_second = 0;
  std::string says;  // its last line
};

class RawCluster {
 public:
  virtual ~RawCluster() = default;
  [[nodiscard]] virtual std::string bootstrap() const = 0;
  [[nodiscard]] virtual bool is_real() const = 0;
  // Kafka's own ProducerPerformance: acks=all, as fast as it can.
  [[nodiscard]] virtual Result<JavaRate> producer_performance(const std::string& topic, std::uint64_t records,
                                                              std::size_t record_bytes) = 0;
};

// The clocks outlive the cluster.
[[nodiscard]] Result<std::unique_ptr<RawCluster>> start_kafka(MonotonicClock& clock, const WallClock& wall);
[[nodiscard]] Result<std::unique_ptr<RawCluster>> start_mock(const std::vector<std::string>& topics,
                                                             std::uint32_t partitions);

}  // namespace sp::bench

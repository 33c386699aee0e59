// The values of driver/driver.h as messages of proto/broker.proto, and back.
//
//     put(value, message)   write      …_of(message)   read; what is read was checked
//
// Shape:    views of an observation that was read point into its message.
// Cost:     a copy.   Limits: those of protobuf.
// Errors:   kParse: a message that no program of this release makes.
// Threads:  pure functions.   Source: proto/broker.proto.
#pragma once

#include <vector>

#include <proto/broker.pb.h>

#include "base/result.h"
#include "core/observation.h"
#include "driver/driver.h"
#include "rpc/line.h"

namespace sp::rpc::broker::detail {

namespace v1 = ::streaming_proof::v1;

using rpc::put;  // of an error

// Of an observation each member that is not as it is by default.
void put(const core::Observation& observation, v1::Observation& message);
[[nodiscard]] Result<core::Observation> observation_of(const v1::Observation& message);

void put(const driver::TopicSpec& spec, v1::TopicSpec& message);
[[nodiscard]] driver::TopicSpec topic_of(const v1::TopicSpec& message);
void put(const driver::ProducerSpec& spec, v1::ProducerSpec& message);
[[nodiscard]] driver::ProducerSpec producer_of(const v1::ProducerSpec& message);
void put(const driver::ConsumerSpec& spec, v1::ConsumerSpec& message);
[[nodiscard]] Result<driver::ConsumerSpec> consumer_of(const v1::ConsumerSpec& message);
void put(const driver::RawSpec& spec, v1::RawSpec& message);
[[nodiscard]] Result<driver::RawSpec> raw_reader_of(const v1::RawSpec& message);
void put(const driver::ClusterState& state, v1::ClusterState& message);
[[nodiscard]] driver::ClusterState state_of(const v1::ClusterState& message);
void put(const std::vector<driver::PartitionBounds>& bounds, v1::LogBounds& message);
[[nodiscard]] Result<std::vector<driver::PartitionBounds>> bounds_of(const v1::LogBounds& message);

}  // namespace sp::rpc::broker::detail

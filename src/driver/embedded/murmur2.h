// The hash by which Kafka's Java client and librdkafka's murmur2 partitioner choose a partition for a key.
//
//     partition = (murmur2(key) & 0x7fffffff) % partitions
//
// Cost: 1 ns a byte.   Errors: none.   Threads: any.
// Source: Austin Appleby's MurmurHash2, seed 0x9747b28c as Kafka has it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sp::driver::embedded {

[[nodiscard]] std::uint32_t murmur2(std::string_view key);
// `partitions` must be above 0.
[[nodiscard]] std::uint32_t partition_of(std::string_view key, std::uint32_t partitions);

}  // namespace sp::driver::embedded

#include "driver/embedded/murmur2.h"

#include "base/check.h"

namespace sp::driver::embedded {
namespace {

constexpr std::uint32_t kMurmurFactor = 0x5bd1e995;
constexpr std::uint32_t kMurmurSeed = 0x9747b28c;

std::uint32_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

}  // namespace

std::uint32_t murmur2(std::string_view key) {
  std::uint32_t hash = kMurmurSeed ^ static_cast<std::uint32_t>(key.size());
  std::size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) {
    std::uint32_t word = byte_at(key, at) | byte_at(key, at + 1) << 8U | byte_at(key, at + 2) << 16U |
                         byte_at(key, at + 3) << 24U;
    word *= kMurmurFactor;
    word ^= word >> 24U;
    word *= kMurmurFactor;
    hash = (hash * kMurmurFactor) ^ word;
  }
  const std::size_t rest = key.size() - at;
  if (rest >= 3) hash ^= byte_at(key, at + 2) << 16U;
  if (rest >= 2) hash ^= byte_at(key, at + 1) << 8U;
  if (rest >= 1) hash = (hash ^ byte_at(key, at)) * kMurmurFactor;
  hash = (hash ^ (hash >> 13U)) * kMurmurFactor;
  return hash ^ (hash >> 15U);
}

std::uint32_t partition_of(std::string_view key, std::uint32_t partitions) {
  CHECK(partitions > 0, "a topic has a partition");
  return (murmur2(key) & 0x7fffffffU) % partitions;
}

}  // namespace sp::driver::embedded

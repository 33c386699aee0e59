#include "core/payload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/prng.h"
#include "codec/crc32c.h"
#include "codec/xxh64.h"
#include "core/key_space.h"

namespace sp::core {
namespace {

// Where each field stands.
constexpr std::size_t kAtMagic = 8;
constexpr std::size_t kAtRun = 12;
constexpr std::size_t kAtIncarnation = 20;
constexpr std::size_t kAtKeyHash = 24;
constexpr std::size_t kAtPartition = 32;
constexpr std::size_t kAtPublished = 36;
constexpr std::size_t kAtChecksum = 44;

template <typename Number>
Number swap_unless_big(Number number) {
  if constexpr (std::endian::native == std::endian::big)
    return number;
  else if constexpr (sizeof(Number) == 4)
    return __builtin_bswap32(number);
  else
    return __builtin_bswap64(number);
}

template <typename Number>
void put(std::byte* at, Number number) {
  const Number big = swap_unless_big(number);
  std::memcpy(at, &big, sizeof(big));
}

template <typename Number>
Number get(const std::byte* at) {
  Number big{};
  std::memcpy(&big, at, sizeof(big));
  return swap_unless_big(big);
}

// A Weyl sequence from the mixed number of the record, folded once: few instructions a word, and no
// compressor finds a pattern in it, so that bytes on the wire are the bytes that were asked for.
void fill(Sequence sequence, std::byte* at, std::size_t size) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;
  std::uint64_t state = mix64(sequence.value());
  for (; size >= 8; size -= 8, at += 8) {
    put(at, state ^ (state >> 29U));
    state += kStep;
  }
  if (size == 0) return;
  std::array<std::byte, 8> last{};
  put(last.data(), state ^ (state >> 29U));
  std::memcpy(at, last.data(), size);
}

// Over the key and the payload, its four bytes of checksum taken as zero.
std::uint32_t checksum(std::string_view key, std::span<const std::byte> payload) {
  constexpr std::array<std::byte, 4> kZeros{};
  std::uint32_t crc = codec::crc32c(key);
  crc = codec::crc32c(payload.first(kAtChecksum), crc);
  crc = codec::crc32c(kZeros, crc);
  return codec::crc32c(payload.subspan(kPayloadBytesIdentified), crc);
}

PayloadFields fields_of(const std::byte* at) {
  PayloadFields fields;
  fields.sequence = Sequence{get<std::uint64_t>(at)};
  fields.run = RunId{get<std::uint64_t>(at + kAtRun)};
  fields.incarnation = get<std::uint32_t>(at + kAtIncarnation);
  fields.partition = get<std::uint32_t>(at + kAtPartition);
  // Damaged bytes may say any number of microseconds; as nanoseconds it must not overflow.
  constexpr std::int64_t kMicrosecondsMax = INT64_MAX / 1000;
  const auto micros = std::clamp(std::bit_cast<std::int64_t>(get<std::uint64_t>(at + kAtPublished)),
                                 -kMicrosecondsMax, kMicrosecondsMax);
  fields.published = WallTime(std::chrono::microseconds(micros));
  return fields;
}

}  // namespace

void write_payload(const PayloadFields& fields, std::string_view key,
                   std::span<std::byte> payload) {
  CHECK(payload.size() >= kPayloadBytesMin, "a payload holds its sequence");
  std::byte* const at = payload.data();
  put(at, fields.sequence.value());
  if (payload.size() < kPayloadBytesIdentified) {
    fill(fields.sequence, at + kPayloadBytesMin, payload.size() - kPayloadBytesMin);
    return;
  }
  const auto published =
      std::chrono::floor<std::chrono::microseconds>(fields.published.time_since_epoch());
  put(at + kAtMagic, kPayloadMagic);
  put(at + kAtRun, fields.run.value());
  put(at + kAtIncarnation, fields.incarnation);
  put(at + kAtKeyHash, codec::xxh64(key));
  put(at + kAtPartition, fields.partition);
  put(at + kAtPublished, std::bit_cast<std::uint64_t>(std::int64_t{published.count()}));
  put(at + kAtChecksum, std::uint32_t{0});
  fill(fields.sequence, at + kPayloadBytesIdentified, payload.size() - kPayloadBytesIdentified);
  put(at + kAtChecksum, codec::crc32c(payload, codec::crc32c(key)));
}

PayloadReading read_payload(std::span<const std::byte> payload, std::string_view key, RunId run,
                            std::size_t bytes_expected) {
  PayloadReading reading;
  const std::byte* const at = payload.data();
  if (payload.size() < kPayloadBytesMin) return reading;
  if (payload.size() < kPayloadBytesIdentified) {
    reading.fields.sequence = Sequence{get<std::uint64_t>(at)};
    if (payload.size() == bytes_expected) reading.content = Content::kUnchecked;
    return reading;
  }
  reading.fields = fields_of(at);
  const bool intact = get<std::uint32_t>(at + kAtMagic) == kPayloadMagic &&
                      get<std::uint64_t>(at + kAtKeyHash) == codec::xxh64(key) &&
                      get<std::uint32_t>(at + kAtChecksum) == checksum(key, payload);
  if (!intact) return reading;
  if (reading.fields.run != run) {
    reading.content = Content::kOtherRun;
  } else if (payload.size() == bytes_expected) {
    reading.content = Content::kIntact;
  }
  return reading;
}

PayloadReading read_record(std::span<const std::byte> payload, std::string_view key, RunId run,
                           std::size_t bytes_expected) {
  PayloadReading reading = read_payload(payload, key, run, bytes_expected);
  if (reading.content == Content::kIntact || reading.content == Content::kOtherRun) return reading;
  const bool marked = payload.size() >= kPayloadBytesIdentified &&
                      get<std::uint32_t>(payload.data() + kAtMagic) == kPayloadMagic;
  if (marked || is_name_of(run, key)) return reading;
  reading.content = Content::kOtherRun;
  return reading;
}

}  // namespace sp::core

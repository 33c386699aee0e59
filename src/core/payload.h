// What a record carries so that it identifies itself, and the reading of it back.
//
//     at  0  8  sequence            all big-endian
//         8  4  magic and version   (from 48 bytes up; shorter payloads are sequence and filler)
//        12  8  run
//        20  4  incarnation
//        24  8  XXH64 of the key's bytes, seed 0
//        32  4  partition asked for, or all ones
//        36  8  publish time, microseconds since the epoch
//        44  4  CRC-32C over the key and the payload with these four bytes zero
//        48  …  filler derived from the sequence
//
// Cost:    40 ns for 100 bytes, 0.2 ns a byte more (SSE4.2).
// Limits:  8 bytes at least.   Errors: read_payload says what is wrong by Content.   Threads: values.
// Source:  docs/formats/payload.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "core/ids.h"
#include "core/observation.h"

namespace sp::core {

constexpr std::size_t kPayloadBytesMin = 8;
constexpr std::size_t kPayloadBytesIdentified = 48;
constexpr std::uint32_t kPayloadMagic = 0x53503031;  // "SP01"
constexpr std::uint32_t kNoPartition = ~std::uint32_t{0};

// A record on its way to a driver. Views live until send() returns.
struct Envelope {
  std::string_view key;
  Sequence sequence;
  std::span<const std::byte> payload;
  std::optional<PartitionId> partition;  // asked for; absent: the client library chooses by key
};

struct PayloadFields {
  RunId run;
  std::uint32_t incarnation = 0;
  Sequence sequence;
  std::uint32_t partition = kNoPartition;
  WallTime published{};
};

// Fills `payload` (8 bytes at least) for the record of that key.
void write_payload(const PayloadFields& fields, std::string_view key, std::span<std::byte> payload);

struct PayloadReading {
  Content content = Content::kDamaged;
  PayloadFields fields;  // with kUnchecked only the sequence; with kDamaged what the bytes say, not to be trusted
};

// What a record read back shows. `run` is this run: an intact payload of another one is kOtherRun. `bytes_expected` is the
// size that this run's records have; another size is damage (unless the record is of another run).
[[nodiscard]] PayloadReading read_payload(std::span<const std::byte> payload, std::string_view key, RunId run,
                                          std::size_t bytes_expected);

// The same of a record in a topic that others may write to: one with neither our mark nor a key of this run is somebody
// else's, and so is one whose size says so; that is kOtherRun, not damage.
[[nodiscard]] PayloadReading read_record(std::span<const std::byte> payload, std::string_view key, RunId run,
                                         std::size_t bytes_expected);

}  // namespace sp::core

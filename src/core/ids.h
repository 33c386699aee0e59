// The number lines of the field, each its own type.
//
//     Sequence    of a record within its key, from 0, one more for each attempt
//     PartitionId of the topic under proof, from 0; systems without partitions use 0
//     Offset      a place within one partition; comparable within that partition only
//     Generation  of a consumer group
//     RunId       one run of the harness; in every payload from 48 bytes up
//     GroupIndex  of the consumer groups of a run, in the order of the proof
//     SourceId    one incarnation of one worker: one stream of evidence
//
// Cost: none over the number.   Errors: none.   Threads: values.   Source: docs/reference/glossary.md.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/strong.h"

namespace sp::core {

using Sequence = Strong<struct SequenceTag, std::uint64_t>;
using PartitionId = Strong<struct PartitionTag, std::uint32_t>;
using Offset = Strong<struct OffsetTag, std::uint64_t>;
using Generation = Strong<struct GenerationTag, std::uint64_t>;
using GroupIndex = Strong<struct GroupTag, std::uint32_t>;
using RunId = Strong<struct RunTag, std::uint64_t>;

// Where the system put a record. Compares within one partition; an absent position is an absent optional, never 0 or −1.
struct Position {
  PartitionId partition;
  Offset offset;
  auto operator<=>(const Position&) const = default;
};

// One life of one worker process.
struct SourceId {
  std::uint32_t worker = 0;
  std::uint32_t incarnation = 0;
  auto operator<=>(const SourceId&) const = default;
};

// All processes of a history that one recorder wrote: its consumers are named by their member ids.
constexpr SourceId kHistorySource{~std::uint32_t{0}, 0};

// "r" and 8 characters of the base-32 alphabet; different runs have different texts (the text holds 40 bits of the id).
[[nodiscard]] std::string run_text(RunId run);
// True for what run_text() may return.
[[nodiscard]] bool is_run_text(std::string_view text);
// A run of that text: of the id's 64 bits the 40 that the text holds. `text` is a run text.
[[nodiscard]] RunId run_of_text(std::string_view text);

}  // namespace sp::core

// The judge of files of the driftlab dialect, with the answers that driftlab gives: verdict, reasons, anomalies, recoveries.
//
//     file ─► first pass ─► sets of positions and values ─► verdict
//     └─► second pass, if one is needed ─► old lines as evidence, recoveries
//
//     invalid    the run proves nothing: no final read, a hole in it that no ack explains, a declared fault that never completed
//     failed     an anomaly
//     clean      neither
//
// It is a compatibility mode. The rules are driftlab's, with what they are known not to see: value and position are never compared,
// every consumer is expected to begin at 1, a fault counts whenever it completed, and a value that failed and was then sent with
// success is a phantom.
//
// Whose process an anomaly names: the consumer of a duplicate, nonmonotonic-poll, poll-skip or stall; the producer of a lost-write; of a
// phantom that of its first sighting, be it a consumer or the final read.
//
// Shape:    anomalies in driftlab's order: of deliveries as they come, stalls by consumer, lost-writes as they were sent, phantoms by
//           first sighting.
// Cost:     that of the reader; 16 bytes a gap, 250 bytes a process that consumes, 150 bytes a listed anomaly. No loop over numbers.
//           A gap is inserted in O(gaps): a hostile file of them costs their square, and gaps_max bounds it.
// Limits:   DriftlabOptions. Past listed_max anomalies are counted, past gaps_max the file is refused (kFull).
// Errors:   those of the reader; kInvalid: a file of version 1; kParse: a line of the nemesis that says publish, deliver or read and lacks
//           what these need; kFull; kIo: a file that was not the same the second time.
// Threads:  one owner.   Source: docs/formats/history.md, "Two dialects".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "history/reader.h"

namespace sp::check {

enum class DriftlabVerdict : std::uint8_t { kClean, kFailed, kInvalid };  // in this order the exit code: 0, 1, 2

enum class Anomaly : std::uint8_t { kDuplicate, kNonmonotonicPoll, kPollSkip, kStall, kLostWrite, kPhantom };
constexpr std::size_t kAnomalyGroups = 4;  // those of deliveries are one: they are listed together

struct DriftlabAnomaly {
  Anomaly kind = Anomaly::kDuplicate;
  std::uint32_t process = 0;                // of Vocabulary::processes
  std::uint64_t sequence = 0;               // received; of a stall the highest that was, 0: nothing; of a lost-write the acknowledged one
  std::uint64_t other = 0;                  // nonmonotonic-poll: the highest before; poll-skip: expected; stall: the end of the stream
  std::uint64_t value = 0;                  // lost-write, phantom
  std::uint64_t late = 0;                   // poll-skip: of what was skipped, delivered later
  bool failed_publish = false;              // phantom: its publish failed; else nobody sent it
  std::vector<std::uint64_t> operations;    // evidence, by index
  std::uint64_t operations_left_out = 0;    // phantom: sightings beyond listed_max
};

struct DriftlabRecovery {
  std::uint32_t process = 0;
  std::optional<Nanoseconds> took;          // nullopt: never caught up
};

struct DriftlabResult {
  DriftlabVerdict verdict = DriftlabVerdict::kClean;
  std::uint64_t publishes = 0;
  std::uint64_t unknown = 0;
  std::vector<std::string> reasons;         // why it is invalid
  std::vector<DriftlabAnomaly> anomalies;
  std::array<std::uint64_t, kAnomalyGroups> left_out{};  // anomalies beyond listed_max
  std::vector<DriftlabRecovery> recoveries;
};

struct DriftlabOptions {
  std::size_t listed_max = 250'000;         // anomalies of each group, and sightings of phantoms together
  std::size_t gaps_max = std::size_t{1} << 18U;  // pieces of all sets together: so many, in the worst order, take 16 s
  std::function<void(std::uint64_t operations)> progress = nullptr;  // now and then: how many were read
};

// Opens the file anew each time, with the same vocabulary.
using OpenHistory = std::function<Result<std::unique_ptr<history::Reader>>()>;
[[nodiscard]] Result<DriftlabResult> check_driftlab(const OpenHistory& open, const history::Vocabulary& vocabulary,
                                                    const DriftlabOptions& options);

// The result in driftlab's lines, one call each, without line ends.
void tell_driftlab(const DriftlabResult& result, const history::Vocabulary& vocabulary,
                   const std::function<void(std::string_view line)>& tell);

}  // namespace sp::check

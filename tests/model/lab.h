// A history of the model as the file of a lab: all that its workers saw, in the one order of the world, as one recorder would have
// written it; and an independent judge over that file: the reference judge for what it shares with a proof, plain loops for what only
// the lab has.
//
//     History ─► lab_of(seed) ─┬─► text: JSON Lines ─► check           (under test)
//                              └─► lines as values  ─► lab_judge()
//
// Limits:   small histories.   Errors: none.   Threads: pure functions.
// Source:   docs/reference/checking-model.md; docs/formats/history.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/history.h"
#include "model/reference_judge.h"

namespace sp::model {

struct LabLine {
  enum class What : std::uint8_t { kAttempt, kAck, kSubscribe, kAssign, kRevoke, kDeliver, kFault, kRead, kAskedForCommit, kOther };
  What what = What::kOther;
  std::string process;
  std::string group;
  std::optional<core::Position> position;  // kAck, kDeliver, kRead
  core::PartitionId partition;             // kAssign, kRevoke
  std::string type;                        // kFault: invoke, info, ok
  std::optional<std::pair<Key, std::uint64_t>> record;  // kDeliver: which, where it can be read
  std::optional<std::size_t> transaction;  // kAskedForCommit; kDeliver: that wrote the record
  bool leftover = false;                   // kDeliver: of another run, in a topic that was there before
};

// Attempts that share their outcome.
struct LabTransaction {
  enum class Ended : std::uint8_t { kCommitted, kAborted, kUnknown };
  Ended ended = Ended::kCommitted;
  bool proven = false;                     // of unknown outcome, but something of it was seen
  std::vector<std::pair<Key, std::uint64_t>> records;
  std::uint64_t known_later = 0;           // of its records: acknowledged because it was proven
};

struct LabFile {
  std::string text;
  History flat;                            // of one source; what the file says of it
  RawRead raw;
  std::vector<LabLine> lines;              // as in the text, without the meta record
  std::vector<LabTransaction> transactions;
  bool declares_fault = false;
  bool ends = false;                       // the driver says so
  bool at_most_once = false;
  bool never_again = false;                // nothing may be handed over a second time
  bool once_again = false;                 // only after a change of consumers
};

[[nodiscard]] LabFile lab_of(const History& world, std::uint64_t seed);

struct LabVerdict {
  std::string status;                      // clean, failed, invalid
  core::PerCode<std::uint64_t> counts;
  core::PerCode<std::uint64_t> allowed;
  std::uint64_t undecided = 0;
  std::uint64_t acked = 0;
  std::uint64_t unknown = 0;
};
[[nodiscard]] LabVerdict lab_judge(const LabFile& file);

}  // namespace sp::model

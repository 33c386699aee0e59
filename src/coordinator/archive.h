// All that a service says of one proof, as values: what a running one publishes, and what is kept of one that is over.
//
//     Archive ─► archive_json() ─► state file ─► read_archive() ─► the same answers for as long as the proof is kept
//
// Shape:    complete for every question of coordinator/service.h but those about single keys, which need the run itself.
// Units:    as service.h; in JSON durations are nanoseconds.
// Cost:     O(violations + points).   Limits: those of its parts.
// Errors:   kParse: JSON that is no archive. Unknown members are passed over, absent ones keep their defaults.
// Threads:  a value.   Source: docs/formats/state.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coordinator/service.h"

namespace sp::coordinator {

struct Archive {
  ProofHead head;  // its submission is kept apart
  std::vector<ClusterTarget> targets;
  Summary summary;
  CheckpointSummary checkpoints;
  Performance performance;
  std::vector<SeriesPoint> series;
  std::vector<Violation> violations;  // the first ones
  std::uint64_t violations_left_out = 0;
  judge::Judgement judgement;  // its findings are in `violations`
  bool judged = false;
  std::vector<std::string> missing;
  std::vector<core::FaultRecord> faults;
  std::vector<std::string> messages;  // the last ones
  std::string result;                 // report::json_report; empty before the end
};

[[nodiscard]] std::string archive_json(const Archive& archive);
[[nodiscard]] Result<Archive> read_archive(std::string_view json);

[[nodiscard]] ViolationPage find_violations(const Archive& archive, const ViolationQuery& query);

}  // namespace sp::coordinator

// Steps 4 and 5 of the end as a value: what is to be read, what of it was read to its end.
//
//     wait until the log's end exceeds every acked position ─► targets ─► read ─► all reached?
//
// Shape:    a target is done when a range row of its partition names its end.
// Cost:     O(targets) a row.
// Limits:   –.
// Errors:   none.
// Threads:  one owner.
// Source:   the checking model, "The raw read".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/worker_port.h"
#include "core/ids.h"
#include "track/delta.h"
#include "track/ledger.h"

namespace sp::coordinator {

class RawReadState {
 public:
  std::optional<MonotonicTime> began;  // since when the log's bounds are asked for
  MonotonicTime next_try{};
  MonotonicTime heard{};   // of the last rows
  bool rows_came = false;  // since `heard` was looked at
  std::string problem;     // of the last try
  bool started = false;
  std::size_t reader = 0;       // index of the worker that reads
  std::size_t quiet_polls = 0;  // since its phase is over

  void set_targets(std::vector<track::RawRange> targets) {
    targets_ = std::move(targets);
    reached_.assign(targets_.size(), false);
  }
  [[nodiscard]] control::RawReadRequest request() const;
  void note(const track::Row& row);
  [[nodiscard]] std::size_t unreached() const;
  // "partition 3 from 12 to 40, …", the first few that were not read to their end.
  [[nodiscard]] std::string unreached_text() const;

 private:
  std::vector<track::RawRange> targets_;
  std::vector<bool> reached_;
};

// The partitions whose end does not exceed what was acknowledged there, in words; "" if none.
// `acked_end` is one above the highest acknowledged offset, by partition; 0: none.
[[nodiscard]] std::string ends_too_low(const std::vector<control::LogBounds>& bounds,
                                       const std::map<std::uint32_t, std::uint64_t>& acked_end);

}  // namespace sp::coordinator

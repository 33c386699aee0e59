// What the loops need of whoever keeps the evidence: a place for observations, and how far it is
// safe with the coordinator.
//
//     observe … ─► (kept, handed on) ─► acknowledged() rises ─► all_covered(), take_covered() ─► commit
//
// Errors:   none.
// Threads:  begin() … end() brackets are exclusive among all users; everything else may be called from any
//           thread, but not between begin() and end() of the same thread.
// Source:   docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <vector>

#include "core/observation.h"
#include "driver/driver.h"

namespace sp::workload {

class Evidence : public core::ObservationSink {
 public:
  // True while so much is kept unacknowledged that no new load may be made. Nothing is ever dropped instead.
  [[nodiscard]] virtual bool held_back() const = 0;
  // Rises when evidence became durable; unchanged means: nothing new to commit.
  [[nodiscard]] virtual std::uint64_t acknowledged() const = 0;
  // Makes what was observed so far leave with the next answer.
  virtual void hurry() = 0;
  // True if all that `consumer` was handed in its open lineages is durable.
  [[nodiscard]] virtual bool all_covered(std::uint32_t consumer) = 0;
  // Up to where commits of `consumer` may go; partitions with nothing new since the last call are left out.
  [[nodiscard]] virtual std::vector<driver::CommitPoint> take_covered(std::uint32_t consumer) = 0;
};

}  // namespace sp::workload

// Between a consumer's driver and the evidence: counts, times, remembers which partitions are held,
// how far each was handed over and what is refused, and passes everything on unchanged.
//
// Cost:    some 20 ns an observation.   Limits: none.   Errors: none.   Threads: one owner.
// Source:  src/workload/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/observation.h"
#include "driver/driver.h"
#include "workload/evidence.h"
#include "workload/standing_refusal.h"
#include "workload/stats.h"

namespace sp::workload {

class DeliverySink final : public core::ObservationSink {
 public:
  struct Options {
    std::size_t payload_bytes = 0;
    bool keep_points = false;  // for take_handed_over()
  };
  // All outlive this.
  DeliverySink(const Options& options, Evidence& evidence, Stats& stats, const WallClock& wall)
      : options_(options), evidence_(evidence), stats_(stats), wall_(wall) {}

  void begin() override;
  void observe(const core::Observation& observation) override;
  void observe_all(std::span<const core::Observation> observations) override;
  void end() override;

  [[nodiscard]] std::uint32_t partitions_held() const { return held_count_; }
  [[nodiscard]] std::string refusal(MonotonicTime now) const { return refusal_.text(now); }
  // What was handed over of partitions still held, since the last call: the next to read.
  [[nodiscard]] std::vector<driver::CommitPoint> take_handed_over();
  [[nodiscard]] bool handed_over() const { return !points_.empty(); }
  // Deliveries since the last call, and the newest publish time among them (the epoch: none told one).
  struct Batch {
    std::uint64_t records = 0;
    WallTime newest{};
  };
  [[nodiscard]] Batch take_batch();

 private:
  void take(const core::Observation& observation);
  void deliver(const core::Observation& observation);

  Options options_;
  Evidence& evidence_;
  Stats& stats_;
  const WallClock& wall_;
  WallTime now_{};
  bool bracketed_ = false;
  Batch batch_;
  std::set<core::PartitionId> held_;
  std::map<core::PartitionId, core::Offset> points_;
  std::atomic<std::uint32_t> held_count_ = 0;
  StandingRefusal refusal_;
};

}  // namespace sp::workload

// One consumer of the load: polls, passes deliveries on as evidence, and commits by the policy of the proof.
//
//     poll … poll ──┬─ evidence acknowledged ─► commit what it covers            (checkpoint)
//                   ├─ after each poll       ─► commit what it handed over       (each)
//                   └─ nothing: the client library commits                       (auto)
//
//     asked back, or stop():  pause ─► hurry ─► covered (at most flush_wait) ─► commit
//                             ─► answered (at most commit_wait) ─► release, or close
//
// What is not covered in time is left uncommitted, so it comes again instead of vanishing. Nothing
// is committed for a lost partition. While a flush goes on no partition delivers: else the evidence
// would never catch up with the deliveries.
//
// `delay` makes it a laggard: after a batch it pauses until the newest record of it is `delay` old,
// then catches up.
//
// Cost:     20 ns a delivery above the driver's.   Limits: ConsumerOptions.   Errors: none; messages.
// Threads:  loop.h.   Source: docs/reference/load.md; "Crash of a worker" in ARCHITECTURE.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "core/ids.h"
#include "driver/driver.h"
#include "proof/proof.h"
#include "workload/delivery_sink.h"
#include "workload/evidence.h"
#include "workload/loop.h"
#include "workload/stats.h"

namespace sp::workload {

struct ConsumerOptions {
  std::uint32_t index = 0;             // `process` of its observations
  core::GroupIndex group{};
  proof::CommitMode commit = proof::CommitMode::kCheckpoint;
  std::size_t payload_bytes = 0;       // for counting bytes only
  Nanoseconds delay{};
  std::size_t records_max = 1'000;     // of one poll
  std::size_t commits_open_max = 4;    // then newer points wait for the next round
  Nanoseconds flush_wait = std::chrono::seconds(5);
  Nanoseconds commit_wait = std::chrono::seconds(5);
  Nanoseconds close_wait = std::chrono::seconds(5);  // to leave the group; 0 on a virtual clock
  Waits waits{};
};

class ConsumerLoop final : public Loop {
 public:
  // Clocks and evidence outlive the loop.
  ConsumerLoop(const ConsumerOptions& options, std::unique_ptr<driver::Consumer> consumer, Evidence& evidence,
               const MonotonicClock& clock, const WallClock& wall);

  MonotonicTime step(MonotonicTime now) override;
  void stop() override { stop_ = true; }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] Stats& stats() override { return stats_; }
  [[nodiscard]] std::string refusal(MonotonicTime now) const override { return deliveries_.refusal(now); }

  [[nodiscard]] core::GroupIndex group() const { return options_.group; }
  // How many partitions it holds; from any thread.
  [[nodiscard]] std::uint32_t partitions_held() const { return deliveries_.partitions_held(); }

 private:
  enum class Flush : std::uint8_t { kNone, kCovering, kCommitting };

  void begin_flush(MonotonicTime now);
  void advance_flush(MonotonicTime now);
  void end_flush();
  void commit_on_the_way();
  void commit_handed_over();
  void pause_if_needed(MonotonicTime now);
  void note_delay(MonotonicTime now);
  [[nodiscard]] Nanoseconds wait_at(MonotonicTime now) const;

  ConsumerOptions options_;
  std::unique_ptr<driver::Consumer> consumer_;
  Evidence& evidence_;
  const MonotonicClock& clock_;
  const WallClock& wall_;
  Stats stats_;
  DeliverySink deliveries_;
  std::uint64_t acknowledged_seen_ = 0;
  Flush flush_ = Flush::kNone;
  bool closing_ = false;               // the flush is the last one
  bool paused_ = false;
  MonotonicTime flush_deadline_{};
  MonotonicTime delayed_until_{};
  std::atomic<bool> stop_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace sp::workload

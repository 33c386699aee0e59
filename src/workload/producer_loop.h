// One producer of the load: sends the records of its own keys at its rate, round robin, whatever
// its neighbours do.
//
//     slot due ─► key that may have one more ─► kInvoke observed ─► payload ─► send ─► … ─► outcome
//                                                                     └─ queue full: the same record again later
//
//     step … step ─► stop() ─► (drain, at most close_wait) ─► open attempts become kInfo ─► done()
//
// A record that was observed and refused by a full queue keeps its sequence and is not observed
// again; if the end comes first it is kFail, for nobody ever transmitted it. Keys whose partition
// is blocked are passed over (open_attempts.h); their slots go to the next key.
//
// Cost:     some 100 ns a record above the driver's.
// Limits:   ProducerOptions; at most 64 MiB of payload without an outcome.
// Errors:   none; what the client library reports becomes observations and messages.
// Threads:  loop.h.   Source: docs/reference/load.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/ids.h"
#include "core/key_space.h"
#include "core/payload.h"
#include "driver/driver.h"
#include "workload/evidence.h"
#include "workload/loop.h"
#include "workload/open_attempts.h"
#include "workload/outcome_sink.h"
#include "workload/pacing.h"
#include "workload/stats.h"

namespace sp::workload {

struct ProducerOptions {
  std::uint32_t index = 0;             // `process` of its observations
  core::RunId run{};
  std::uint32_t incarnation = 0;
  std::uint32_t block = 0;             // of its keys, in the key space of the evidence
  std::string key_prefix{};            // a key's name is this and its index
  std::uint32_t keys = 0;              // 0: it sends nothing
  double rate = 0;                     // records a second; Pacing says what 0 means
  std::size_t payload_bytes = core::kPayloadBytesMin;
  std::uint32_t partitions = 1;
  std::size_t open_max = 65'536;
  std::size_t batch_max = 256;         // attempts observed under one bracket
  Nanoseconds catch_up_max = std::chrono::seconds(1);
  Nanoseconds close_wait = std::chrono::seconds(10);
  Waits waits{};
};

class ProducerLoop final : public Loop {
 public:
  // Clocks and evidence outlive the loop.
  ProducerLoop(ProducerOptions options, std::unique_ptr<driver::Producer> producer, Evidence& evidence,
               const MonotonicClock& clock, const WallClock& wall);

  MonotonicTime step(MonotonicTime now) override;
  void stop() override { stop_ = true; }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] Stats& stats() override { return stats_; }
  [[nodiscard]] std::string refusal(MonotonicTime now) const override { return outcomes_.refusal(now); }

 private:
  enum class Phase : std::uint8_t { kNew, kSending, kDraining, kDone };
  // Why sending stopped for now.
  enum class Sent : std::uint8_t { kAllDue, kBatchLimit, kBlocked };
  struct Staged {
    std::uint32_t key = 0;
    core::Sequence sequence;
  };

  Sent send_due(MonotonicTime now);
  // Observes up to batch_max attempts that are due; false if a slot was due that no key may have.
  bool stage(MonotonicTime now);
  void note_blocked(MonotonicTime now);
  // The next key in turn that may have one more.
  std::optional<std::uint32_t> pick();
  // Hands over what is staged, in order; false if the library's queue is full.
  bool send_staged();
  [[nodiscard]] Nanoseconds wait_after(Sent sent) const;
  void begin_drain(MonotonicTime now);
  void finish();
  void observe_all(core::Event event, std::string_view why, const std::vector<OpenAttempts::Attempt>& attempts);
  void make_places();
  void write(std::size_t place, const Staged& record, core::PayloadFields& fields);

  ProducerOptions options_;
  std::unique_ptr<driver::Producer> producer_;
  Evidence& evidence_;
  const MonotonicClock& clock_;
  const WallClock& wall_;
  Stats stats_;
  OpenAttempts open_;
  OutcomeSink outcomes_;
  Pacing pacing_;
  std::uint32_t cursor_ = 0;             // the key whose turn it is
  std::vector<Staged> staged_;           // observed, from staged_begin_ on not yet taken by the library
  std::size_t staged_begin_ = 0;
  std::uint64_t put_off_ = 0;            // not yet in stats_
  std::vector<driver::Outgoing> outgoing_;  // what is handed over at once: views of the buffers below
  std::array<core::Observation, 32> invokes_{};  // used again and again
  std::size_t key_bytes_ = 0;            // of a place in keys_
  std::string keys_;
  std::vector<std::byte> payloads_;
  Phase phase_ = Phase::kNew;
  MonotonicTime drain_deadline_{};
  std::atomic<bool> stop_ = false;
  std::atomic<bool> done_ = false;
};

}  // namespace sp::workload

// A client of its own that looks at the system all the time, so that the nemesis can ask what was seen without waiting.
//
//     PollingObserver   one thread looks at the cluster's state, one asks each node whether it answers
//          latest() ─►  Sighting: what the last finished look saw, and when that look began and ended
//
// Only a look that began after a fault can show its effect, and it shows it when it ends.
//
// Cost:    latest(): a copy.   Limits: one look at a time; a slow look only makes sightings rarer.
// Errors:  a failed look is a sighting too: its state is the error.   Threads: latest() from any.
// Source:  scenario/fault/nemesis.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "driver/driver.h"

namespace sp::scenario::fault {

struct Sighting {
  MonotonicTime asked{};               // when the look began
  MonotonicTime told{};                // when it ended
  Result<driver::ClusterState> state;  // of the topic under proof
  MonotonicTime silence_asked{};       // when the round of questions began
  MonotonicTime silence_told{};        // when it ended
  std::vector<std::int32_t> silent;    // nodes that did not answer in it
};

class Observer {
 public:
  virtual ~Observer() = default;
  // What was seen last; nullopt before the first look has ended.
  [[nodiscard]] virtual std::optional<Sighting> latest() = 0;
};

struct PollingOptions {
  Nanoseconds look_every = std::chrono::milliseconds(100);
  Nanoseconds ask_every = std::chrono::milliseconds(500);
  std::vector<std::int32_t> nodes;                     // to be asked
  std::function<Result<driver::ClusterState>()> look;  // called on a thread of ours, one call at a time
  std::function<bool(std::int32_t node)> answers;      // likewise, on another one; may be empty
};

class PollingObserver final : public Observer {
 public:
  PollingObserver(MonotonicClock& clock, PollingOptions options);
  // Waits for the looks that are under way.
  ~PollingObserver() override;
  PollingObserver(const PollingObserver&) = delete;
  PollingObserver& operator=(const PollingObserver&) = delete;
  [[nodiscard]] std::optional<Sighting> latest() override;

 private:
  void look_loop();
  void ask_loop();
  // False when it is time to end.
  bool rest(MonotonicTime until);

  MonotonicClock& clock_;  // outlives this
  PollingOptions options_;
  std::mutex mutex_;  // guards the three below
  std::condition_variable ended_;
  bool end_ = false;
  std::optional<Sighting> latest_;
  std::jthread looker_;
  std::jthread asker_;
};

}  // namespace sp::scenario::fault

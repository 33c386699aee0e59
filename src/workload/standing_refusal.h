// What the system refuses one client for good, as long as nothing went through since.
//
//     note(kRight, "… needs READ on topic 'x' …") ─► text(now)      withdraw(): something went through
//     note(kName, "… unknown topic …") ─► nothing for kNamePatience, then text(now)
//
// Cost:     a comparison for each thing that goes through.   Limits: the latest sentence is kept.
// Errors:   none.   Threads: one owner; text() from any.   Source: docs/reference/checking-model.md, "Refusals".
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "core/observation.h"

namespace sp::workload {

// A broker that lags or comes back may not know for a while what another one has made.
constexpr Nanoseconds kNamePatience = std::chrono::seconds(20);

class StandingRefusal {
 public:
  void note(core::Refusal refusal, std::string_view text, MonotonicTime now) {
    if (refusal == core::Refusal::kNone) return;
    const MonotonicTime from = refusal == core::Refusal::kName ? now + kNamePatience : now;
    const std::lock_guard lock(mutex_);
    from_ = stands_ && from_ < from ? from_ : from;
    text_ = text;
    stands_ = true;
  }
  void withdraw() {
    if (!stands_) return;
    const std::lock_guard lock(mutex_);
    text_.clear();
    stands_ = false;
  }
  // Empty: none stands.
  [[nodiscard]] std::string text(MonotonicTime now) const {
    const std::lock_guard lock(mutex_);
    return now < from_ ? std::string() : text_;
  }

 private:
  mutable std::mutex mutex_;  // guards text_ and from_
  std::string text_;
  MonotonicTime from_{};
  bool stands_ = false;  // the owner's
};

}  // namespace sp::workload

// What one loop tells people: counters, latencies, messages. Never read for a verdict.
//
//     publish_latency       from the time at which the record's slot was due (not at which it could be
//                           sent) to its success
//     end_to_end_latency    from the publish time in the payload to the hand-over, by the wall clock
//
// Limits:   kMessagesMax different messages between two take_messages(); what is more is counted in a last message.
// Errors:   none.   Threads: any; the maker holds lock() over a batch, readers lock for themselves.
// Source:   docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "core/counters.h"

namespace sp::workload {

class Stats {
 public:
  static constexpr std::size_t kMessagesMax = 20;

  // `who` opens each message: "producer 3".
  explicit Stats(std::string who) : who_(std::move(who)) {}

  [[nodiscard]] const std::string& who() const { return who_; }
  // For the loop, around a batch; the members below are its own meanwhile.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  core::Counters counts;
  Histogram publish_latency;
  Histogram end_to_end_latency;
  // `what` is a constant: "refused". The same message again is counted, not kept.
  void say(std::string_view what, std::string_view text);

  // For readers.
  void add_to(core::Counters& total, Histogram& publish, Histogram& end_to_end);
  void take_messages(std::vector<std::string>& out);

 private:
  struct Message {
    std::string_view what;
    std::string text;
    std::uint64_t times = 1;
  };
  std::string who_;
  std::mutex mutex_;  // guards all but who_
  std::vector<Message> messages_;
  std::uint64_t messages_left_out_ = 0;
};

}  // namespace sp::workload

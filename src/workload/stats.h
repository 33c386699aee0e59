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

namespace sp::workload {

struct Counts {
  std::uint64_t attempts = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t received = 0;
  std::uint64_t bytes_acked = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t queue_full = 0;      // sends put off: the library's queue or the limit of a partition was full
  std::uint64_t slots_dropped = 0;   // pacing slots given up past the catch-up bound
  std::uint64_t client_errors = 0;

  void add(const Counts& other);
};

class Stats {
 public:
  static constexpr std::size_t kMessagesMax = 20;

  // `who` opens each message: "producer 3".
  explicit Stats(std::string who) : who_(std::move(who)) {}

  // For the loop, around a batch; the members below are its own meanwhile.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  Counts counts;
  Histogram publish_latency;
  Histogram end_to_end_latency;
  // `what` is a constant: "refused". The same message again is counted, not kept.
  void say(std::string_view what, std::string_view text);

  // For readers.
  void add_to(Counts& total, Histogram& publish, Histogram& end_to_end);
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

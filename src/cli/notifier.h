// Posts webhooks, one after another, on a thread of its own; whoever hands one over waits for nothing.
//
//     post(webhook, body) ─► queue ─► POST … 2xx: done · else again after 1, 2, 4, 8 s, then given up and told
//
// Limits:   kQueueMax waiting ones; past it the newest is given up. 10 s a try.
// Errors:   none upward: what could not be posted is told to `say`.
// Threads:  post() from any. Destroying it gives up what waits, and ends the try under way within its 10 s.
// Source:   section 7.1 of the reference.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "coordinator/service.h"
#include "http/client.h"

namespace sp::cli {

struct NotifierOptions {
  bool private_addresses = false;  // also to this machine and private networks
  Nanoseconds first_pause = std::chrono::seconds(1);
  std::size_t tries = 5;
  std::function<void(std::string_view)> say;
};

class Notifier {
 public:
  static constexpr std::size_t kQueueMax = 1'000;

  // The clock outlives it.
  Notifier(MonotonicClock& clock, NotifierOptions options);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void post(const coordinator::Webhook& webhook, std::string body);

 private:
  struct Letter {
    std::string url, secret, body;
  };
  void work(const std::stop_token& quit);
  void deliver(const Letter& letter, const std::stop_token& quit);
  [[nodiscard]] Result<void> try_once(const Letter& letter) const;

  MonotonicClock& clock_;
  const NotifierOptions options_;
  http::Client client_;
  std::mutex mutex_;  // guards queue_
  std::condition_variable changed_;
  std::deque<Letter> queue_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace sp::cli

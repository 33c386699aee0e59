// Consumers that did not leave their group in time: they go on with it in the background.
//
//     close(), its wait is over ─► keep(client) ─┬─ done meanwhile: destroyed by the next reap()
//                                                └─ ~Stragglers: left to the end of the process
//
// A client keeps a commit for a coordinator that is gone as long as session.timeout.ms (45 s unless
// set), and destroying it waits for that. So nobody destroys a client that is not done.
//
// Cost:    the threads of each client that is kept.
// Errors:  none.
// Threads: any.
// Source:  docs/decisions/0002-librdkafka.md.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "driver/kafka/handle.h"

namespace sp::driver::kafka {

class Stragglers {
 public:
  Stragglers() = default;
  ~Stragglers();
  Stragglers(const Stragglers&) = delete;
  Stragglers& operator=(const Stragglers&) = delete;

  // A client whose rd_kafka_consumer_close_queue() was called; its queues are no more polled.
  void keep(Handle client);
  // Destroys those that are done; how many are left.
  std::size_t reap();

 private:
  std::mutex mutex_;  // guards clients_
  std::vector<Handle> clients_;
};

}  // namespace sp::driver::kafka

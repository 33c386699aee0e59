#include "driver/kafka/stragglers.h"

#include <utility>

namespace sp::driver::kafka {

Stragglers::~Stragglers() {
  reap();
  for (auto& client : clients_) static_cast<void>(client.release());
}

void Stragglers::keep(Handle client) {
  reap();
  const std::lock_guard lock(mutex_);
  clients_.push_back(std::move(client));
}

std::size_t Stragglers::reap() {
  const std::lock_guard lock(mutex_);
  std::erase_if(clients_, [](const Handle& client) { return rd_kafka_consumer_closed(client.get()) != 0; });
  return clients_.size();
}

}  // namespace sp::driver::kafka

#include "http/pump.h"

#include <condition_variable>
#include <exception>
#include <mutex>

#include "base/log.h"

namespace sp::http {
namespace {

constexpr std::size_t kEventsAtOnce = 200;

}  // namespace

bool Pump::pull(ConnectionId connection, Stream& stream) {
  EventSource::Pulled pulled;
  try {
    pulled = stream.source->pull(kEventsAtOnce);
  } catch (const std::exception& error) {
    log_error("an event stream ended: {}", error.what());
    pulled = {.events = {}, .over = true};
  }
  std::string bytes;
  for (const Event& event : pulled.events) bytes += to_text(event);
  const MonotonicTime now = clock_.now();
  if (bytes.empty() && now - stream.last >= options_.stream_heartbeat) bytes = ":\n\n";
  if (!bytes.empty()) stream.last = now;
  if (!bytes.empty() || pulled.over) board_.put(Piece{connection, std::move(bytes), pulled.over});
  return !pulled.over;
}

void Pump::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable wake;
  const std::stop_callback at_stop(stop, [&] {
    const std::lock_guard lock(mutex);
    wake.notify_all();
  });
  while (!stop.stop_requested()) {
    for (auto& [connection, source] : board_.take_sources())
      streams_[connection] = Stream{std::move(source), clock_.now()};
    const auto unsent = board_.unsent();
    for (auto at = streams_.begin(); at != streams_.end() && !stop.stop_requested();) {
      const auto open = unsent.find(at->first);
      bool goes_on = open != unsent.end();
      if (goes_on && open->second < options_.stream_bytes_max) goes_on = pull(at->first, at->second);
      at = goes_on ? std::next(at) : streams_.erase(at);
    }
    std::unique_lock lock(mutex);
    if (!stop.stop_requested()) clock_.wait_until(lock, wake, clock_.now() + options_.stream_period);
  }
}

}  // namespace sp::http

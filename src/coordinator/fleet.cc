#include "coordinator/fleet.h"

#include <algorithm>

#include <fmt/core.h>

namespace sp::coordinator {

bool Fleet::poll(track::Ledger& ledger, MonotonicTime now, std::uint64_t tick, bool counters) {
  std::vector<Worker*> due;
  for (auto& worker : workers_) {
    if (worker.lost && now - worker.asked < options_.lost_retry) continue;
    worker.asked = now;
    due.push_back(&worker);
  }
  // What is asked now is what poll_one() asks first: between the two only answers of other workers are taken.
  for (Worker* worker : due) worker->port->ask(request(ledger, *worker, tick, counters));
  bool more = false;
  for (Worker* worker : due) more = poll_one(ledger, *worker, now, tick, counters) || more;
  // A round is over only when everybody was emptied since the last one: what waits for an answer
  // may be in the rest.
  if (live() > 0 && every([](const Worker& worker) { return worker.drained; })) {
    for (auto& worker : workers_) worker.drained = false;
    ledger.round();
  }
  return more;
}

control::WorkerPoll Fleet::request(const track::Ledger& ledger, const Worker& worker, std::uint64_t tick, bool counters) {
  control::WorkerPoll request;
  request.acknowledge = ledger.applied(worker.source);
  if (tick > worker.tick_heard) request.tick = tick;
  request.counters = counters;
  return request;
}

bool Fleet::poll_one(track::Ledger& ledger, Worker& worker, MonotonicTime now, std::uint64_t tick,
                     bool counters) {
  for (std::size_t turn = 0; turn < options_.polls_in_a_row; ++turn) {
    auto report = worker.port->poll(request(ledger, worker, tick, counters));
    if (!report) {
      failed(ledger, worker, now, report.error());
      return false;
    }
    worker.tick_heard = std::max(worker.tick_heard, tick);
    worker.failing_since.reset();
    if (worker.lost) {
      worker.lost = false;
      sinks_.message(worker, "back, with its evidence");
    }
    if (!take(ledger, worker, std::move(*report))) {
      worker.drained = true;
      return false;
    }
  }
  return true;
}

bool Fleet::take(track::Ledger& ledger, Worker& worker, control::WorkerReport&& report) {
  for (auto& delta : report.deltas) {
    if (sinks_.delta) sinks_.delta(delta);
    ledger.apply(std::move(delta));
  }
  report.deltas.clear();
  for (const auto& message : report.messages) sinks_.message(worker, message);
  if (!report.failure.empty() && report.failure != worker.last.failure)
    sinks_.message(worker, report.failure);
  if (report.publish_latency.empty() && report.counters.attempts == 0 &&
      report.counters.received == 0) {
    report.counters = worker.last.counters;  // not asked for this time
    report.publish_latency = std::move(worker.last.publish_latency);
    report.end_to_end_latency = std::move(worker.last.end_to_end_latency);
  }
  worker.last = std::move(report);
  worker.polled = true;
  return worker.last.more;
}

void Fleet::failed(track::Ledger& ledger, Worker& worker, MonotonicTime now, const Error& error) {
  worker.problem = error.message;
  if (!worker.failing_since) worker.failing_since = now;
  if (!worker.lost && now - *worker.failing_since >= options_.away) lose(ledger, worker);
}

void Fleet::lose(track::Ledger& ledger, Worker& worker) {
  worker.lost = true;
  if (sinks_.lost) sinks_.lost(worker.source);
  ledger.lose(worker.source, true);
  sinks_.message(worker, fmt::format("lost: {}", worker.problem));
}

void Fleet::replace(track::Ledger& ledger, std::size_t index, control::WorkerPort& port,
                    core::SourceId source) {
  Worker& worker = workers_[index];
  if (sinks_.lost) sinks_.lost(worker.source);
  ledger.lose(worker.source, false);
  gone_ += worker.last.counters;
  gone_publish_.merge(worker.last.publish_latency);
  gone_end_to_end_.merge(worker.last.end_to_end_latency);
  worker = Worker{};
  worker.port = &port;
  worker.source = source;
}

std::size_t Fleet::live() const {
  const auto alive = std::count_if(workers_.begin(), workers_.end(),
                                   [](const Worker& worker) { return !worker.lost; });
  return static_cast<std::size_t>(alive);
}

bool Fleet::every(const std::function<bool(const Worker&)>& holds) const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [&](const Worker& worker) { return worker.lost || holds(worker); });
}

std::uint32_t Fleet::consumers_assigned() const {
  std::uint32_t sum = 0;
  for (const auto& worker : workers_) {
    if (!worker.lost) sum += worker.last.consumers_assigned;
  }
  return sum;
}

core::Counters Fleet::counters() const {
  core::Counters sum = gone_;
  for (const auto& worker : workers_) sum += worker.last.counters;
  return sum;
}

Histogram Fleet::publish_latency() const {
  Histogram sum = gone_publish_;
  for (const auto& worker : workers_) sum.merge(worker.last.publish_latency);
  return sum;
}

Histogram Fleet::end_to_end_latency() const {
  Histogram sum = gone_end_to_end_;
  for (const auto& worker : workers_) sum.merge(worker.last.end_to_end_latency);
  return sum;
}

}  // namespace sp::coordinator

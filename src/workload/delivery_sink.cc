#include "workload/delivery_sink.h"

#include <algorithm>
#include <utility>

namespace sp::workload {

using core::Event;
using core::Observation;

void DeliverySink::begin() {
  now_ = wall_.now();
  stats_.lock();
  evidence_.begin();
  bracketed_ = true;
}

void DeliverySink::end() {
  bracketed_ = false;
  evidence_.end();
  stats_.unlock();
}

void DeliverySink::observe(const Observation& observation) { observe_all({&observation, 1}); }

void DeliverySink::observe_all(std::span<const Observation> observations) {
  const bool alone = !bracketed_;  // a driver that does not bracket is slow, not wrong
  if (alone) begin();
  for (const Observation& observation : observations) {
    if (observation.event == Event::kDeliver) {
      deliver(observation);
    } else {
      take(observation);
    }
  }
  evidence_.observe_all(observations);
  if (alone) end();
}

void DeliverySink::deliver(const Observation& observation) {
  refusal_.withdraw();
  ++stats_.counts.received;
  stats_.counts.bytes_received += options_.payload_bytes;
  ++batch_.records;
  if (observation.content == core::Content::kIntact && observation.published != WallTime{}) {
    batch_.newest = std::max(batch_.newest, observation.published);
    stats_.end_to_end_latency.record(now_ - observation.published);
  }
  if (options_.keep_points && observation.has_position) {
    core::Offset& next = points_[observation.partition];
    next = std::max(next, observation.offset.next());
  }
}

void DeliverySink::take(const Observation& observation) {
  switch (observation.event) {
    case Event::kAssign:
      refusal_.withdraw();
      held_.insert(observation.partition);
      held_count_ = static_cast<std::uint32_t>(held_.size());
      return;
    case Event::kRevoke:
      held_.erase(observation.partition);
      points_.erase(observation.partition);
      held_count_ = static_cast<std::uint32_t>(held_.size());
      return;
    case Event::kCommitFail:
      stats_.say("commit refused", observation.text);
      return;
    case Event::kCommitInfo:
      stats_.say("commit without an answer", observation.text);
      return;
    case Event::kClientError:
      ++stats_.counts.client_errors;
      stats_.say("client library", observation.text);
      refusal_.note(observation.refusal, observation.text, observation.time);
      return;
    case Event::kDisconnect:
      stats_.say("disconnected", observation.text);
      return;
    case Event::kInvoke:
    case Event::kOk:
    case Event::kFail:
    case Event::kInfo:
    case Event::kDeliver:
    case Event::kCommitInvoke:
    case Event::kCommitOk:
    case Event::kRawBegin:
    case Event::kRaw:
    case Event::kRawEnd:
    case Event::kReconnect:
    case Event::kTick:
    case Event::kEnd:
      return;
  }
}

std::vector<driver::CommitPoint> DeliverySink::take_handed_over() {
  std::vector<driver::CommitPoint> points;
  points.reserve(points_.size());
  for (const auto& [partition, next] : points_) points.push_back({partition, next});
  points_.clear();
  return points;
}

DeliverySink::Batch DeliverySink::take_batch() { return std::exchange(batch_, {}); }

}  // namespace sp::workload

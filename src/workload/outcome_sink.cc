#include "workload/outcome_sink.h"

namespace sp::workload {

using core::Event;
using core::Observation;

void OutcomeSink::begin() {
  now_ = clock_.now();
  stats_.lock();
  evidence_.begin();
  bracketed_ = true;
}

void OutcomeSink::end() {
  bracketed_ = false;
  evidence_.end();
  stats_.unlock();
}

void OutcomeSink::observe(const Observation& observation) {
  const bool alone = !bracketed_;  // a driver that does not bracket is slow, not wrong
  if (alone) begin();
  take(observation);
  evidence_.observe(observation);
  if (alone) end();
}

void OutcomeSink::observe_all(std::span<const Observation> observations) {
  const bool alone = !bracketed_;
  if (alone) begin();
  // The attempts were opened long ago: their places are asked for together, not waited for one by one.
  for (const Observation& observation : observations) open_.fetch_key(observation.key.index);
  for (const Observation& observation : observations) open_.fetch_due(observation.key.index, observation.sequence);
  for (const Observation& observation : observations) take(observation);
  evidence_.observe_all(observations);
  if (alone) end();
}

void OutcomeSink::take(const Observation& observation) {
  refusal_.note(observation.refusal, observation.text, observation.time);
  const bool outcome =
      observation.event == Event::kOk || observation.event == Event::kFail || observation.event == Event::kInfo;
  if (!outcome) {
    if (observation.event == Event::kClientError) ++stats_.counts.client_errors;
    if (!observation.text.empty()) stats_.say("client library", observation.text);
    return;
  }
  const auto due = open_.close(observation.key.index, observation.sequence);
  if (observation.event == Event::kOk) {
    refusal_.withdraw();
    ++stats_.counts.acked;
    stats_.counts.bytes_acked += payload_bytes_;
    if (due) stats_.publish_latency.record(now_ - *due);
    open_.succeeded(observation.key.index,
                    observation.has_position ? std::optional(observation.partition) : std::nullopt);
    return;
  }
  const bool failed = observation.event == Event::kFail;
  ++(failed ? stats_.counts.failed : stats_.counts.unknown);
  if (!observation.text.empty()) stats_.say(failed ? "refused" : "outcome unknown", observation.text);
}

}  // namespace sp::workload

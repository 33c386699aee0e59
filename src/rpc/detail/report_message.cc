#include "rpc/detail/report_message.h"

#include <string>
#include <utility>

#include "track/delta_bytes.h"

namespace sp::rpc::detail {
namespace {

namespace v1 = ::streaming_proof::v1;
using control::Phase;

v1::Phase wire_phase(Phase phase) {
  switch (phase) {
    case Phase::kIdle: return v1::PHASE_IDLE;
    case Phase::kStarting: return v1::PHASE_STARTING;
    case Phase::kRunning: return v1::PHASE_RUNNING;
    case Phase::kStopping: return v1::PHASE_STOPPING;
    case Phase::kStopped: return v1::PHASE_STOPPED;
    case Phase::kFailed: return v1::PHASE_FAILED;
  }
  return v1::PHASE_FAILED;
}

Result<Phase> phase_of(v1::Phase phase) {
  for (const Phase one : {Phase::kIdle, Phase::kStarting, Phase::kRunning, Phase::kStopping, Phase::kStopped, Phase::kFailed}) {
    if (wire_phase(one) == phase) return one;
  }
  return fail(ErrorCode::kParse, "a report names a phase that is unknown here: let coordinator and workers be of one release");
}

void put_counters(const core::Counters& counters, v1::Counters& message) {
  message.set_attempts(counters.attempts);
  message.set_acked(counters.acked);
  message.set_failed(counters.failed);
  message.set_unknown(counters.unknown);
  message.set_received(counters.received);
  message.set_bytes_acked(counters.bytes_acked);
  message.set_bytes_received(counters.bytes_received);
  message.set_queue_full(counters.queue_full);
  message.set_slots_dropped(counters.slots_dropped);
  message.set_client_errors(counters.client_errors);
}

core::Counters counters_of(const v1::Counters& message) {
  core::Counters counters;
  counters.attempts = message.attempts();
  counters.acked = message.acked();
  counters.failed = message.failed();
  counters.unknown = message.unknown();
  counters.received = message.received();
  counters.bytes_acked = message.bytes_acked();
  counters.bytes_received = message.bytes_received();
  counters.queue_full = message.queue_full();
  counters.slots_dropped = message.slots_dropped();
  counters.client_errors = message.client_errors();
  return counters;
}

void put_histogram(const Histogram& histogram, v1::Histogram& message) {
  const Histogram::Image image = histogram.image();
  message.set_first_bucket(image.first_bucket);
  message.mutable_counts()->Add(image.counts.begin(), image.counts.end());
  message.set_min(image.min);
  message.set_max(image.max);
  message.set_sum_high(image.sum_high);
  message.set_sum_low(image.sum_low);
}

Result<Histogram> histogram_of(const v1::Histogram& message) {
  Histogram::Image image;
  image.first_bucket = message.first_bucket();
  image.counts.assign(message.counts().begin(), message.counts().end());
  image.min = message.min();
  image.max = message.max();
  image.sum_high = message.sum_high();
  image.sum_low = message.sum_low();
  return Histogram::from_image(std::move(image));
}

// The parts of a report that may be none: as long as they are read one after the other, the first fault stays.
template <typename T>
void take(Result<T>&& part, T& to, Result<void>& all) {
  if (part) {
    to = std::move(*part);
  } else if (all) {
    all = tl::unexpected(std::move(part).error());
  }
}

}  // namespace

void put_report(const control::WorkerReport& report, v1::Report& message, std::size_t bytes_max) {
  message.set_more(report.more);
  std::size_t bytes = 0;
  for (const auto& delta : report.deltas) {
    std::string image = track::to_bytes(delta);
    bytes += image.size();
    if (message.deltas_size() > 0 && bytes > bytes_max) {
      message.set_more(true);
      break;
    }
    message.add_deltas(std::move(image));
  }
  message.set_producers(wire_phase(report.producers));
  message.set_consumers(wire_phase(report.consumers));
  message.set_raw_read(wire_phase(report.raw_read));
  message.set_consumers_assigned(report.consumers_assigned);
  for (const auto& text : report.messages) message.add_messages(text);
  message.set_failure(report.failure);
  message.set_producers_refused(report.producers_refused);
  for (const auto& [group, sentence] : report.consumers_refused) {
    auto& refused = *message.add_consumers_refused();
    refused.set_group(group.value());
    refused.set_sentence(sentence);
  }
  message.set_raw_read_refused(report.raw_read_refused);
  put_counters(report.counters, *message.mutable_counters());
  put_histogram(report.publish_latency, *message.mutable_publish_latency());
  put_histogram(report.end_to_end_latency, *message.mutable_end_to_end_latency());
}

Result<control::WorkerReport> report_of(const v1::Report& message) {
  control::WorkerReport report;
  Result<void> all;
  for (const auto& image : message.deltas()) {
    take(track::delta_from_bytes(image), report.deltas.emplace_back(), all);
    if (!all) return tl::unexpected(std::move(all).error());
  }
  report.more = message.more();
  take(phase_of(message.producers()), report.producers, all);
  take(phase_of(message.consumers()), report.consumers, all);
  take(phase_of(message.raw_read()), report.raw_read, all);
  report.consumers_assigned = message.consumers_assigned();
  report.messages.assign(message.messages().begin(), message.messages().end());
  report.failure = message.failure();
  report.producers_refused = message.producers_refused();
  for (const auto& refused : message.consumers_refused()) {
    report.consumers_refused[core::GroupIndex{refused.group()}] = refused.sentence();
  }
  report.raw_read_refused = message.raw_read_refused();
  report.counters = counters_of(message.counters());
  take(histogram_of(message.publish_latency()), report.publish_latency, all);
  take(histogram_of(message.end_to_end_latency()), report.end_to_end_latency, all);
  if (!all) return tl::unexpected(std::move(all).error());
  return report;
}

}  // namespace sp::rpc::detail

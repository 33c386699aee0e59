#include "driver/kafka/commits.h"

#include <algorithm>
#include <utility>

#include "driver/kafka/outcome.h"

namespace sp::driver::kafka {

void Commits::request(rd_kafka_t* handle, rd_kafka_queue_t* queue, PartitionList points,
                      core::ObservationSink& sink) {
  if (points->cnt == 0) return;
  pass(*points, core::Event::kCommitInvoke, {}, sink);
  open_.push_back(std::make_unique<Open>(Open{this, queue, std::move(points)}));
  Open& open = *open_.back();
  const auto error =
      rd_kafka_commit_queue(handle, open.points.get(), queue, &Commits::on_answer, &open);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) on_answer(handle, error, nullptr, &open);
}

void Commits::on_answer(rd_kafka_t* /*handle*/, rd_kafka_resp_err_t error,
                        rd_kafka_topic_partition_list_t* points, void* opaque) {
  const auto* open = static_cast<const Open*>(opaque);
  const auto* answered = points == nullptr ? open->points.get() : points;
  open->owner->answers_.push_back(
      {open, error, PartitionList(rd_kafka_topic_partition_list_copy(answered))});
  rd_kafka_queue_yield(open->queue);  // do not wait for records now
}

void Commits::own_answered(const rd_kafka_topic_partition_list_t& points,
                           rd_kafka_resp_err_t error) {
  if (error == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
  answers_.push_back({nullptr, error, PartitionList(rd_kafka_topic_partition_list_copy(&points))});
}

void Commits::serve(core::ObservationSink& sink) {
  for (const auto& answer : std::exchange(answers_, {})) {
    if (answer.open == nullptr) {
      pass(*answer.points, core::Event::kCommitInvoke, {}, sink);
    } else {
      const auto ours = std::find_if(open_.begin(), open_.end(),
                                     [&](const auto& open) { return open.get() == answer.open; });
      if (ours == open_.end()) continue;  // abandoned
      open_.erase(ours);
    }
    pass_outcome(*answer.points, answer.error, sink);
  }
}

void Commits::abandon(core::ObservationSink& sink) {
  for (auto& open : std::exchange(open_, {})) {
    pass(*open->points, core::Event::kCommitInfo, "no answer before the consumer was closed", sink);
    abandoned_.push_back(std::move(open));
  }
}

void Commits::pass_outcome(const rd_kafka_topic_partition_list_t& points, rd_kafka_resp_err_t error,
                           core::ObservationSink& sink) const {
  const auto now = clock_.now();
  sink.begin();
  for (const auto& point : elements(points)) {
    const auto code = error == RD_KAFKA_RESP_ERR_NO_ERROR ? point.err : error;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      pass_one(point, core::Event::kCommitOk, {}, now, sink);
    } else {
      const auto event = refuses_commit(code) ? core::Event::kCommitFail : core::Event::kCommitInfo;
      pass_one(point, event, rd_kafka_err2str(code), now, sink);
    }
  }
  sink.end();
}

void Commits::pass(const rd_kafka_topic_partition_list_t& points, core::Event event,
                   std::string_view text, core::ObservationSink& sink) const {
  const auto now = clock_.now();
  sink.begin();
  for (const auto& point : elements(points)) pass_one(point, event, text, now, sink);
  sink.end();
}

void Commits::pass_one(const rd_kafka_topic_partition_t& point, core::Event event,
                       std::string_view text, MonotonicTime now,
                       core::ObservationSink& sink) const {
  if (point.offset < 0)
    return;  // the library's own list also names partitions of which nothing is to be committed
  core::Observation observation;
  observation.event = event;
  observation.process = process_;
  observation.group = group_;
  observation.partition = partition_of(point);
  observation.has_position = true;
  observation.offset = core::Offset(static_cast<std::uint64_t>(point.offset));
  observation.time = now;
  observation.text = text;
  sink.observe(observation);
}

}  // namespace sp::driver::kafka

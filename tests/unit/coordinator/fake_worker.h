// A worker for the coordinator's tests: no system behind it, but evidence as a real one makes it.
// Each poll while it produces sends, acknowledges and hands over `records_a_poll` records.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/worker_port.h"
#include "track/recorder.h"

namespace sp::coordinator {

class FakeWorker final : public control::WorkerPort {
 public:
  explicit FakeWorker(std::vector<std::string>& calls) : calls_(calls) {}

  // What a test turns.
  std::uint64_t records_a_poll = 1;
  bool delivers = true;  // what it sent is handed over at once
  bool acknowledges = true;
  bool assigns = true;
  std::optional<std::uint32_t> assigned;  // how many consumers hold something; absent: all or none
  bool answers_ticks = true;
  bool away = false;  // polls fail
  bool consumers_fail = false;
  std::uint32_t partitions = 1;
  std::string topic_error;
  std::string prepare_error;
  std::string bounds_error;
  std::string raw_read_error;
  bool raw_read_denied = false;  // begins, then is refused
  std::string says;  // in each poll
  std::string producers_refused;
  std::string consumers_refused;  // of group 0
  std::set<std::uint64_t> gone;   // from the log
  int bounds_behind = 0;  // that many calls of log_bounds() do not show the last record
  std::map<std::string, std::string> settings{{"acks", "all"}, {"enable.idempotence", "true"}};

  // What a test looks at.
  std::uint64_t acknowledged = 0;
  std::vector<std::uint64_t> ticks;  // announced to it
  int polls = 0;
  control::WorkerPlan plan;

  Result<control::WorkerHello> prepare(const control::WorkerPlan& given) override;
  Result<std::uint32_t> create_topic() override;
  Result<void> delete_topic() override { return call("delete-topic"); }
  Result<void> start_consumers() override;
  Result<void> start_producers() override;
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override;
  Result<void> stop_producers() override;
  Result<void> stop_consumers() override;
  Result<std::vector<control::LogBounds>> log_bounds() override;
  Result<void> start_raw_read(const control::RawReadRequest& request) override;
  Result<void> remove() override { return call("remove"); }

  // Deliveries that were withheld are handed over now.
  void deliver_rest();
  // Hands over the last record once more.
  void deliver_last_again();

 private:
  Result<void> call(const std::string& name);
  core::Observation about(core::Event event, std::uint64_t sequence) const;
  void produce();
  void deliver(std::uint64_t sequence);

  std::vector<std::string>& calls_;
  std::unique_ptr<track::Recorder> recorder_;
  core::KeyRef key_;
  std::uint64_t next_ = 0;
  std::uint64_t delivered_ = 0;
  control::Phase producers_ = control::Phase::kIdle;
  control::Phase consumers_ = control::Phase::kIdle;
  control::Phase raw_read_ = control::Phase::kIdle;
};

inline Result<void> FakeWorker::call(const std::string& name) {
  calls_.push_back(name);
  return {};
}

inline Result<control::WorkerHello> FakeWorker::prepare(const control::WorkerPlan& given) {
  calls_.emplace_back("prepare");
  if (!prepare_error.empty()) return fail(ErrorCode::kUnavailable, prepare_error);
  plan = given;
  recorder_ = std::make_unique<track::Recorder>(given.source, given.run);
  key_ = {recorder_->keys().block({given.source, 0}), 0};
  control::WorkerHello hello;
  hello.driver = "fake";
  hello.client = "fake 1.0";
  hello.settings = settings;
  hello.idempotent = true;
  return hello;
}

inline Result<std::uint32_t> FakeWorker::create_topic() {
  calls_.emplace_back("create-topic");
  if (!topic_error.empty()) return fail(ErrorCode::kUnavailable, topic_error);
  return partitions;
}

inline Result<void> FakeWorker::start_consumers() {
  consumers_ = consumers_fail ? control::Phase::kFailed : control::Phase::kRunning;
  core::Observation assign;
  assign.event = core::Event::kAssign;
  assign.partition = core::PartitionId{plan.source.worker};
  recorder_->observe(assign);
  return call("start-consumers");
}

inline Result<void> FakeWorker::start_producers() {
  producers_ = control::Phase::kRunning;
  return call("start-producers");
}

inline core::Observation FakeWorker::about(core::Event event, std::uint64_t sequence) const {
  core::Observation observation;
  observation.event = event;
  observation.key = key_;
  observation.sequence = core::Sequence{sequence};
  observation.partition = core::PartitionId{plan.source.worker};
  observation.offset = core::Offset{sequence};
  observation.has_position = event != core::Event::kInvoke;
  return observation;
}

inline void FakeWorker::deliver(std::uint64_t sequence) {
  recorder_->observe(about(core::Event::kDeliver, sequence));
}

inline void FakeWorker::produce() {
  for (std::uint64_t i = 0; i < records_a_poll; ++i) {
    recorder_->observe(about(core::Event::kInvoke, next_));
    if (acknowledges) recorder_->observe(about(core::Event::kOk, next_));
    if (delivers && acknowledges) deliver(delivered_++);
    ++next_;
  }
}

inline void FakeWorker::deliver_rest() {
  while (delivered_ < next_) deliver(delivered_++);
}

inline void FakeWorker::deliver_last_again() { deliver(delivered_ - 1); }

inline Result<control::WorkerReport> FakeWorker::poll(const control::WorkerPoll& request) {
  ++polls;
  if (away) return fail(ErrorCode::kUnavailable, "connection refused");
  acknowledged = request.acknowledge;
  recorder_->acknowledge(request.acknowledge);
  if (producers_ == control::Phase::kRunning) produce();
  if (producers_ == control::Phase::kStopping) producers_ = control::Phase::kStopped;
  if (consumers_ == control::Phase::kStopping) consumers_ = control::Phase::kStopped;
  if (request.tick) {
    ticks.push_back(*request.tick);
    calls_.push_back("tick");
    core::Observation tick;
    tick.event = core::Event::kTick;
    tick.number = *request.tick;
    if (answers_ticks) recorder_->observe(tick);
  }
  recorder_->cut(false);
  control::WorkerReport report;
  for (const auto* delta : recorder_->pending(request.acknowledge)) report.deltas.push_back(*delta);
  report.producers = producers_;
  report.consumers = consumers_;
  report.raw_read = raw_read_;
  report.consumers_assigned =
      assigned.value_or(assigns ? static_cast<std::uint32_t>(plan.consumers.size()) : 0);
  if (!says.empty()) report.messages.push_back(says);
  report.producers_refused = producers_refused;
  if (!consumers_refused.empty()) report.consumers_refused[core::GroupIndex{0}] = consumers_refused;
  report.raw_read_refused = raw_read_ == control::Phase::kFailed && raw_read_denied;
  if (report.raw_read_refused) report.failure = "raw read: denied, needs READ on topic 't'";
  if (consumers_fail) report.failure = "group sp refused: the right READ on GROUP is missing";
  report.counters.attempts = next_;
  if (raw_read_ == control::Phase::kRunning) raw_read_ = control::Phase::kStopped;
  return report;
}

inline Result<void> FakeWorker::stop_producers() {
  if (producers_ == control::Phase::kRunning) producers_ = control::Phase::kStopping;
  return call("stop-producers");
}

inline Result<void> FakeWorker::stop_consumers() {
  if (consumers_ == control::Phase::kRunning) consumers_ = control::Phase::kStopping;
  return call("stop-consumers");
}

inline Result<std::vector<control::LogBounds>> FakeWorker::log_bounds() {
  calls_.emplace_back("log-bounds");
  if (!bounds_error.empty()) return fail(ErrorCode::kUnavailable, bounds_error);
  const bool behind = bounds_behind > 0;
  if (behind) --bounds_behind;
  const std::uint64_t end = behind && next_ > 0 ? next_ - 1 : next_;
  return std::vector<control::LogBounds>{
      {core::PartitionId{plan.source.worker}, core::Offset{0}, core::Offset{end}}};
}

inline Result<void> FakeWorker::start_raw_read(const control::RawReadRequest& request) {
  calls_.emplace_back("raw-read");
  if (!raw_read_error.empty()) return fail(ErrorCode::kUnavailable, raw_read_error);
  if (raw_read_denied) {
    raw_read_ = control::Phase::kFailed;
    return {};
  }
  for (const auto& [partition, range] : request.targets) {
    for (std::uint64_t offset = range.first.value(); offset < range.second.value(); ++offset) {
      if (!gone.contains(offset)) recorder_->observe(about(core::Event::kRaw, offset));
    }
    core::Observation end;
    end.event = core::Event::kRawEnd;
    end.partition = partition;
    end.offset = range.first;
    end.end = range.second;
    end.reached = true;
    recorder_->observe(end);
  }
  raw_read_ = control::Phase::kRunning;
  return {};
}

}  // namespace sp::coordinator

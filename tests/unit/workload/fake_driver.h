// A FAKE system under test: logs in memory, moved by the test's hand. It never waits in a stepped
// test and knows no time.
//
//     FakeBroker broker;  broker.blocked = {2};  FakeDriver driver(broker);
//
// Key k is on partition index(k) % partitions. Accepted records are stored and answered at the
// producer's next poll, unless their partition is blocked. Consumers hold what the test assigns
// them. One mutex, so that threads may use it too.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/payload.h"
#include "driver/driver.h"

namespace sp::fake {

struct FakeRecord {
  std::string key;
  core::KeyRef ref;
  std::uint64_t sequence = 0;
  std::vector<std::byte> payload;
};

struct FakeBroker {
  explicit FakeBroker(std::uint32_t partition_count = 4) : partitions(partition_count), logs(partition_count) {}

  std::mutex mutex;  // guards all below
  std::uint32_t partitions;
  std::vector<std::vector<FakeRecord>> logs;
  std::set<std::string> topics;
  std::set<std::uint32_t> blocked;               // partitions that answer nothing
  std::size_t queue_max = 1'000'000;             // of each producer
  bool no_answers = false;
  int exists_answers = 0;                        // create_topic says kExists so often after a deletion
  std::uint32_t topic_partitions = 0;            // what describe_topic says; 0: `partitions`
  std::string producer_failure;                  // open_producer says this
  std::string consumer_failure;
  std::string raw_failure;
  ErrorCode raw_failure_code = ErrorCode::kUnavailable;
  std::string consumer_refusal;                  // each poll says this, instead of delivering
  std::string producer_refusal;                  // each record fails with this
  bool assign_at_open = false;                   // partition p to consumer p % consumers_expected
  std::uint32_t consumers_expected = 1;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> commits;  // partition, next
  bool commits_answered = true;
  std::vector<std::string> calls;                // "release", "close", "pause 1", …
  std::condition_variable arrival;

  void idle(std::unique_lock<std::mutex>& lock, Nanoseconds wait) {
    if (wait > Nanoseconds{0}) arrival.wait_for(lock, std::min<Nanoseconds>(wait, std::chrono::milliseconds(1)));
  }
};

class FakeProducer final : public driver::Producer {
 public:
  FakeProducer(FakeBroker& broker, std::uint32_t index) : broker_(broker), index_(index) {}

  driver::SendStatus send(const core::Envelope& envelope, core::KeyRef key) override {
    const std::lock_guard lock(broker_.mutex);
    if (open_.size() >= broker_.queue_max) return driver::SendStatus::kQueueFull;
    open_.push_back({std::string(envelope.key), key, envelope.sequence.value(),
                     {envelope.payload.begin(), envelope.payload.end()}});
    return driver::SendStatus::kAccepted;
  }

  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    std::vector<core::Observation> outcomes;
    {
      std::unique_lock lock(broker_.mutex);
      broker_.idle(lock, wait);
      std::deque<FakeRecord> still_open;
      for (FakeRecord& record : open_) {
        const std::uint32_t partition = record.ref.index % broker_.partitions;
        if (broker_.no_answers || broker_.blocked.contains(partition)) {
          still_open.push_back(std::move(record));
          continue;
        }
        if (!broker_.producer_refusal.empty()) {
          outcomes.push_back(outcome(core::Event::kFail, record));
          outcomes.back().refusal = core::Refusal::kRight;
          outcomes.back().text = broker_.producer_refusal;
          continue;
        }
        core::Observation ok = outcome(core::Event::kOk, record);
        ok.has_position = true;
        ok.partition = core::PartitionId{partition};
        ok.offset = core::Offset{broker_.logs[partition].size()};
        outcomes.push_back(ok);
        broker_.logs[partition].push_back(std::move(record));
      }
      open_ = std::move(still_open);
    }
    pass(outcomes, sink);
    return outcomes.size();
  }

  [[nodiscard]] std::size_t in_flight() const override { return open_.size(); }

  void close(Nanoseconds /*wait*/, core::ObservationSink& sink) override {
    std::vector<core::Observation> outcomes;
    for (const FakeRecord& record : open_) outcomes.push_back(outcome(core::Event::kInfo, record));
    open_.clear();
    pass(outcomes, sink);
  }

 private:
  [[nodiscard]] core::Observation outcome(core::Event event, const FakeRecord& record) const {
    core::Observation observation;
    observation.event = event;
    observation.process = index_;
    observation.key = record.ref;
    observation.sequence = core::Sequence{record.sequence};
    return observation;
  }
  static void pass(const std::vector<core::Observation>& observations, core::ObservationSink& sink) {
    if (observations.empty()) return;
    sink.begin();
    for (const auto& observation : observations) sink.observe(observation);
    sink.end();
  }

  FakeBroker& broker_;
  std::uint32_t index_;
  std::deque<FakeRecord> open_;
};

inline core::Observation record_observation(core::Event event, const FakeRecord& record, std::uint32_t partition,
                                            std::uint64_t offset, core::RunId run) {
  core::Observation observation;
  observation.event = event;
  observation.name = record.key;
  observation.sequence = core::Sequence{record.sequence};
  observation.has_position = true;
  observation.partition = core::PartitionId{partition};
  observation.offset = core::Offset{offset};
  const core::PayloadReading reading = core::read_payload(record.payload, record.key, run, record.payload.size());
  observation.content = reading.content;
  observation.published = reading.fields.published;
  return observation;
}

class FakeConsumer final : public driver::Consumer {
 public:
  FakeConsumer(FakeBroker& broker, const driver::ConsumerSpec& spec) : broker_(broker), spec_(spec) {
    if (!broker.assign_at_open) return;
    const std::uint32_t stride = broker.consumers_expected;
    for (std::uint32_t p = spec.index % stride; p < broker.partitions; p += stride) assigning_.insert(p);
  }

  // The test's hand; in effect at the next poll.
  void assign(std::set<std::uint32_t> partitions) { assigning_.merge(partitions); }
  void ask_back(std::set<std::uint32_t> partitions) { revoking_ = std::move(partitions); }
  void lose(std::uint32_t partition) { losing_.insert(partition); }

  std::size_t poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) override {
    std::unique_lock lock(broker_.mutex);
    broker_.idle(lock, wait);
    std::size_t count = 0;
    sink.begin();
    change_assignment(sink);
    for (const auto& [partition, next] : commits_open_) {
      if (broker_.commits_answered) pass(core::Event::kCommitOk, partition, next, sink);
    }
    if (broker_.commits_answered) commits_open_.clear();
    if (!broker_.consumer_refusal.empty()) {
      core::Observation refused;
      refused.event = core::Event::kClientError;
      refused.process = spec_.index;
      refused.group = spec_.group;
      refused.refusal = core::Refusal::kRight;
      refused.text = broker_.consumer_refusal;
      sink.observe(refused);
      sink.end();
      return 0;
    }
    for (auto& [partition, next] : held_) {
      if (paused_ || revoking_.contains(partition)) continue;
      for (; next < broker_.logs[partition].size() && count < records_max; ++next, ++count) {
        core::Observation delivery = record_observation(core::Event::kDeliver, broker_.logs[partition][next], partition,
                                                        next, spec_.run);
        delivery.process = spec_.index;
        delivery.group = spec_.group;
        sink.observe(delivery);
      }
    }
    sink.end();
    return count;
  }

  [[nodiscard]] std::vector<core::PartitionId> revoking() const override {
    std::vector<core::PartitionId> partitions;
    for (const auto partition : revoking_) partitions.emplace_back(partition);
    return partitions;
  }

  void release(core::ObservationSink& sink) override {
    const std::lock_guard lock(broker_.mutex);
    broker_.calls.emplace_back("release");
    sink.begin();
    for (const auto partition : revoking_) {
      held_.erase(partition);
      pass(core::Event::kRevoke, partition, 0, sink);
    }
    sink.end();
    revoking_.clear();
  }

  void commit(std::span<const driver::CommitPoint> points, core::ObservationSink& sink) override {
    const std::lock_guard lock(broker_.mutex);
    sink.begin();
    for (const auto& point : points) {
      if (!held_.contains(point.partition.value())) continue;
      broker_.commits.emplace_back(point.partition.value(), point.next.value());
      broker_.calls.emplace_back("commit");
      pass(core::Event::kCommitInvoke, point.partition.value(), point.next.value(), sink);
      commits_open_.emplace_back(point.partition.value(), point.next.value());
    }
    sink.end();
  }

  [[nodiscard]] std::size_t commits_open() const override { return commits_open_.size(); }
  void pause(bool paused) override {
    const std::lock_guard lock(broker_.mutex);
    paused_ = paused;
    broker_.calls.emplace_back(paused ? "pause" : "resume");
  }

  void close(Nanoseconds /*wait*/, core::ObservationSink& sink) override {
    const std::lock_guard lock(broker_.mutex);
    broker_.calls.emplace_back("close");
    sink.begin();
    for (const auto& [partition, next] : held_) {
      pass(core::Event::kRevoke, partition, 0, sink, core::LineageClose::kClosed);
    }
    sink.end();
  }

 private:
  void change_assignment(core::ObservationSink& sink) {
    for (const auto partition : assigning_) {
      held_[partition] = 0;
      pass(core::Event::kAssign, partition, 0, sink);
    }
    assigning_.clear();
    for (const auto partition : losing_) {
      held_.erase(partition);
      pass(core::Event::kRevoke, partition, 0, sink, core::LineageClose::kLost);
    }
    losing_.clear();
  }
  void pass(core::Event event, std::uint32_t partition, std::uint64_t offset, core::ObservationSink& sink,
            core::LineageClose close = core::LineageClose::kRevoked) const {
    core::Observation observation;
    observation.event = event;
    observation.process = spec_.index;
    observation.group = spec_.group;
    observation.partition = core::PartitionId{partition};
    observation.has_position = event != core::Event::kAssign && event != core::Event::kRevoke;
    observation.offset = core::Offset{offset};
    observation.close = close;
    sink.observe(observation);
  }

  FakeBroker& broker_;
  driver::ConsumerSpec spec_;
  std::map<std::uint32_t, std::uint64_t> held_;  // partition → next to read
  std::set<std::uint32_t> assigning_;
  std::set<std::uint32_t> revoking_;
  std::set<std::uint32_t> losing_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> commits_open_;
  bool paused_ = false;
};

class FakeRawReader final : public driver::RawReader {
 public:
  FakeRawReader(FakeBroker& broker, driver::RawSpec spec) : broker_(broker), spec_(std::move(spec)) {}

  Result<bool> step(Nanoseconds /*wait*/, core::ObservationSink& sink) override {
    const std::lock_guard lock(broker_.mutex);
    if (!broker_.raw_failure.empty()) return fail(broker_.raw_failure_code, broker_.raw_failure);
    if (next_ == spec_.targets.size()) return true;
    const driver::RawTarget& target = spec_.targets[next_++];
    sink.begin();
    const std::uint32_t partition = target.partition.value();
    for (std::uint64_t offset = target.begin.value(); offset < target.end.value(); ++offset) {
      const FakeRecord& record = broker_.logs[partition][offset];
      sink.observe(record_observation(core::Event::kRaw, record, partition, offset, spec_.run));
    }
    core::Observation end;
    end.event = core::Event::kRawEnd;
    end.partition = target.partition;
    end.offset = target.begin;
    end.end = target.end;
    end.reached = true;
    sink.observe(end);
    sink.end();
    return next_ == spec_.targets.size();
  }

 private:
  FakeBroker& broker_;
  driver::RawSpec spec_;
  std::size_t next_ = 0;
};

class FakeDriver final : public driver::Driver {
 public:
  explicit FakeDriver(FakeBroker& broker) : broker_(broker) {}

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string client() const override { return "fake 1.0"; }
  [[nodiscard]] driver::Capabilities capabilities() const override {
    driver::Capabilities all;
    all.keys = all.partitions = all.positions = all.groups = all.raw_read = all.commit = true;
    return all;
  }
  [[nodiscard]] driver::Settings effective_settings() const override { return {{"enable.idempotence", "true"}}; }
  [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

  Result<void> create_topic(const driver::TopicSpec& spec) override {
    const std::lock_guard lock(broker_.mutex);
    broker_.calls.push_back("create " + spec.name);
    if (broker_.exists_answers > 0) {
      --broker_.exists_answers;
      return fail(ErrorCode::kExists, "topic exists");
    }
    if (!broker_.topics.insert(spec.name).second) return fail(ErrorCode::kExists, "topic exists");
    return {};
  }
  Result<void> delete_topic(const std::string& topic) override {
    const std::lock_guard lock(broker_.mutex);
    broker_.calls.push_back("delete " + topic);
    if (broker_.topics.erase(topic) == 0) return fail(ErrorCode::kNotFound, "no such topic");
    return {};
  }
  Result<driver::TopicInfo> describe_topic(const std::string& topic) override {
    const std::lock_guard lock(broker_.mutex);
    if (!broker_.topics.contains(topic)) return fail(ErrorCode::kNotFound, "no such topic");
    return driver::TopicInfo{broker_.topic_partitions == 0 ? broker_.partitions : broker_.topic_partitions, 1};
  }
  Result<std::vector<driver::PartitionBounds>> bounds(const std::string& /*topic*/) override {
    const std::lock_guard lock(broker_.mutex);
    std::vector<driver::PartitionBounds> bounds;
    for (std::uint32_t p = 0; p < broker_.partitions; ++p) {
      bounds.push_back({core::PartitionId{p}, core::Offset{0}, core::Offset{broker_.logs[p].size()}});
    }
    return bounds;
  }
  Result<driver::ClusterState> cluster_state(const std::string& /*topic*/) override {
    return fail(ErrorCode::kUnsupported, "a fake has no cluster");
  }
  Result<std::unique_ptr<driver::Producer>> open_producer(const driver::ProducerSpec& spec) override {
    if (!broker_.producer_failure.empty()) return fail(ErrorCode::kUnavailable, broker_.producer_failure);
    return std::make_unique<FakeProducer>(broker_, spec.index);
  }
  Result<std::unique_ptr<driver::Consumer>> open_consumer(const driver::ConsumerSpec& spec) override {
    if (!broker_.consumer_failure.empty()) return fail(ErrorCode::kUnavailable, broker_.consumer_failure);
    return std::make_unique<FakeConsumer>(broker_, spec);
  }
  Result<std::unique_ptr<driver::RawReader>> open_raw_reader(const driver::RawSpec& spec) override {
    return std::make_unique<FakeRawReader>(broker_, spec);
  }

 private:
  FakeBroker& broker_;
};

}  // namespace sp::fake

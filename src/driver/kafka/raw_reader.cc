#include "driver/kafka/raw_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "driver/kafka/handle.h"
#include "driver/kafka/outcome.h"
#include "driver/kafka/records.h"
#include "driver/kafka/rights.h"

namespace sp::driver::kafka {
namespace {

struct Reading {
  RawTarget target;
  std::uint64_t next = 0;  // the lowest position not yet known
  bool started = false;    // in the library
  bool done = false;
};

class KafkaRawReader final : public RawReader {
 public:
  KafkaRawReader(const RawSpec& spec, Account account, Handle handle, TopicHandle topic,
                 MonotonicClock& clock)
      : spec_(spec),
        account_(std::move(account)),
        clock_(clock),
        handle_(std::move(handle)),
        topic_(std::move(topic)),
        queue_(rd_kafka_queue_new(handle_.get())) {
    for (const auto& target : spec.targets)
      readings_.push_back({.target = target, .next = target.begin.value()});
  }
  ~KafkaRawReader() override {
    for (auto& reading : readings_) stop(reading);
    queue_.reset();
    topic_.reset();
  }
  KafkaRawReader(const KafkaRawReader&) = delete;
  KafkaRawReader& operator=(const KafkaRawReader&) = delete;

  Result<bool> step(Nanoseconds wait, core::ObservationSink& sink) override {
    if (!begun_) {
      if (auto begun = begin_all(sink); !begun) return give_up(std::move(begun).error(), sink);
    }
    if (all_done()) return true;
    const auto count = rd_kafka_consume_batch_queue(queue_.get(), to_milliseconds(wait),
                                                    messages_.data(), messages_.size());
    std::optional<Error> fatal;
    if (count > 0) {
      pass({messages_.data(), static_cast<std::size_t>(count)}, fatal, sink);
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        rd_kafka_message_destroy(messages_[i]);
    }
    for (auto& reading : readings_) {
      if (reading.done) stop(reading);
    }
    if (fatal) return give_up(std::move(*fatal), sink);
    if (all_done()) return true;
    const auto now = clock_.now();
    if (progress_) last_progress_ = now;
    progress_ = false;
    if (now - last_progress_ >= kRawIdleMax) return give_up(idle_error(), sink);
    return false;
  }

 private:
  Result<void> begin_all(core::ObservationSink& sink) {
    begun_ = true;
    last_progress_ = clock_.now();
    sink.begin();
    for (const auto& reading : readings_) sink.observe(range(reading, core::Event::kRawBegin));
    sink.end();
    for (auto& reading : readings_) {
      if (reading.next >= reading.target.end.value()) {
        finish(reading, true, sink);
        continue;
      }
      const auto partition = static_cast<std::int32_t>(reading.target.partition.value());
      if (rd_kafka_consume_start_queue(topic_.get(), partition,
                                       static_cast<std::int64_t>(reading.next),
                                       queue_.get()) != 0) {
        return tl::unexpected(to_error(rd_kafka_last_error(), subject()));
      }
      reading.started = true;
    }
    return {};
  }

  void pass(std::span<rd_kafka_message_t*> messages, std::optional<Error>& fatal,
            core::ObservationSink& sink) {
    readings_of_batch_.clear();
    for (const auto* message : messages) {
      const bool record = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
      readings_of_batch_.push_back(record
                                       ? core::read_record(payload_of(*message), key_of(*message),
                                                            spec_.run, spec_.payload_bytes)
                                       : core::PayloadReading{});
    }
    sink.begin();
    for (std::size_t i = 0; i < messages.size(); ++i)
      one(*messages[i], readings_of_batch_[i], fatal, sink);
    sink.end();
  }

  void one(const rd_kafka_message_t& message, const core::PayloadReading& content,
           std::optional<Error>& fatal, core::ObservationSink& sink) {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR &&
        message.err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      if (is_final(message.err))
        fatal = to_error(message.err, subject(), rd_kafka_message_errstr(&message));
      return;
    }
    const auto found =
        std::find_if(readings_.begin(), readings_.end(), [&](const Reading& reading) {
          return static_cast<std::int32_t>(reading.target.partition.value()) == message.partition &&
                 !reading.done;
        });
    if (found == readings_.end() || message.offset < 0) return;
    const auto offset = static_cast<std::uint64_t>(message.offset);
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      progress_ = progress_ || offset > found->next;
      found->next = std::max(found->next, offset);
    } else if (offset < found->next) {
      return;  // before the range: the reset policy went below a start that is no longer there
    } else {
      if (offset < found->target.end.value()) observe_record(message, content, sink);
      found->next = offset + 1;
      progress_ = true;
    }
    if (found->next >= found->target.end.value()) finish_inside(*found, sink);
  }

  void observe_record(const rd_kafka_message_t& message, const core::PayloadReading& content,
                      core::ObservationSink& sink) const {
    core::Observation observation;
    observation.event = core::Event::kRaw;
    observation.time = last_progress_;
    describe_record(message, content, observation);
    sink.observe(observation);
  }

  // Refusals that waiting does not mend.
  static bool is_final(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION || error == RD_KAFKA_RESP_ERR__FATAL;
  }

  [[nodiscard]] core::Observation range(const Reading& reading, core::Event event) const {
    core::Observation observation;
    observation.event = event;
    observation.partition = reading.target.partition;
    observation.has_position = true;
    observation.offset = reading.target.begin;
    observation.end = reading.target.end;
    observation.time = clock_.now();
    return observation;
  }

  void finish_inside(Reading& reading, core::ObservationSink& sink) const {
    reading.done = true;
    auto observation = range(reading, core::Event::kRawEnd);
    observation.reached = reading.next >= reading.target.end.value();
    sink.observe(observation);
  }
  void finish(Reading& reading, bool started_sink, core::ObservationSink& sink) const {
    if (started_sink) sink.begin();
    finish_inside(reading, sink);
    if (started_sink) sink.end();
  }

  void stop(Reading& reading) {
    if (!reading.started) return;
    reading.started = false;
    rd_kafka_consume_stop(topic_.get(),
                          static_cast<std::int32_t>(reading.target.partition.value()));
  }

  [[nodiscard]] bool all_done() const {
    return std::all_of(readings_.begin(), readings_.end(),
                       [](const Reading& reading) { return reading.done; });
  }
  [[nodiscard]] Subject subject() const {
    return {.doing = "raw read", .topic = spec_.topic, .group = {}, .account = &account_};
  }

  [[nodiscard]] Error idle_error() const {
    std::string where;
    for (const auto& reading : readings_) {
      if (reading.done) continue;
      where +=
          fmt::format("{}partition {} stands at {} of {}", where.empty() ? "" : ", ",
                      reading.target.partition.value(), reading.next, reading.target.end.value());
    }
    return Error{ErrorCode::kTimeout,
                 fmt::format("raw read of topic '{}' gave up after {} s without progress: {}",
                             spec_.topic, kRawIdleMax.count(), where)};
  }

  Result<bool> give_up(Error error, core::ObservationSink& sink) {
    sink.begin();
    for (auto& reading : readings_) {
      if (!reading.done) finish_inside(reading, sink);
    }
    sink.end();
    return tl::unexpected(std::move(error));
  }

  RawSpec spec_;
  Account account_;
  MonotonicClock& clock_;  // outlives this
  Handle handle_;
  TopicHandle topic_;
  Queue queue_;
  std::vector<Reading> readings_;
  std::array<rd_kafka_message_t*, kRawBatchMax> messages_{};
  std::vector<core::PayloadReading> readings_of_batch_;
  MonotonicTime last_progress_{};
  bool progress_ = false;
  bool begun_ = false;
};

}  // namespace

Result<std::unique_ptr<RawReader>> open_raw_reader(const RawSpec& spec, Settings settings,
                                                   MonotonicClock& clock) {
  settings.insert_or_assign("isolation.level",
                            spec.read_committed ? "read_committed" : "read_uncommitted");
  settings.insert_or_assign("auto.offset.reset", "earliest");
  settings.insert_or_assign("enable.partition.eof", "true");
  settings.insert_or_assign("enable.auto.commit", "false");
  settings.insert_or_assign("enable.auto.offset.store", "false");
  settings.erase("group.id");
  settings.erase("group.instance.id");
  settings.emplace("client.id", "raw-read");
  auto account = account_of(settings);
  auto conf = make_conf(settings);
  if (!conf) return tl::unexpected(std::move(conf).error());
  auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!handle) return fail_up(std::move(handle), "raw read");
  TopicHandle topic(rd_kafka_topic_new(handle->get(), spec.topic.c_str(), nullptr));
  if (topic == nullptr) {
    return fail(ErrorCode::kInvalid, fmt::format("raw read of topic '{}': {}", spec.topic,
                                                 rd_kafka_err2str(rd_kafka_last_error())));
  }
  return std::make_unique<KafkaRawReader>(spec, std::move(account), std::move(*handle), std::move(topic),
                                          clock);
}

}  // namespace sp::driver::kafka

#include "driver/kafka/producer.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/check.h"
#include "driver/kafka/client_errors.h"
#include "driver/kafka/handle.h"
#include "driver/kafka/outcome.h"

namespace sp::driver::kafka {
namespace {

// One record in the library's hands. Its address is the opaque that comes back with the report.
struct Attempt {
  core::KeyRef key;
  core::Sequence sequence;
  Attempt* next_free = nullptr;
  bool open = false;
};

// Attempts at stable addresses, used again once answered.
class AttemptPool {
 public:
  Attempt* take(core::KeyRef key, core::Sequence sequence) {
    if (free_ == nullptr) grow();
    Attempt* attempt = free_;
    free_ = attempt->next_free;
    if (free_ != nullptr) __builtin_prefetch(free_, 1);  // it is cold, and taken a record later
    attempt->key = key;
    attempt->sequence = sequence;
    attempt->open = true;
    ++open_count_;
    return attempt;
  }
  void give_back(Attempt* attempt) {
    attempt->open = false;
    attempt->next_free = free_;
    free_ = attempt;
    --open_count_;
  }
  [[nodiscard]] std::size_t open_count() const { return open_count_; }
  template <typename Visit>
  void each_open(Visit visit) {
    for (auto& block : blocks_) {
      for (auto& attempt : *block) {
        if (attempt.open) visit(attempt);
      }
    }
  }

 private:
  using Block = std::array<Attempt, 4096>;
  void grow() {
    blocks_.push_back(std::make_unique<Block>());
    for (auto& attempt : *blocks_.back()) {
      attempt.next_free = free_;
      free_ = &attempt;
    }
  }

  std::vector<std::unique_ptr<Block>> blocks_;
  Attempt* free_ = nullptr;
  std::size_t open_count_ = 0;
};

// A record that the library did not take: certainly not stored.
struct Refusal {
  Attempt* attempt;
  rd_kafka_resp_err_t error;
};

class KafkaProducer final : public Producer {
 public:
  KafkaProducer(const ProducerSpec& spec, Handle handle, TopicHandle topic, Nanoseconds retry_pause,
                MonotonicClock& clock)
      : index_(spec.index),
        topic_name_(spec.topic),
        retry_pause_(retry_pause),
        clock_(clock),
        handle_(std::move(handle)),
        topic_(std::move(topic)),
        queue_(rd_kafka_queue_get_main(handle_.get())) {}
  ~KafkaProducer() override { shut(); }
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  SendStatus send(const core::Envelope& envelope, core::KeyRef key) override {
    Attempt* attempt = attempts_.take(key, envelope.sequence);
    const std::int32_t partition = envelope.partition
                                       ? static_cast<std::int32_t>(envelope.partition->value())
                                       : std::int32_t{RD_KAFKA_PARTITION_UA};
    // F_COPY: the library does not write to the payload, its parameter is only not const.
    if (rd_kafka_produce(topic_.get(), partition, RD_KAFKA_MSG_F_COPY,
                         const_cast<std::byte*>(envelope.payload.data()), envelope.payload.size(),
                         envelope.key.data(), envelope.key.size(), attempt) == 0) {
      return SendStatus::kAccepted;
    }
    const auto error = rd_kafka_last_error();
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      attempts_.give_back(attempt);
      return SendStatus::kQueueFull;
    }
    refusals_.push_back({attempt, error});
    return SendStatus::kAccepted;
  }

  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    std::size_t outcomes = pass_refusals(sink);
    int milliseconds = outcomes > 0 ? 0 : to_milliseconds(wait);
    while (ClientEvent event{rd_kafka_queue_poll(queue_.get(), milliseconds)}) {
      outcomes += pass_event(event.get(), sink);
      milliseconds = 0;
    }
    return outcomes;
  }

  [[nodiscard]] std::size_t in_flight() const override { return attempts_.open_count(); }

  void close(Nanoseconds wait, core::ObservationSink& sink) override {
    const auto deadline = clock_.now() + wait;
    poll(Nanoseconds(0), sink);
    while (attempts_.open_count() > 0) {
      const Nanoseconds left = deadline - clock_.now();
      if (left < std::chrono::milliseconds(1)) break;
      poll(left, sink);
    }
    if (attempts_.open_count() > 0) {
      sink.begin();
      const auto now = clock_.now();
      attempts_.each_open([&](Attempt& attempt) {
        auto observation = about(attempt, core::Event::kInfo, now);
        observation.text = "no report before the producer was closed";
        sink.observe(observation);
        attempts_.give_back(&attempt);
      });
      sink.end();
    }
    shut();
  }

 private:
  [[nodiscard]] core::Observation about(const Attempt& attempt, core::Event event,
                                        MonotonicTime now) const {
    core::Observation observation;
    observation.event = event;
    observation.process = index_;
    observation.key = attempt.key;
    observation.sequence = attempt.sequence;
    observation.time = now;
    return observation;
  }

  std::size_t pass_refusals(core::ObservationSink& sink) {
    if (refusals_.empty()) return 0;
    sink.begin();
    const auto now = clock_.now();
    for (const auto& refusal : refusals_) {
      auto observation = about(*refusal.attempt, core::Event::kFail, now);
      observation.text = rd_kafka_err2str(refusal.error);
      sink.observe(observation);
      attempts_.give_back(refusal.attempt);
    }
    sink.end();
    return std::exchange(refusals_, {}).size();
  }

  std::size_t pass_event(rd_kafka_event_t* event, core::ObservationSink& sink) {
    switch (rd_kafka_event_type(event)) {
      case RD_KAFKA_EVENT_DR:
        return pass_reports(event, sink);
      case RD_KAFKA_EVENT_ERROR:
        pass_client_error(handle_.get(), rd_kafka_event_error(event), reason_of(event),
                          {.doing = "produce", .topic = topic_name_, .group = {}}, index_,
                          core::GroupIndex{}, clock_.now(), sink);
        return 0;
      default:
        return 0;
    }
  }

  void pass_report(const rd_kafka_message_t& message, MonotonicTime now,
                   core::ObservationSink& sink) {
    auto* attempt = static_cast<Attempt*>(message._private);
    CHECK(attempt != nullptr && attempt->open, "each attempt is reported once");
    auto observation = about(*attempt, core::Event::kOk, now);
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      observation.partition = core::PartitionId(static_cast<std::uint32_t>(message.partition));
      observation.has_position = message.offset >= 0;
      if (observation.has_position)
        observation.offset = core::Offset(static_cast<std::uint64_t>(message.offset));
    } else {
      observation.event = outcome_of(facts_of(&message), retry_pause_);
      observation.text = rd_kafka_err2str(message.err);
    }
    sink.observe(observation);
    attempts_.give_back(attempt);
  }

  std::size_t pass_reports(rd_kafka_event_t* event, core::ObservationSink& sink) {
    std::size_t outcomes = 0;
    const auto now = clock_.now();
    sink.begin();
    // By the batch, so that attempts, which are cold by now, can be fetched ahead.
    while (const std::size_t count =
               rd_kafka_event_message_array(event, reports_.data(), reports_.size())) {
      for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(reports_[i]->_private, 1);
      for (std::size_t i = 0; i < count; ++i) pass_report(*reports_[i], now, sink);
      outcomes += count;
    }
    sink.end();
    return outcomes;
  }

  static std::string_view reason_of(rd_kafka_event_t* event) {
    const char* reason = rd_kafka_event_error_string(event);
    return reason == nullptr ? "" : reason;
  }

  static DeliveryFacts facts_of(const rd_kafka_message_t* message) {
    DeliveryFacts facts{.error = message->err,
                        .status = rd_kafka_message_status(message),
                        .partition = message->partition,
                        .life = {}};
    const auto life = rd_kafka_message_latency(message);
    if (life >= 0) facts.life = std::chrono::microseconds(life);
    return facts;
  }

  // Ends the library's client without waiting for what it still holds.
  void shut() {
    if (handle_ == nullptr) return;
    rd_kafka_purge(handle_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                      RD_KAFKA_PURGE_F_NON_BLOCKING);
    queue_.reset();
    topic_.reset();
    handle_.reset();
  }

  std::uint32_t index_;
  std::string topic_name_;
  Nanoseconds retry_pause_;
  MonotonicClock& clock_;  // outlives this
  AttemptPool attempts_;
  std::vector<Refusal> refusals_;
  std::array<const rd_kafka_message_t*, 64> reports_{};
  Handle handle_;
  TopicHandle topic_;
  Queue queue_;
};

// Half of retry.backoff.ms: the library jitters the pause by a fifth.
Nanoseconds shortest_retry_pause(const rd_kafka_t* handle) {
  std::array<char, 32> value{};
  std::size_t size = value.size();
  if (rd_kafka_conf_get(rd_kafka_conf(const_cast<rd_kafka_t*>(handle)), "retry.backoff.ms",
                        value.data(), &size) != RD_KAFKA_CONF_OK) {
    return Nanoseconds(0);
  }
  return std::chrono::milliseconds(std::strtol(value.data(), nullptr, 10)) / 2;
}

}  // namespace

Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec, Settings settings,
                                                MonotonicClock& clock) {
  settings.emplace("client.id", spec.name);
  auto conf = make_conf(settings, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR);
  if (!conf) return tl::unexpected(std::move(conf).error());
  auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!handle) return fail_up(std::move(handle), fmt::format("producer '{}'", spec.name));
  TopicHandle topic(rd_kafka_topic_new(handle->get(), spec.topic.c_str(), nullptr));
  if (topic == nullptr) {
    return fail(ErrorCode::kInvalid,
                fmt::format("producer '{}', topic '{}': {}", spec.name, spec.topic,
                            rd_kafka_err2str(rd_kafka_last_error())));
  }
  const auto retry_pause = shortest_retry_pause(handle->get());
  return std::make_unique<KafkaProducer>(spec, std::move(*handle), std::move(topic), retry_pause,
                                         clock);
}

}  // namespace sp::driver::kafka

#include "driver/kafka/producer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/check.h"
#include "driver/kafka/client_errors.h"
#include "driver/kafka/handle.h"
#include "driver/kafka/outcome.h"
#include "driver/kafka/rights.h"

namespace sp::driver::kafka {
namespace {

// One record in the library's hands. Its address is the opaque that comes back with the report.
struct Attempt {
  core::KeyRef key;
  core::Sequence sequence;
  bool open = false;
};

// Attempts at stable addresses, used again once answered.
class AttemptPool {
 public:
  Attempt* take(core::KeyRef key, core::Sequence sequence) {
    if (free_.empty()) grow();
    Attempt* attempt = free_.back();
    free_.pop_back();
    // It is cold, and taken some records later.
    if (free_.size() >= kAhead) __builtin_prefetch(free_[free_.size() - kAhead], 1);
    attempt->key = key;
    attempt->sequence = sequence;
    attempt->open = true;
    ++open_count_;
    return attempt;
  }
  void give_back(Attempt* attempt) {
    attempt->open = false;
    free_.push_back(attempt);
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
  static constexpr std::size_t kAhead = 16;
  void grow() {
    blocks_.push_back(std::make_unique<Block>());
    for (auto& attempt : *blocks_.back()) free_.push_back(&attempt);
  }

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Attempt*> free_;  // the last given back is taken first
  std::size_t open_count_ = 0;
};

// A record that the library did not take: certainly not stored.
struct Refusal {
  Attempt* attempt;
  rd_kafka_resp_err_t error;
};

// A record that the library reported as stored.
struct Success {
  Attempt* attempt;
  std::int32_t partition;
  std::int64_t offset;
};

// Successes passed at once: an attempt is asked for when its report comes and read when it is here.
constexpr std::size_t kSuccessesAtOnceMax = 32;

// What the library said of itself, passed on once the reports that came with it are.
struct Complaint {
  rd_kafka_resp_err_t error;
  std::string reason;
};

// Reports passed under one bracket, so that others that observe do not wait for a whole queue.
constexpr std::size_t kReportsInBracketMax = 1024;

// Records handed over at once.
constexpr std::size_t kSentAtOnceMax = 256;

class KafkaProducer final : public Producer {
 public:
  KafkaProducer(const ProducerSpec& spec, Account account, MonotonicClock& clock)
      : index_(spec.index),
        topic_name_(spec.topic),
        account_(std::move(account)),
        clock_(clock) {
    observations_.fill(about({}, core::Event::kOk, {}));
  }
  ~KafkaProducer() override { shut(); }
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  // Makes the client.
  Result<void> start(Conf conf) {
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_dr_msg_cb(conf.get(), &KafkaProducer::on_report);
    rd_kafka_conf_set_error_cb(conf.get(), &KafkaProducer::on_error);
    auto handle = make_handle(RD_KAFKA_PRODUCER, std::move(conf));
    if (!handle) return tl::unexpected(std::move(handle).error());
    handle_ = std::move(*handle);
    topic_.reset(rd_kafka_topic_new(handle_.get(), topic_name_.c_str(), nullptr));
    if (topic_ == nullptr) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("topic '{}': {}", topic_name_,
                              rd_kafka_err2str(rd_kafka_last_error())));
    }
    retry_pause_ = shortest_retry_pause(handle_.get());
    return {};
  }

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

  // The library looks at its clocks and takes its topic's lock once a batch.
  std::size_t send_all(std::span<const Outgoing> records) override {
    std::size_t taken = 0;
    while (taken < records.size()) {
      const auto batch = records.subspan(taken, std::min(kSentAtOnceMax, records.size() - taken));
      const std::size_t count = send_batch(batch);
      taken += count;
      if (count < batch.size()) break;
    }
    return taken;
  }

  // Reports come by callback, not as events: an event walks its messages twice, the second time
  // when they are cold.
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    outcomes_ = pass_refusals(sink);
    sink_ = &sink;
    rd_kafka_poll(handle_.get(), outcomes_ > 0 ? 0 : to_milliseconds(wait));
    end_bracket();
    sink_ = nullptr;
    pass_complaints(sink);
    return outcomes_;
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
  std::size_t send_batch(std::span<const Outgoing> records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const core::Envelope& envelope = records[i].envelope;
      rd_kafka_message_t& message = batch_[i];
      message.err = RD_KAFKA_RESP_ERR_NO_ERROR;
      message.partition = envelope.partition
                              ? static_cast<std::int32_t>(envelope.partition->value())
                              : std::int32_t{RD_KAFKA_PARTITION_UA};
      // F_COPY: the library writes to neither; its structure is only not const.
      message.payload = const_cast<std::byte*>(envelope.payload.data());
      message.len = envelope.payload.size();
      message.key = const_cast<char*>(envelope.key.data());
      message.key_len = envelope.key.size();
      message._private = attempts_.take(records[i].key, envelope.sequence);
    }
    rd_kafka_produce_batch(topic_.get(), RD_KAFKA_PARTITION_UA,
                           RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_PARTITION, batch_.data(),
                           static_cast<int>(records.size()));
    return settle_batch(records.size());
  }

  // What the library said of the first `size` of batch_: how many of them are attempts.
  std::size_t settle_batch(std::size_t size) {
    const std::size_t taken = attempts_in(std::span(batch_).first(size));
    for (std::size_t i = size; i > taken; --i)
      attempts_.give_back(static_cast<Attempt*>(batch_[i - 1]._private));
    for (std::size_t i = 0; i < taken; ++i) {
      if (batch_[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
        refusals_.push_back({static_cast<Attempt*>(batch_[i]._private), batch_[i].err});
    }
    return taken;
  }

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
      observe_without_success(observation, refusal.error, sink);
      attempts_.give_back(refusal.attempt);
    }
    sink.end();
    return std::exchange(refusals_, {}).size();
  }

  static void on_report(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message, void* self) {
    static_cast<KafkaProducer*>(self)->pass_report(*message);
  }
  static void on_error(rd_kafka_t* /*handle*/, int error, const char* reason, void* self) {
    static_cast<KafkaProducer*>(self)->complaints_.push_back(
        {static_cast<rd_kafka_resp_err_t>(error), reason == nullptr ? "" : reason});
  }

  void begin_bracket() {
    sink_->begin();
    in_bracket_ = true;
    reported_ = clock_.now();
  }
  void end_bracket() {
    if (!in_bracket_) return;
    pass_successes();
    sink_->end();
    in_bracket_ = false;
    reports_in_bracket_ = 0;
  }

  void pass_report(const rd_kafka_message_t& message) {
    if (sink_ == nullptr) return;  // shutting down: what was open has had its outcome
    if (!in_bracket_) begin_bracket();
    auto* attempt = static_cast<Attempt*>(message._private);
    CHECK(attempt != nullptr, "each message is of an attempt");
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      __builtin_prefetch(attempt, 1);
      successes_[success_count_++] = {attempt, message.partition, message.offset};
      if (success_count_ == successes_.size()) pass_successes();
    } else {
      pass_successes();  // what came before goes before
      CHECK(attempt->open, "each attempt is reported once");
      auto observation =
          about(*attempt, outcome_of(facts_of(&message), retry_pause_), reported_);
      observe_without_success(observation, message.err, *sink_);
      attempts_.give_back(attempt);
    }
    ++outcomes_;
    if (++reports_in_bracket_ == kReportsInBracketMax) end_bracket();
  }

  void pass_successes() {
    for (std::size_t i = 0; i < success_count_; ++i) {
      const Success& success = successes_[i];
      CHECK(success.attempt->open, "each attempt is reported once");
      core::Observation& observation = observations_[i];
      observation.time = reported_;
      observation.key = success.attempt->key;
      observation.sequence = success.attempt->sequence;
      observation.partition = core::PartitionId(static_cast<std::uint32_t>(success.partition));
      observation.has_position = success.offset >= 0;
      observation.offset = core::Offset(
          observation.has_position ? static_cast<std::uint64_t>(success.offset) : 0);
      attempts_.give_back(success.attempt);
    }
    if (success_count_ > 0) sink_->observe_all(std::span(observations_).first(success_count_));
    success_count_ = 0;
  }

  void observe_without_success(core::Observation& observation, rd_kafka_resp_err_t error,
                               core::ObservationSink& sink) const {
    observation.refusal = refusal_of(error);
    const std::string text = rd_kafka_err2str(error) + what_is_missing(error, subject());
    observation.text = text;
    sink.observe(observation);
  }

  void pass_complaints(core::ObservationSink& sink) {
    for (const auto& complaint : std::exchange(complaints_, {})) {
      pass_client_error(handle_.get(), complaint.error, complaint.reason, subject(), index_,
                        core::GroupIndex{}, clock_.now(), sink);
    }
  }

  [[nodiscard]] Subject subject() const {
    return {.doing = "produce", .topic = topic_name_, .group = {}, .account = &account_};
  }

  // Half of retry.backoff.ms: the library jitters the pause by a fifth.
  static Nanoseconds shortest_retry_pause(rd_kafka_t* handle) {
    std::array<char, 32> value{};
    std::size_t size = value.size();
    if (rd_kafka_conf_get(rd_kafka_conf(handle), "retry.backoff.ms", value.data(), &size) !=
        RD_KAFKA_CONF_OK) {
      return Nanoseconds(0);
    }
    return std::chrono::milliseconds(std::strtol(value.data(), nullptr, 10)) / 2;
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
    topic_.reset();
    handle_.reset();
  }

  std::uint32_t index_;
  std::string topic_name_;
  Account account_;
  Nanoseconds retry_pause_{};
  MonotonicClock& clock_;  // outlives this
  AttemptPool attempts_;
  std::array<rd_kafka_message_t, kSentAtOnceMax> batch_{};
  std::vector<Refusal> refusals_;
  std::vector<Complaint> complaints_;
  std::array<Success, kSuccessesAtOnceMax> successes_{};
  std::size_t success_count_ = 0;
  std::array<core::Observation, kSuccessesAtOnceMax> observations_{};  // used again and again
  core::ObservationSink* sink_ = nullptr;  // of the poll that is going on
  bool in_bracket_ = false;
  std::size_t reports_in_bracket_ = 0;
  std::size_t outcomes_ = 0;               // of this poll
  MonotonicTime reported_{};               // the time of the bracket
  Handle handle_;
  TopicHandle topic_;
};

}  // namespace

Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec, Settings settings,
                                                MonotonicClock& clock) {
  settings.emplace("client.id", spec.name);
  auto account = account_of(settings);
  auto conf = make_conf(settings);
  if (!conf) return tl::unexpected(std::move(conf).error());
  auto producer = std::make_unique<KafkaProducer>(spec, std::move(account), clock);
  if (auto started = producer->start(std::move(*conf)); !started) {
    return fail_up(std::move(started), fmt::format("producer '{}'", spec.name));
  }
  return producer;
}

}  // namespace sp::driver::kafka

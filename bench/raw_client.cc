#include "raw_client.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <librdkafka/rdkafka.h>

#include "machine.h"

namespace sp::bench {
namespace {

constexpr int kWaitMilliseconds = 50;
constexpr Nanoseconds kPatience = std::chrono::seconds(60);
constexpr std::uint64_t kRecordsBetweenPolls = 256;

struct Destroy {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy>;
using Topic = std::unique_ptr<rd_kafka_topic_t, Destroy>;

// The settings of the harness that a client of that kind knows.
constexpr std::array kSettings = {"acks", "enable.idempotence", "max.in.flight.requests.per.connection", "partitioner",
                                  "linger.ms", "batch.size", "batch.num.messages", "compression.type",
                                  "queue.buffering.max.messages", "queue.buffering.max.kbytes",
                                  "topic.metadata.refresh.interval.ms"};
constexpr std::array kConsumerSettings = {"auto.offset.reset", "enable.auto.commit", "enable.auto.offset.store",
                                          "isolation.level", "partition.assignment.strategy", "fetch.min.bytes",
                                          "fetch.wait.max.ms", "fetch.max.bytes", "max.partition.fetch.bytes",
                                          "queued.min.messages", "queued.max.messages.kbytes", "check.crcs",
                                          "topic.metadata.refresh.interval.ms"};

template <typename Names>
Result<rd_kafka_conf_t*> make_conf(const RawOptions& options, const Names& names) {
  std::array<char, 512> why{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const auto set = [&](const char* name, const std::string& value) {
    return rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK;
  };
  bool good = set("bootstrap.servers", options.bootstrap);
  for (const char* name : names) {
    const auto found = options.settings.find(name);
    if (found != options.settings.end()) good = good && set(name, found->second);
  }
  if (good) return conf;
  rd_kafka_conf_destroy(conf);
  return fail(ErrorCode::kInvalid, std::string("raw client: ") + why.data());
}

Result<Client> make_client(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
  std::array<char, 512> why{};
  rd_kafka_t* client = rd_kafka_new(type, conf, why.data(), why.size());
  if (client != nullptr) return Client(client);
  rd_kafka_conf_destroy(conf);
  return fail(ErrorCode::kInvalid, std::string("raw client: ") + why.data());
}

class RawConsumer {
 public:
  explicit RawConsumer(MonotonicClock& clock) : clock_(clock) {}
  RawConsumer(const RawConsumer&) = delete;
  RawConsumer& operator=(const RawConsumer&) = delete;
  ~RawConsumer() {
    thread_ = {};
    if (client_) rd_kafka_consumer_close(client_.get());
  }

  // Joins the group and waits for its partitions.
  Result<void> start(const RawOptions& options) {
    auto conf = make_conf(options, kConsumerSettings);
    if (!conf) return tl::unexpected(std::move(conf).error());
    std::array<char, 512> why{};
    rd_kafka_conf_set(*conf, "group.id", options.group.c_str(), why.data(), why.size());
    auto client = make_client(RD_KAFKA_CONSUMER, *conf);
    if (!client) return tl::unexpected(std::move(client).error());
    client_ = std::move(*client);
    rd_kafka_poll_set_consumer(client_.get());
    queue_.reset(rd_kafka_queue_get_consumer(client_.get()));
    rd_kafka_topic_partition_list_t* topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, options.topic.c_str(), RD_KAFKA_PARTITION_UA);
    const auto error = rd_kafka_subscribe(client_.get(), topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(ErrorCode::kUnavailable, rd_kafka_err2str(error));
    const MonotonicTime deadline = clock_.now() + kPatience;
    while (!is_assigned()) {
      if (clock_.now() > deadline) return fail(ErrorCode::kTimeout, "the raw consumer was never assigned");
      take();
    }
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) take();
    });
    return {};
  }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] MonotonicTime last() const { return MonotonicTime(Nanoseconds(last_.load())); }

 private:
  bool is_assigned() {
    rd_kafka_topic_partition_list_t* held = nullptr;
    if (rd_kafka_assignment(client_.get(), &held) != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    const bool any = held->cnt > 0;
    rd_kafka_topic_partition_list_destroy(held);
    return any;
  }
  void take() {
    // One first, then what there is: the library would wait for a full batch.
    auto count = rd_kafka_consume_batch_queue(queue_.get(), kWaitMilliseconds, batch_.data(), 1);
    if (count <= 0) return;
    const auto more = rd_kafka_consume_batch_queue(queue_.get(), 0, batch_.data() + 1, batch_.size() - 1);
    if (more > 0) count += more;
    std::uint64_t records = 0;
    for (ssize_t i = 0; i < count; ++i) {
      rd_kafka_message_t* message = batch_[static_cast<std::size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++records;
      rd_kafka_message_destroy(message);
    }
    if (records == 0) return;
    last_ = clock_.now().time_since_epoch().count();
    received_ += records;
  }

  MonotonicClock& clock_;
  Client client_;
  Queue queue_;
  std::array<rd_kafka_message_t*, 4096> batch_{};
  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::int64_t> last_{0};
  std::jthread thread_;
};

class RawProducer {
 public:
  RawProducer(const RawOptions& options, MonotonicClock& clock)
      : options_(options), clock_(clock), payload_(options.payload_bytes, 'x') {}

  Result<void> start() {
    auto conf = make_conf(options_, kSettings);
    if (!conf) return tl::unexpected(std::move(conf).error());
    rd_kafka_conf_set_opaque(*conf, this);
    rd_kafka_conf_set_dr_msg_cb(*conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
      ++(message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? static_cast<RawProducer*>(self)->acked_
                                                    : static_cast<RawProducer*>(self)->failed_);
    });
    auto client = make_client(RD_KAFKA_PRODUCER, *conf);
    if (!client) return tl::unexpected(std::move(client).error());
    client_ = std::move(*client);
    topic_.reset(rd_kafka_topic_new(client_.get(), options_.topic.c_str(), nullptr));
    if (topic_ == nullptr) return fail(ErrorCode::kInvalid, "raw client: no topic object");
    return {};
  }
  void load(MonotonicTime begin) {
    const MonotonicTime end = begin + options_.duration;
    for (MonotonicTime now = begin; now < end; now = clock_.now()) {
      const std::uint64_t due = due_at(now - begin);
      int wait = due == sent_ ? 1 : 0;
      for (std::uint64_t sent = 0; sent < kRecordsBetweenPolls && sent_ < due; ++sent) {
        if (send()) continue;
        wait = 1;  // its queue is full
        break;
      }
      rd_kafka_poll(client_.get(), wait);
    }
  }
  void flush() { rd_kafka_flush(client_.get(), 60'000); }
  [[nodiscard]] std::uint64_t acked() const { return acked_; }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  [[nodiscard]] std::uint64_t due_at(Nanoseconds since) const {
    if (options_.rate <= 0) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(std::chrono::duration<double>(since).count() * options_.rate);
  }
  bool send() {
    const std::string& key = options_.keys[key_];
    if (rd_kafka_produce(topic_.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, payload_.data(), payload_.size(),
                         key.data(), key.size(), nullptr) != 0) {
      return false;
    }
    ++sent_;
    key_ = key_ + 1 == options_.keys.size() ? 0 : key_ + 1;
    return true;
  }

  const RawOptions& options_;
  MonotonicClock& clock_;
  Client client_;
  Topic topic_;
  std::string payload_;
  std::size_t key_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t acked_ = 0;
  std::uint64_t failed_ = 0;
};

}  // namespace

Result<RawResult> run_raw(const RawOptions& options, MonotonicClock& clock) {
  RawConsumer consumer(clock);
  if (options.consume) {
    if (auto started = consumer.start(options); !started) return tl::unexpected(std::move(started).error());
  }
  RawResult result;
  const Nanoseconds cpu_before = cpu_time();
  const MonotonicTime begin = clock.now();
  RawProducer producer(options, clock);
  if (auto started = producer.start(); !started) return tl::unexpected(std::move(started).error());
  producer.load(clock.now());
  result.load = clock.now() - begin;
  producer.flush();
  MonotonicTime last = clock.now();
  if (options.consume) {
    std::mutex mutex;
    std::condition_variable nobody;
    std::unique_lock lock(mutex);
    const MonotonicTime deadline = last + kPatience;
    while (consumer.received() < producer.acked()) {
      if (clock.now() > deadline) {
        return fail(ErrorCode::kTimeout, fmt::format("the raw consumer received {} of {} records", consumer.received(),
                                                     producer.acked()));
      }
      static_cast<void>(clock.wait_until(lock, nobody, clock.now() + std::chrono::milliseconds(5)));
    }
    last = consumer.last();
  }
  result.acked = producer.acked();
  result.failed = producer.failed();
  result.received = consumer.received();
  result.whole = last - begin;
  result.cpu = cpu_time() - cpu_before;
  return result;
}

}  // namespace sp::bench

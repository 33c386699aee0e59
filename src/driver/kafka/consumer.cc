#include "driver/kafka/consumer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "driver/kafka/assignment.h"
#include "driver/kafka/client_errors.h"
#include "driver/kafka/commits.h"
#include "driver/kafka/handle.h"
#include "driver/kafka/outcome.h"
#include "driver/kafka/records.h"
#include "driver/kafka/rights.h"
#include "driver/kafka/settings.h"

namespace sp::driver::kafka {
namespace {

// While committed offsets are asked for, which arrive on another queue, a wait for records is cut
// into steps of this length.
constexpr auto kAnswerPollStep = std::chrono::milliseconds(5);

// The least time to end in: for the answers to commits, and then for the group.
constexpr auto kDropWait = std::chrono::milliseconds(200);

// What a callback was told, served once the records before it are handed over.
struct Report {
  enum class Kind : std::uint8_t { kRebalance, kError };
  Kind kind = Kind::kError;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
  PartitionList partitions;
  std::string reason;
};

class NobodysSink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& /*observation*/) override {}
};

class KafkaConsumer final : public Consumer {
 public:
  KafkaConsumer(const ConsumerSpec& spec, const Settings& settings, const Library& library,
                std::shared_ptr<Stragglers> stragglers,  // shared with the driver
                MonotonicClock& clock)
      : spec_(spec),
        account_(account_of(settings)),
        instance_(setting(settings, "group.instance.id")),
        classic_(setting(settings, "group.protocol") != "consumer"),
        read_committed_(setting(settings, "isolation.level") == "read_committed"),
        library_commits_(setting(settings, "enable.auto.commit") == "true"),
        library_(library),
        stragglers_(std::move(stragglers)),
        clock_(clock),
        commits_(spec.index, spec.group, clock) {}
  ~KafkaConsumer() override { drop_client(); }
  KafkaConsumer(const KafkaConsumer&) = delete;
  KafkaConsumer& operator=(const KafkaConsumer&) = delete;

  // Makes the client and joins the group.
  Result<void> start(Conf conf) {
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_rebalance_cb(conf.get(), &KafkaConsumer::on_rebalance);
    rd_kafka_conf_set_offset_commit_cb(conf.get(), &KafkaConsumer::on_own_commit);
    rd_kafka_conf_set_error_cb(conf.get(), &KafkaConsumer::on_error);
    auto handle = make_handle(RD_KAFKA_CONSUMER, std::move(conf));
    if (!handle) return fail_up(std::move(handle), fmt::format("consumer '{}'", spec_.name));
    handle_ = std::move(*handle);
    rd_kafka_poll_set_consumer(handle_.get());
    queue_.reset(rd_kafka_queue_get_consumer(handle_.get()));
    answers_.reset(rd_kafka_queue_new(handle_.get()));
    auto topics = make_list(1);
    rd_kafka_topic_partition_list_add(topics.get(), spec_.topic.c_str(), RD_KAFKA_PARTITION_UA);
    if (const auto error = rd_kafka_subscribe(handle_.get(), topics.get());
        error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return tl::unexpected(to_error(error, subject()));
    }
    return {};
  }

  std::size_t poll(std::size_t records_max, Nanoseconds wait,
                   core::ObservationSink& sink) override {
    notice_loss(sink);
    if (serve_answers(sink)) wait = Nanoseconds(0);
    if (assign_ != nullptr) wait = std::min<Nanoseconds>(wait, kAnswerPollStep);
    if (!paused_) unstash(records_max);
    // One first, then what there is: the library would wait for a full batch.
    if (taken_.empty() && records_max > 0) take(1, to_milliseconds(wait));
    std::size_t delivered = 0;
    while (delivered + taken_.size() < records_max &&
           take(records_max - delivered - taken_.size(), 0)) {
      delivered += hand_over(sink);
    }
    delivered += hand_over(sink);
    serve_reports(sink);
    return delivered;
  }

  [[nodiscard]] std::vector<core::PartitionId> revoking() const override {
    std::vector<core::PartitionId> asked_back;
    if (revoke_ == nullptr) return asked_back;
    for (const auto& partition : elements(*revoke_)) asked_back.push_back(partition_of(partition));
    return asked_back;
  }

  void release(core::ObservationSink& sink) override {
    if (revoke_ == nullptr) return;
    const bool lost = rd_kafka_assignment_lost(handle_.get()) != 0;
    const auto partitions = std::exchange(revoke_, nullptr);
    drop(*partitions, lost ? core::LineageClose::kLost : core::LineageClose::kRevoked, sink);
  }

  void commit(std::span<const CommitPoint> points, core::ObservationSink& sink) override {
    auto held_points = make_list(points.size());
    for (const auto& point : points) {
      if (holdings_.of(point.partition) == Hold::kNone) continue;
      auto* added =
          rd_kafka_topic_partition_list_add(held_points.get(), spec_.topic.c_str(),
                                            static_cast<std::int32_t>(point.partition.value()));
      added->offset = static_cast<std::int64_t>(point.next.value());
    }
    commits_.request(handle_.get(), queue_.get(), std::move(held_points), sink);
  }

  [[nodiscard]] std::size_t commits_open() const override { return commits_.open_count(); }

  void pause(bool paused) override {
    paused_ = paused;
    const auto partitions = holdings_.list(spec_.topic);
    if (partitions->cnt > 0) pause_list(*partitions);
  }

  void close(Nanoseconds wait, core::ObservationSink& sink) override {
    // Half of the time is left for the group: a client whose last revoke nobody serves never ends.
    wait = std::max<Nanoseconds>(wait, kDropWait);
    const auto deadline = clock_.now() + wait;
    closing_ = true;
    await_answers(deadline - wait / 2, sink);
    commits_.abandon(sink);
    if (revoke_ != nullptr) {
      const auto partitions = std::exchange(revoke_, nullptr);
      drop(*partitions, core::LineageClose::kClosed, sink);
    }
    closing_ = ClientError{rd_kafka_consumer_close_queue(handle_.get(), queue_.get())} == nullptr;
    while (closing_ && rd_kafka_consumer_closed(handle_.get()) == 0 && step_of(deadline))
      serve_one(deadline, sink);
    observe_revokes(*holdings_.list(spec_.topic), core::LineageClose::kClosed, sink);
    shut();
  }

 private:
  [[nodiscard]] Subject subject() const {
    return {.doing = "consume",
            .topic = spec_.topic,
            .group = spec_.group_name,
            .account = &account_};
  }

  [[nodiscard]] core::Observation about(core::Event event, core::PartitionId partition,
                                        MonotonicTime now) const {
    core::Observation observation;
    observation.event = event;
    observation.process = spec_.index;
    observation.group = spec_.group;
    observation.partition = partition;
    observation.time = now;
    return observation;
  }

  // ---- deliveries

  // Takes up to `records_max` records off the queue; what else comes there goes through the
  // callbacks to reports_. False if there was no full batch.
  bool take(std::size_t records_max, int milliseconds) {
    const std::size_t size = std::min(records_max, batch_.size());
    const auto count =
        rd_kafka_consume_batch_queue(queue_.get(), milliseconds, batch_.data(), size);
    for (ssize_t i = 0; i < count; ++i) keep(Message(batch_[static_cast<std::size_t>(i)]));
    return count > 0 && static_cast<std::size_t>(count) == size;
  }

  void keep(Message message) {
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      reports_.push_back(
          {Report::Kind::kError, message->err, nullptr, rd_kafka_message_errstr(message.get())});
      return;
    }
    const core::PartitionId partition{static_cast<std::uint32_t>(message->partition)};
    if (message->offset < 0 || closing_ || holdings_.of(partition) != Hold::kHeld) return;
    const auto reading =
        core::read_record(payload_of(*message), key_of(*message), spec_.run, spec_.payload_bytes);
    if (paused_) {
      stash({std::move(message), reading});
    } else {
      taken_.push_back({std::move(message), reading});
    }
  }

  // A record of a paused partition: the pause came while the library was starting it. It is kept
  // for resume, the pause asked for again.
  void stash(Taken taken) {
    auto again = make_list(1);
    rd_kafka_topic_partition_list_add(again.get(), spec_.topic.c_str(), taken.message->partition);
    pause_list(*again);
    stash_.push_back(std::move(taken));
  }

  void unstash(std::size_t records_max) {
    while (!stash_.empty() && taken_.size() < records_max) {
      const core::PartitionId partition{
          static_cast<std::uint32_t>(stash_.front().message->partition)};
      if (holdings_.of(partition) == Hold::kHeld) taken_.push_back(std::move(stash_.front()));
      stash_.pop_front();
    }
  }

  // How many.
  std::size_t hand_over(core::ObservationSink& sink) {
    const std::size_t count = taken_.size();
    if (count == 0) return 0;
    deserted_ = false;
    sink.begin();
    pass_records(taken_, about(core::Event::kDeliver, core::PartitionId{}, clock_.now()), sink);
    sink.end();
    taken_.clear();
    return count;
  }

  // ---- other events

  // The callbacks run inside take(), on this consumer's thread.
  void report(Report report) {
    reports_.push_back(std::move(report));
    rd_kafka_queue_yield(queue_.get());  // do not wait for records now
  }
  static void on_rebalance(rd_kafka_t* /*handle*/, rd_kafka_resp_err_t error,
                           rd_kafka_topic_partition_list_t* partitions, void* self) {
    static_cast<KafkaConsumer*>(self)->report(
        {Report::Kind::kRebalance,
         error,
         PartitionList(rd_kafka_topic_partition_list_copy(partitions)),
         {}});
  }
  static void on_own_commit(rd_kafka_t* /*handle*/, rd_kafka_resp_err_t error,
                            rd_kafka_topic_partition_list_t* offsets, void* self) {
    if (offsets != nullptr)
      static_cast<KafkaConsumer*>(self)->commits_.own_answered(*offsets, error);
  }
  static void on_error(rd_kafka_t* /*handle*/, int error, const char* reason, void* self) {
    static_cast<KafkaConsumer*>(self)->report({Report::Kind::kError,
                                               static_cast<rd_kafka_resp_err_t>(error), nullptr,
                                               reason == nullptr ? "" : reason});
  }

  void serve_reports(core::ObservationSink& sink) {
    commits_.serve(sink);  // before a rebalance: they were of the assignment that it ends
    for (auto& one : std::exchange(reports_, {})) {
      switch (one.kind) {
        case Report::Kind::kRebalance:
          rebalance(one, sink);
          break;
        case Report::Kind::kError:
          pass_error(one, sink);
          break;
      }
    }
  }

  // True if there was one.
  bool serve_answers(core::ObservationSink& sink) {
    bool any = false;
    while (ClientEvent event{rd_kafka_queue_poll(answers_.get(), 0)}) {
      any = true;
      const auto type = rd_kafka_event_type(event.get());
      if (type == RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT)
        committed_known(event.get(), sink);
    }
    return any;
  }

  void pass_error(const Report& report, core::ObservationSink& sink) {
    deserted_ = deserted_ || report.error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
    pass_client_error(handle_.get(), report.error, report.reason, subject(), spec_.index,
                      spec_.group, clock_.now(), sink);
  }

  void rebalance(const Report& report, core::ObservationSink& sink) {
    if (report.error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
      return assign_asked(*report.partitions, sink);
    if (report.error == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS)
      return revoke_asked(*report.partitions, sink);
    // The manual: whatever it is, synchronise by giving everything up.
    pass_error(report, sink);
    drop(*holdings_.list(spec_.topic), core::LineageClose::kLost, sink);
  }

  // Asks for the committed offsets, so that the start can be stated; the assignment follows with
  // the answer.
  void assign_asked(const rd_kafka_topic_partition_list_t& partitions,
                    core::ObservationSink& sink) {
    assign_ = PartitionList(rd_kafka_topic_partition_list_copy(&partitions));
    const CommittedQuestion question{
        .group = spec_.group_name, .stable = read_committed_, .number = ++lookup_};
    if (closing_ || partitions.cnt == 0 ||
        !ask_committed(handle_.get(), question, *assign_, answers_.get())) {
      finish_assign(sink);
    }
  }

  void committed_known(rd_kafka_event_t* event, core::ObservationSink& sink) {
    // Not for an assignment that was lost meanwhile: what is committed may have moved on since.
    const auto number = reinterpret_cast<std::uintptr_t>(rd_kafka_event_opaque(event));
    if (assign_ == nullptr || number != lookup_) return;
    take_committed(event, *assign_);
    finish_assign(sink);
  }

  void finish_assign(core::ObservationSink& sink) {
    const auto partitions = std::exchange(assign_, nullptr);
    const auto group = group_metadata(handle_.get(), library_);
    if (!change(*partitions, Change::kAssign, sink)) return;
    const auto now = clock_.now();
    sink.begin();
    for (const auto& partition : elements(*partitions)) {
      holdings_.set(partition_of(partition), Hold::kHeld);
      auto observation = about(core::Event::kAssign, partition_of(partition), now);
      observation.has_generation = group.generation.has_value();
      observation.generation = group.generation.value_or(core::Generation{});
      observation.has_start = partition.offset >= 0;
      if (observation.has_start)
        observation.start = core::Offset(static_cast<std::uint64_t>(partition.offset));
      observation.classic = classic_;
      observation.text = group.member;
      observation.instance = instance_;
      sink.observe(observation);
    }
    sink.end();
    if (paused_ && partitions->cnt > 0) pause_list(*partitions);
  }

  void revoke_asked(const rd_kafka_topic_partition_list_t& partitions,
                    core::ObservationSink& sink) {
    assign_.reset();
    const bool lost = rd_kafka_assignment_lost(handle_.get()) != 0;
    if (lost || closing_ || partitions.cnt == 0) {
      revoke_.reset();
      return drop(partitions, lost ? core::LineageClose::kLost : core::LineageClose::kClosed, sink);
    }
    revoke_ = PartitionList(rd_kafka_topic_partition_list_copy(&partitions));
    for (const auto& partition : elements(*revoke_)) {
      if (holdings_.of(partition_of(partition)) == Hold::kHeld)
        holdings_.set(partition_of(partition), Hold::kRevoking);
    }
  }

  // While a revoke waits for release() the library announces a loss by a flag only.
  void notice_loss(core::ObservationSink& sink) {
    if (revoke_ != nullptr && rd_kafka_assignment_lost(handle_.get()) != 0) release(sink);
  }

  // Gives partitions up, towards the library and in the books.
  void drop(const rd_kafka_topic_partition_list_t& partitions, core::LineageClose close,
            core::ObservationSink& sink) {
    observe_revokes(partitions, close, sink);
    static_cast<void>(change(partitions, Change::kUnassign, sink));
  }

  void observe_revokes(const rd_kafka_topic_partition_list_t& partitions, core::LineageClose close,
                       core::ObservationSink& sink) {
    const auto now = clock_.now();
    sink.begin();
    for (const auto& partition : elements(partitions)) {
      if (holdings_.of(partition_of(partition)) == Hold::kNone) continue;
      holdings_.set(partition_of(partition), Hold::kNone);
      std::erase_if(stash_, [&](const Taken& taken) {
        return taken.message->partition == partition.partition;
      });
      auto observation = about(core::Event::kRevoke, partition_of(partition), now);
      observation.close = close;
      sink.observe(observation);
    }
    sink.end();
  }

  // False if the client refuses, which is passed on.
  bool change(const rd_kafka_topic_partition_list_t& partitions, Change change,
              core::ObservationSink& sink) {
    const auto refusal = change_assignment(handle_.get(), partitions, change);
    if (!refusal) return true;
    auto observation = about(core::Event::kClientError, core::PartitionId{}, clock_.now());
    observation.text = *refusal;
    sink.begin();
    sink.observe(observation);
    sink.end();
    return false;
  }

  void pause_list(rd_kafka_topic_partition_list_t& partitions) const {
    static_cast<void>(paused_ ? rd_kafka_pause_partitions(handle_.get(), &partitions)
                              : rd_kafka_resume_partitions(handle_.get(), &partitions));
  }

  // ---- close

  [[nodiscard]] bool step_of(MonotonicTime deadline) const {
    return deadline - clock_.now() >= std::chrono::milliseconds(1);
  }

  void serve_one(MonotonicTime deadline, core::ObservationSink& sink) {
    const auto step = std::min<Nanoseconds>(deadline - clock_.now(), kAnswerPollStep);
    if (serve_answers(sink)) return;
    take(1, to_milliseconds(step));
    serve_reports(sink);
  }

  void await_answers(MonotonicTime deadline, core::ObservationSink& sink) {
    while (handle_ != nullptr && commits_.open_count() > 0 && step_of(deadline))
      serve_one(deadline, sink);
  }

  // As in a crash: nothing is committed and the group is not left. But a client that has commits
  // under way would wait for a coordinator that is gone, so it leaves behind the scenes.
  void drop_client() {
    NobodysSink nobody;
    await_answers(clock_.now() + kDropWait, nobody);
    const bool would_wait = commits_.open_count() > 0 || (library_commits_ && deserted_);
    if (handle_ != nullptr && would_wait) close(kDropWait, nobody);
    shut();
  }

  void shut() {
    taken_.clear();
    stash_.clear();
    answers_.reset();
    queue_.reset();
    if (handle_ == nullptr) return;
    const bool leaving = closing_ && rd_kafka_consumer_closed(handle_.get()) == 0;
    if (leaving) return stragglers_->keep(std::move(handle_));
    handle_.reset();
  }

  ConsumerSpec spec_;
  Account account_;
  std::string instance_;
  bool classic_;
  bool read_committed_;
  bool library_commits_;
  bool deserted_ = false;  // no broker is connected, as the client said last
  bool paused_ = false;
  bool closing_ = false;    // and leaving the group, unless the client refused that
  const Library& library_;  // outlives this
  std::shared_ptr<Stragglers> stragglers_;  // shared with the driver and its other consumers
  MonotonicClock& clock_;   // outlives this
  Handle handle_;
  Queue queue_;    // records; callbacks are served with them
  Queue answers_;  // to questions for committed offsets
  std::vector<Report> reports_;
  std::array<rd_kafka_message_t*, kBatchMax> batch_{};
  Holdings holdings_;
  std::vector<Taken> taken_;
  std::deque<Taken> stash_;    // came while paused
  PartitionList assign_;       // asked for, waiting for the committed offsets
  PartitionList revoke_;       // asked back, waiting for release()
  std::uintptr_t lookup_ = 0;  // the latest question for committed offsets
  Commits commits_;
};

}  // namespace

Result<std::unique_ptr<Consumer>> open_consumer(const ConsumerSpec& spec, Settings settings,
                                                const Library& library,
                                                std::shared_ptr<Stragglers> stragglers,  // shared with the driver
                                                MonotonicClock& clock) {
  if (auto applied = apply_consumer_spec(spec, settings); !applied)
    return tl::unexpected(std::move(applied).error());
  auto conf = make_conf(settings);
  if (!conf) return tl::unexpected(std::move(conf).error());
  ConsumerSpec own = spec;
  own.group_name = settings.at("group.id");
  auto consumer = std::make_unique<KafkaConsumer>(own, settings, library, std::move(stragglers),
                                                  clock);
  if (auto started = consumer->start(std::move(*conf)); !started)
    return tl::unexpected(std::move(started).error());
  return consumer;
}

}  // namespace sp::driver::kafka

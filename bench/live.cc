#include "live.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "machine.h"

namespace sp::bench {
namespace {

using Watch = std::function<void(const core::Observation&, MonotonicTime)>;

// What the watched clients share.
struct Watched {
  const MonotonicClock& clock;
  Watch watch;
  std::atomic<std::int64_t> last_delivery{0};
};

class WatchingSink final : public core::ObservationSink {
 public:
  WatchingSink(core::ObservationSink& next, const Watched& watched) : next_(next), watched_(watched) {}
  void begin() override { next_.begin(); }
  void observe(const core::Observation& observation) override {
    watched_.watch(observation, watched_.clock.now());
    next_.observe(observation);
  }
  void end() override { next_.end(); }

 private:
  core::ObservationSink& next_;
  const Watched& watched_;
};

template <typename Call>
auto through(const Watched& watched, core::ObservationSink& sink, Call call) {
  if (!watched.watch) return call(sink);
  WatchingSink watching(sink, watched);
  return call(watching);
}

class WatchedProducer final : public driver::Producer {
 public:
  WatchedProducer(std::unique_ptr<driver::Producer> inner, Watched& watched) : inner_(std::move(inner)), watched_(watched) {}
  driver::SendStatus send(const core::Envelope& envelope, core::KeyRef key) override { return inner_->send(envelope, key); }
  std::size_t send_all(std::span<const driver::Outgoing> records) override { return inner_->send_all(records); }
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    return through(watched_, sink, [&](core::ObservationSink& to) { return inner_->poll(wait, to); });
  }
  [[nodiscard]] std::size_t in_flight() const override { return inner_->in_flight(); }
  void close(Nanoseconds wait, core::ObservationSink& sink) override {
    through(watched_, sink, [&](core::ObservationSink& to) { inner_->close(wait, to); });
  }

 private:
  std::unique_ptr<driver::Producer> inner_;
  Watched& watched_;
};

class WatchedConsumer final : public driver::Consumer {
 public:
  WatchedConsumer(std::unique_ptr<driver::Consumer> inner, Watched& watched) : inner_(std::move(inner)), watched_(watched) {}
  std::size_t poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) override {
    const std::size_t delivered = through(
        watched_, sink, [&](core::ObservationSink& to) { return inner_->poll(records_max, wait, to); });
    if (delivered > 0) watched_.last_delivery = watched_.clock.now().time_since_epoch().count();
    return delivered;
  }
  [[nodiscard]] std::vector<core::PartitionId> revoking() const override { return inner_->revoking(); }
  void release(core::ObservationSink& sink) override { inner_->release(sink); }
  void commit(std::span<const driver::CommitPoint> points, core::ObservationSink& sink) override {
    inner_->commit(points, sink);
  }
  [[nodiscard]] std::size_t commits_open() const override { return inner_->commits_open(); }
  void pause(bool paused) override { inner_->pause(paused); }
  void close(Nanoseconds wait, core::ObservationSink& sink) override { inner_->close(wait, sink); }

 private:
  std::unique_ptr<driver::Consumer> inner_;
  Watched& watched_;
};

class WatchedDriver final : public driver::Driver {
 public:
  WatchedDriver(std::unique_ptr<driver::Driver> inner, Watched& watched) : inner_(std::move(inner)), watched_(watched) {}
  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] std::string client() const override { return inner_->client(); }
  [[nodiscard]] driver::Capabilities capabilities() const override { return inner_->capabilities(); }
  [[nodiscard]] driver::Settings effective_settings() const override { return inner_->effective_settings(); }
  [[nodiscard]] std::vector<std::string> notes() const override { return inner_->notes(); }
  Result<void> create_topic(const driver::TopicSpec& spec) override { return inner_->create_topic(spec); }
  Result<void> delete_topic(const std::string& topic) override { return inner_->delete_topic(topic); }
  Result<driver::TopicInfo> describe_topic(const std::string& topic) override { return inner_->describe_topic(topic); }
  Result<std::vector<driver::PartitionBounds>> bounds(const std::string& topic) override { return inner_->bounds(topic); }
  Result<driver::ClusterState> cluster_state(const std::string& topic) override { return inner_->cluster_state(topic); }
  Result<std::unique_ptr<driver::Producer>> open_producer(const driver::ProducerSpec& spec) override {
    auto opened = inner_->open_producer(spec);
    if (!opened) return opened;
    return std::make_unique<WatchedProducer>(std::move(*opened), watched_);
  }
  Result<std::unique_ptr<driver::Consumer>> open_consumer(const driver::ConsumerSpec& spec) override {
    auto opened = inner_->open_consumer(spec);
    if (!opened) return opened;
    return std::make_unique<WatchedConsumer>(std::move(*opened), watched_);
  }
  Result<std::unique_ptr<driver::RawReader>> open_raw_reader(const driver::RawSpec& spec) override {
    return inner_->open_raw_reader(spec);
  }

 private:
  std::unique_ptr<driver::Driver> inner_;
  Watched& watched_;
};

// Steps the run to its end, as the live loop of the command line does. False if its end never comes.
bool turn(coordinator::ProofRun& run, Nanoseconds wait_max, MonotonicClock& clock) {
  constexpr Nanoseconds kTurnMax = std::chrono::milliseconds{50};
  const MonotonicTime give_up = clock.now() + wait_max;
  std::mutex mutex;
  std::condition_variable nobody;
  while (!run.done()) {
    const MonotonicTime next = run.step(clock.now());
    const MonotonicTime now = clock.now();
    if (now > give_up) return false;
    if (run.done() || next <= now) continue;
    std::unique_lock lock(mutex);
    static_cast<void>(clock.wait_until(lock, nobody, std::min(next, now + kTurnMax)));
  }
  return true;
}

}  // namespace

double LiveResult::rate() const {
  const double seconds = std::chrono::duration<double>(last_delivery - load_begin).count();
  return seconds > 0 ? static_cast<double>(report.judgement.coverage.received) / seconds : 0;
}

Result<LiveResult> run_live(const LiveOptions& options, MonotonicClock& clock, const WallClock& wall) {
  Watched watched{clock, options.on_observation, {}};
  const worker::DriverFactory factory = [&](const proof::Proof& proof) -> Result<std::unique_ptr<driver::Driver>> {
    auto opened = options.factory(proof);
    if (!opened) return opened;
    return std::make_unique<WatchedDriver>(std::move(*opened), watched);
  };
  LiveResult result;
  Nanoseconds cpu_before{};
  std::vector<std::unique_ptr<worker::Worker>> workers;
  std::vector<control::WorkerPort*> ports;
  for (std::uint32_t i = 0; i < options.proof.workers; ++i) {
    workers.push_back(std::make_unique<worker::Worker>(clock, wall, factory, worker::WorkerOptions{}));
    ports.push_back(workers.back().get());
  }
  coordinator::RunOptions run_options;
  run_options.run = options.run;
  run_options.proof = options.proof;
  run_options.program = "bench";
  coordinator::RunHooks hooks;
  hooks.load_begins = [&](MonotonicTime begin, std::optional<MonotonicTime>) {
    result.load_begin = begin;
    cpu_before = cpu_time();
  };
  hooks.load_ends = [&] {
    result.load_end = clock.now();
    result.cpu_load = cpu_time() - cpu_before;
  };
  hooks.alarm = [&](const track::Alarm& alarm, const std::string& key) {
    if (options.on_alarm) options.on_alarm(alarm, key, clock.now());
  };
  hooks.ticked = options.on_tick;
  coordinator::ProofRun run(std::move(run_options), std::move(ports), std::move(hooks));
  constexpr Nanoseconds kEndMax = std::chrono::seconds{90};
  if (!turn(run, options.proof.duration + kEndMax, clock)) {
    const coordinator::Live live = run.live(clock.now());
    return fail(ErrorCode::kTimeout,
                fmt::format("the run stays in its stage {}: {} acked, {} received, {} outstanding",
                            coordinator::stage_name(live.stage), live.progress.acked, live.progress.received,
                            live.progress.outstanding));
  }
  result.judged = clock.now();
  result.cpu = cpu_time() - cpu_before;
  result.last_delivery = MonotonicTime(Nanoseconds(watched.last_delivery.load()));
  result.report = run.report();
  workers.clear();
  if (!result.report.failure.empty()) return fail(ErrorCode::kUnavailable, result.report.failure);
  return result;
}

}  // namespace sp::bench

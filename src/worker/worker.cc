#include "worker/worker.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "control/proof_ledger.h"
#include "core/payload.h"
#include "worker/topic.h"
#include "workload/producer_loop.h"
#include "workload/raw_loop.h"

namespace sp::worker {

using control::Phase;

namespace {

constexpr std::size_t kDeltaRowsMin = 1'024;
constexpr std::size_t kRefusalBytesMax = 2'000;

bool at_rest(Phase phase) { return phase == Phase::kIdle || phase == Phase::kStopped || phase == Phase::kFailed; }

bool promises_idempotence(const driver::Settings& settings) {
  const auto found = settings.find("enable.idempotence");
  return found != settings.end() && found->second == "true";
}

std::string client_name(const control::WorkerPlan& plan, const char* kind, std::uint32_t index) {
  return fmt::format("sp-{}-w{}.{}-{}{}", core::run_text(plan.run), plan.source.worker, plan.source.incarnation, kind,
                     index);
}

}  // namespace

Worker::Worker(MonotonicClock& clock, const WallClock& wall, DriverFactory factory, const WorkerOptions& options)
    : clock_(clock), wall_(wall), factory_(std::move(factory)), options_(options) {}

Worker::~Worker() = default;

MonotonicTime Worker::step(MonotonicTime now) {
  MonotonicTime next = workload::kNever;
  for (Crew* crew : {&producers_, &consumers_, &raw_}) {
    for (const auto& runner : crew->loops) next = std::min(next, runner->step(now));
  }
  return next;
}

void Worker::hold_back(std::string message) {
  if (evidence_) evidence_->hold_back(std::move(message));
}

void Worker::go_on(std::string message) {
  if (evidence_) evidence_->go_on(std::move(message));
}

Result<void> Worker::check_prepared(const char* call) const {
  if (plan_) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} before prepare: the worker has no plan", call));
}

Result<void> Worker::check_startable(const Crew& crew, const char* call) const {
  if (auto prepared = check_prepared(call); !prepared) return prepared;
  if (crew.phase == Phase::kIdle) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} a second time: a worker starts them once a proof", call));
}

workload::Waits Worker::waits() const {
  workload::Waits waits;
  if (!options_.threaded) waits.poll_max = Nanoseconds{0};
  waits.interval = options_.step_interval;
  return waits;
}

Result<control::WorkerHello> Worker::prepare(const control::WorkerPlan& plan) {
  if (plan_) return fail(ErrorCode::kInvalid, "prepare a second time: remove the proof before it first");
  if (plan.proof.payload_bytes < core::kPayloadBytesMin) {
    return fail(ErrorCode::kInvalid,
                fmt::format("messageSize {} is too small: a record carries its sequence, so {} is the least",
                            plan.proof.payload_bytes, core::kPayloadBytesMin));
  }
  auto opened = factory_(plan.proof);
  if (!opened) return fail_up(std::move(opened), fmt::format("driver {}", plan.proof.driver));
  driver_ = std::move(*opened);
  plan_ = plan;
  LockedRecorder::Options evidence = options_.evidence;
  const std::size_t in_flight_max = options_.open_max * std::max<std::size_t>(1, plan.producers.size());
  evidence.delta_rows_max = std::min(evidence.delta_rows_max, std::max(kDeltaRowsMin, in_flight_max / 4));
  evidence_ = std::make_unique<LockedRecorder>(plan.source, plan.run, evidence, clock_);
  const driver::Capabilities capabilities = driver_->capabilities();
  control::WorkerHello hello;
  hello.driver = driver_->name();
  hello.client = driver_->client();
  hello.settings = driver_->effective_settings();
  hello.notes = driver_->notes();
  hello.positions = capabilities.positions;
  hello.raw_read = capabilities.raw_read;
  hello.idempotent = promises_idempotence(hello.settings);
  if (auto opened_history = open_history(hello); !opened_history) return tl::unexpected(std::move(opened_history).error());
  return hello;
}

Result<void> Worker::open_history(const control::WorkerHello& hello) {
  if (!options_.history) return {};
  const control::HistoryFacts facts{plan_->run, hello.client, hello.raw_read, wall_.now()};
  auto writer = options_.history(control::worker_meta(plan_->proof, facts, plan_->source));
  if (!writer) return tl::unexpected(std::move(writer).error());
  history::Observed::Options options;
  options.groups = control::group_names(plan_->proof, plan_->run);
  evidence_->keep_history(std::move(*writer), std::move(options));
  return {};
}

Result<std::uint32_t> Worker::create_topic() {
  if (auto prepared = check_prepared("create_topic"); !prepared) return fail_up(std::move(prepared), "worker");
  auto made = make_topic(*driver_, topic_spec(plan_->proof, plan_->topic), plan_->proof.topic_exists, clock_);
  if (made) partitions_ = *made;
  return made;
}

Result<void> Worker::delete_topic() {
  if (auto prepared = check_prepared("delete_topic"); !prepared) return prepared;
  return driver_->delete_topic(plan_->topic);
}

void Worker::learn_partitions() {
  if (partitions_) return;
  if (auto found = driver_->describe_topic(plan_->topic)) partitions_ = found->partitions;
}

template <typename Shares, typename Open>
Result<void> Worker::start(Crew& crew, const Shares& shares, Open open) {
  crew.phase = Phase::kStarting;
  learn_partitions();
  std::vector<std::unique_ptr<workload::Loop>> loops;
  for (const auto& share : shares) {
    auto opened = open(share);
    if (!opened) {
      crew.phase = Phase::kFailed;
      note_failure(opened.error().message);
      return tl::unexpected(std::move(opened).error());
    }
    loops.push_back(std::move(*opened));
  }
  for (auto& loop : loops) {
    crew.loops.push_back(std::make_unique<LoopRunner>(std::move(loop), clock_, options_.threaded));
  }
  crew.phase = Phase::kRunning;
  return {};
}

Result<void> Worker::start_consumers() {
  if (auto startable = check_startable(consumers_, "start_consumers"); !startable) return startable;
  auto started = start(consumers_, plan_->consumers, [this](const auto& share) { return open_consumer(share); });
  for (const auto& runner : consumers_.loops) {
    consumer_loops_.push_back(static_cast<const workload::ConsumerLoop*>(&runner->loop()));
  }
  return started;
}

Result<void> Worker::start_producers() {
  if (auto startable = check_startable(producers_, "start_producers"); !startable) return startable;
  return start(producers_, plan_->producers, [this](const auto& share) { return open_producer(share); });
}

Result<std::unique_ptr<workload::Loop>> Worker::open_producer(const proof::ProducerShare& share) {
  driver::ProducerSpec spec;
  spec.index = share.producer;
  spec.name = client_name(*plan_, "p", share.producer);
  spec.topic = plan_->topic;
  spec.settings = plan_->proof.settings;
  auto opened = driver_->open_producer(spec);
  if (!opened) return fail_up(std::move(opened), fmt::format("opening producer {}", share.producer));
  LockedRecorder::Keys keys = evidence_->open_keys({plan_->source, share.producer});
  workload::ProducerOptions options;
  options.index = share.producer;
  options.run = plan_->run;
  options.incarnation = plan_->source.incarnation;
  options.block = keys.block;
  options.key_prefix = std::move(keys.prefix);
  options.keys = share.keys;
  options.rate = share.rate;
  options.payload_bytes = plan_->proof.payload_bytes;
  options.partitions = partitions_.value_or(plan_->proof.partitions);
  options.open_max = options_.open_max;
  options.close_wait = options_.producer_close_wait;
  options.waits = waits();
  return std::make_unique<workload::ProducerLoop>(std::move(options), std::move(*opened), *evidence_, clock_, wall_);
}

Result<std::unique_ptr<workload::Loop>> Worker::open_consumer(const proof::ConsumerShare& share) {
  const proof::Proof& proof = plan_->proof;
  driver::ConsumerSpec spec;
  spec.index = share.consumer;
  spec.group = share.group;
  spec.name = client_name(*plan_, "c", share.consumer);
  spec.group_name = fmt::format("{}-{}", plan_->group_prefix, share.group.value());
  spec.topic = plan_->topic;
  spec.commit_each = proof.commit == proof::CommitMode::kAuto;
  spec.run = plan_->run;
  spec.payload_bytes = proof.payload_bytes;
  spec.settings = proof.settings;
  auto opened = driver_->open_consumer(spec);
  if (!opened) return fail_up(std::move(opened), fmt::format("opening consumer {}", share.consumer));
  workload::ConsumerOptions options;
  options.index = share.consumer;
  options.group = share.group;
  options.commit = proof.commit;
  options.payload_bytes = proof.payload_bytes;
  options.delay = proof.consume_delay;
  options.flush_wait = options_.flush_wait;
  options.close_wait = options_.threaded ? options_.consumer_close_wait : Nanoseconds{0};
  options.waits = waits();
  return std::make_unique<workload::ConsumerLoop>(options, std::move(*opened), *evidence_, clock_, wall_);
}

void Worker::stop(Crew& crew) {
  if (crew.phase == Phase::kIdle) crew.phase = Phase::kStopped;
  if (crew.phase != Phase::kRunning) return;
  crew.phase = Phase::kStopping;
  for (const auto& runner : crew.loops) runner->stop();
}

Result<void> Worker::stop_producers() {
  if (auto prepared = check_prepared("stop_producers"); !prepared) return prepared;
  stop(producers_);
  return {};
}

Result<void> Worker::stop_consumers() {
  if (auto prepared = check_prepared("stop_consumers"); !prepared) return prepared;
  ending_ = true;
  stop(consumers_);
  return {};
}

void Worker::update_phases() {
  for (Crew* crew : {&producers_, &consumers_, &raw_}) {
    const bool going = crew->phase == Phase::kStopping || (crew == &raw_ && crew->phase == Phase::kRunning);
    if (!going) continue;
    const bool done = std::all_of(crew->loops.begin(), crew->loops.end(),
                                  [](const auto& runner) { return runner->done(); });
    if (done) crew->phase = Phase::kStopped;
  }
  if (raw_.phase == Phase::kStopped && !raw_.loops.empty()) {
    const auto& failure = static_cast<const workload::RawLoop&>(raw_.loops.front()->loop()).failure();
    if (failure) {
      raw_.phase = Phase::kFailed;
      raw_refused_ = failure->code == ErrorCode::kDenied;
      note_failure("raw read: " + failure->message);
    }
  }
  if (ending_ && !ended_ && at_rest(producers_.phase) && at_rest(consumers_.phase)) {
    core::Observation end;
    end.event = core::Event::kEnd;
    end.time = clock_.now();
    evidence_->observe_alone(end);
    ended_ = true;
  }
}

std::uint32_t Worker::consumers_assigned() const {
  struct Group {
    std::uint32_t consumers = 0;
    std::uint32_t assigned = 0;
    std::uint32_t partitions = 0;
  };
  std::map<core::GroupIndex, Group> groups;
  for (const workload::ConsumerLoop* loop : consumer_loops_) {
    Group& group = groups[loop->group()];
    const std::uint32_t held = loop->partitions_held();
    ++group.consumers;
    group.partitions += held;
    if (held > 0) ++group.assigned;
  }
  std::uint32_t assigned = 0;
  for (const auto& [index, group] : groups) {
    // Where all partitions are held here, the others of the group know that none is left.
    const bool all_held = partitions_ && group.partitions >= *partitions_;
    assigned += all_held ? group.consumers : group.assigned;
  }
  return assigned;
}

Result<control::WorkerReport> Worker::poll(const control::WorkerPoll& request) {
  if (auto prepared = check_prepared("poll"); !prepared) return fail_up(std::move(prepared), "worker");
  if (request.acknowledge > evidence_->last_cut()) {
    return fail(ErrorCode::kInvalid, fmt::format("delta {} was acknowledged, but the last one made here is {}",
                                                 request.acknowledge, evidence_->last_cut()));
  }
  update_phases();  // first: what a phase that is over has observed is then in the deltas below
  LockedRecorder::Answer answer = evidence_->answer({request.acknowledge, request.tick, request.rows_max});
  control::WorkerReport report;
  report.deltas = std::move(answer.deltas);
  report.more = answer.more;
  report.producers = producers_.phase;
  report.consumers = consumers_.phase;
  report.raw_read = raw_.phase;
  report.consumers_assigned = consumers_assigned();
  report.failure = failure_;
  report.raw_read_refused = raw_refused_;
  fill_refusals(report);
  evidence_->take_messages(report.messages);
  for (Crew* crew : {&producers_, &consumers_, &raw_}) {
    for (const auto& runner : crew->loops) runner->loop().stats().take_messages(report.messages);
  }
  if (request.counters) fill_counters(report);
  return report;
}

// "consumer 3: … needs READ on topic 'x' …"; empty: nothing is refused.
std::string Worker::refusal_of(workload::Loop& loop) const {
  std::string refusal = loop.refusal(clock_.now());
  if (refusal.empty()) return refusal;
  return fmt::format("{}: {}", loop.stats().who(), printable(refusal, kRefusalBytesMax));
}

void Worker::fill_refusals(control::WorkerReport& report) const {
  for (const auto& runner : producers_.loops) {
    if (report.producers_refused.empty()) report.producers_refused = refusal_of(runner->loop());
  }
  for (const auto& runner : consumers_.loops) {
    const auto group = static_cast<const workload::ConsumerLoop&>(runner->loop()).group();
    if (report.consumers_refused.contains(group)) continue;
    if (auto refusal = refusal_of(runner->loop()); !refusal.empty()) report.consumers_refused[group] = std::move(refusal);
  }
}

void Worker::fill_counters(control::WorkerReport& report) {
  for (Crew* crew : {&producers_, &consumers_, &raw_}) {
    for (const auto& runner : crew->loops) {
      runner->loop().stats().add_to(report.counters, report.publish_latency, report.end_to_end_latency);
    }
  }
}

Result<std::vector<control::LogBounds>> Worker::log_bounds() {
  if (auto prepared = check_prepared("log_bounds"); !prepared) return fail_up(std::move(prepared), "worker");
  auto bounds = driver_->bounds(plan_->topic);
  if (!bounds) return fail_up(std::move(bounds), fmt::format("bounds of topic {}", plan_->topic));
  std::vector<control::LogBounds> out;
  for (const auto& bound : *bounds) out.push_back({bound.partition, bound.begin, bound.end});
  return out;
}

Result<void> Worker::start_raw_read(const control::RawReadRequest& request) {
  if (auto prepared = check_prepared("start_raw_read"); !prepared) return prepared;
  if (!at_rest(raw_.phase)) return fail(ErrorCode::kInvalid, "start_raw_read while one is going on");
  if (!driver_->capabilities().raw_read) {
    return fail(ErrorCode::kUnsupported, fmt::format("driver {} cannot read the log by position", driver_->name()));
  }
  raw_.loops.clear();
  raw_.phase = Phase::kStopped;
  raw_refused_ = false;
  if (request.targets.empty()) return {};
  driver::RawSpec spec;
  spec.topic = plan_->topic;
  spec.run = plan_->run;
  spec.payload_bytes = plan_->proof.payload_bytes;
  spec.read_committed = plan_->proof.exactly_once;
  spec.settings = plan_->proof.settings;
  for (const auto& [partition, range] : request.targets) {
    spec.targets.push_back({partition, range.first, range.second});
  }
  auto opened = driver_->open_raw_reader(spec);
  if (!opened) {
    raw_.phase = Phase::kFailed;
    raw_refused_ = opened.error().code == ErrorCode::kDenied;
    note_failure("raw read: " + opened.error().message);
    return fail_up(std::move(opened), "raw read");
  }
  auto loop = std::make_unique<workload::RawLoop>(waits(), std::move(*opened), *evidence_, clock_);
  raw_.loops.push_back(std::make_unique<LoopRunner>(std::move(loop), clock_, options_.threaded));
  raw_.phase = Phase::kRunning;
  return {};
}

Result<void> Worker::remove() {
  consumer_loops_.clear();
  producers_ = {};
  consumers_ = {};
  raw_ = {};
  const auto kept = evidence_ ? evidence_->finish_history() : std::nullopt;
  evidence_.reset();
  driver_.reset();
  plan_.reset();
  partitions_.reset();
  ending_ = false;
  ended_ = false;
  raw_refused_ = false;
  failure_.clear();
  if (!kept || kept->complete()) return {};
  return fail(ErrorCode::kIo, "its history " + kept->what_lacks());
}

void Worker::note_failure(const std::string& sentence) {
  if (failure_.find(sentence) != std::string::npos) return;
  if (!failure_.empty()) failure_ += "; ";
  failure_ += sentence;
}

}  // namespace sp::worker

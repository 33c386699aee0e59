// The way of a run up to its end; the six steps of the end are in proof_run_end.cc.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/check.h"
#include "control/proof_ledger.h"
#include "coordinator/coordinator.h"

namespace sp::coordinator {

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kPrepare:
      return "prepare";
    case Stage::kAssign:
      return "assign";
    case Stage::kLoad:
      return "load";
    case Stage::kStopProducers:
      return "stop-producers";
    case Stage::kFinalWait:
      return "final-wait";
    case Stage::kStopConsumers:
      return "stop-consumers";
    case Stage::kRawRead:
      return "raw-read";
    case Stage::kJudge:
      return "judge";
    case Stage::kCleanUp:
      return "clean-up";
    case Stage::kDone:
      return "done";
  }
  return "";
}

ProofRun::ProofRun(RunOptions options, std::vector<control::WorkerPort*> workers, RunHooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      fleet_(options_.limits.fleet,
             {.message =
                  [this](const Fleet::Worker& worker, std::string_view text) {
                    last_said_ = fmt::format("worker {}: {}", worker.source.worker, text);
                    if (auto told = chatter_.hear(last_said_, now_)) say(std::move(*told));
                  },
              .delta = [this](const track::Delta& delta) { note_delta(delta); },
              .lost = [this](core::SourceId source) { journal_.lost(source, now_); }}),
      division_(proof::divide(options_.proof)),
      chatter_(options_.limits.chatter_quiet) {
  CHECK(!workers.empty(), "a run has at least one worker");
  for (std::size_t i = 0; i < workers.size(); ++i) {
    fleet_.add(*workers[i], core::SourceId{static_cast<std::uint32_t>(i), 1});
  }
  sample_interval_ = options_.proof.time_series_interval;
  report_.run = options_.run;
  report_.proof = options_.proof;
  report_.program = options_.program;
  report_.started = options_.started;
  report_.topic =
      options_.proof.topic.empty() ? "sp-" + core::run_text(options_.run) : options_.proof.topic;
}

ProofRun::~ProofRun() = default;

MonotonicTime ProofRun::step(MonotonicTime now) {
  now_ = now;
  if (!stage_began_) stage_began_ = began_ = now;
  if (interrupt_asked_.load() && stage_ < Stage::kJudge) cut_short(now);
  if (stage_ > Stage::kPrepare && stage_ < Stage::kRawRead) refused(now);
  Stage before = Stage::kDone;
  while (stage_ != before &&
         stage_ != Stage::kDone) {  // a stage that is over at once is left at once
    before = stage_;
    switch (stage_) {
      case Stage::kPrepare:
        step_prepare(now);
        break;
      case Stage::kAssign:
        step_assign(now);
        break;
      case Stage::kLoad:
        step_load(now);
        break;
      case Stage::kStopProducers:
        step_stop_producers(now);
        break;
      case Stage::kFinalWait:
        step_final_wait(now);
        break;
      case Stage::kStopConsumers:
        step_stop_consumers(now);
        break;
      case Stage::kRawRead:
        step_raw_read(now);
        break;
      case Stage::kJudge:
        judge_now(now);
        break;
      case Stage::kCleanUp:
        clean_up(now);
        break;
      case Stage::kDone:
        break;
    }
  }
  return next_wake(now);
}

MonotonicTime ProofRun::next_wake(MonotonicTime now) const {
  if (stage_ == Stage::kDone) return MonotonicTime::max();
  if (more_ || stage_ == Stage::kJudge || stage_ == Stage::kCleanUp) return now;
  MonotonicTime next = next_poll_;
  if (stage_ == Stage::kLoad && options_.proof.duration.count() > 0) {
    next = std::min(next, report_.load_begin + options_.proof.duration);
  }
  return std::max(now, next);
}

void ProofRun::enter(Stage stage, MonotonicTime now) {
  report_.timings.push_back({std::string(stage_name(stage_)), now - *stage_began_});
  stage_ = stage;
  stage_began_ = now;
  next_poll_ = now;
  journal_.stage(stage_name(stage), now);
}

void ProofRun::say(std::string sentence) {
  if (hooks_.message) hooks_.message(sentence);
  if (report_.messages.size() < options_.limits.messages_max) {
    report_.messages.push_back(std::move(sentence));
  } else {
    ++report_.messages_left_out;
  }
}

void ProofRun::missing(std::string sentence) {
  say(sentence);
  report_.facts.missing.push_back(std::move(sentence));
}

void ProofRun::give_up(std::string sentence, MonotonicTime now) {
  report_.failure = std::move(sentence);
  enter(Stage::kCleanUp, now);
}

control::WorkerPlan ProofRun::plan(const Fleet::Worker& worker) const {
  control::WorkerPlan plan;
  plan.run = options_.run;
  plan.source = worker.source;
  plan.proof = options_.proof;
  plan.topic = report_.topic;
  plan.group_prefix = core::run_text(options_.run);
  for (const auto& share : division_.producers) {
    if (share.worker == worker.source.worker) plan.producers.push_back(share);
  }
  for (const auto& share : division_.consumers) {
    if (share.worker == worker.source.worker) plan.consumers.push_back(share);
  }
  return plan;
}

// ── preparation ──

void ProofRun::step_prepare(MonotonicTime now) {
  if (!prepare_workers() || !open_history() || !make_topic()) {
    enter(Stage::kCleanUp, now);
    return;
  }
  make_ledger(idempotent_);
  for (const auto& worker : fleet_.workers()) expect(worker);
  if (!start_consumers()) {
    enter(Stage::kCleanUp, now);
    return;
  }
  next_tick_ = now + options_.proof.check_point_interval;
  enter(Stage::kAssign, now);
}

bool ProofRun::prepare_workers() {
  bool first = true;
  idempotent_ = true;
  for (auto& worker : fleet_.workers()) {
    auto hello = worker.port->prepare(plan(worker));
    if (!hello) {
      report_.failure =
          fmt::format("worker {} cannot start: {}", worker.source.worker, hello.error().message);
      return false;
    }
    idempotent_ = idempotent_ && hello->idempotent;
    if (first) {
      report_.driver = hello->driver;
      report_.client = hello->client;
      report_.notes = hello->notes;
      report_.facts.settings = hello->settings;
      report_.facts.raw_read_available = hello->raw_read;
      report_.facts.warnings = weaker_settings(options_.proof, hello->settings);
    } else if (hello->client != report_.client) {
      report_.facts.warnings.push_back(
          fmt::format("worker {} runs another client: {} instead of {}", worker.source.worker,
                      hello->client, report_.client));
    }
    first = false;
  }
  report_.idempotent = idempotent_;
  for (const auto& warning : report_.facts.warnings) say("warning: " + warning);
  return true;
}

bool ProofRun::make_topic() {
  auto partitions = fleet_.workers().front().port->create_topic();
  if (!partitions) {
    report_.failure = fmt::format("topic {}: {}", report_.topic, partitions.error().message);
    return false;
  }
  partitions_ = *partitions;
  const std::uint32_t asked = options_.proof.partitions;
  if (*partitions > asked) {
    say(fmt::format("topic {} has {} partitions, {} were asked for: all of them are used",
                    report_.topic, *partitions, asked));
  }
  if (*partitions >= asked) return true;
  report_.failure = fmt::format(
      "topic {} has {} partitions, {} were asked for: run with --partitions {}, or with "
      "--topic-exists recreate",
      report_.topic, *partitions, asked, *partitions);
  return false;
}

void ProofRun::make_ledger(bool idempotent) {
  ledger_ = control::proof_ledger(options_.proof, options_.run, idempotent, options_.limits.ledger);
}

bool ProofRun::open_history() {
  if (!hooks_.history) return true;
  const control::HistoryFacts facts{options_.run, report_.client, report_.facts.raw_read_available, options_.started};
  auto writer = hooks_.history(control::coordinator_meta(options_.proof, facts));
  if (writer) {
    journal_ = Journal(std::move(*writer));
    return true;
  }
  report_.failure = writer.error().message;
  return false;
}

std::string ProofRun::group_name(std::uint32_t group) const { return control::group_names(options_.proof, options_.run)[group]; }

void ProofRun::expect(const Fleet::Worker& worker) { control::declare_worker(*ledger_, division_, worker.source); }

bool ProofRun::start_consumers() {
  for (auto& worker : fleet_.workers()) {
    auto started = worker.port->start_consumers();
    if (started) continue;
    report_.failure =
        fmt::format("worker {} cannot consume: {}", worker.source.worker, started.error().message);
    return false;
  }
  return true;
}

void ProofRun::step_assign(MonotonicTime now) {
  poll(now);
  if (consumers_failed(now)) return;
  if (stop_asked_.load()) {
    report_.facts.stopped = true;
    return begin_end(now);
  }
  const std::uint32_t assigned = fleet_.consumers_assigned();
  const std::size_t needed = consumers_needed();
  if (assigned >= needed) return begin_load(now);
  if (fleet_.live() > 0 && now - *stage_began_ < options_.limits.assign) return;
  missing(never_assigned(assigned));
  begin_end(now);
}

std::string ProofRun::never_assigned(std::uint32_t assigned) const {
  const std::size_t needed = consumers_needed();
  return fmt::format(
      "{} of {} consumers were never assigned within {} s, so nothing was produced: look at the group coordinator; {}",
      needed - std::min<std::size_t>(assigned, needed), needed,
      std::chrono::duration_cast<std::chrono::seconds>(options_.limits.assign).count(),
      last_said_.empty() ? "no client reported an error" : "the last that a client reported: " + last_said_);
}

// A group with more consumers than partitions leaves some without any; a worker that holds only a part of the group
// cannot know that, so it is counted here.
std::size_t ProofRun::consumers_needed() const {
  std::map<core::GroupIndex, std::size_t> groups;
  for (const auto& share : division_.consumers) ++groups[share.group];
  std::size_t needed = 0;
  for (const auto& [group, consumers] : groups) needed += std::min<std::size_t>(consumers, partitions_);
  return needed;
}

// True if a consumer or producer could not even be opened, before anything was sent: the run cannot
// take place.
bool ProofRun::consumers_failed(MonotonicTime now) {
  for (const auto& worker : fleet_.workers()) {
    if (!worker.polled) continue;
    if (worker.last.consumers != control::Phase::kFailed &&
        worker.last.producers != control::Phase::kFailed)
      continue;
    give_up(fmt::format("worker {}: {}", worker.source.worker, worker.last.failure), now);
    return true;
  }
  return false;
}

// ── load ──

void ProofRun::begin_load(MonotonicTime now) {
  for (auto& worker : fleet_.workers()) {
    if (worker.lost) continue;
    auto started = worker.port->start_producers();
    if (started) continue;
    return give_up(
        fmt::format("worker {} cannot produce: {}", worker.source.worker, started.error().message),
        now);
  }
  loaded_ = true;
  report_.load_begin = now;
  next_tick_ = now + options_.proof.check_point_interval;
  enter(Stage::kLoad, now);
  std::optional<MonotonicTime> end;
  if (options_.proof.duration.count() > 0) end = now + options_.proof.duration;
  if (hooks_.load_begins) hooks_.load_begins(now, end);
}

void ProofRun::step_load(MonotonicTime now) {
  poll(now);
  if (nothing_issued_) nothing_issued_ = ledger_->progress().issued == 0;
  if (nothing_issued_ && consumers_failed(now)) {
    if (hooks_.load_ends) hooks_.load_ends();
    return;
  }
  const bool stopped_by_hand = stop_asked_.load();
  const bool over =
      options_.proof.duration.count() > 0 && now >= report_.load_begin + options_.proof.duration;
  // Lost workers may come back with their evidence: only what says of itself that it failed ends
  // the load early.
  const bool nobody = fleet_.live() > 0 && fleet_.every([](const Fleet::Worker& worker) {
    return worker.polled && worker.last.producers == control::Phase::kFailed;
  });
  if (!over && !stopped_by_hand && !nobody) return;
  if (over) {
    // the planned end came first: a stop that was asked for meanwhile changes nothing
  } else if (stopped_by_hand) {
    report_.facts.stopped = true;
  } else {
    missing("every producer failed: the load ended early");
  }
  begin_end(now);
}

Live ProofRun::live(MonotonicTime now) const {
  Live live;
  live.stage = stage_;
  if (stage_began_) live.in_stage = now - *stage_began_;
  live.alarms = report_.alarms;
  live.workers_live = fleet_.live();
  if (loaded_) {
    live.load = stage_ == Stage::kLoad ? now - report_.load_begin : report_.load;
    if (stage_ == Stage::kLoad && options_.proof.duration.count() > 0) {
      live.load_left = std::max(Nanoseconds{0}, Nanoseconds{options_.proof.duration} - live.load);
    }
  }
  if (ledger_) {
    live.progress = ledger_->progress();
    const std::uint64_t expected = live.progress.acked * std::max(1U, options_.proof.groups);
    live.on_the_way = expected - std::min(expected, live.progress.received);
    live.counts = ledger_->counts_so_far();
  }
  return live;
}

void ProofRun::restarted(std::uint32_t worker, control::WorkerPort& port, MonotonicTime now) {
  CHECK(worker < fleet_.workers().size(), "a worker of this run");
  if (!ledger_ || stage_ >= Stage::kJudge) return;
  const core::SourceId before = fleet_.workers()[worker].source;
  const core::SourceId source{before.worker, before.incarnation + 1};
  fleet_.replace(*ledger_, worker, port, source);
  Fleet::Worker& fresh = fleet_.workers()[worker];
  say(fmt::format("worker {} came back as incarnation {}", worker, source.incarnation));
  if (options_.proof.commit != proof::CommitMode::kCheckpoint) {
    missing(
        fmt::format("worker {} died with evidence that was not acknowledged, and its consumers may "
                    "have committed past "
                    "it (commit is not checkpoint)",
                    worker));
  }
  expect(fresh);
  const auto failed = [&](const Error& error) {
    fresh.problem = error.message;
    fleet_.lose(*ledger_, fresh);
  };
  auto hello = port.prepare(plan(fresh));
  if (!hello) return failed(hello.error());
  if (stage_ < Stage::kStopConsumers) {
    if (auto started = port.start_consumers(); !started) return failed(started.error());
  }
  if (stage_ == Stage::kLoad) {
    if (auto started = port.start_producers(); !started) return failed(started.error());
  }
  next_poll_ = now;
}

}  // namespace sp::coordinator

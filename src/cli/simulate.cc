#include "cli/simulate.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/prng.h"
#include "cli/commands.h"
#include "cli/wiring.h"
#include "worker/worker.h"

namespace sp::cli {
namespace {

constexpr WallTime kEpoch{
    std::chrono::seconds{1'767'225'600}};  // 2026-01-01, so that payloads carry a plausible time
constexpr std::uint64_t kTurnsAtOneTime = 10'000;  // then the clock is pushed on

// A worker that can die and come back: the port stays, what is behind it goes.
class MortalWorker final : public control::WorkerPort {
 public:
  using Maker = std::function<std::unique_ptr<worker::Worker>()>;
  explicit MortalWorker(Maker make) : make_(std::move(make)), alive_(make_()) {}

  void crash() { alive_.reset(); }
  void revive() { alive_ = make_(); }
  [[nodiscard]] bool is_alive() const { return alive_ != nullptr; }
  MonotonicTime step(MonotonicTime now) {
    return alive_ ? alive_->step(now) : MonotonicTime::max();
  }

  Result<control::WorkerHello> prepare(const control::WorkerPlan& plan) override {
    return alive_ ? alive_->prepare(plan) : gone();
  }
  Result<std::uint32_t> create_topic() override { return alive_ ? alive_->create_topic() : gone(); }
  Result<void> delete_topic() override { return alive_ ? alive_->delete_topic() : gone(); }
  Result<void> start_consumers() override { return alive_ ? alive_->start_consumers() : gone(); }
  Result<void> start_producers() override { return alive_ ? alive_->start_producers() : gone(); }
  Result<control::WorkerReport> poll(const control::WorkerPoll& request) override {
    return alive_ ? alive_->poll(request) : gone();
  }
  Result<void> stop_producers() override { return alive_ ? alive_->stop_producers() : gone(); }
  Result<void> stop_consumers() override { return alive_ ? alive_->stop_consumers() : gone(); }
  Result<std::vector<control::LogBounds>> log_bounds() override {
    return alive_ ? alive_->log_bounds() : gone();
  }
  Result<void> start_raw_read(const control::RawReadRequest& request) override {
    return alive_ ? alive_->start_raw_read(request) : gone();
  }
  Result<void> remove() override { return alive_ ? alive_->remove() : gone(); }

 private:
  static tl::unexpected<Error> gone() {
    return fail(ErrorCode::kUnavailable, "the worker crashed");
  }

  Maker make_;
  std::unique_ptr<worker::Worker> alive_;
};

driver::embedded::BrokerOptions broker_options(const proof::Proof& proof, std::uint64_t seed,
                                               std::vector<driver::embedded::DefectSpec> defects,
                                               const SimulationOptions& options) {
  driver::embedded::BrokerOptions broker;
  broker.seed = seed;
  broker.simulated = true;
  broker.honest = options.honest;
  broker.defects = std::move(defects);
  broker.expected = expected_of(proof);
  return broker;
}

// Everything of one simulated run, and the loop that turns its clock.
class World {
 public:
  World(const proof::Proof& proof, std::uint64_t seed,
        std::vector<driver::embedded::DefectSpec> defects, const SimulationOptions& options)
      : options_(options),
        chance_(Prng(seed).fork("world")),
        wall_(clock_, kEpoch),
        broker_(clock_, wall_, broker_options(proof, seed, std::move(defects), options)) {
    worker::WorkerOptions worker_options;
    worker_options.threaded = false;
    worker_options.history = options.history;
    for (std::uint32_t i = 0; i < std::max(1U, proof.workers); ++i) {
      workers_.push_back(std::make_unique<MortalWorker>([this, worker_options] {
        return std::make_unique<worker::Worker>(clock_, wall_, embedded_factory(broker_),
                                                worker_options);
      }));
    }
    dies_.resize(workers_.size());
    coordinator::RunOptions run;
    run.run = core::RunId{mix64(seed)};
    run.proof = proof;
    run.program = program_version();
    run.limits = options.limits;
    run.judging = options.judging;
    std::vector<control::WorkerPort*> ports;
    for (auto& one : workers_) ports.push_back(one.get());
    coordinator::RunHooks hooks;
    hooks.history = options.history;
    hooks.load_begins = [this](MonotonicTime begin, std::optional<MonotonicTime>) {
      plan_crashes(begin);
    };
    run_ =
        std::make_unique<coordinator::ProofRun>(std::move(run), std::move(ports), std::move(hooks));
  }

  // False: it did not end within steps_max.
  bool turn() {
    std::uint64_t turns = 0;
    MonotonicTime due = clock_.now();
    for (std::uint64_t step = 0; step < options_.steps_max; ++step) {
      const MonotonicTime now = clock_.now();
      if (due <= now) due = run_->step(now);
      if (run_->done()) return true;
      MonotonicTime next = std::min(due, live_and_die(now));
      for (auto& one : workers_) next = std::min(next, one->step(now));
      turns = next <= now ? turns + 1 : 0;
      if (turns > kTurnsAtOneTime) next = now + std::chrono::microseconds{1};
      if (next > now) clock_.set(next);
    }
    return false;
  }

  SimulationResult result() {
    SimulationResult result;
    result.report = run_->report();
    result.json = report::json_report(result.report);
    result.truth = broker_.truth();
    result.crashes = crashes_;
    return result;
  }

 private:
  Nanoseconds drawn(Nanoseconds mean) {
    const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(1, 2 * mean.count()));
    return Nanoseconds{static_cast<std::int64_t>(chance_.below(most))};
  }

  void plan_crashes(MonotonicTime now) {
    if (options_.crash_every.count() == 0) return;
    for (auto& dies : dies_) dies = now + drawn(options_.crash_every);
  }

  // Crashes and revivals that are due; the time of the next one.
  MonotonicTime live_and_die(MonotonicTime now) {
    MonotonicTime next = MonotonicTime::max();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      auto& when = dies_[i];
      if (!when) continue;
      if (workers_[i]->is_alive() &&
          run_->stage() != coordinator::Stage::kLoad) {  // only the load is worth it
        when.reset();
        continue;
      }
      if (*when <= now) {
        if (workers_[i]->is_alive()) {
          workers_[i]->crash();
          ++crashes_;
          when = now + options_.crash_away;
        } else {
          workers_[i]->revive();
          run_->restarted(static_cast<std::uint32_t>(i), *workers_[i], now);
          when = now + drawn(options_.crash_every);
        }
      }
      next = std::min(next, *when);
    }
    return next;
  }

  const SimulationOptions& options_;
  Prng chance_;
  ManualClock clock_;
  ManualWallClock wall_;
  driver::embedded::Broker broker_;
  std::vector<std::unique_ptr<MortalWorker>> workers_;  // before the broker goes
  std::vector<std::optional<MonotonicTime>> dies_;      // or, of a dead one, comes back
  std::unique_ptr<coordinator::ProofRun> run_;
  std::uint64_t crashes_ = 0;
};

}  // namespace

SimulationOptions drawn_options(std::uint64_t seed, const proof::Proof& proof) {
  SimulationOptions options;
  Prng chance = Prng(seed).fork("bad days");
  const Nanoseconds load = proof.duration;
  const auto share_of_load = [&](std::uint64_t least_percent, std::uint64_t most_percent) {
    return load * static_cast<std::int64_t>(chance.between(least_percent, most_percent)) / 100;
  };
  if (chance.chance(0.5)) options.honest.rebalance_every = share_of_load(10, 60);
  if (chance.chance(0.3)) options.honest.restart_every = share_of_load(20, 80);
  if (chance.chance(0.5)) options.honest.info_stored = 0.01 * chance.unit();
  if (chance.chance(0.5)) options.honest.info_absent = 0.01 * chance.unit();
  if (chance.chance(0.3)) options.honest.failed = 0.01 * chance.unit();
  if (chance.chance(0.3)) options.honest.commit_info = 0.1 * chance.unit();
  if (chance.chance(0.3)) options.honest.commit_failed = 0.1 * chance.unit();
  if (proof.commit == proof::CommitMode::kCheckpoint && chance.chance(0.2))
    options.crash_every = share_of_load(30, 90);
  if (chance.chance(0.5)) options.honest.info_late = 0.01 * chance.unit();
  return options;
}

Result<SimulationResult> simulate(const proof::Proof& proof, std::uint64_t seed,
                                  const SimulationOptions& options) {
  auto defects = driver::embedded::parse_defects(proof.defects);
  if (!defects) return tl::unexpected(std::move(defects).error());
  proof::Proof seeded = proof;
  seeded.seed = seed;
  World world(seeded, seed, std::move(*defects), options);
  if (!world.turn()) {
    return fail(ErrorCode::kInternal,
                fmt::format("the simulation of seed {} did not end within {} steps", seed,
                            options.steps_max));
  }
  return world.result();
}

}  // namespace sp::cli

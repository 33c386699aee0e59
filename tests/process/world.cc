#include "process/world.h"

#include <algorithm>
#include <array>
#include <limits>

#include <gtest/gtest.h>

#include "cli/wiring.h"
#include "proof/fields.h"

namespace sp::process_test {
namespace {

constexpr WallTime kEpoch{std::chrono::seconds{1'767'225'600}};
constexpr std::uint64_t kStepsMax = 20'000'000;
constexpr std::uint64_t kTurnsAtOneTime = 10'000;

class DeafSink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& /*observation*/) override {}
};

}  // namespace

World::World(proof::Proof proof, driver::embedded::BrokerOptions broker)
    : proof_(std::move(proof)), wall_(clock_, kEpoch), broker_(clock_, wall_, [&] {
        broker.simulated = true;
        broker.seed = 1;
        return broker;
      }()) {}

World::~World() = default;

World::Drivers World::driver() {
  auto made = cli::embedded_factory(broker_)(proof_);
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

void World::put_foreign(const std::string& topic, std::uint32_t records) {
  const Drivers own = driver();
  driver::ProducerSpec spec;
  spec.topic = topic;
  spec.name = "somebody else";
  auto producer = own->open_producer(spec);
  ASSERT_TRUE(producer.has_value());
  DeafSink sink;
  const std::array<std::byte, 20> payload{};
  for (std::uint32_t i = 0; i < records; ++i) {
    core::Envelope envelope;
    envelope.key = "order-17";
    envelope.payload = payload;
    envelope.partition = core::PartitionId{0};
    EXPECT_EQ((*producer)->send(envelope, core::KeyRef{}), driver::SendStatus::kAccepted);
  }
  while ((*producer)->in_flight() > 0) {
    clock_.advance(std::chrono::milliseconds{1});
    (*producer)->poll(Nanoseconds{0}, sink);
  }
  (*producer)->close(Nanoseconds{0}, sink);
}

const report::Report& World::run() {
  worker::WorkerOptions options;
  options.threaded = false;
  std::vector<control::WorkerPort*> ports;
  for (std::uint32_t i = 0; i < proof_.workers; ++i) {
    auto factory = [this, make = cli::embedded_factory(broker_)](const proof::Proof& proof) {
      auto made = make(proof);
      if (made && wrap) *made = wrap(std::move(*made));
      return made;
    };
    workers_.push_back(
        std::make_unique<worker::Worker>(clock_, wall_, std::move(factory), options));
    ports.push_back(workers_.back().get());
  }
  coordinator::RunOptions run;
  run.run = core::RunId{4711};
  run.proof = proof_;
  run.program = "streaming-proof";
  run.limits = limits;
  coordinator::RunHooks hooks;
  hooks.message = [this](std::string_view text) { said_.emplace_back(text); };
  run_ =
      std::make_unique<coordinator::ProofRun>(std::move(run), std::move(ports), std::move(hooks));
  std::uint64_t turns = 0;
  MonotonicTime due = clock_.now();
  for (std::uint64_t step = 0; step < kStepsMax; ++step) {
    const MonotonicTime now = clock_.now();
    if (due <= now) due = run_->step(now);
    if (run_->done()) return run_->report();
    if (meanwhile) meanwhile(run_->live(now));
    MonotonicTime next = due;
    for (auto& one : workers_) next = std::min(next, one->step(now));
    turns = next <= now ? turns + 1 : 0;
    if (turns > kTurnsAtOneTime) next = now + std::chrono::microseconds{1};
    if (next > now) clock_.set(next);
  }
  ADD_FAILURE() << "the run did not end";
  return run_->report();
}

proof::Proof small_proof() {
  proof::Proof proof = proof::run_defaults();
  proof.duration = std::chrono::seconds{5};
  proof.check_point_interval = std::chrono::seconds{1};
  proof.rate = 400;
  proof.keys = 40;
  proof.partitions = 6;
  return proof;
}

std::string reasons(const report::Report& report) {
  std::string text = report.failure;
  for (const auto& reason : report.judgement.reasons) text += reason + "\n";
  return text;
}

}  // namespace sp::process_test

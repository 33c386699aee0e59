// The ways in which the ancestor of this program judged wrongly that are about the harness, not the
// engine: whole runs on the embedded broker with the harness's own part broken. The engine's half
// of each is in tests/cases/reference_test.cc.
//
//     N12   a dead generator verifies vacuously         P7   shared groups and reused topics
//     N13   a stalled partition silences the others     P8   random keys collide
//     P4    records skipped by the harness
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/key_space.h"
#include "process/world.h"

namespace sp::process_test {
namespace {

using core::Code;
using judge::Status;
using testing::HasSubstr;
using namespace std::chrono_literals;

// A producer that takes nothing, as a dead or blocked client does.
class DeadProducer final : public driver::Producer {
 public:
  driver::SendStatus send(const core::Envelope&, core::KeyRef) override {
    return driver::SendStatus::kQueueFull;
  }
  std::size_t poll(Nanoseconds, core::ObservationSink&) override { return 0; }
  [[nodiscard]] std::size_t in_flight() const override { return 0; }
  void close(Nanoseconds, core::ObservationSink&) override {}
};

class DeadProducers final : public PassingDriver {
 public:
  DeadProducers(World::Drivers behind, std::set<std::uint32_t> dead)
      : PassingDriver(std::move(behind)), dead_(std::move(dead)) {}
  Result<std::unique_ptr<driver::Producer>> open_producer(
      const driver::ProducerSpec& spec) override {
    if (dead_.contains(spec.index)) return std::make_unique<DeadProducer>();
    return PassingDriver::open_producer(spec);
  }

 private:
  std::set<std::uint32_t> dead_;
};

void kill_producers(World& world, std::set<std::uint32_t> dead) {
  world.wrap = [dead = std::move(dead)](World::Drivers behind) {
    return std::make_unique<DeadProducers>(std::move(behind), dead);
  };
}

TEST(ReferenceRunTest, N12ProducersThatCanSendNothingAreNeverAPass) {
  World world(small_proof());
  kill_producers(world, {0, 1, 2, 3});
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kInconclusive) << reasons(report);
  EXPECT_EQ(report.judgement.coverage.acked, 0U);
  EXPECT_THAT(reasons(report), HasSubstr("acknowledged"));
}

TEST(ReferenceRunTest, N12AProducerThatDiesFallsShortOfTheMinimumRate) {
  auto proof = small_proof();
  proof.thresholds.rate_min = 390;
  World whole(proof);
  EXPECT_EQ(whole.run().judgement.status, Status::kPassed) << "an undisturbed run";
  World world(proof);
  kill_producers(world, {2});
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kInconclusive) << reasons(report);
  EXPECT_THAT(reasons(report), HasSubstr("under minRate 390.0"));
}

// N13: records for one partition get no outcome at all; those for the others go on.
class StalledPartition final : public driver::Producer {
 public:
  StalledPartition(std::unique_ptr<driver::Producer> behind, std::uint32_t keys_stalled,
                   std::size_t room)
      : behind_(std::move(behind)), keys_stalled_(keys_stalled), room_(room) {}
  driver::SendStatus send(const core::Envelope& envelope, core::KeyRef key) override {
    if (in_flight() >= room_) return driver::SendStatus::kQueueFull;
    if (key.index >= keys_stalled_) return behind_->send(envelope, key);
    stuck_.push_back({key, envelope.sequence});
    return driver::SendStatus::kAccepted;
  }
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    return behind_->poll(wait, sink);
  }
  [[nodiscard]] std::size_t in_flight() const override {
    return behind_->in_flight() + stuck_.size();
  }
  void close(Nanoseconds wait, core::ObservationSink& sink) override {
    behind_->close(wait, sink);
    sink.begin();
    for (const auto& [key, sequence] : stuck_) {
      core::Observation info;
      info.event = core::Event::kInfo;
      info.key = key;
      info.sequence = sequence;
      sink.observe(info);
    }
    sink.end();
    stuck_.clear();
  }

 private:
  std::unique_ptr<driver::Producer> behind_;
  std::uint32_t keys_stalled_;
  std::size_t room_;
  std::vector<std::pair<core::KeyRef, core::Sequence>> stuck_;
};

class StallingDriver final : public PassingDriver {
 public:
  using PassingDriver::PassingDriver;
  static constexpr std::uint32_t kKeysStalled = 2;  // of the ten of each producer
  static constexpr std::size_t kRoom = 200;         // open attempts that the client library takes
  Result<std::unique_ptr<driver::Producer>> open_producer(
      const driver::ProducerSpec& spec) override {
    auto opened = PassingDriver::open_producer(spec);
    if (!opened) return opened;
    return std::make_unique<StalledPartition>(std::move(*opened), kKeysStalled, kRoom);
  }
};

TEST(ReferenceRunTest, N13AStalledPartitionDoesNotSilenceTheOthers) {
  auto proof = small_proof();
  proof.duration = 20s;
  World world(proof);
  world.wrap = [](World::Drivers behind) {
    return std::make_unique<StallingDriver>(std::move(behind));
  };
  std::uint64_t acked_at_half = 0;
  world.meanwhile = [&](const coordinator::Live& live) {
    if (live.load <= 10s) acked_at_half = live.progress.acked;
  };
  const auto& report = world.run();
  const auto& coverage = report.judgement.coverage;
  EXPECT_GT(acked_at_half, 0U);
  // Eight keys of ten were free all the time: they are sent at their full share to the very end.
  EXPECT_GT(coverage.acked, 2 * acked_at_half * 9 / 10);
  EXPECT_GT(coverage.acked, 400U * 20U * 7U / 10U);
  EXPECT_GT(coverage.unknown, 0U) << "what got no outcome is told";
  EXPECT_EQ(coverage.received, coverage.acked);
  EXPECT_NE(report.judgement.status, Status::kFailed) << reasons(report);
}

// P4: large batches, handed over at once, around rebalances; every one must be counted.
TEST(ReferenceRunTest, P4EveryRecordOfEveryBatchIsHandedOver) {
  auto proof = small_proof();
  proof.rate = 20'000;
  proof.workers = 2;
  driver::embedded::BrokerOptions broker;
  broker.delivery = {200ms, 900ms};  // so that many wait for one hand-over
  broker.honest.rebalance_every = 700ms;
  World world(proof, broker);
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_GT(report.judgement.coverage.acked, 90'000U);
  EXPECT_EQ(report.judgement.coverage.received, report.judgement.coverage.acked);
  EXPECT_EQ(report.judgement.counts[Code::kSkip], 0U);
  EXPECT_EQ(report.judgement.counts[Code::kLost], 0U);
}

// P7: notes the names under which consumers join.
class GroupNotingDriver final : public PassingDriver {
 public:
  GroupNotingDriver(World::Drivers behind, World& world)
      : PassingDriver(std::move(behind)), world_(world) {}
  Result<std::unique_ptr<driver::Consumer>> open_consumer(
      const driver::ConsumerSpec& spec) override {
    world_.note_group(spec.group_name);
    return PassingDriver::open_consumer(spec);
  }

 private:
  World& world_;
};

TEST(ReferenceRunTest, P7TheConsumerGroupIsTheRunsOwn) {
  auto proof = small_proof();
  proof.groups = 2;
  World world(proof);
  world.wrap = [&](World::Drivers behind) {
    return std::make_unique<GroupNotingDriver>(std::move(behind), world);
  };
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  const std::string run = core::run_text(core::RunId{4711});
  const std::set<std::string> groups(world.groups().begin(), world.groups().end());
  EXPECT_EQ(groups, (std::set<std::string>{run + "-0", run + "-1"}));
}

TEST(ReferenceRunTest, P7ATopicThatIsThereIsNotTakenUnlessAsked) {
  auto proof = small_proof();
  proof.topic = "orders";
  World world(proof);
  driver::TopicSpec topic;
  topic.name = "orders";
  topic.partitions = proof.partitions;
  ASSERT_TRUE(world.driver()->create_topic(topic).has_value());
  const auto& report = world.run();
  EXPECT_THAT(
      report.failure,
      HasSubstr("it is already there; use another name (--topic), or --topic-exists reuse"));
}

// P8: the keys that producers really send, over workers.
class KeyNotingProducer final : public driver::Producer {
 public:
  KeyNotingProducer(std::unique_ptr<driver::Producer> behind,
                    std::map<std::string, std::set<std::string>>& users, std::string user)
      : behind_(std::move(behind)), users_(users), user_(std::move(user)) {}
  driver::SendStatus send(const core::Envelope& envelope, core::KeyRef key) override {
    users_[std::string(envelope.key)].insert(user_);
    return behind_->send(envelope, key);
  }
  std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) override {
    return behind_->poll(wait, sink);
  }
  [[nodiscard]] std::size_t in_flight() const override { return behind_->in_flight(); }
  void close(Nanoseconds wait, core::ObservationSink& sink) override { behind_->close(wait, sink); }

 private:
  std::unique_ptr<driver::Producer> behind_;
  std::map<std::string, std::set<std::string>>& users_;  // the test's
  std::string user_;
};

class KeyNotingDriver final : public PassingDriver {
 public:
  KeyNotingDriver(World::Drivers behind, std::map<std::string, std::set<std::string>>& users)
      : PassingDriver(std::move(behind)), users_(users) {}
  Result<std::unique_ptr<driver::Producer>> open_producer(
      const driver::ProducerSpec& spec) override {
    auto opened = PassingDriver::open_producer(spec);
    if (!opened) return opened;
    return std::make_unique<KeyNotingProducer>(std::move(*opened), users_, spec.name);
  }

 private:
  std::map<std::string, std::set<std::string>>& users_;
};

TEST(ReferenceRunTest, P8KeysAreAsManyAsAskedAndEachHasOneProducer) {
  auto proof = small_proof();
  proof.workers = 3;
  proof.producers = 7;
  proof.consumers = 3;
  std::map<std::string, std::set<std::string>> users;
  World world(proof);
  world.wrap = [&](World::Drivers behind) {
    return std::make_unique<KeyNotingDriver>(std::move(behind), users);
  };
  const auto& report = world.run();
  EXPECT_EQ(report.judgement.status, Status::kPassed) << reasons(report);
  EXPECT_EQ(users.size(), proof.keys);
  for (const auto& [key, names] : users) EXPECT_EQ(names.size(), 1U) << key;
  std::map<std::string, std::set<std::string>> again;
  World same(proof);
  same.wrap = [&](World::Drivers behind) {
    return std::make_unique<KeyNotingDriver>(std::move(behind), again);
  };
  (void)same.run();
  EXPECT_EQ(users, again) << "deterministic";
}

}  // namespace
}  // namespace sp::process_test

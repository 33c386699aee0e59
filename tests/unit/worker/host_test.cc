// label: threads
#include "worker/host.h"

#include <gtest/gtest.h>

#include "unit/workload/fake_driver.h"

namespace sp::worker {
namespace {

using namespace std::chrono_literals;
using Sentences = std::vector<std::string>;

constexpr core::RunId kHostRun{7};

control::WorkerPlan plan_of(core::RunId run, core::SourceId source) {
  control::WorkerPlan plan;
  plan.run = run;
  plan.source = source;
  plan.topic = "t";
  plan.group_prefix = "g";
  plan.proof.partitions = 4;
  plan.proof.payload_bytes = 64;
  plan.producers = {{source.worker, 0, 4, 500}};
  plan.consumers = {{source.worker, 0, core::GroupIndex{0}}};
  return plan;
}

// A host over a fake broker; what a test of either clock needs.
struct HostFixture : testing::Test {
  fake::FakeBroker broker{4};
  HostOptions options;
  std::string driver_failure;
  std::atomic<int> drivers = 0;
  std::unique_ptr<Host> host;

  HostFixture() { broker.assign_at_open = true; }
  void make_host(MonotonicClock& clock, const WallClock& wall) {
    const auto factory = [this](const proof::Proof&) -> Result<std::unique_ptr<driver::Driver>> {
      ++drivers;
      if (!driver_failure.empty()) return fail(ErrorCode::kNotFound, driver_failure);
      return std::make_unique<fake::FakeDriver>(broker);
    };
    host = std::make_unique<Host>(clock, wall, factory, options);
  }
  control::SharedPort prepared(const control::WorkerPlan& plan) {
    EXPECT_TRUE(host->prepare(plan));
    auto port = host->find(plan.run, plan.source);
    EXPECT_TRUE(port);
    return *port;
  }
  std::size_t calls(std::string_view name) {
    const std::lock_guard lock(broker.mutex);
    return static_cast<std::size_t>(std::ranges::count(broker.calls, name));
  }
};

// On a virtual clock, which is turned for it.
struct HostTest : HostFixture {
  ManualClock clock{MonotonicTime{1h}};
  ManualWallClock wall{clock, WallTime{1000h}};
  const control::WorkerPlan plan = plan_of(kHostRun, {0, 1});
  std::uint64_t acknowledged = 0;

  HostTest() {
    options.worker.threaded = false;
    make_host(clock, wall);
  }
  void run(Nanoseconds span) {
    const MonotonicTime end = clock.now() + span;
    while (clock.now() < end) clock.set(std::min(host->step(clock.now()), end));
  }
  // What a report says, with all evidence acknowledged by the next one.
  control::WorkerReport poll(control::WorkerPort& port) {
    auto report = port.poll({.acknowledge = acknowledged, .tick = {}, .rows_max = 2'000'000, .counters = true});
    EXPECT_TRUE(report);
    if (!report->deltas.empty()) acknowledged = report->deltas.back().number;
    return std::move(*report);
  }
  control::SharedPort loaded() {
    auto port = prepared(plan);
    EXPECT_TRUE(port->create_topic());
    EXPECT_TRUE(port->start_consumers());
    run(100ms);
    EXPECT_TRUE(port->start_producers());
    run(1s);
    return port;
  }
};

TEST_F(HostTest, PreparingTheSameAgainGivesTheSameHelloOfOneDriver) {
  const auto first = host->prepare(plan);
  const auto second = host->prepare(plan);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->settings, second->settings);
  EXPECT_EQ(second->client, "fake 1.0");
  EXPECT_EQ(drivers, 1);
}

TEST_F(HostTest, AnotherProofByTheSameNameIsRefused) {
  prepared(plan);
  control::WorkerPlan other = plan;
  other.proof.rate += 1;
  EXPECT_EQ(host->prepare(other).error().code, ErrorCode::kInvalid);
}

TEST_F(HostTest, CallsThatComeTwiceAreMadeOnce) {
  const auto port = prepared(plan);
  EXPECT_EQ(*port->create_topic(), 4U);
  EXPECT_EQ(*port->create_topic(), 4U);
  EXPECT_EQ(calls("create t"), 1U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(port->start_consumers());
    EXPECT_TRUE(port->start_producers());
  }
  run(100ms);
  EXPECT_EQ(poll(*port).consumers_assigned, 1U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(port->stop_producers());
    EXPECT_TRUE(port->stop_consumers());
    EXPECT_TRUE(port->delete_topic());
  }
  EXPECT_EQ(calls("delete t"), 1U);
}

TEST_F(HostTest, ARefusedStartIsRefusedAgainWithTheSameSentence) {
  broker.producer_failure = "no producers today";
  const auto port = prepared(plan);
  const auto first = port->start_producers();
  const auto second = port->start_producers();
  ASSERT_FALSE(first || second);
  EXPECT_EQ(first.error().message, second.error().message);
}

TEST_F(HostTest, ARawReadOfTheSameTargetsIsBegunOnceAndOfOthersAgain) {
  const auto port = loaded();
  const auto read = [&](std::uint64_t end) {
    acknowledged = 0;  // see it all
    EXPECT_TRUE(port->start_raw_read({{{core::PartitionId{0}, {core::Offset{0}, core::Offset{end}}}}}));
    run(50ms);
    std::size_t rows = 0;
    for (const auto& delta : poll(*port).deltas) {
      rows += static_cast<std::size_t>(std::ranges::count(delta.rows, track::RowKind::kRaw, &track::Row::kind));
    }
    return rows;
  };
  EXPECT_EQ(read(5), 5U);
  EXPECT_EQ(read(5), 5U);
  EXPECT_EQ(read(7), 5U + 7U);
}

TEST_F(HostTest, WhatIsUnknownIsNotFoundAndRemovedInPeace) {
  EXPECT_EQ(host->find(kHostRun, {0, 1}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(host->remove(kHostRun, {0, 1}));
}

TEST_F(HostTest, ARemovedWorkerIsGoneForThoseWhoStillHoldIt) {
  const auto port = loaded();
  EXPECT_TRUE(host->remove(kHostRun, {0, 1}));
  EXPECT_TRUE(host->remove(kHostRun, {0, 1}));
  EXPECT_EQ(host->find(kHostRun, {0, 1}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(port->poll({}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(port->remove());
}

TEST_F(HostTest, AHigherIncarnationTakesThePlaceAndALowerOneIsRefused) {
  const auto port = loaded();
  prepared(plan_of(kHostRun, {0, 2}));
  EXPECT_EQ(port->poll({}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(host->find(kHostRun, {0, 1}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(host->prepare(plan).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(host->find(kHostRun, {0, 2}));
}

TEST_F(HostTest, BeyondItsLimitAHostIsFullUntilSomethingIsRemoved) {
  for (std::uint64_t i = 0; i < options.proofs_max; ++i) prepared(plan_of(core::RunId{100 + i}, {0, 1}));
  EXPECT_EQ(host->prepare(plan).error().code, ErrorCode::kFull);
  EXPECT_TRUE(host->prepare(plan_of(core::RunId{100}, {0, 2}))) << "in the place of its predecessor";
  EXPECT_TRUE(host->remove(core::RunId{101}, {0, 1}));
  EXPECT_TRUE(host->prepare(plan));
}

TEST_F(HostTest, APreparationThatFailedLeavesNothing) {
  driver_failure = "no such driver";
  EXPECT_EQ(host->prepare(plan).error().message, "driver embedded: no such driver");
  EXPECT_EQ(host->find(kHostRun, {0, 1}).error().code, ErrorCode::kNotFound);
  driver_failure.clear();
  prepared(plan);
}

TEST_F(HostTest, WithoutACoordinatorTheLoadIsHeldBackAndGoesOnWhenItIsBack) {
  const auto port = loaded();
  const std::uint64_t before = poll(*port).counters.attempts;
  EXPECT_GT(before, 400U);
  run(options.lease * 3);
  const auto report = poll(*port);
  const std::uint64_t within_lease = report.counters.attempts - before;
  EXPECT_NEAR(static_cast<double>(within_lease), 500.0 * 30, 500);
  EXPECT_FALSE(report.deltas.empty()) << "evidence is kept";
  EXPECT_EQ(report.messages, (Sentences{"load held back: nothing was heard of the coordinator for 30 s; evidence is kept, nothing "
                                        "is dropped",
                                        "load goes on: the coordinator is back, after 60 s in which it was held back"}));
  run(1s);
  EXPECT_GT(poll(*port).counters.attempts, report.counters.attempts + 400);
}

TEST_F(HostTest, EachCallRenewsTheLease) {
  const auto port = loaded();
  for (int i = 0; i < 10; ++i) {
    run(options.lease / 2);
    EXPECT_TRUE(poll(*port).messages.empty());
  }
}

// On threads and real clocks.
struct HostThreadsTest : HostFixture {
  SystemMonotonicClock clock;
  SystemWallClock wall;

  ~HostThreadsTest() override { host.reset(); }  // before its clocks

  // Polls until it holds.
  template <typename Holds>
  void until(control::WorkerPort& port, Holds holds) {
    const MonotonicTime deadline = clock.now() + 60s;
    std::uint64_t last = 0;
    for (;;) {
      const auto report = port.poll({.acknowledge = last, .tick = {}, .rows_max = 1'000, .counters = true});
      ASSERT_TRUE(report);
      if (!report->deltas.empty()) last = report->deltas.back().number;
      if (holds(*report)) return;
      ASSERT_LT(clock.now(), deadline);
      std::this_thread::yield();
    }
  }
};

TEST_F(HostThreadsTest, ProofsSideBySideDoNotDisturbEachOther) {
  make_host(clock, wall);
  std::vector<std::jthread> coordinators;
  for (std::uint64_t run = 1; run <= 3; ++run) {
    coordinators.emplace_back([this, run] {
      auto plan = plan_of(core::RunId{run}, {0, 1});
      plan.topic = "t" + std::to_string(run);
      const auto port = prepared(plan);
      EXPECT_TRUE(port->create_topic());
      EXPECT_TRUE(port->start_producers());
      until(*port, [](const auto& report) { return report.counters.acked > 100; });
      EXPECT_TRUE(host->remove(core::RunId{run}, {0, 1}));
    });
  }
  coordinators.clear();
  EXPECT_EQ(drivers, 3);
}

TEST_F(HostThreadsTest, TheThreadOfTheHostFindsLeasesThatAreOver) {
  options.lease = 20ms;
  make_host(clock, wall);
  const auto port = prepared(plan_of(kHostRun, {0, 1}));
  ASSERT_TRUE(port->create_topic());
  ASSERT_TRUE(port->start_producers());
  std::mutex mutex;
  std::condition_variable never;
  bool told = false;
  const MonotonicTime deadline = clock.now() + 60s;
  while (!told && clock.now() < deadline) {
    {
      std::unique_lock lock(mutex);  // silent for longer than the lease
      while (clock.wait_until(lock, never, clock.now() + 60ms)) {
      }
    }
    until(*port, [&](const auto& report) {
      told = std::ranges::any_of(report.messages, [](const auto& text) { return text.starts_with("load held back"); });
      return true;
    });
  }
  EXPECT_TRUE(told);
}

TEST_F(HostThreadsTest, OfManyPreparationsAtOnceOneIsMade) {
  make_host(clock, wall);
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) callers.emplace_back([this] { EXPECT_TRUE(host->prepare(plan_of(kHostRun, {0, 1}))); });
  }
  EXPECT_EQ(drivers, 1);
}

}  // namespace
}  // namespace sp::worker

// label: threads
#include <gtest/gtest.h>

#include "unit/workload/fake_driver.h"
#include "worker/worker.h"

namespace sp::worker {
namespace {

using namespace std::chrono_literals;
using control::Phase;
using track::RowKind;

// The same worker on threads and real clocks; the test is the coordinator and polls as fast as it can.
class WorkerThreadsTest : public testing::Test {
 protected:
  WorkerThreadsTest() {
    broker_.topics = {"t"};
    broker_.assign_at_open = true;
    broker_.consumers_expected = 2;
    plan_.run = core::RunId{7};
    plan_.topic = "t";
    plan_.group_prefix = "g";
    plan_.proof.partitions = 4;
    plan_.proof.payload_bytes = 64;
    plan_.producers = {{0, 0, 4, 2000}, {0, 1, 4, 2000}};
    plan_.consumers = {{0, 0, core::GroupIndex{0}}, {0, 1, core::GroupIndex{0}}};
    options_.evidence.delta_rows_max = 50;
    const auto factory = [this](const proof::Proof&) -> Result<std::unique_ptr<driver::Driver>> {
      return std::make_unique<fake::FakeDriver>(broker_);
    };
    worker_ = std::make_unique<Worker>(clock_, wall_, factory, options_);
  }
  control::WorkerReport poll(std::optional<std::uint64_t> tick = std::nullopt) {
    auto answer = worker_->poll({last_, tick, 500, true});
    EXPECT_TRUE(answer);
    for (const auto& delta : answer->deltas) {
      EXPECT_EQ(delta.number, last_ + 1);
      last_ = delta.number;
      for (const auto& row : delta.rows) ++rows_[row.kind];
    }
    return *answer;
  }
  template <typename Holds>
  void until(Holds holds) {
    const MonotonicTime deadline = clock_.now() + 60s;
    while (!holds(poll())) {
      ASSERT_LT(clock_.now(), deadline);
      std::this_thread::yield();
    }
  }
  void start() {
    ASSERT_TRUE(worker_->prepare(plan_));
    ASSERT_TRUE(worker_->start_consumers());
    until([](const auto& report) { return report.consumers_assigned == 2; });
    ASSERT_TRUE(worker_->start_producers());
  }

  SystemMonotonicClock clock_;
  SystemWallClock wall_;
  fake::FakeBroker broker_{4};
  WorkerOptions options_;
  control::WorkerPlan plan_;
  std::unique_ptr<Worker> worker_;
  std::uint64_t last_ = 0;
  std::map<RowKind, std::size_t> rows_;
};

TEST_F(WorkerThreadsTest, ARunFromStartToEndLosesNothing) {
  start();
  std::uint64_t tick = 0;
  until([&](const auto& report) {
    poll(++tick);
    return report.counters.received >= 1000;
  });
  ASSERT_TRUE(worker_->stop_producers());
  until([](const auto& report) { return report.producers == Phase::kStopped && !report.more; });
  until([&](const auto& report) { return rows_[RowKind::kDelivered] >= rows_[RowKind::kAcked] && !report.more; });
  ASSERT_TRUE(worker_->stop_consumers());
  until([](const auto& report) { return report.consumers == Phase::kStopped && !report.more; });
  EXPECT_EQ(rows_[RowKind::kIssued], rows_[RowKind::kAcked]);
  EXPECT_EQ(rows_[RowKind::kIssued], rows_[RowKind::kDelivered]);
  EXPECT_EQ(rows_[RowKind::kEnd], 1U);
  EXPECT_EQ(rows_[RowKind::kTick], tick);
  std::map<std::uint32_t, std::uint64_t> committed;
  for (const auto& [partition, next] : broker_.commits) committed[partition] = next;
  for (std::uint32_t p = 0; p < 4; ++p) EXPECT_EQ(committed[p], broker_.logs[p].size());
}

TEST_F(WorkerThreadsTest, DestroyingItInTheMiddleEndsItsThreads) {
  start();
  until([](const auto& report) { return report.counters.received >= 100; });
  worker_.reset();
  const std::size_t calls = broker_.calls.size();
  EXPECT_EQ(std::count(broker_.calls.begin(), broker_.calls.end(), "close"), 0) << calls;
}

}  // namespace
}  // namespace sp::worker

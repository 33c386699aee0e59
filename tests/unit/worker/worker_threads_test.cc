// label: threads
#include <gtest/gtest.h>

#include "unit/worker/worker_fixture.h"

namespace sp::worker {
namespace {

using namespace std::chrono_literals;
using control::Phase;
using track::RowKind;

struct SystemTime {
  SystemMonotonicClock clock_;
  SystemWallClock wall_;
};

// The same worker on threads and real clocks; the test is the coordinator and polls as fast as it can.
class WorkerThreadsTest : public WorkerFixture<SystemTime> {
 protected:
  WorkerThreadsTest() : WorkerFixture(2000) {
    options_.evidence.delta_rows_max = 50;
    rows_a_poll_ = 500;
    make();
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
  until([&](const auto& report) { return rows(RowKind::kDelivered) >= rows(RowKind::kAcked) && !report.more; });
  ASSERT_TRUE(worker_->stop_consumers());
  until([](const auto& report) { return report.consumers == Phase::kStopped && !report.more; });
  EXPECT_EQ(rows(RowKind::kIssued), rows(RowKind::kAcked));
  EXPECT_EQ(rows(RowKind::kIssued), rows(RowKind::kDelivered));
  EXPECT_EQ(rows(RowKind::kEnd), 1U);
  EXPECT_EQ(rows(RowKind::kTick), tick);
  expect_all_committed();
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

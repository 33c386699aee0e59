// label: threads
#include "base/bounded_queue.h"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

namespace sp {
namespace {

using std::chrono::hours;

class BoundedQueueTest : public testing::Test {
 protected:
  SystemMonotonicClock clock_;
};

TEST_F(BoundedQueueTest, ValuesComeOutInTheOrderInWhichTheyWentIn) {
  BoundedQueue<int> queue({.capacity = 3}, clock_);
  for (const int value : {1, 2, 3}) EXPECT_EQ(queue.push(value), Pushed::kTaken);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), 3);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST_F(BoundedQueueTest, AFullOneThatDropsCountsWhatItDrops) {
  BoundedQueue<int> queue({.capacity = 1, .when_full = WhenFull::kDrop}, clock_);
  EXPECT_EQ(queue.push(1), Pushed::kTaken);
  EXPECT_EQ(queue.push(2), Pushed::kDropped);
  EXPECT_EQ(queue.push(3), Pushed::kDropped);
  EXPECT_EQ(queue.dropped(), 2U);
  EXPECT_EQ(queue.pop(), 1);
}

TEST_F(BoundedQueueTest, AFullOneThatFailsRefusesAndKeepsWhatItHas) {
  BoundedQueue<int> queue({.capacity = 1, .when_full = WhenFull::kFail}, clock_);
  EXPECT_EQ(queue.push(1), Pushed::kTaken);
  EXPECT_EQ(queue.push(2), Pushed::kFull);
  EXPECT_EQ(queue.dropped(), 0U);
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(BoundedQueueTest, AFullOneThatBlocksLosesNothingBetweenThreads) {
  constexpr int kValues = 2000;
  BoundedQueue<int> queue({.capacity = 2}, clock_);
  const std::jthread pusher([&] {
    for (int i = 0; i < kValues; ++i) ASSERT_EQ(queue.push(i), Pushed::kTaken);
    queue.close();
  });
  int expected = 0;
  while (const auto value = queue.pop()) ASSERT_EQ(*value, expected++);
  EXPECT_EQ(expected, kValues);
}

TEST_F(BoundedQueueTest, AStopWakesAWaitingPop) {
  BoundedQueue<int> queue({.capacity = 1}, clock_);
  std::optional<int> popped = 7;
  {
    std::jthread waiting([&](const std::stop_token& stop) { popped = queue.pop(stop); });
    waiting.request_stop();
  }
  EXPECT_EQ(popped, std::nullopt);
}

TEST_F(BoundedQueueTest, AStopWakesAPushThatWaitsForAPlace) {
  BoundedQueue<int> queue({.capacity = 1}, clock_);
  EXPECT_EQ(queue.push(1), Pushed::kTaken);
  Pushed pushed = Pushed::kTaken;
  {
    std::jthread waiting([&](const std::stop_token& stop) { pushed = queue.push(2, stop); });
    waiting.request_stop();
  }
  EXPECT_EQ(pushed, Pushed::kStopped);
  EXPECT_EQ(queue.size(), 1U);
}

TEST_F(BoundedQueueTest, ATokenThatHasStoppedAlreadyDoesNotHang) {
  BoundedQueue<int> queue({.capacity = 1}, clock_);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(queue.pop(source.get_token()), std::nullopt);
  EXPECT_EQ(queue.push(1, source.get_token()), Pushed::kTaken);
  EXPECT_EQ(queue.push(2, source.get_token()), Pushed::kStopped);
  EXPECT_EQ(queue.pop(source.get_token()), 1);
}

TEST_F(BoundedQueueTest, CloseRefusesNewValuesAndGivesTheOldOnes) {
  BoundedQueue<int> queue({.capacity = 2}, clock_);
  EXPECT_EQ(queue.push(1), Pushed::kTaken);
  queue.close();
  EXPECT_EQ(queue.push(2), Pushed::kClosed);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST_F(BoundedQueueTest, ADeadlineIsMeasuredByTheGivenClock) {
  ManualClock manual;
  BoundedQueue<int> queue({.capacity = 1}, manual);
  EXPECT_EQ(queue.pop_until(manual.now() + hours{5}), std::nullopt);
  EXPECT_EQ(manual.now().time_since_epoch(), hours{5});
}

TEST_F(BoundedQueueTest, PopAllTakesEverythingAndMakesRoom) {
  BoundedQueue<std::unique_ptr<int>> queue({.capacity = 2, .when_full = WhenFull::kFail}, clock_);
  EXPECT_EQ(queue.push(std::make_unique<int>(1)), Pushed::kTaken);
  EXPECT_EQ(queue.push(std::make_unique<int>(2)), Pushed::kTaken);
  std::vector<std::unique_ptr<int>> taken;
  EXPECT_EQ(queue.pop_all(taken), 2U);
  EXPECT_EQ(*taken[1], 2);
  EXPECT_EQ(queue.push(std::make_unique<int>(3)), Pushed::kTaken);
}

}  // namespace
}  // namespace sp

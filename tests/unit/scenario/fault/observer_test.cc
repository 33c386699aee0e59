// label: threads
#include "scenario/fault/observer.h"

#include <atomic>

#include <gtest/gtest.h>

namespace sp::scenario::fault {
namespace {

TEST(PollingObserverTest, ShowsTheLastLookWithTheTimeWhenItBegan) {
  SystemMonotonicClock clock;
  const MonotonicTime begin = clock.now();
  std::atomic<int> looks{0};
  PollingOptions options;
  options.look_every = std::chrono::milliseconds(1);
  options.ask_every = std::chrono::milliseconds(1);
  options.nodes = {1, 2};
  options.look = [&looks]() -> Result<driver::ClusterState> {
    driver::ClusterState state;
    state.controller = ++looks;
    if (looks == 2) return fail(ErrorCode::kUnavailable, "nobody");
    return state;
  };
  options.answers = [](std::int32_t node) { return node != 2; };
  PollingObserver observer(clock, std::move(options));
  std::optional<Sighting> seen;
  while (!seen || looks < 5 || seen->silent.empty()) seen = observer.latest();
  EXPECT_GE(seen->asked, begin);
  EXPECT_LE(seen->asked, clock.now());
  EXPECT_EQ(seen->silent, std::vector<std::int32_t>{2});
}

TEST(PollingObserverTest, AFailedLookIsASightingToo) {
  SystemMonotonicClock clock;
  PollingOptions options;
  options.look = []() -> Result<driver::ClusterState> { return fail(ErrorCode::kUnavailable, "nobody"); };
  PollingObserver observer(clock, std::move(options));
  std::optional<Sighting> seen;
  while (!seen) seen = observer.latest();
  ASSERT_FALSE(seen->state.has_value());
  EXPECT_EQ(seen->state.error().message, "nobody");
}

}  // namespace
}  // namespace sp::scenario::fault

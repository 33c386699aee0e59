#include "cli/check_progress.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace sp::cli {
namespace {

TEST(CheckProgressTest, TellsOnceASecondHowFarItIsAndHowLongItWillTake) {
  ManualClock clock;
  std::vector<std::string> lines;
  CheckProgress progress(1'000, clock, [&](const std::string& line) { lines.push_back(line); });
  clock.advance(std::chrono::milliseconds{999});
  progress.told(1'000'000);
  EXPECT_TRUE(lines.empty()) << "a short check says nothing";
  clock.advance(std::chrono::milliseconds{1'001});
  progress.bytes_read()->fetch_add(400);
  progress.told(3'000'000);
  progress.told(3'000'001);
  EXPECT_EQ(lines, std::vector<std::string>{"3,000,000 operations, 1,500,000 a second, 40 %, 3 s left"});
  clock.advance(std::chrono::seconds{2});
  progress.bytes_read()->fetch_add(900);
  progress.told(6'000'000);
  EXPECT_EQ(lines.back(), "6,000,000 operations, 1,500,000 a second, 100 %, 0 s left") << "a file may be read twice";
}

TEST(CheckProgressTest, OfAPipeNothingIsForetold) {
  ManualClock clock;
  std::string last;
  CheckProgress progress(bytes_of({"/nowhere/at/all"}), clock, [&](const std::string& line) { last = line; });
  clock.advance(std::chrono::seconds{1});
  progress.told(5);
  EXPECT_EQ(last, "5 operations, 5 a second");
}

}  // namespace
}  // namespace sp::cli

#include "coordinator/chatter.h"

#include <gtest/gtest.h>

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;

TEST(ChatterTest, SentencesThatDifferInNumbersOnlyAreToldOnceAWhile) {
  Chatter chatter(30s);
  EXPECT_EQ(chatter.hear("consumer 3: 127.0.0.1:9092 refused (after 2ms)", MonotonicTime{0s}),
            "consumer 3: 127.0.0.1:9092 refused (after 2ms)");
  for (int i = 1; i < 30; ++i) {
    EXPECT_FALSE(chatter.hear("consumer 1: 127.0.0.1:9093 refused", MonotonicTime{1s * i}));
  }
  EXPECT_EQ(chatter.hear("consumer 1: 127.0.0.1:9093 refused", MonotonicTime{31s}),
            "consumer 1: 127.0.0.1:9093 refused (29 more like it before)");
  EXPECT_EQ(chatter.untold(), 29U);
}

TEST(ChatterTest, SentencesThatDifferInWordsAreAllTold) {
  Chatter chatter(30s);
  EXPECT_TRUE(chatter.hear("producer 0: refused", MonotonicTime{0s}));
  EXPECT_TRUE(chatter.hear("consumer 0: refused", MonotonicTime{0s}));
  EXPECT_TRUE(chatter.hear("consumer 0: timed out", MonotonicTime{0s}));
}

TEST(ChatterTest, PastItsLimitNothingIsHeldBack) {
  Chatter chatter(30s);
  std::string word = "a";
  for (std::size_t i = 0; i <= Chatter::kKindsMax; ++i) {
    EXPECT_TRUE(chatter.hear(word, MonotonicTime{0s}));
    word += 'a';
  }
  EXPECT_TRUE(chatter.hear("new", MonotonicTime{0s}));
  EXPECT_TRUE(chatter.hear("new", MonotonicTime{0s}));
}

}  // namespace
}  // namespace sp::coordinator

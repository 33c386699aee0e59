#include "history/numbered.h"

#include <gtest/gtest.h>

namespace sp::history {
namespace {

TEST(NumberedTest, ANumberHasOneName) {
  EXPECT_EQ(number_of("consumer-0", "consumer"), 0U);
  EXPECT_EQ(number_of("consumer-4294967295", "consumer"), 4294967295U);
  for (const char* other : {"consumer-4294967296", "consumer-02", "consumer-", "consumer", "consumer-2x", "consumer--2", "consumer-+2",
                            "producer-2", "", "consumer2", "consumer-99999999999999999999"}) {
    EXPECT_EQ(number_of(other, "consumer"), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace sp::history

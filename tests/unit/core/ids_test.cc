#include "core/ids.h"

#include <gtest/gtest.h>

namespace sp::core {
namespace {

TEST(RunTextTest, IsReadBackAsOneAndNothingElseIs) {
  EXPECT_EQ(run_text(RunId{7}), "r00000007");
  EXPECT_EQ(run_text(RunId{~std::uint64_t{0}}), "rzzzzzzzz");
  EXPECT_TRUE(is_run_text(run_text(RunId{0x123456789abcdef})));
  for (const auto* other : {"", "r", "r0000000", "r000000070", "s00000007", "r0000000i", "R00000007", "sp-r00000007"})
    EXPECT_FALSE(is_run_text(other)) << other;
}

}  // namespace
}  // namespace sp::core

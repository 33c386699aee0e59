#include "check/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::check {
namespace {

using core::Acknowledgement;
using core::Code;
using core::Order;
using core::Redelivery;
using testing::HasSubstr;

Promise promise(std::string_view text) { return read_promise(text, "c.yaml").value(); }
std::string refusal(std::string_view text) {
  const auto read = read_promise(text, "c.yaml");
  EXPECT_FALSE(read) << text;
  return read ? "" : read.error().message;
}

TEST(ContractTest, WhatIsAbsentDependsOnTheHistory) {
  const Promise empty = promise("{}");
  const auto keyed = empty.settle({.has_key = true, .has_group = true});
  EXPECT_TRUE(keyed.at_least_once);
  EXPECT_FALSE(keyed.exactly_once);
  EXPECT_EQ(keyed.order, Order::kKey);
  EXPECT_EQ(keyed.redelivery, Redelivery::kAny);
  EXPECT_EQ(keyed.timeout, Nanoseconds{0});
  const auto bare = empty.settle({});
  EXPECT_EQ(bare.order, Order::kPartition);
  EXPECT_EQ(bare.redelivery, Redelivery::kNever);
  EXPECT_EQ(promise("acknowledgement: individual").settle({}).redelivery, Redelivery::kAny);
}

TEST(ContractTest, EveryMemberIsRead) {
  const Promise all = promise(
      "delivery: exactly-once\norder: stream\nstart: latest\nredelivery: after-lineage-change\nacknowledgement: cumulative\n"
      "idempotent: true\nacks: all\nisolation: read-committed\ngaps: [compaction, retention, markers]\ndeadline_ms: 1500\n"
      "ack_wait_ms: 30000\nbudgets: {recovery_ms: 20, staleness_ms: 30}\n");
  const auto contract = all.settle({.has_key = true});
  EXPECT_TRUE(contract.exactly_once);
  EXPECT_EQ(contract.order, Order::kPartition);
  EXPECT_TRUE(contract.ordering);
  EXPECT_EQ(contract.start, core::Start::kLatest);
  EXPECT_EQ(contract.redelivery, Redelivery::kAfterLineageChange);
  EXPECT_TRUE(contract.idempotent && contract.gaps_compaction && contract.gaps_retention && contract.gaps_markers);
  EXPECT_EQ(contract.timeout, std::chrono::milliseconds{1500});
  EXPECT_EQ(all.recovery_max, std::chrono::milliseconds{20});
  EXPECT_EQ(all.staleness_max, std::chrono::milliseconds{30});
  EXPECT_FALSE(promise("order: none").settle({}).ordering);
}

TEST(ContractTest, WhatIsForbiddenFollows) {
  const auto forbids = [](std::string_view text, Code code) { return promise(text).settle({.has_key = true}).forbids(code); };
  EXPECT_TRUE(forbids("{}", Code::kLost));
  EXPECT_TRUE(forbids("{}", Code::kStall));
  EXPECT_TRUE(forbids("redelivery: never", Code::kDuplicateDelivery));
  EXPECT_FALSE(forbids("redelivery: any", Code::kDuplicateDelivery));
  EXPECT_TRUE(forbids("redelivery: after-lineage-change", Code::kRewind));
  EXPECT_FALSE(forbids("redelivery: never", Code::kDuplicateWrite));
  EXPECT_FALSE(forbids("delivery: at-most-once", Code::kLost));
  EXPECT_TRUE(forbids("delivery: at-most-once", Code::kDuplicateWrite));
  EXPECT_TRUE(forbids("{delivery: at-most-once, redelivery: any}", Code::kDuplicateDelivery));
  EXPECT_FALSE(forbids("order: none", Code::kReorderedWrite));
  EXPECT_TRUE(forbids("order: none", Code::kPhantom));
}

TEST(ContractTest, WhatIsMisspeltIsRefusedWithItsPlaceAndWhatMayStandThere) {
  EXPECT_THAT(refusal("delivery: exactly-once\nordr: key"),
              HasSubstr("c.yaml line 2 column 1: a contract has no 'ordr'; it may have delivery, order"));
  EXPECT_THAT(refusal("order: keys"), HasSubstr("c.yaml line 1 column 8: 'order' of a contract is one of key, partition, stream, none"));
  EXPECT_THAT(refusal("deadline_ms: soon"), HasSubstr("'deadline_ms' is a whole number of milliseconds"));
  EXPECT_THAT(refusal("deadline_ms: 604800001"), HasSubstr("at most 604800000"));
  EXPECT_THAT(refusal("deadline_ms: -1"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("gaps: [holes]"), HasSubstr("'gaps' does not know 'holes'"));
  EXPECT_THAT(refusal("gaps: compaction"), HasSubstr("'gaps' is a list"));
  EXPECT_THAT(refusal("budgets: {speed_ms: 1}"), HasSubstr("'budgets' does not know 'speed_ms'"));
  EXPECT_THAT(refusal("budgets: 5"), HasSubstr("'budgets' is a map"));
  EXPECT_THAT(refusal("idempotent: maybe"), HasSubstr("one of true, false"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("a contract is a map"));
  EXPECT_THAT(refusal("order: [key]"), HasSubstr("'order' of a contract is one of"));
}

TEST(ContractTest, TheTextSaysItAll) {
  EXPECT_EQ(contract_text(driftlab_promise().settle({})), "exactly once · order by position · redelivery never · from the start");
  EXPECT_EQ(contract_text(promise("{delivery: at-most-once, order: none, start: latest, deadline_ms: 1500}").settle({.has_group = true})),
            "at most once · no order · redelivery never · from the end of the log · deadline 1.5 s");
}

}  // namespace
}  // namespace sp::check

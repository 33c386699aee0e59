// The reference judge itself, on the simplest histories: a legal one, and one mutation each.
#include "model/reference_judge.h"

#include <gtest/gtest.h>

#include "model/builder.h"

namespace sp::model {
namespace {

using core::Code;
using std::chrono::seconds;

class ReferenceJudgeTest : public testing::Test {
 protected:
  ReferenceJudgeTest() {
    key_.block = {w0_, 0};
    world_.history.contract.at_least_once = true;
    world_.history.contract.ordering = true;
    world_.history.contract.timeout = seconds(30);
    world_.join(w0_);
    world_.history.key_counts[key_.block] = 1;
  }
  void acked(std::uint64_t count) {
    for (std::uint64_t s = 0; s < count; ++s) {
      world_.issue(w0_, key_, s);
      world_.ack(
          w0_, key_, s,
          world_.store(core::PartitionId{0}, {key_, s, core::Content::kIntact, std::nullopt}));
    }
    Opening from_start;
    from_start.start = 0;
    from_start.generation = 1;
    world_.open({w0_, 0, {}, {}}, from_start);
  }
  void handed(std::uint64_t sequence) {
    world_.deliver({w0_, 0, {}, {}}, {key_, sequence, core::Content::kIntact, std::nullopt},
                   core::Offset{sequence});
  }
  ReferenceVerdict verdict() {
    world_.tick(seconds(1));
    world_.close_load();
    world_.now += seconds(31);
    world_.close_consumers();
    world_.write_log();
    RawRead everything;
    for (const auto& bound : world_.history.log.bounds) everything.parts.push_back({bound, true});
    everything.records = world_.history.log.records;
    return reference_judge(world_.history, everything);
  }

  core::SourceId w0_{0, 1};
  Key key_;
  Builder world_;
};

TEST_F(ReferenceJudgeTest, EverythingReceivedInOrderPasses) {
  acked(3);
  for (std::uint64_t s = 0; s < 3; ++s) handed(s);
  const auto judged = verdict();
  EXPECT_EQ(judged.status, judge::Status::kPassed);
  EXPECT_EQ(judged.counts, core::PerCode<std::uint64_t>{});
}

TEST_F(ReferenceJudgeTest, AMissingRecordIsLostByTheClient) {
  acked(3);
  handed(0);
  handed(2);
  const auto judged = verdict();
  EXPECT_EQ(judged.status, judge::Status::kFailed);
  EXPECT_EQ(judged.counts[Code::kLost], 1U);
  EXPECT_EQ(judged.lost_by.at(core::Blame::kClient), 1U);
}

TEST_F(ReferenceJudgeTest, ASwapIsAReorder) {
  acked(3);
  handed(0);
  handed(2);
  handed(1);
  EXPECT_EQ(verdict().counts[Code::kReorderedDelivery], 1U);
}

TEST_F(ReferenceJudgeTest, ARepeatInOneLineageIsNotAllowed) {
  acked(3);
  for (const std::uint64_t s : {0U, 1U, 1U, 2U}) handed(s);
  const auto judged = verdict();
  EXPECT_EQ(judged.counts[Code::kDuplicateDelivery], 1U);
  EXPECT_EQ(judged.allowed[Code::kDuplicateDelivery], 0U);
}

}  // namespace
}  // namespace sp::model

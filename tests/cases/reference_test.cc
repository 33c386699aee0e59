// The ways in which the ancestor of this program judged wrongly, each as a test of the engine: N = a fault that went
// unreported, P = a false alarm. Those that are about the harness, not the engine, are tests elsewhere:
//
// clang-format off
//     N8 N9 N16 N17 P9 P10   systems and commands of later issues
//     N12   a dead generator verifies vacuously      the engine's half here; of run: a producer that cannot send
//     N13   a stalled partition silences the others  the engine's half here; of workload: back-pressure of each producer
//     P4    records skipped by the harness           of workload: every record of a batch is handed over
//     P7    shared groups and reused topics          the engine's half here; of run: the group is the run's own
//     P8    random keys collide                      the engine's half here; of core: names of keys
// clang-format on
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cases/runner.h"
#include "model/player.h"

namespace sp::cases {
namespace {

using core::Code;
using judge::Status;

model::Played played(const std::string& text, bool often = true) {
  const auto file = parse_case("reference", text);
  if (!file) {
    ADD_FAILURE() << file.error().message;
    return {};
  }
  const auto scene = make_scene(*file);
  if (!scene) {
    ADD_FAILURE() << scene.error().message;
    return {};
  }
  model::PlayOptions options;
  options.cut_each = often;
  return model::play(scene->history, options);
}

judge::Judgement judged(const std::string& text) { return played(text).judgement; }

const std::string kOpen = "open L1 w0 c0 p0 start=0 gen=1\n";

TEST(ReferenceTest, N1LossIsNotForgottenAfterSuccessfulTicks) {
  const auto result = judged("acked k 0..200\n" + kOpen +
                             "deliver L1 k 0..100,106..200\ntick 100\nacked k 201..400\n"
                             "deliver L1 k 201..400\ntick 100\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kLost], 5U);
}

TEST(ReferenceTest, N2TailLossFails) {
  const auto result = judged("acked k 0..99\n" + kOpen + "deliver L1 k 0..89\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kLost], 10U);
}

TEST(ReferenceTest, N2TotalLossFails) {
  const auto result = judged("acked k 0..99\n" + kOpen + "tick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kLost], 100U);
}

TEST(ReferenceTest, N3PrefixLossIsSeen) {
  const auto result = judged("acked k 0..99\n" + kOpen + "deliver L1 k 10..99\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kLost], 10U);
}

TEST(ReferenceTest, N4AWholeKeyThatIsLostIsNamed) {
  const auto result =
      judged("key a b\nacked a 0..4\nacked b 0..4\n" + kOpen + "deliver L1 a 0..4\ntick 3\nend\n");
  EXPECT_EQ(result.counts[Code::kLost], 5U);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].first, 0U);
  EXPECT_EQ(result.findings[0].last, 4U);
  EXPECT_FALSE(result.findings[0].key.empty());
}

TEST(ReferenceTest, N5AReorderFailsOrdering) {
  const auto result =
      judged("acked k 0..9\n" + kOpen + "deliver L1 k 0..4,6,5,7..9\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kReorderedDelivery], 1U);
  EXPECT_EQ(result.counts[Code::kDuplicateWrite], 0U);
}

TEST(ReferenceTest, N6ADuplicateFailsExactlyOnceAndOnlyThat) {
  const std::string load = "acked k 0..9\n" + kOpen + "deliver L1 k 0..5,5,6..9\ntick 3\nend\n";
  EXPECT_EQ(judged("contract exactly_once\n" + load).status, Status::kFailed);
  EXPECT_EQ(judged("contract at_least_once ordering\n" + load).status, Status::kPassed);
  EXPECT_EQ(judged("contract at_least_once duplicates=0\n" + load).status, Status::kFailed)
      << "maxDuplicates";
}

TEST(ReferenceTest, N7DuplicatesSurviveTrimming) {
  const auto result = judged("acked k 0..99\n" + kOpen +
                             "deliver L1 k 0..20,0..99\ntick 100\nacked k 100..199\n"
                             "deliver L1 k 100..199\ntick 100\nend\n");
  EXPECT_EQ(result.counts[Code::kDuplicateDelivery], 21U);
}

TEST(ReferenceTest, N7ARedeliveryBelowTheWatermarkIsCounted) {
  const auto result =
      judged("acked k 0..99\n" + kOpen +
             "deliver L1 k 0..99\ncommit L1 90 ok\ntick 100\nclose L1 revoked\n"
             "tick 5\nopen L2 w0 c1 p0 start=90 gen=2\ndeliver L2 k 90..99\ntick 3\nend\n");
  EXPECT_EQ(result.counts[Code::kDuplicateDelivery], 10U);
  EXPECT_EQ(result.allowed[Code::kDuplicateDelivery], 10U);
}

TEST(ReferenceTest, N10AWorkerThatIsAwayIsNeverAPass) {
  const auto result = judged("workers w0 w1\nkey k owner=w1\nacked k 0..9\n" + kOpen +
                             "deliver L1 k 0..9\ntick\nhold w1\nacked k 10..19\naway w1\ntick "
                             "5\nfacts lost=worker-1\nend\n");
  EXPECT_EQ(result.status, Status::kInconclusive);
}

TEST(ReferenceTest, N11APhantomFails) {
  const auto result =
      judged("acked k 0..9\nstored k 12\n" + kOpen + "deliver L1 k 0..9,12\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kPhantom], 1U);
}

TEST(ReferenceTest, N11ADamagedRecordFails) {
  const auto result =
      judged("acked k 0..9\n" + kOpen +
             "deliver L1 k 0..4\ndeliver L1 k 5 damaged\ndeliver L1 k 6..9\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kCorrupt], 1U);
}

TEST(ReferenceTest, N11AMisplacedRecordFails) {
  const auto result = judged(
      "acked k 0..3 p0\nacked k 4 p1 asked=0\n" + kOpen +
      "open L2 w0 c0 p1 start=0 gen=1\ndeliver L1 k 0..3\ndeliver L2 k 4 asked=0\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.counts[Code::kMisplaced], 1U);
}

TEST(ReferenceTest, N12NothingAcknowledgedIsNeverAPass) {
  EXPECT_EQ(judged("key k\n" + kOpen + "tick 3\nend\n").status, Status::kInconclusive);
}

TEST(ReferenceTest, N12ARateBelowTheMinimumIsNeverAPass) {
  const std::string load = "acked k 0..9\n" + kOpen + "deliver L1 k 0..9\ntick 3\nend\n";
  EXPECT_EQ(judged("contract rate=900\nfacts rate=500\n" + load).status, Status::kInconclusive);
  EXPECT_EQ(judged("contract rate=900\nfacts rate=950\n" + load).status, Status::kPassed);
}

TEST(ReferenceTest, N13APartitionThatWasNeverExercisedIsShown) {
  const auto result = judged("acked k 0..9 p0\n" + kOpen +
                             "open L2 w0 c0 p1 start=0 gen=1\ndeliver L1 k 0..9\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kPassed);
  EXPECT_EQ(result.coverage.partitions_silent, 1U);
}

TEST(ReferenceTest, N14ErrorsAfterTheLastVerifiedMomentAreCounted) {
  const std::string load =
      "acked k 0..9\n" + kOpen + "deliver L1 k 0..9\ntick 3\nfailed k 10..11\nunknown k 12\nend\n";
  const auto result = judged(load);
  EXPECT_EQ(result.coverage.failed, 2U);
  EXPECT_EQ(result.coverage.unknown, 1U);
  EXPECT_EQ(judged("contract at_least_once errors=2\n" + load).status, Status::kFailed)
      << "maxErrors";
}

TEST(ReferenceTest, N15WriteDuplicatesArePositiveAndExact) {
  const auto result = judged("acked k 0..5\nstored k 4..5\nacked k 6..9\n" + kOpen +
                             "deliver L1 @0..11\ntick 3\nend\n");
  EXPECT_EQ(result.counts[Code::kDuplicateWrite], 2U);
  EXPECT_EQ(result.counts[Code::kReorderedWrite], 0U);
}

TEST(ReferenceTest, P1AFailedSendIsNoLoss) {
  const auto run = played("failed k 0\nacked k 1..4\nfailed k 5\nacked k 6..9\n" + kOpen +
                          "deliver L1 k 1..4,6..9\ntick 40\nend\n");
  EXPECT_EQ(run.judgement.status, Status::kPassed);
  EXPECT_EQ(run.progress.verified, 10U);
}

TEST(ReferenceTest, P2IdleKeysDoNotTimeOut) {
  const auto run =
      played("key a b\nacked a 0..9\n" + kOpen +
             "deliver L1 a 0..9\ntick 100\nacked b 0..9\ndeliver L1 b 0..9\ntick 100\nend\n");
  EXPECT_EQ(run.judgement.status, Status::kPassed);
  EXPECT_EQ(run.progress.timeouts, 0U);
  EXPECT_EQ(run.progress.stall_max, Nanoseconds{});
}

TEST(ReferenceTest, P3KeysNeverUsedBlockNothing) {
  const auto run =
      played("key a b c d\nacked a 0..9\n" + kOpen + "deliver L1 a 0..9\ntick 3\nend\n");
  EXPECT_EQ(run.judgement.status, Status::kPassed);
  EXPECT_EQ(run.judgement.coverage.keys_silent, 3U);
}

TEST(ReferenceTest, P5TwoRangesOpenedAtOnceAreBothKept) {
  const auto result = judged(
      "workers w0 w1 w2\nacked k 0..9\nopen L1 w1 c0 p0 start=0 gen=1\nopen L2 w2 c0 p0 start=5 "
      "gen=2\n"
      "deliver L1 k 0..4\ndeliver L2 k 5..9\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kPassed);
  EXPECT_EQ(result.coverage.received, 10U);
}

TEST(ReferenceTest, P6AClockThatJumpsBackChangesNothing) {
  const auto result =
      judged("acked k 0..9\n" + kOpen +
             "deliver L1 k 0..4\ntick\nclock w0 back=60m\ndeliver L1 k 5..9\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kPassed);
  EXPECT_EQ(result.counts, core::PerCode<std::uint64_t>{});
}

TEST(ReferenceTest, P7LeftoversOfAnotherRunAreNoLossAndNoGap) {
  const auto result = judged("contract reused\nstored !old 0..3,7..9\nacked k 0..9\n" + kOpen +
                             "deliver L1 @0..16\ntick 3\nend\n");
  EXPECT_EQ(result.status, Status::kPassed);
  EXPECT_EQ(result.coverage.foreign, 7U);
  EXPECT_EQ(result.counts, core::PerCode<std::uint64_t>{});
}

TEST(ReferenceTest, P8KeysOfTwoProducersNeverCollide) {
  std::set<std::string> names;
  for (std::uint32_t worker = 0; worker < 3; ++worker) {
    for (std::uint32_t producer = 0; producer < 3; ++producer) {
      model::Key key;
      key.block = {{worker, 1}, producer};
      for (key.index = 0; key.index < 200; ++key.index)
        names.insert(model::key_text(core::RunId{1}, key));
    }
  }
  EXPECT_EQ(names.size(), 3U * 3U * 200U);
}

TEST(ReferenceTest, P11AStallCountsOnlyWhileRecordsAreOutstanding) {
  const auto idle = played("contract stall=5 timeout=300s\nacked k 0..4\n" + kOpen +
                           "deliver L1 k 0..4\ntick 60\nend\n");
  EXPECT_EQ(idle.judgement.status, Status::kPassed);
  const auto stalled = played("contract stall=5 timeout=300s\nacked k 0..4\n" + kOpen +
                              "deliver L1 k 0..2\ntick 60\ndeliver L1 k 3..4\nend\n");
  EXPECT_EQ(stalled.judgement.status, Status::kFailed);
}

TEST(ReferenceTest, P12OutcomesOutOfOrderAreNoNoise) {
  const auto run =
      played("issued k 0..9\nacked k 5 @5\nacked k 0..4 @0\nacked k 9 @9\nacked k 6..8 @6\n" +
             kOpen + "deliver L1 @0..9\ntick 3\nend\n");
  EXPECT_EQ(run.judgement.status, Status::kPassed);
  EXPECT_EQ(run.judgement.counts, core::PerCode<std::uint64_t>{});
  EXPECT_TRUE(run.alarms.empty());
}

}  // namespace
}  // namespace sp::cases

// What is measured, as `check` tells it: one small file a measure.
#include "check/lab_measures.h"

#include <gtest/gtest.h>

#include "unit/check/lab_text.h"

namespace sp::check {
namespace {

using std::chrono::milliseconds;

report::GroupMeasures of(LabText lab, std::string_view group = "c") {
  const auto report = lab.judge();
  for (const auto& measured : report.lab->measures.value().groups) {
    if (measured.group == group) return measured;
  }
  ADD_FAILURE() << "no group " << group;
  return {};
}

TEST(LabMeasuresTest, StalenessIsTheLongestWayFromAcknowledgementToDelivery) {
  LabText lab;
  lab.assigned("c").sent(0, 0).after_ms(30).sent(1, 1).after_ms(20).got("c", 0, 0).got("c", 1, 1);
  EXPECT_EQ(of(lab).staleness, milliseconds{50});
  lab.sent(2, 2).after_ms(70).log({0, 1, 2});
  EXPECT_EQ(of(lab).staleness, milliseconds{70}) << "what never came is measured up to the final read";
}

TEST(LabMeasuresTest, ADeliveryBeforeItsAcknowledgementIsNotStale) {
  LabText lab;
  lab.assigned("c").attempt(0).got("c", 0, 0).after_ms(50).acked(0, 0).after_ms(50);
  EXPECT_EQ(of(lab).staleness, milliseconds{0});
  EXPECT_EQ(of(lab).silence, milliseconds{0});
}

TEST(LabMeasuresTest, AcknowledgementsMayComeInAnyOrder) {
  LabText lab;
  lab.assigned("c").sent(2, 2).after_ms(10).sent(0, 0).after_ms(10).sent(3, 3).sent(1, 1).after_ms(10);
  lab.got("c", 0, 0).got("c", 1, 1).after_ms(5);
  EXPECT_EQ(of(lab).staleness, milliseconds{30}) << "the third waits since the beginning, up to the end";
  lab.got("c", 2, 2).after_ms(20).got("c", 3, 3);
  EXPECT_EQ(of(lab).staleness, milliseconds{35});
  EXPECT_EQ(of(lab).silence, milliseconds{30});
  EXPECT_EQ(of(lab).drain, milliseconds{35});
}

TEST(LabMeasuresTest, OneThatNeverCameIsRememberedAfterThousandsThatDid) {
  LabText lab;
  lab.assigned("c").sent(0, 0).after_ms(1);
  for (std::uint64_t i = 1; i < 5000; ++i) lab.sent(i, i);
  lab.after_ms(1);
  for (std::uint64_t i = 1; i < 5000; i += 2) lab.got("c", i, i);
  lab.after_ms(2);
  for (std::uint64_t i = 2; i < 5000; i += 2) lab.got("c", i, i);
  EXPECT_EQ(of(lab).staleness, milliseconds{4});
  EXPECT_FALSE(of(lab).drain) << "one is still owed";
  lab.after_ms(7).got("c", 0, 0);
  EXPECT_EQ(of(lab).staleness, milliseconds{11});
  EXPECT_EQ(of(lab).drain, milliseconds{10});
}

TEST(LabMeasuresTest, WhatWasThereBeforeTheGroupIsNotStale) {
  LabText lab;
  lab.sent(0, 0).after_ms(500).assigned("c").after_ms(5).got("c", 0, 0);
  EXPECT_EQ(of(lab).staleness, milliseconds{0});
}

TEST(LabMeasuresTest, SilenceCountsOnlyWhileSomethingWaitsAndIsSplitAtAReconnect) {
  LabText lab;
  lab.assigned("c").after_ms(1000).sent(0, 0).after_ms(10).got("c", 0, 0).after_ms(1000);
  EXPECT_EQ(of(lab).silence, milliseconds{10});
  lab.sent(1, 1).after_ms(40).line("c", "info", "reconnect").after_ms(60).got("c", 1, 1);
  EXPECT_EQ(of(lab).silence, milliseconds{60});
  EXPECT_EQ(of(lab).silence_after_reconnect, milliseconds{60});
  lab.sent(2, 2).after_ms(80).log({0, 1, 2});
  EXPECT_EQ(of(lab).silence, milliseconds{80});
  EXPECT_EQ(of(lab).silence_after_reconnect, milliseconds{60});
}

TEST(LabMeasuresTest, RecoveryRunsFromTheEndOfTheLastFaultToTheLastOfWhatWasOwedThen) {
  LabText lab;
  lab.assigned("c").sent(0, 0).sent(1, 1).line("nemesis", "invoke", "cut").after_ms(5).line("nemesis", "ok", "cut");
  lab.sent(2, 2).after_ms(10).got("c", 0, 0).after_ms(10).got("c", 1, 1).after_ms(10);
  EXPECT_EQ(of(lab).recovery, milliseconds{20}) << "the third was sent afterwards";
  EXPECT_FALSE(of(lab).recovery_since_usable);
  lab.line("nemesis", "invoke", "cut").line("nemesis", "ok", "cut").after_ms(10);
  EXPECT_TRUE(of(lab).never_recovered);
  EXPECT_FALSE(of(lab).recovery);
  lab.got("c", 2, 2);
  EXPECT_EQ(of(lab).recovery, milliseconds{10});
}

TEST(LabMeasuresTest, WhoOwesNothingAtTheEndOfTheFaultsHasRecoveredThen) {
  LabText lab;
  lab.assigned("c").sent(0, 0).got("c", 0, 0).line("nemesis", "ok", "cut").after_ms(10).sent(1, 1);
  EXPECT_EQ(of(lab).recovery, milliseconds{0});
}

TEST(LabMeasuresTest, AProbeSaysSinceWhenTheSystemWasUsable) {
  LabText lab;
  lab.assigned("c").sent(0, 0).line("nemesis", "invoke", "kill").line("probe", "fail", "probe").after_ms(10).line("probe", "ok", "probe");
  lab.after_ms(10).line("nemesis", "ok", "kill").after_ms(10).got("c", 0, 0).sent(1, 1);
  EXPECT_EQ(of(lab).recovery, milliseconds{10});
  EXPECT_EQ(of(lab).recovery_since_usable, milliseconds{20});
  const auto producers = lab.judge().lab->measures->producers;
  ASSERT_EQ(producers.size(), 1U);
  EXPECT_EQ(producers[0].producer, "producer");
  EXPECT_EQ(producers[0].pause, milliseconds{30});
  EXPECT_EQ(producers[0].resume, milliseconds{10});
  EXPECT_EQ(producers[0].resume_since_usable, milliseconds{20});
}

TEST(LabMeasuresTest, OverrunIsWhatADeliveryMissedTheDeadlineBy) {
  LabText lab(R"("contract":{"deadline_ms":100})");
  lab.assigned("c").sent(0, 0).after_ms(130).got("c", 0, 0);
  EXPECT_EQ(of(lab).overrun, milliseconds{30});
}

TEST(LabMeasuresTest, DrainIsFromTheLastAcknowledgementToTheLastFirstDelivery) {
  LabText lab;
  lab.assigned("c").sent(0, 0).sent(1, 1).after_ms(10).got("c", 0, 0).after_ms(10).got("c", 1, 1).after_ms(10).got("c", 1, 1);
  EXPECT_EQ(of(lab).drain, milliseconds{20});
  lab.sent(2, 2);
  EXPECT_FALSE(of(lab).drain) << "something is still to come";
}

TEST(LabMeasuresTest, EachGroupHasItsOwn) {
  LabText lab;
  lab.assigned("c").assigned("d").sent(0, 0).after_ms(5).got("c", 0, 0).after_ms(5).got("d", 0, 0);
  EXPECT_EQ(of(lab, "c").staleness, milliseconds{5});
  EXPECT_EQ(of(lab, "d").staleness, milliseconds{10});
}

}  // namespace
}  // namespace sp::check

#include "check/lab_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/check/lab_text.h"

namespace sp::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Three records, all of them delivered to one consumer from the start, and read.
LabText three() {
  LabText lab;
  lab.sent(0, 0).sent(1, 1).sent(2, 2).assigned("c").got("c", 0, 0).got("c", 1, 1).got("c", 2, 2);
  return lab;
}

std::vector<std::string> reasons(const report::Report& report) { return report.judgement.reasons; }

TEST(LabCheckTest, AnHonestRunIsClean) {
  const auto report = three().log({0, 1, 2}).ended().judge();
  EXPECT_EQ(in_short(report), "clean");
  EXPECT_EQ(report::exit_code(report), 0);
  EXPECT_EQ(report.judgement.coverage.acked, 3U);
}

TEST(LabCheckTest, WhatWasNeverDeliveredIsLostByWhoeverPassedIt) {
  LabText lab;
  lab.sent(0, 0).sent(1, 1).sent(2, 2).assigned("c").got("c", 0, 0).got("c", 2, 2).log({0, 1, 2}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "failed: lost 1");
  ASSERT_EQ(report.judgement.findings.size(), 1U);
  EXPECT_EQ(report.judgement.findings[0].blame, core::Blame::kClient);
  EXPECT_EQ(report.judgement.findings[0].group, "c");
  EXPECT_EQ(report.judgement.findings[0].key, "k");
}

TEST(LabCheckTest, WithoutAConsumerTheLogMustHoldWhatWasAcknowledged) {
  LabText whole;
  EXPECT_EQ(in_short(whole.sent(0, 0).sent(1, 1).log({0, 1}).ended().judge()), "clean");
  LabText short_of;
  const auto report = short_of.sent(0, 0).sent(1, 1).log({0}).ended().judge();
  EXPECT_EQ(in_short(report), "failed: lost 1");
  EXPECT_EQ(report.judgement.findings.at(0).blame, core::Blame::kLog);
}

TEST(LabCheckTest, RecordsWithoutAKeyAreOfOneKeyWithoutAName) {
  LabText lab;
  const auto bare = [](std::uint64_t value, std::uint64_t seq) { return fmt::format(R"("value":{},"position":{{"seq":{}}})", value, seq); };
  for (std::uint64_t i = 0; i < 3; ++i) {
    lab.line("p", "invoke", "publish", fmt::format(R"("value":{})", i)).line("p", "ok", "publish", bare(i, i + 1));
  }
  lab.line("c", "ok", "subscribe", R"("start":{"seq":1})");
  lab.line("c", "ok", "deliver", bare(0, 1)).line("c", "ok", "deliver", bare(2, 3)).line("c", "ok", "deliver", bare(1, 2));
  lab.line("f", "ok", "read-begin", R"("target":[{"partition":0,"start":1,"end":4}])");
  for (std::uint64_t i = 0; i < 3; ++i) lab.line("f", "ok", "read", bare(i, i + 1));
  lab.line("f", "ok", "read-end", R"("target":[{"partition":0,"start":1,"end":4,"reached":true}])").ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "failed: reordered-delivery 1");
  const auto& finding = report.judgement.findings.at(0);
  EXPECT_TRUE(finding.nameless);
  EXPECT_EQ(finding.first, 1U);
  EXPECT_THAT(report::text_report(report), HasSubstr("value 1: handed over after a later record"));
  EXPECT_THAT(report::json_report(report), HasSubstr(R"("key": "")"));
}

TEST(LabCheckTest, RecordsWithoutAKeyBelongToNoPartition) {
  LabText lab;
  const auto at = [](std::uint64_t value, std::uint64_t partition, std::uint64_t offset) {
    return fmt::format(R"("value":{},"position":{{"partition":{},"offset":{}}})", value, partition, offset);
  };
  for (std::uint64_t i = 0; i < 4; ++i) {
    lab.line("p", "invoke", "publish", fmt::format(R"("value":{})", i)).line("p", "ok", "publish", at(i, i % 2, i / 2));
  }
  lab.line("c", "ok", "assign", R"("partitions":[0,1],"starts":[{"partition":0,"offset":0},{"partition":1,"offset":0}])");
  for (std::uint64_t i = 0; i < 4; ++i) lab.line("c", "ok", "deliver", at(i, i % 2, i / 2));
  constexpr std::string_view kBounds = R"("target":[{"partition":0,"end":2},{"partition":1,"end":2}])";
  lab.line("f", "ok", "read-begin", kBounds);
  for (std::uint64_t i = 0; i < 4; ++i) lab.line("f", "ok", "read", at(i, i % 2, i / 2));
  lab.line("f", "ok", "read-end", R"("target":[{"partition":0,"end":2,"reached":true},{"partition":1,"end":2,"reached":true}])").ended();
  EXPECT_EQ(in_short(lab.judge()), "clean");
}

TEST(LabCheckTest, ASubscriptionSaysWhereItsNumberLineStarts) {
  LabText lab(R"("contract":{"start":"latest"})");
  lab.line("p", "invoke", "publish", R"("value":0)").line("p", "ok", "publish", R"("value":0,"position":{"seq":1})");
  lab.line("c", "ok", "subscribe", R"("start":"latest","position":{"seq":2})");
  lab.line("p", "invoke", "publish", R"("value":1)").line("p", "ok", "publish", R"("value":1,"position":{"seq":2})");
  LabText again = lab;
  const auto end = [](LabText& text) {
    text.line("c", "ok", "deliver", R"("value":1,"position":{"seq":2})");
    text.line("f", "ok", "read-begin", R"("target":[{"partition":0,"start":1,"end":3}])");
    for (int i = 0; i < 2; ++i) text.line("f", "ok", "read", fmt::format(R"("value":{},"position":{{"seq":{}}})", i, i + 1));
    text.line("f", "ok", "read-end", R"("target":[{"partition":0,"start":1,"end":3,"reached":true}])").ended();
  };
  end(lab);
  EXPECT_EQ(in_short(lab.judge()), "clean") << "what was there before is not owed";
  again.line("c", "ok", "deliver", R"("value":0,"position":{"seq":1})");
  end(again);
  EXPECT_EQ(in_short(again.judge()), "failed: before-start 1");
}

TEST(LabCheckTest, WithoutPositionsWhatWasAcknowledgedBeforeALateGroupIsNotOwed) {
  const auto judged = [](bool before) {
    LabText lab(R"("raw_read":false)");
    const auto sent = [&] { lab.attempt(0).line("producer", "ok", "publish", R"("key":"k","value":0)"); };
    if (before) sent();
    lab.subscribed("c", "latest");
    if (!before) sent();
    lab.attempt(1).line("producer", "ok", "publish", R"("key":"k","value":1)").line("c", "ok", "deliver", R"("key":"k","value":1)");
    return in_short(lab.ended().judge());
  };
  EXPECT_EQ(judged(true), "clean");
  EXPECT_EQ(judged(false), "failed: lost 1");
}

TEST(LabCheckTest, WhatWasSentAfterALateGroupCameIsOwedAlsoWhereNobodySaidWhereItStarts) {
  const auto judged = [](bool before) {
    LabText lab;
    if (before) lab.sent(0, 0);
    lab.subscribed("c", "latest");
    if (!before) lab.sent(0, 0);
    return in_short(lab.sent(1, 1).got("c", 1, 1).log({0, 1}).ended().judge());
  };
  EXPECT_EQ(judged(true), "clean");
  EXPECT_EQ(judged(false), "failed: lost 1") << "it was sent when the consumer was there";
}

TEST(LabCheckTest, WhatWasUnderWayWhenALateGroupCameIsUndecided) {
  LabText lab;
  lab.attempt(0).subscribed("c", "latest").acked(0, 0).sent(1, 1).got("c", 1, 1).log({0, 1}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "invalid");
  EXPECT_EQ(report.judgement.undecided, 1U);
}

TEST(LabCheckTest, AnAttemptHasOneOutcome) {
  const auto report = LabText().sent(0, 0).line("producer", "fail", "publish", R"("key":"k","value":0)").try_judge();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("line 4: publish: value 0 has its outcome already"));
}

TEST(LabCheckTest, AFaultFeltAfterTheTrafficTestedNothing) {
  LabText lab(R"("faults":["cut"])");
  lab.sent(0, 0).assigned("c").line("nemesis", "invoke", "cut").got("c", 0, 0).line("nemesis", "info", "cut").log({0}).ended();
  EXPECT_THAT(reasons(lab.judge()), ElementsAre("the fault cut lies outside the traffic"));
}

TEST(LabCheckTest, TheContractSaysWhetherARepeatFails) {
  const auto repeated = [](std::string_view contract) {
    LabText lab(contract);
    lab.sent(0, 0).subscribed("c").assigned("c").got("c", 0, 0);
    lab.subscribed("c").assigned("c").got("c", 0, 0).log({0}).ended();
    return in_short(lab.judge());
  };
  EXPECT_EQ(repeated(""), "failed: duplicate-delivery 1") << "without a group nothing may come again";
  EXPECT_EQ(repeated(R"("contract":{"redelivery":"any"})"), "clean: duplicate-delivery 1");
  EXPECT_EQ(repeated(R"("contract":{"redelivery":"after-lineage-change"})"), "clean: duplicate-delivery 1") << "nothing was committed";
  EXPECT_EQ(repeated(R"("contract":{"delivery":"exactly-once","redelivery":"after-lineage-change"})"), "clean: duplicate-delivery 1");
  EXPECT_EQ(repeated(R"("contract":{"delivery":"at-most-once"})"), "failed: duplicate-delivery 1");
}

TEST(LabCheckTest, AGroupMayGetAgainWhatItDidNotCommit) {
  LabText lab;
  lab.sent(0, 0).line("c", "ok", "subscribe", R"("start":"committed","group":"g")").assigned("c").got("c", 0, 0);
  lab.line("d", "ok", "subscribe", R"("start":"committed","group":"g")").assigned("d").got("d", 0, 0).log({0}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "clean: duplicate-delivery 1");
  EXPECT_EQ(report.judgement.allowed[core::Code::kDuplicateDelivery], 1U);
}

TEST(LabCheckTest, AtMostOnceForgivesLossAndNoCopy) {
  LabText lost(R"("contract":{"delivery":"at-most-once"})");
  EXPECT_EQ(in_short(lost.sent(0, 0).sent(1, 1).assigned("c").got("c", 1, 1).log({0, 1}).ended().judge()), "clean: lost 1");
  LabText twice(R"("contract":{"delivery":"at-most-once"})");
  EXPECT_EQ(in_short(twice.sent(0, 0).assigned("c").got("c", 0, 0).got("c", 0, 1).log({0, 0}).ended().judge()),
            "failed: duplicate-write 1");
}

TEST(LabCheckTest, AContractOfTheCallerOverridesTheFiles) {
  LabText lab(R"("contract":{"delivery":"at-most-once"})");
  lab.sent(0, 0).sent(1, 1).assigned("c").got("c", 1, 1).log({0, 1}).ended();
  LabOptions options;
  options.promise = default_promise();
  EXPECT_EQ(in_short(lab.try_judge(options).value()), "failed: lost 1");
}

// ── valid or not ──

TEST(LabCheckTest, WithoutAFinalReadNothingIsConcluded) {
  const auto report = three().ended().judge();
  EXPECT_EQ(report.judgement.status, judge::Status::kInvalid);
  EXPECT_EQ(report::exit_code(report), 2);
  EXPECT_THAT(reasons(report), ElementsAre(HasSubstr("there is no final read")));
  LabText without(R"("raw_read":false)");
  without.sent(0, 0).assigned("c").got("c", 0, 0).ended();
  EXPECT_EQ(in_short(without.judge()), "clean") << "the driver cannot read the log";
}

TEST(LabCheckTest, AFinalReadMustComeToItsEnd) {
  LabText lab = three();
  lab.line("final-read", "ok", "read-begin", R"("target":[{"partition":0,"end":3}])");
  for (std::uint64_t i = 0; i < 2; ++i) lab.line("final-read", "ok", "read", LabText::record(i, i, "k"));
  LabText unfinished = lab;
  lab.line("final-read", "ok", "read-end", R"("target":[{"partition":0,"end":3,"reached":false}])").ended();
  EXPECT_EQ(lab.judge().judgement.status, judge::Status::kInvalid);
  EXPECT_THAT(reasons(lab.judge()), ElementsAre(HasSubstr("did not reach the end of partition 0")));
  EXPECT_THAT(reasons(unfinished.ended().judge()), ElementsAre(HasSubstr("it has no end")));
}

TEST(LabCheckTest, AHoleIsExplainedByAnAcknowledgementOrDeclared) {
  const auto with_hole = [](std::string_view contract) {
    LabText lab(contract);
    lab.sent(0, 0).sent(1, 2).assigned("c").got("c", 0, 0).got("c", 1, 2);
    lab.line("f", "ok", "read-begin", R"("target":[{"partition":0,"end":3}])");
    lab.line("f", "ok", "read", LabText::record(0, 0, "k")).line("f", "ok", "read", LabText::record(1, 2, "k"));
    lab.line("f", "ok", "read-end", R"("target":[{"partition":0,"end":3,"reached":true}])").ended();
    return lab.judge();
  };
  EXPECT_THAT(reasons(with_hole("")),
              ElementsAre(HasSubstr("hole that no acknowledgement explains: 1 positions, the first partition 0 offset 1")));
  EXPECT_EQ(in_short(with_hole(R"("contract":{"gaps":["markers"]})")), "clean");
}

TEST(LabCheckTest, ADeclaredFaultMustBeFeltWithinTheTraffic) {
  const auto with_fault = [](auto before, auto during, auto after) {
    LabText lab(R"("faults":["cut"])");
    before(lab);
    lab.sent(0, 0).assigned("c");
    during(lab);
    lab.sent(1, 1).got("c", 0, 0).got("c", 1, 1);
    after(lab);
    return lab.log({0, 1}).ended().judge();
  };
  const auto nothing = [](LabText&) {};
  const auto felt = [](LabText& lab) { lab.line("nemesis", "invoke", "cut").line("nemesis", "info", "cut").line("nemesis", "ok", "cut"); };
  const auto made = [](LabText& lab) { lab.line("nemesis", "invoke", "cut").line("nemesis", "ok", "cut"); };
  EXPECT_EQ(in_short(with_fault(nothing, felt, nothing)), "clean");
  EXPECT_THAT(reasons(with_fault(nothing, nothing, nothing)), ElementsAre("the fault cut was declared and never made"));
  EXPECT_THAT(reasons(with_fault(nothing, made, nothing)), ElementsAre("the fault cut was made, and no effect of it was seen"));
  EXPECT_THAT(reasons(with_fault(felt, nothing, nothing)), ElementsAre("the fault cut lies outside the traffic"));
  EXPECT_THAT(reasons(with_fault(nothing, nothing, felt)), ElementsAre("the fault cut lies outside the traffic"));
}

TEST(LabCheckTest, AllUnknownProvesNothing) {
  LabText lab;
  lab.attempt(0).line("producer", "info", "publish", R"("key":"k","value":0,"error":"timed out")").assigned("c").log({}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(report.judgement.status, judge::Status::kInvalid);
  EXPECT_THAT(reasons(report), ElementsAre(HasSubstr("nothing was acknowledged")));
}

TEST(LabCheckTest, ADriverThatNeverEndedMayHaveHadMoreToSay) {
  EXPECT_THAT(reasons(three().log({0, 1, 2}).judge()), ElementsAre(HasSubstr("the driver never ended")));
}

TEST(LabCheckTest, TrafficAfterTheFinalReadBeganIsNoExperiment) {
  EXPECT_THAT(reasons(three().log({0, 1, 2}).got("c", 2, 2).ended().judge()),
              ElementsAre("1 attempts and deliveries came after the final read had begun"));
}

TEST(LabCheckTest, InvalidComesBeforeFailedAndShowsBoth) {
  LabText lab;
  lab.sent(0, 0).sent(1, 1).assigned("c").got("c", 1, 1).log({0, 1});
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "invalid: lost 1");
  EXPECT_THAT(reasons(report), ElementsAre(HasSubstr("never ended"), HasSubstr("1 acknowledged record was never received")));
}

// ── what was not seen ──

TEST(LabCheckTest, WithoutAReadOfTheWholeLogNothingIsKnownOfWhatCameAfterDelivery) {
  LabText blind(R"("raw_read":false)");
  const auto without = blind.sent(0, 0).assigned("c").got("c", 0, 0).ended().judge();
  EXPECT_EQ(without.judgement.coverage.not_checked.at("durability-after-delivery"), 1U);
  const auto with = three().log({0, 1, 2}).ended().judge();
  EXPECT_FALSE(with.judgement.coverage.not_checked.contains("durability-after-delivery"));
}

TEST(LabCheckTest, APartitionThatNeverHeldARecordIsSilent) {
  LabText lab = three();
  lab.line("f", "ok", "read-begin", R"("target":[{"partition":0,"end":3},{"partition":1,"end":0}])");
  for (std::uint64_t i = 0; i < 3; ++i) lab.line("f", "ok", "read", LabText::record(i, i, "k"));
  lab.line("f", "ok", "read-end", R"("target":[{"partition":0,"end":3,"reached":true},{"partition":1,"end":0,"reached":true}])").ended();
  EXPECT_EQ(lab.judge().judgement.coverage.partitions_silent, 1U);
  EXPECT_EQ(three().log({0, 1, 2}).ended().judge().judgement.coverage.partitions_silent, 0U);
}

TEST(LabCheckTest, ALossSaysWhetherAnythingOfThePartitionCame) {
  LabText some;
  some.sent(0, 0).sent(1, 1).assigned("c").got("c", 0, 0).log({0, 1}).ended();
  EXPECT_THAT(some.judge().judgement.findings.at(0).says, testing::Not(HasSubstr("whole partition")));
  LabText none;
  none.sent(0, 0).assigned("c").log({0}).ended();
  EXPECT_THAT(none.judge().judgement.findings.at(0).says, HasSubstr("nothing of its whole partition was delivered"));
}

// ── at rest ──

TEST(LabCheckTest, AConsumerBehindTheEndStalled) {
  LabText lab;
  lab.sent(0, 0).sent(1, 1).assigned("c").got("c", 0, 0).log({0, 1}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "failed: lost 1, stall 1");
  EXPECT_EQ(report.judgement.findings.back().consumer, "c");
  EXPECT_THAT(report.judgement.findings.back().says, HasSubstr("came to partition 0 offset 0 of partition 0 offset 1"));
}

TEST(LabCheckTest, ATailOfUnknownOutcomeIsNoStall) {
  LabText lab;
  lab.sent(0, 0).attempt(1).line("producer", "info", "publish", R"("key":"k","value":1)").assigned("c").got("c", 0, 0).log({0, 1}).ended();
  EXPECT_EQ(in_short(lab.judge()), "clean");
}

TEST(LabCheckTest, ASubscriptionThatASiblingOutlivedIsDead) {
  LabText lab;
  lab.sent(0, 0).assigned("c").assigned("d").got("c", 0, 0).got("d", 0, 0).sent(1, 1).got("d", 1, 1);
  LabText stopped = lab;
  const auto report = lab.log({0, 1}).ended().judge();
  EXPECT_EQ(in_short(report), "failed: lost 1, stall 1, sub-death 1");
  EXPECT_EQ(report.judgement.findings.back().consumer, "c");
  EXPECT_THAT(report.judgement.findings.back().says, HasSubstr("received nothing after partition 0 offset 0, while d went on"));
  stopped.line("c", "ok", "unsubscribe").log({0, 1}).ended();
  EXPECT_EQ(in_short(stopped.judge()), "failed: lost 1, stall 1") << "it was stopped on purpose";
}

TEST(LabCheckTest, ASiblingThatWasThereBeforeOutlivesNobody) {
  LabText lab;
  lab.sent(0, 0).sent(1, 1).assigned("d").got("d", 0, 0).got("d", 1, 1).assigned("c").got("c", 0, 0).log({0, 1}).ended();
  EXPECT_EQ(in_short(lab.judge()), "failed: lost 1, stall 1");
}

// ── what is refused ──

std::string refusal(const LabText& lab) {
  const auto report = lab.try_judge();
  EXPECT_FALSE(report);
  return report ? "" : report.error().message;
}

TEST(LabCheckTest, AnOutcomeNeedsItsAttemptAndAnAttemptIsMadeOnce) {
  EXPECT_THAT(refusal(LabText().acked(0, 0)), HasSubstr("lab.jsonl: line 2: publish: value 0 was not attempted before"));
  EXPECT_THAT(refusal(LabText().attempt(0).attempt(0)), HasSubstr("line 3: publish: value 0 of this key is attempted a second time"));
}

TEST(LabCheckTest, WhatCannotBeJudgedYetIsRefusedByName) {
  EXPECT_THAT(refusal(LabText().line("c", "ok", "ack", R"("value":1)")), HasSubstr("\"acknowledgement\":\"individual\""));
  EXPECT_THAT(refusal(LabText().line("x", "ok", "copy", R"("from":{"seq":1},"key":"k","value":1)")),
              HasSubstr("processors cannot be judged yet"));
  EXPECT_THAT(refusal(LabText().line("c", "ok", "deliver", R"("value":1,"position":{"partition":0,"ledger":1,"entry":2})")),
              HasSubstr("positions of Pulsar cannot be judged yet"));
  EXPECT_THAT(refusal(LabText().attempt(0).line("producer", "ok", "publish", R"("key":"k","value":0,"position":{"seq":3})").got("c", 0, 0)),
              HasSubstr("its position is of another kind"));
  LabText many;
  for (int i = 0; i < 33; ++i) many.subscribed(fmt::format("c{}", i));
  EXPECT_THAT(refusal(many), HasSubstr("33 groups"));
}

// ── hostile ──

TEST(LabCheckTest, AHoleAtTheEndOfTheNumbersCostsNothing) {
  constexpr std::uint64_t kFarOff = std::uint64_t{1} << 63U;
  LabText lab;
  lab.sent(0, 0).sent(kFarOff, 1);
  lab.assigned("c").got("c", 0, 0).got("c", kFarOff, 1).got("c", kFarOff - 1, 2).log({0, kFarOff, kFarOff - 1}).ended();
  const auto report = lab.judge();
  EXPECT_EQ(in_short(report), "failed: phantom 1") << "nobody attempted what lies between";
  EXPECT_EQ(report.judgement.coverage.attempts, 2U);
  EXPECT_EQ(report.judgement.coverage.unknown, 0U);
}

TEST(LabCheckTest, AttemptsMayBeginOutOfOrder) {
  LabText lab;
  lab.attempt(1).attempt(0).acked(0, 0).acked(1, 1).assigned("c").got("c", 0, 0).got("c", 1, 1).log({0, 1}).ended();
  EXPECT_EQ(in_short(lab.judge()), "clean");
}

TEST(LabCheckTest, WhatIsDeliveredBeforeAnybodyAttemptedAnythingIsOnePhantom) {
  LabText lab;
  lab.assigned("c").got("c", 7, 0, "x").sent(0, 1).got("c", 0, 1);
  lab.line("f", "ok", "read-begin", R"("target":[{"partition":0,"end":2}])");
  lab.line("f", "ok", "read", LabText::record(7, 0, "x")).line("f", "ok", "read", LabText::record(0, 1, "k"));
  lab.line("f", "ok", "read-end", R"("target":[{"partition":0,"end":2,"reached":true}])").ended();
  EXPECT_EQ(in_short(lab.judge()), "failed: phantom 1");
}

// ── deadlines, budgets ──

TEST(LabCheckTest, ADeadlineMakesLateWhatCameAfterIt) {
  LabText lab(R"("contract":{"deadline_ms":1000})");
  lab.assigned("c").sent(0, 0).after_ms(100).got("c", 0, 0).sent(1, 1).after_ms(900).sent(2, 2).after_ms(600).sent(3, 3);
  lab.after_ms(100).got("c", 1, 1).got("c", 2, 2).got("c", 3, 3).after_ms(2000).log({0, 1, 2, 3}).ended();
  EXPECT_EQ(in_short(lab.judge()), "clean: late 1");
}

TEST(LabCheckTest, ABudgetThatWasPassedIsSlow) {
  const auto within = [](std::string_view budgets) {
    LabText lab(fmt::format(R"("faults":["cut"],"contract":{{"budgets":{{{}}}}})", budgets));
    lab.assigned("c").sent(0, 0).got("c", 0, 0).line("nemesis", "invoke", "cut").line("nemesis", "info", "cut").sent(1, 1);
    lab.after_ms(300).line("nemesis", "ok", "cut").after_ms(200).got("c", 1, 1).log({0, 1}).ended();
    return lab.judge();
  };
  EXPECT_EQ(in_short(within(R"("recovery_ms":200,"staleness_ms":500)")), "clean");
  const auto stale = within(R"("staleness_ms":499)");
  EXPECT_EQ(in_short(stale), "slow");
  EXPECT_EQ(report::exit_code(stale), 4);
  EXPECT_THAT(reasons(stale), ElementsAre("c was stale for 500 ms, more than staleness_ms 499"));
  EXPECT_THAT(reasons(within(R"("recovery_ms":199)")), ElementsAre("c caught up 200 ms after the faults, more than recovery_ms 199"));
}

TEST(LabCheckTest, AFileWithoutTimesCannotKeepABudget) {
  const std::string text =
      R"({"type":"meta","version":1,"client":"c","scenario":"s","contract":{"budgets":{"staleness_ms":5}}})"
      "\n"
      R"({"index":0,"process":"d","type":"ok","f":"end","reason":"done"})"
      "\n";
  EXPECT_THAT(reasons(LabText::judge_text(text).value()), testing::Contains(HasSubstr("the file has no times")));
}

// ── driftlab ──

TEST(LabCheckTest, ADriftlabFilePromisesEverythingOnceInOrderFromTheStart) {
  const auto file = [](std::string_view deliveries) {
    std::string text = R"({"type":"meta","client":"c","scenario":"s"})"
                       "\n";
    int index = 0;
    const auto line = [&](std::string_view process, std::string_view type, std::string_view f, std::string_view members) {
      text += fmt::format(R"({{"index":{},"process":"{}","type":"{}","f":"{}"{}}})"
                          "\n",
                          index++, process, type, f, members);
    };
    for (int i = 1; i <= 3; ++i) {
      line("producer", "invoke", "publish", fmt::format(R"(,"value":{})", i));
      line("producer", "ok", "publish", fmt::format(R"(,"value":{0},"stream_seq":{0})", i));
    }
    line("consumer", "ok", "subscribe", "");
    for (const char digit : deliveries) line("consumer", "ok", "deliver", fmt::format(R"(,"value":{0},"stream_seq":{0})", digit - '0'));
    for (int i = 1; i <= 3; ++i) line("final-read", "ok", "read", fmt::format(R"(,"value":{0},"stream_seq":{0})", i));
    return LabText::judge_text(text).value();
  };
  EXPECT_EQ(in_short(file("123")), "clean");
  EXPECT_EQ(in_short(file("23")), "failed: lost 1") << "a first delivery above the start skips";
  EXPECT_EQ(in_short(file("132")), "failed: reordered-delivery 1");
  EXPECT_EQ(in_short(file("1223")), "failed: duplicate-delivery 1");
  EXPECT_EQ(in_short(file("12")), "failed: lost 1, stall 1");
  EXPECT_EQ(in_short(file("")), "failed: lost 3, stall 1");
  EXPECT_EQ(file("23").judgement.findings.at(0).first, 1U) << "values count from 1 in what is said too";
}

}  // namespace
}  // namespace sp::check

// driftlab's rules, one after the other. The lines of whole files are in tests/process/driftlab_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "unit/check/driftlab_history.h"

namespace sp::check {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kFar = std::uint64_t{1} << 63U;

// What is said beneath the verdict.
std::string beneath(const Lines& lines) {
  const std::string all = says(lines);
  return all.substr(std::min(all.find('\n') + 1, all.size()));
}

TEST(DriftlabTest, WhatArrivesOnceAndInOrderIsClean) {
  EXPECT_EQ(says(Lines().sent(1, 3).got("c", 1).got("c", 2).got("c", 3).read_all(3)), "verdict clean, 0 of 3 publishes unknown\n");
}

TEST(DriftlabTest, ADuplicateNamesTheFirstDeliveryWhereverItWas) {
  EXPECT_EQ(beneath(Lines().sent(1, 3).got("c", 1).got("c", 2).got("c", 3).got("c", 1).got("c", 1).read_all(3)),
            "duplicate c ops=[6 9]: sequence 1 was delivered again\n"
            "duplicate c ops=[6 10]: sequence 1 was delivered again\n");
}

TEST(DriftlabTest, ADuplicateIsNeitherNonmonotonicNorASkipAndChangesNothing) {
  EXPECT_EQ(beneath(Lines().sent(1, 3).got("c", 1).got("c", 2).got("c", 1).got("c", 3).read_all(3)),
            "duplicate c ops=[6 8]: sequence 1 was delivered again\n");
}

TEST(DriftlabTest, WhatComesLateIsNonmonotonicAndLeavesTheHighestWhereItWas) {
  EXPECT_EQ(beneath(Lines().sent(1, 5).got("c", 1).got("c", 4).got("c", 2).got("c", 3).got("c", 5).read_all(5)),
            "poll-skip c ops=[10 11]: expected sequence 2, received 4: 2 skipped, 2 delivered late, 0 never delivered\n"
            "nonmonotonic-poll c ops=[11 12]: sequence 2 was delivered after 4\n"
            "nonmonotonic-poll c ops=[11 13]: sequence 3 was delivered after 4\n");
}

TEST(DriftlabTest, TheFirstDeliveryIsExpectedToBeTheFirstSequence) {
  EXPECT_EQ(beneath(Lines().sent(1, 2).got("c", 2).read_all(2)),
            "poll-skip c ops=[4]: expected sequence 1, received 2: 1 skipped, 0 delivered late, 1 never delivered\n");
}

TEST(DriftlabTest, OfASkippedRangeLateAndNeverAreToldApartAtTheEnd) {
  EXPECT_EQ(beneath(Lines().sent(1, 6).got("c", 1).got("c", 6).got("c", 3).got("c", 3).read_all(6)),
            "poll-skip c ops=[12 13]: expected sequence 2, received 6: 4 skipped, 1 delivered late, 3 never delivered\n"
            "nonmonotonic-poll c ops=[13 14]: sequence 3 was delivered after 6\n"
            "duplicate c ops=[14 15]: sequence 3 was delivered again\n");
}

TEST(DriftlabTest, ConsumersAreJudgedEachForItselfInTheOrderOfTheHistory) {
  EXPECT_EQ(beneath(Lines().sent(1, 3).got("a", 1).got("b", 2).got("a", 3).got("b", 3).got("b", 1).got("a", 1).read_all(3)),
            "poll-skip b ops=[7]: expected sequence 1, received 2: 1 skipped, 1 delivered late, 0 never delivered\n"
            "poll-skip a ops=[6 8]: expected sequence 2, received 3: 1 skipped, 0 delivered late, 1 never delivered\n"
            "nonmonotonic-poll b ops=[9 10]: sequence 1 was delivered after 3\n"
            "duplicate a ops=[6 11]: sequence 1 was delivered again\n");
}

TEST(DriftlabTest, AStallNamesTheLatestSignOfLifeAndTheEndOfTheStream) {
  EXPECT_EQ(beneath(Lines().sent(1, 3).got("c", 1).got("c", 2).got("c", 1).read_all(3)),
            "duplicate c ops=[6 8]: sequence 1 was delivered again\n"
            "stall c ops=[8 11]: reached 2 of 3 before the final read\n");
  EXPECT_EQ(beneath(Lines().acked(1).subscribed("c").subscribed("c").read_all(1)),
            "stall c ops=[3 4]: received nothing before the final read; the stream ends at 1\n");
}

TEST(DriftlabTest, AStallNeedsAConsumerThatIsKnownBeforeTheFinalRead) {
  EXPECT_EQ(says(Lines().acked(1).op("c", "invoke", "subscribe").op("c", "info", "subscribe", R"(,"error":"x")").read_all(1)),
            "verdict clean, 0 of 1 publishes unknown\n");
  EXPECT_EQ(says(Lines().acked(1).read_all(1).subscribed("c").got("d", 1)), "verdict clean, 0 of 1 publishes unknown\n");
}

TEST(DriftlabTest, WhatIsReceivedAfterTheFinalReadBeganDoesNotHelp) {
  EXPECT_EQ(beneath(Lines().sent(1, 2).got("c", 1).read(1).got("c", 2).read(2)),
            "stall c ops=[4 7]: reached 1 of 2 before the final read\n");
}

TEST(DriftlabTest, StallsComeInTheOrderInWhichTheConsumersCame) {
  EXPECT_EQ(beneath(Lines().acked(1).subscribed("b").subscribed("a").read_all(1)),
            "stall b ops=[2 4]: received nothing before the final read; the stream ends at 1\n"
            "stall a ops=[3 4]: received nothing before the final read; the stream ends at 1\n");
}

TEST(DriftlabTest, TheEndOfTheStreamIsTheHighestSequenceAndTheFirstLineThatHasIt) {
  EXPECT_EQ(beneath(Lines().sent(1, 2).got("c", 1).read(2).read(1).read(2)), "stall c ops=[4 5]: reached 1 of 2 before the final read\n");
}

TEST(DriftlabTest, AnAckedValueThatIsNotReadIsLostWhateverStandsAtItsSequence) {
  EXPECT_EQ(beneath(Lines().acked(1).acked(2).read(1, 1).read(9, 2).invoke(9)),
            "lost-write p ops=[3]: value 2, acknowledged at sequence 2, is not in the final read\n");
  EXPECT_EQ(beneath(Lines().sent(1, 3).ok(2, 7).read(1).read(3)),
            "lost-write p ops=[3]: value 2, acknowledged at sequence 2, is not in the final read\n"
            "lost-write p ops=[6]: value 2, acknowledged at sequence 7, is not in the final read\n");
}

TEST(DriftlabTest, WithoutAFinalReadNothingIsLostAndNobodyStalls) {
  EXPECT_EQ(says(Lines().acked(1).subscribed("c")),
            "verdict invalid, 0 of 1 publishes unknown\n"
            "invalid: there is no final read\n");
}

TEST(DriftlabTest, AnUnknownPublishMayAppearOrNot) {
  const auto sent = [] { return Lines().invoke(1).unknown(1).acked(2, 2); };
  EXPECT_EQ(says(sent().got("c", 1).got("c", 2).read_all(2)), "verdict clean, 1 of 2 publishes unknown\n");
  EXPECT_EQ(says(Lines().invoke(1).unknown(1).acked(2, 1).got("c", 2, 1).read(2, 1)), "verdict clean, 1 of 2 publishes unknown\n");
}

TEST(DriftlabTest, APhantomIsToldOnceWithAllItsSightings) {
  EXPECT_EQ(beneath(Lines().acked(1).got("a", 1).got("a", 7, 2).got("b", 1).got("b", 7, 2).read(1).read(7, 2)),
            "phantom a ops=[3 5 7]: value 7 was never published\n");
}

TEST(DriftlabTest, PhantomsComeByTheirFirstSighting) {
  EXPECT_EQ(beneath(Lines().got("c", 9, 1).got("c", 8, 2).read(9, 1).read(8, 2).read(7, 3).got("c", 7, 3)),
            "stall c ops=[1 4]: reached 2 of 3 before the final read\n"
            "phantom c ops=[0 2]: value 9 was never published\n"
            "phantom c ops=[1 3]: value 8 was never published\n"
            "phantom final-read ops=[4 5]: value 7 was never published\n");
}

TEST(DriftlabTest, AnInvokeCountsWhereverItStands) {
  EXPECT_EQ(says(Lines().got("c", 1).ok(1, 1).invoke(1).read(1)), "verdict clean, 0 of 1 publishes unknown\n");
}

TEST(DriftlabTest, AFailedPublishWinsOverOneThatWentThrough) {
  EXPECT_EQ(beneath(Lines().invoke(1).ok(1, 1).got("c", 1).invoke(1).failed(1).read(1)),
            "phantom c ops=[2 5]: value 1 appeared although its publish failed\n");
  EXPECT_EQ(beneath(Lines().failed(1).read(1)), "phantom final-read ops=[1]: value 1 was never published\n") << "and was not invoked";
}

TEST(DriftlabTest, AHoleThatNoAckExplainsIsInvalid) {
  EXPECT_EQ(says(Lines().acked(1).acked(5).read(1).read(5)),
            "verdict invalid, 0 of 2 publishes unknown\n"
            "invalid: the final read ends at sequence 5 and lacks 3 that no acknowledgement explains, the first at 2\n");
  EXPECT_EQ(says(Lines().acked(2).read(2)).substr(42),
            "invalid: the final read ends at sequence 2 and lacks 1 that no acknowledgement explains, the first at 1\n");
}

TEST(DriftlabTest, AHoleThatAnAckExplainsIsAFindingInstead) {
  EXPECT_EQ(says(Lines().sent(1, 3).read(1).read(3)),
            "verdict failed, 0 of 3 publishes unknown\n"
            "lost-write p ops=[3]: value 2, acknowledged at sequence 2, is not in the final read\n");
  EXPECT_EQ(says(Lines().acked(1).acked(2, 4).acked(3, 2).read(1).read(2, 3).read(3, 4)), "verdict clean, 0 of 3 publishes unknown\n")
      << "it is explained by its position, though no value is lost";
}

TEST(DriftlabTest, DeclaredFaultsMustHaveCompletedAndAreNamedInTheirOrder) {
  const auto declared = [] { return Lines({"stall", "cut", "overflow"}).acked(1); };
  EXPECT_EQ(says(declared().fault("invoke", "stall").fault("ok", "cut").fault("info", "overflow").read(1)),
            "verdict invalid, 0 of 1 publishes unknown\n"
            "invalid: the declared fault stall never completed\n"
            "invalid: the declared fault overflow never completed\n");
  EXPECT_THAT(says(Lines({"cut"}).acked(1).op("producer", "ok", "cut").read(1)), HasSubstr("fault cut never completed"));
}

TEST(DriftlabTest, AFaultThatIsNotDeclaredIsNoError) {
  EXPECT_EQ(says(Lines().acked(1).fault("ok", "cut").got("c", 1).read(1)),
            "verdict clean, 0 of 1 publishes unknown\n"
            "recovery c: caught up 0s after the faults ended\n");
}

TEST(DriftlabTest, ReasonsComeInTheirOrderAndInvalidWinsOverFailed) {
  EXPECT_EQ(says(Lines({"cut"}).acked(1).got("c", 2)),
            "verdict invalid, 0 of 1 publishes unknown\n"
            "invalid: there is no final read\n"
            "invalid: the declared fault cut never completed\n"
            "poll-skip c ops=[2]: expected sequence 1, received 2: 1 skipped, 0 delivered late, 1 never delivered\n"
            "phantom c ops=[2]: value 2 was never published\n");
  EXPECT_THAT(says(Lines({"cut"}).acked(3).read(3)), HasSubstr("first at 1\ninvalid: the declared fault cut never"));
}

TEST(DriftlabTest, RecoveryCountsFromTheLastFaultToTheLastOfWhatWasAckedBefore) {
  const auto begun = [] {
    return Lines().sent(1, 3).got_at(5, "c", 1).fault("ok", "cut", 9).fault("ok", "freeze", 1'000'000'000).acked(4);
  };
  EXPECT_THAT(says(begun().got_at(1'500'000'000, "c", 2).got_at(2'234'600'000, "c", 3).got_at(9'000'000'000, "c", 4).read_all(4)),
              EndsWith("unknown\nrecovery c: caught up 1.235s after the faults ended\n"));
  EXPECT_THAT(says(begun().got_at(1'500'000'000, "c", 2).read_all(4)), EndsWith("recovery c: never caught up after the faults ended\n"));
  EXPECT_THAT(says(begun().got_at(1'500'000'000, "c", 4).read_all(4)), EndsWith("recovery c: never caught up after the faults ended\n"))
      << "what was acked after the faults does not count";
}

TEST(DriftlabTest, RecoveryIsMeasuredAtTheDeliveryThatCompletesWhateverItsOrder) {
  EXPECT_THAT(says(Lines().sent(1, 3).fault("ok", "cut", 0).got_at(1'000'000'000, "c", 3).got_at(2'000'000'000, "c", 3)
                       .got_at(3'000'000'000, "c", 1).got_at(4'000'000'000, "c", 2).got_at(5'000'000'000, "c", 2).read_all(3)),
              EndsWith("recovery c: caught up 4s after the faults ended\n"));
}

TEST(DriftlabTest, WhoHadItAllBeforeTheFaultsEndedCaughtUpAtOnce) {
  EXPECT_THAT(says(Lines().sent(1, 2).got_at(3, "c", 1).got_at(4, "c", 2).fault("ok", "cut", 70'000'000'000).read_all(2)),
              EndsWith("recovery c: caught up 0s after the faults ended\n"));
}

TEST(DriftlabTest, WithoutAFaultOrATargetThereIsNoRecovery) {
  EXPECT_THAT(says(Lines().acked(1).fault("invoke", "cut").fault("info", "cut").got("c", 1).read(1)), Not(HasSubstr("recovery")));
  EXPECT_THAT(says(Lines().invoke(1).fault("ok", "cut").ok(1, 1).got("c", 1).read(1)), Not(HasSubstr("recovery")));
  EXPECT_THAT(says(Lines().acked(1).subscribed("c").fault("ok", "cut").read(1)), Not(HasSubstr("recovery"))) << "nothing was delivered";
}

TEST(DriftlabTest, RecoveriesComeByFirstDelivery) {
  EXPECT_THAT(says(Lines().acked(1).subscribed("a").fault("ok", "cut").got("b", 1).got("a", 1).read(1)),
              EndsWith("recovery b: caught up 0s after the faults ended\nrecovery a: caught up 0s after the faults ended\n"));
}

TEST(DriftlabTest, TimesAreWrittenAsDriftlabDoes) {
  const auto after = [](std::int64_t time_ns) {
    const std::string all = says(Lines().acked(1).fault("ok", "cut", 0).got_at(time_ns, "c", 1).read(1));
    const std::size_t at = all.find("up ") + 3;
    return all.substr(at, all.find(" after") - at);
  };
  EXPECT_EQ(after(499'999), "0s");
  EXPECT_EQ(after(500'000), "1ms");
  EXPECT_EQ(after(999'400'000), "999ms");
  EXPECT_EQ(after(1'000'000'000), "1s");
  EXPECT_EQ(after(1'250'000'000), "1.25s");
  EXPECT_EQ(after(120'500'000'000), "2m0.5s");
  EXPECT_EQ(after(3'600'000'000'000), "1h0m0s");
  EXPECT_EQ(after(-5), "0s");
  EXPECT_EQ(after(std::numeric_limits<std::int64_t>::max()), "2562047h47m16.855s");
  EXPECT_THAT(says(Lines().acked(1).fault("ok", "cut", std::numeric_limits<std::int64_t>::min())
                       .got_at(std::numeric_limits<std::int64_t>::max(), "c", 1).read(1)),
              HasSubstr("caught up 2562047h47m16.855s")) << "no overflow";
}

TEST(DriftlabTest, HugeGapsAndNumbersCostNothing) {
  EXPECT_EQ(says(Lines().acked(1).acked(2, kFar).got("c", 1).got("c", 2, kFar).read(1).read(2, kFar)),
            "verdict invalid, 0 of 2 publishes unknown\n"
            "invalid: the final read ends at sequence 9223372036854775808 and lacks 9223372036854775806 that no acknowledgement explains, "
            "the first at 2\n"
            "poll-skip c ops=[4 5]: expected sequence 2, received 9223372036854775808: 9223372036854775806 skipped, 0 delivered late, "
            "9223372036854775806 never delivered\n");
  Lines last;
  last.acked(kMax, 1).acked(1, kMax).got("c", kMax, 1).got("c", 1, kMax).got("c", 1, kMax - 1).read(kMax, 1).read(1, kMax);
  EXPECT_EQ(says(last),
            "verdict invalid, 0 of 2 publishes unknown\n"
            "invalid: the final read ends at sequence 18446744073709551615 and lacks 18446744073709551613 that no acknowledgement "
            "explains, the first at 2\n"
            "poll-skip c ops=[4 5]: expected sequence 2, received 18446744073709551615: 18446744073709551613 skipped, 1 delivered late, "
            "18446744073709551612 never delivered\n"
            "nonmonotonic-poll c ops=[5 6]: sequence 18446744073709551614 was delivered after 18446744073709551615\n");
}

TEST(DriftlabTest, AFileWithoutOperationsIsInvalid) {
  EXPECT_EQ(says(Lines()), "verdict invalid, 0 of 0 publishes unknown\ninvalid: there is no final read\n");
}

TEST(DriftlabTest, NamesAreShownSoThatTheyCannotMakeLines) {
  EXPECT_EQ(beneath(Lines().acked(1).subscribed("a\\nb").read(1)),
            "stall a\\nb ops=[2 3]: received nothing before the final read; the stream ends at 1\n");
}

TEST(DriftlabTest, WhatTheNemesisDeliversOrPublishesCountsByItsName) {
  const std::string both = R"(,"value":1,"stream_seq":1)";
  EXPECT_EQ(beneath(Lines({"publish"}).op("nemesis", "invoke", "publish", both).op("nemesis", "ok", "publish", both)
                        .op("nemesis", "ok", "deliver", both).op("nemesis", "ok", "read", both)),
            "recovery nemesis: caught up 0s after the faults ended\n");
  EXPECT_THAT(says(Lines().op("nemesis", "ok", "read")), StartsWith("error: h line 2: read needs member 'value' from 1 up"));
}

TEST(DriftlabTest, TheFileIsReadTwiceOnlyForEvidenceThatIsGone) {
  EXPECT_EQ(judge(Lines().sent(1, 4).got("c", 2).got("c", 4).got("c", 3).read_all(4).text()).opened, 1);
  EXPECT_EQ(judge(Lines().sent(1, 4).got("c", 1).read_all(4).text()).opened, 1);
  EXPECT_EQ(judge(Lines().acked(1).got("c", 1).got("c", 1).read_all(1).text()).opened, 2);
  EXPECT_EQ(judge(Lines().sent(1, 2).read_all(1).text()).opened, 2);
  EXPECT_EQ(judge(Lines().read_all(1).text()).opened, 2);
  EXPECT_EQ(judge(Lines().acked(1).fault("ok", "cut").got("c", 1).read_all(1).text()).opened, 2);
}

TEST(DriftlabTest, ListsEndAtTheirLimitAndSayHowManyMoreThereAre) {
  Lines lines;
  lines.sent(1, 4).got("a", 2).got("a", 2).got("a", 1).subscribed("b").subscribed("c");
  lines.got("d", 8, 1).got("d", 9, 2).got("e", 8, 1).read(5, 1);
  for (const std::uint64_t sequence : {2U, 3U, 4U, 5U}) lines.read(8, sequence);
  EXPECT_EQ(says(lines, {.listed_max = 1}),
            "verdict failed, 0 of 4 publishes unknown\n"
            "poll-skip a ops=[8]: expected sequence 1, received 2: 1 skipped, 1 delivered late, 0 never delivered\n"
            "not listed: 2 more duplicate, nonmonotonic-poll and poll-skip\n"
            "stall a ops=[10 20]: reached 2 of 5 before the final read\n"
            "not listed: 4 more stall\n"
            "lost-write p ops=[1]: value 1, acknowledged at sequence 1, is not in the final read\n"
            "not listed: 3 more lost-write\n"
            "phantom d ops=[13]: value 8 was never published (5 more sightings are not listed)\n"
            "not listed: 2 more phantom\n");
}

TEST(DriftlabTest, TooManyGapsAreRefused) {
  Lines lines;
  for (std::uint64_t sequence = 2; sequence < 20; sequence += 2) lines.got("c", sequence);
  EXPECT_EQ(says(lines, {.gaps_max = 17}),
            "error: h line 10: its sequences and values have more than 17 gaps together; check a shorter run");
  EXPECT_THAT(says(lines, {.gaps_max = 18}), StartsWith("verdict invalid"));
}

TEST(DriftlabTest, AFileThatChangesWhileItIsReadIsRefused) {
  history::Vocabulary vocabulary;
  const std::string before = Lines().acked(1).got("c", 1).got("c", 1).read(1).text();
  const std::string shorter = Lines().acked(1).got("c", 1).got("c", 1).text();
  const std::string other = Lines().acked(1).got("c", 2).got("c", 2).read(1).text();
  for (const std::string& after : {shorter, other}) {
    const std::string* now = &before;
    const auto open = [&] {
      auto source = std::make_unique<codec::TextSource>(*std::exchange(now, &after));
      return history::Reader::open(std::move(source), "h", vocabulary, {.threads = false});
    };
    const auto result = check_driftlab(open, vocabulary, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "h: it was written to while it was read: check it again when it is whole");
  }
}

TEST(DriftlabTest, AHistoryOfVersionOneIsRefused) {
  EXPECT_EQ(judge("{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n").lines,
            "error: h: it is a history of version 1, not of driftlab; check it without --format");
}

TEST(DriftlabTest, WhatIsCutOffIsRefusedOrSalvagedButNeverClean) {
  const std::string whole = Lines().acked(1).got("c", 1).read(1).text();
  const std::string torn = whole + "{\"index\":4,\"proc";
  EXPECT_THAT(judge(torn).lines, StartsWith("error: h line 6: the last line is cut off"));
  EXPECT_EQ(judge(torn, {}, true).lines,
            "verdict invalid, 0 of 1 publishes unknown\n"
            "invalid: line 6 is cut off: what is missing may have said anything\n");
}

// What the reader refuses, as driftlab does, and what it takes, as driftlab does.
struct LineCase {
  const char* name;
  std::string text;
  std::string says;  // how it begins
};
class DriftlabLineTest : public testing::TestWithParam<LineCase> {};

TEST_P(DriftlabLineTest, IsTakenOrRefused) {
  const std::string lines = judge(GetParam().text).lines;
  EXPECT_THAT(lines, StartsWith(GetParam().says));
  if (lines.starts_with("error")) {
    EXPECT_THAT(lines, testing::AnyOf(HasSubstr("correct what writes it and repeat the run"), HasSubstr("--salvage")));
  }
}

std::string meta_of(const std::string& members) { return "{\"type\":\"meta\"" + members + "}\n"; }
std::string after_meta(const std::string& line) { return Lines().raw("").raw(line).text(); }

const LineCase kLineCases[] = {
    {"Empty", "", "error: h: is empty"},
    {"OnlyBlankLines", " \n\t\n", "error: h: is empty"},
    {"BeginsWithAnother", R"({"type":"invoke","client":"c","scenario":"s"})" "\n",
     "error: h line 1 column 9: the first record has type 'invoke'"},
    {"NoClient", meta_of(R"(,"scenario":"s")"), "error: h line 1 column 1: the meta record has no 'client'"},
    {"EmptyClient", meta_of(R"(,"client":"","scenario":"s")"), "error: h line 1 column 1: the meta record has no 'client'"},
    {"NoScenario", meta_of(R"(,"client":"c")"), "error: h line 1 column 1: the meta record has no 'scenario'"},
    {"FaultsAreNoList", meta_of(R"(,"client":"c","scenario":"s","faults":"cut")"), "error: h line 1 column 53: 'faults' is a text"},
    {"MetaMembersOfOthers", meta_of(R"(,"client":"c","scenario":"s","kind":7,"run":[],"contract":1,"incarnation":"x","topics":{})"),
     "verdict invalid"},
    {"MetaParamsOfAnyKind", meta_of(R"(,"client":"c","scenario":"s","params":[1,"x",null],"driftlab":"abc-dirty")"), "verdict invalid"},
    {"NoJson", after_meta("nonsense"), "error: h line 3 column 1: not JSON"},
    {"TrailingGarbage", after_meta(R"({"index":0,"process":"p","type":"ok","f":"x"} x)"), "error: h line 3 column 47: not JSON"},
    {"NegativeValue", after_meta(R"({"index":0,"process":"p","type":"invoke","f":"publish","value":-1})"),
     "error: h line 3 column 64: 'value' is a number below 0"},
    {"TextAsValue", after_meta(R"({"index":0,"process":"p","type":"invoke","f":"publish","value":"1"})"),
     "error: h line 3 column 64: 'value' is a text"},
    {"FractionAsSequence", after_meta(R"({"index":0,"process":"c","type":"ok","f":"deliver","value":1,"stream_seq":1.5})"),
     "error: h line 3 column 75: 'stream_seq' is a number that is not whole"},
    {"NumberAsError", after_meta(R"({"index":0,"process":"c","type":"info","f":"client-error","error":5})"),
     "error: h line 3 column 67: 'error' is a number"},
    {"WrongIndex", after_meta(R"({"index":3,"process":"p","type":"ok","f":"x"})"),
     "error: h line 3 column 10: 'index' is 3 where 0 comes next"},
    {"FirstWithoutIndex", after_meta(R"({"process":"p","type":"ok","f":"x"})"), "verdict invalid"},
    {"SecondWithoutIndex", Lines().acked(1).raw(R"({"process":"p","type":"ok","f":"x"})").text(),
     "error: h line 4 column 1: 'index' is missing; it must be 2"},
    {"UnknownType", after_meta(R"({"index":0,"process":"p","type":"maybe","f":"x"})"), "error: h line 3 column 33: unknown type 'maybe'"},
    {"SecondMeta", after_meta(R"({"type":"meta","process":"p","f":"x"})"), "error: h line 3 column 9: a second meta record"},
    {"EmptyProcess", after_meta(R"({"index":0,"process":"","type":"ok","f":"x"})"), "error: h line 3 column 22: 'process' is empty"},
    {"NoProcess", after_meta(R"({"index":0,"type":"ok","f":"x"})"), "error: h line 3 column 1: 'process' is missing"},
    {"EmptyF", after_meta(R"({"index":0,"process":"p","type":"ok","f":""})"), "error: h line 3 column 42: 'f' is empty"},
    {"PublishWithoutValue", Lines().op("p", "invoke", "publish").text(),
     "error: h line 2 column 1: publish needs member 'value' from 1 up"},
    {"PublishOfZero", Lines().op("p", "invoke", "publish", ",\"value\":0").text(),
     "error: h line 2 column 1: publish needs member 'value' from 1 up"},
    {"AckWithoutSequence", Lines().op("p", "ok", "publish", ",\"value\":1").text(),
     "error: h line 2 column 1: publish needs member 'stream_seq' from 1 up"},
    {"AckAtZero", Lines().ok(1, 0).text(), "error: h line 2 column 1: publish needs member 'stream_seq' from 1 up"},
    {"UnknownWithoutSequence", Lines().unknown(1).failed(2).text(), "verdict invalid, 1 of 0"},
    {"DeliverInvoked", Lines().op("c", "invoke", "deliver", ",\"value\":1,\"stream_seq\":1").text(),
     "error: h line 2 column 1: deliver needs type \"ok\""},
    {"ReadFailed", Lines().op("c", "fail", "read", ",\"value\":1,\"stream_seq\":1").text(),
     "error: h line 2 column 1: read needs type \"ok\""},
    {"DeliverWithoutValue", Lines().op("c", "ok", "deliver", ",\"stream_seq\":1").text(),
     "error: h line 2 column 1: deliver needs member 'value' from 1 up"},
    {"ReadWithoutSequence", Lines().op("c", "ok", "read", ",\"value\":1").text(),
     "error: h line 2 column 1: read needs member 'stream_seq' from 1 up"},
    {"MembersNobodyKnows", Lines().op("c", "ok", "tick", ",\"detail\":{\"a\":[1]},\"key\":5,\"topic\":{},\"value\":null").text(),
     "verdict invalid"},
    {"CutOff", Lines().text() + "{\"index\":0", "error: h line 2: the last line is cut off"},
};

INSTANTIATE_TEST_SUITE_P(All, DriftlabLineTest, testing::ValuesIn(kLineCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace sp::check

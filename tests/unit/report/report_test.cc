#include "report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/words.h"

namespace sp::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

Report passed_report() {
  Report report;
  report.run = core::RunId{7};
  report.proof.name = "orders";
  report.proof.driver = "kafka";
  report.proof.at_least_once = true;
  report.proof.ordering = true;
  report.proof.partitions = 12;
  report.proof.replication = 3;
  report.proof.keys = 1000;
  report.proof.rate = 5000;
  report.proof.payload_bytes = 100;
  report.topic = "sp-r00000007";
  report.topic_deleted = true;
  report.started = WallTime{1796070138s};
  report.program = "streaming-proof 0.1.0";
  report.driver = "kafka";
  report.client = "librdkafka 2.16.0";
  report.judgement.status = judge::Status::kPassed;
  report.judgement.coverage.attempts = 600'000;
  report.judgement.coverage.acked = 599'000;
  report.judgement.coverage.unknown = 1'000;
  report.judgement.coverage.landed = 400;
  report.judgement.coverage.received = 599'400;
  report.judgement.counts[core::Code::kDuplicateDelivery] = 12;
  report.judgement.allowed[core::Code::kDuplicateDelivery] = 12;
  report.facts.raw_read_complete = true;
  report.facts.settings = {{"acks", "all"}};
  report.facts.rate = 4998.0;
  report.load = 120s;
  report.ticks = 24;
  report.staleness = 350ms;
  return report;
}

judge::Finding lost_finding() {
  judge::Finding finding;
  finding.code = core::Code::kLost;
  finding.blame = core::Blame::kLog;
  finding.group = "r00000007-0";
  finding.key = "r00000007.0.1.0.3";
  finding.first = 17;
  finding.last = 21;
  finding.records = 5;
  finding.producer = "worker 0 incarnation 1 producer 0";
  finding.positions = {{core::PartitionId{2}, core::Offset{41}}};
  finding.says = "acknowledged at partition 2 offset 41, not in the log";
  return finding;
}

Report failed_report() {
  Report report = passed_report();
  report.topic_deleted = false;
  report.judgement.status = judge::Status::kFailed;
  report.judgement.reasons = {"5 acknowledged records were never received"};
  report.judgement.counts[core::Code::kLost] = 5;
  report.judgement.findings = {lost_finding()};
  return report;
}

std::size_t lines_until(const std::string& text, std::string_view part) {
  const auto end = text.find(part);
  return static_cast<std::size_t>(
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

TEST(TextReportTest, PassFitsInTenLinesBeforeWhatWasNotSeen) {
  const std::string text = text_report(passed_report());
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "PASSED  all 599,000 acknowledged records are accounted for");
  EXPECT_LE(lines_until(text, "\nNot seen"), 10U);
  EXPECT_THAT(text, HasSubstr("  found      duplicate-delivery 12 (allowed)\n"));
  EXPECT_THAT(text, HasSubstr("  topic      sp-r00000007 (deleted)\n"));
  EXPECT_THAT(
      text,
      HasSubstr("600,000 attempts · 599,000 acknowledged · 0 failed · 1,000 unknown (400 landed)"));
  EXPECT_THAT(text, Not(HasSubstr("Findings")));
  EXPECT_THAT(text, Not(HasSubstr("\033[")));
}

TEST(TextReportTest, FailureNamesKeySequencesAndBlame) {
  const std::string text = text_report(failed_report());
  EXPECT_EQ(text.substr(0, text.find('\n')), "FAILED  5 acknowledged records were never received");
  EXPECT_THAT(text, HasSubstr("  lost 5: An acknowledged record was never received.\n"
                              "    r00000007.0.1.0.3 sequences 17 to 21, blame log: acknowledged "
                              "at partition 2 offset 41, "
                              "not in the log\n"));
  EXPECT_THAT(text, HasSubstr("(kept)"));
  EXPECT_THAT(text, HasSubstr("What to do"));
}

TEST(TextReportTest, ManyFindingsOfOneCodeAreCutAndCounted) {
  Report report = failed_report();
  report.judgement.findings.assign(8, lost_finding());
  EXPECT_THAT(text_report(report), HasSubstr("    … and 3 more in result.json\n"));
  EXPECT_THAT(text_report(report, {.colour = false, .findings_max = 8}), Not(HasSubstr("more in")));
}

TEST(TextReportTest, EndsWithWhatWasNotSeen) {
  Report report = passed_report();
  report.judgement.coverage.keys_silent = 3;
  report.judgement.coverage.partitions_silent = 1;
  report.judgement.coverage.not_checked = {{"corrupt", 9}, {"dual-owner", 0}};
  report.facts.faults_without_effect = {"freeze-leader"};
  const std::string text = text_report(report);
  EXPECT_THAT(text, HasSubstr("1,000 attempts have an unknown outcome; 400 of them were seen"));
  EXPECT_THAT(text, HasSubstr("not checked: corrupt (9)"));
  EXPECT_THAT(text, Not(HasSubstr("dual-owner")));
  EXPECT_THAT(text, HasSubstr("3 keys were never exercised"));
  EXPECT_THAT(text, HasSubstr("1 partitions never held a record"));
  EXPECT_THAT(text, HasSubstr("fault freeze-leader: none took effect"));
  EXPECT_THAT(text, HasSubstr("Effective client settings\n  acks=all\n"));
}

TEST(TextReportTest, FaultsShowBeginEndAndEffect) {
  Report report = passed_report();
  core::FaultRecord fault;
  fault.number = 1;
  fault.name = "kill-leader";
  fault.target = "node 2";
  fault.effect = "leader of partition 0 moved from 2 to 3";
  fault.begin = MonotonicTime{20s};
  fault.effect_seen = MonotonicTime{21s};
  fault.end = MonotonicTime{28s};
  core::FaultRecord dud = fault;
  dud.number = 2;
  dud.effect_seen.reset();
  report.facts.faults = {fault, dud};
  const std::string text = text_report(report);
  EXPECT_THAT(text, HasSubstr("2 made, 1 took effect"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "1 kill-leader node 2 at 20 s until 28 s: leader of partition 0 moved from 2 to 3"));
  EXPECT_THAT(text, HasSubstr("2 kill-leader node 2 at 20 s until 28 s: no effect"));
}

TEST(TextReportTest, WarningsStandFirst) {
  Report report = passed_report();
  report.facts.warnings = {"acks=1 is weaker than at_least_once"};
  EXPECT_LE(lines_until(text_report(report), "acks=1"), 2U);
}

TEST(TextReportTest, RunThatCouldNotStartSaysOneSentence) {
  Report report = passed_report();
  report.failure = "topic sp-r00000007: no broker answers";
  const std::string text = text_report(report);
  EXPECT_THAT(text, HasSubstr("COULD NOT RUN  topic sp-r00000007: no broker answers"));
  EXPECT_THAT(text, Not(HasSubstr("PASSED")));
  EXPECT_EQ(exit_code(report), 3);
  EXPECT_EQ(one_line(report), "could not run: topic sp-r00000007: no broker answers");
}

TEST(TextReportTest, ColourIsOnlyThereWhenAskedFor) {
  EXPECT_THAT(text_report(failed_report(), {.colour = true, .findings_max = 5}),
              HasSubstr("\033[1;31mFAILED\033[0m"));
}

// Without the white space between tokens, which is not part of the shape.
std::string packed_json(const Report& report) {
  const std::string json = json_report(report);
  std::string packed;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '\n') {
      while (i + 1 < json.size() && json[i + 1] == ' ') ++i;
    } else {
      packed += json[i];
    }
  }
  return packed;
}

TEST(JsonReportTest, HasTheShapeOfTheResult) {
  const std::string packed = packed_json(failed_report());
  EXPECT_THAT(
      packed,
      testing::StartsWith(
          R"({"verdict": "failed","reasons": ["5 acknowledged records were never received"],)"
          R"("features": ["at_least_once","ordering"],"counts": {"lost": 5,"late": 0,)"));
  EXPECT_THAT(packed,
              HasSubstr(R"("allowed": {"duplicate-delivery": 12},"undecided": 0,"findings": [)"));
  EXPECT_THAT(
      packed,
      HasSubstr(
          R"({"code": "lost","blame": "log","group": "r00000007-0","key": "r00000007.0.1.0.3",)"
          R"("first": 17,"last": 21,"records": 5,"producer": "worker 0 incarnation 1 producer 0",)"
          R"("consumer": null,"positions": [{"partition": 2,"offset": 41}],"lineages": [],)"
          R"("time_ns": null,"wall": null,"faults": [],"fault_numbers": [],"evidence": [],)"
          R"("says": "acknowledged at partition 2 offset 41, not in the log"})"));
  EXPECT_THAT(
      packed,
      HasSubstr(
          R"("coverage": {"attempts": 600000,"acked": 599000,"failed": 0,"unknown": 1000,"landed": 400,)"
          R"("received": 599400,"foreign": 0,"not_checked": {},"keys_silent": 0,"partitions_silent": 0,)"));
  EXPECT_THAT(packed, HasSubstr(R"("settings": {"acks": "all"},"faults": [])"));
  EXPECT_THAT(packed, HasSubstr(R"("measures": {"recovery_ms": [],"staleness_ms": 350,)"));
}

TEST(JsonReportTest, FindingTellsItsCircumstances) {
  Report report = failed_report();
  judge::Finding& finding = report.judgement.findings.front();
  finding.time = 73s;
  finding.wall = WallTime{1796070211s};
  finding.faults = {"kill-leader"};
  finding.fault_numbers = {1, 3};
  judge::LineageFact lineage;
  lineage.consumer = "worker 0 incarnation 1 consumer 2";
  lineage.partition = core::PartitionId{2};
  lineage.generation = core::Generation{3};
  lineage.first = core::Offset{0};
  lineage.next = core::Offset{41};
  lineage.closed = "revoked";
  finding.lineages = {lineage};
  EXPECT_THAT(
      packed_json(report),
      HasSubstr(
          R"("lineages": [{"consumer": "worker 0 incarnation 1 consumer 2","partition": 2,"generation": 3,)"
          R"("opened": "assign","closed": "revoked","start": null,"first": 0,"next": 41,"committed": null}],)"
          R"("time_ns": 73000000000,"wall": "2026-11-30T20:23:31.000000Z",)"));
  EXPECT_THAT(packed_json(report), HasSubstr(R"("faults": ["kill-leader"],"fault_numbers": [1,3],"evidence": [],)"));
}

// Of three faults the first recovered, the second did not, the third took no effect.
Report report_of_faults() {
  Report report = passed_report();
  core::FaultRecord fault;
  fault.number = 1;
  fault.name = "kill-leader";
  fault.target = "node 2";
  fault.effect = "leader of partition 0 moved from 2 to 3";
  fault.begin = MonotonicTime{20s};
  fault.effect_seen = MonotonicTime{21s};
  fault.released = MonotonicTime{28s};
  fault.end = MonotonicTime{31s};
  fault.recovered = MonotonicTime{28500ms};
  report.facts.faults.assign(3, fault);
  auto& second = report.facts.faults[1];
  second.number = 2;
  second.recovered.reset();
  second.no_recovery = "nothing new was acknowledged on partition 4 after it";
  auto& third = report.facts.faults[2];
  third.number = 3;
  third.effect_seen.reset();
  third.recovered.reset();
  third.no_recovery = "it took no effect";
  return report;
}

TEST(JsonReportTest, RecoveryIsMeasuredFromTheReleaseOrAbsentWithItsReason) {
  const std::string json = packed_json(report_of_faults());
  EXPECT_THAT(json, HasSubstr(R"("recovery_ms": [500],)"));
  EXPECT_THAT(json, HasSubstr(R"("not_measured": {"recovery_ms": "fault 2: nothing new was acknowledged on partition 4 )"
                              R"(after it; fault 3: it took no effect")"));
  EXPECT_THAT(json, HasSubstr(R"("released_ms": 28000,"end_ms": 31000,"recovered_ms": 28500,"no_recovery": null)"));
  EXPECT_THAT(json, HasSubstr(R"("recovered_ms": null,"no_recovery": "nothing new)"));
}

TEST(TextReportTest, FaultsTellWhenRecordsFlowedAgain) {
  const std::string text = text_report(report_of_faults());
  EXPECT_THAT(text, HasSubstr("moved from 2 to 3; records flowed again 500 ms after its release\n"));
  EXPECT_THAT(text, HasSubstr("; recovery not seen: nothing new was acknowledged on partition 4 after it\n"));
  EXPECT_THAT(text, HasSubstr("3 kill-leader node 2 at 20 s until 31 s: no effect\n"));
}

TEST(JsonReportTest, WhatWasNotMeasuredIsNullWithItsReasonAndNeverZero) {
  Report report = passed_report();
  report.staleness.reset();
  report.no_staleness = "no acknowledgement told a position";
  report.ticks = 0;
  report.facts.rate.reset();
  const std::string json = packed_json(report);
  EXPECT_THAT(json, HasSubstr(R"("staleness_ms": null,"not_measured": {"staleness_ms": "no acknowledgement told a position",)"));
  EXPECT_THAT(json, HasSubstr(R"("stall_max_ms": null,"timeouts": null,"rate": null,)"));
  EXPECT_THAT(json, HasSubstr(R"("publish": {"count": 0,"p50_ms": null,)"));
  report.publish_latency.record(3ms);
  EXPECT_THAT(packed_json(report), HasSubstr(R"("publish": {"count": 1,"p50_ms": 3)"));
}

TEST(JsonReportTest, CodeOfWhichNothingWasCheckedStandsInNotCheckedOnly) {
  Report report = passed_report();
  report.judgement.coverage.not_checked = {{"corrupt", 9}};
  const std::string json = json_report(report);
  EXPECT_THAT(json, HasSubstr("\"not_checked\": {\n      \"corrupt\": 9"));
  EXPECT_THAT(json, Not(HasSubstr("\"corrupt\": 0")));
}

TEST(JsonReportTest, SimulatedRunHoldsNoWallTime) {
  Report report = passed_report();
  report.started.reset();
  EXPECT_THAT(json_report(report), HasSubstr("\"started\": null"));
  EXPECT_EQ(json_report(report), json_report(report));
}

TEST(JsonReportTest, RunThatCouldNotStartHasNoVerdict) {
  Report report = passed_report();
  report.failure = "no broker answers";
  EXPECT_THAT(json_report(report),
              HasSubstr("{\n  \"verdict\": null,\n  \"failure\": \"no broker answers\""));
}

TEST(JunitReportTest, EachGuaranteeIsACase) {
  const std::string xml = junit_report(failed_report());
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("name=\"integrity\" time=\"120.000\"/>"));
  EXPECT_THAT(xml,
              HasSubstr("<failure message=\"lost 5\">lost r00000007.0.1.0.3 17..21: acknowledged"));
  EXPECT_THAT(xml, HasSubstr("name=\"ordering\" time=\"120.000\"/>"));
  EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-"));
}

TEST(JunitReportTest, InconclusiveIsAnErrorNotAFailure) {
  Report report = passed_report();
  report.judgement.status = judge::Status::kInconclusive;
  report.judgement.reasons = {"the log was <not> read"};
  const std::string xml = junit_report(report);
  EXPECT_THAT(xml, HasSubstr("failures=\"0\" errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("the log was &lt;not&gt; read"));
}

TEST(JunitReportTest, ThresholdThatWasPassedIsAFailureOfItsOwn) {
  Report report = passed_report();
  report.judgement.status = judge::Status::kFailed;
  report.judgement.reasons = {"stalled 9 s, at most 5 s are allowed"};
  EXPECT_THAT(junit_report(report), HasSubstr("name=\"thresholds\""));
}

TEST(MarkdownReportTest, SaysVerdictCountsAndFindingsAsTables) {
  const std::string text = markdown_report(failed_report());
  EXPECT_THAT(text, testing::StartsWith("## FAILED\n\n* "));
  EXPECT_THAT(text, HasSubstr("promised: at\\_least\\_once, ordering"));
  EXPECT_THAT(text, HasSubstr("\n| lost | 5 | 0 | An acknowledged record was never received. |\n"));
  EXPECT_THAT(text, HasSubstr("| 1 | lost | r00000007.0.1.0.3 17 to 21 | r00000007-0 | log | acknowledged"));
  EXPECT_THAT(text, HasSubstr("Not seen:\n\n* 1,000 attempts have an unknown outcome"));
}

TEST(MarkdownReportTest, WhateverAHistorySaysStaysText) {
  Report report = failed_report();
  report.judgement.findings.front().key = "a|b<script>\n## c";
  EXPECT_THAT(markdown_report(report), HasSubstr("| a\\|b\\<script\\>"));
  EXPECT_THAT(markdown_report(report), Not(HasSubstr("\n## c")));
  report.failure = "no *broker*";
  EXPECT_EQ(markdown_report(report), "## COULD NOT RUN\n\nno \\*broker\\*\n");
}

TEST(MarkdownReportTest, ManyFindingsAreCutAndCounted) {
  Report report = failed_report();
  report.judgement.findings.assign(60, report.judgement.findings.front());
  report.judgement.findings_left_out = 7;
  EXPECT_THAT(markdown_report(report), HasSubstr("| 50 | lost |"));
  EXPECT_THAT(markdown_report(report), Not(HasSubstr("| 51 | lost |")));
  EXPECT_THAT(markdown_report(report), HasSubstr("\n17 more are not shown.\n"));
}

}  // namespace
}  // namespace sp::report

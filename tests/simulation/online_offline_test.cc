// A run that kept its history, judged again from the files alone: the same verdict, counts and findings. Over all defects of the embedded
// broker, honest runs with crashes, and files that were changed afterwards.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulation/defects.h"
#include "history/convert.h"
#include "simulation/kept_run.h"
#include "simulation/kinds.h"

namespace sp::simulation {
namespace {

using driver::embedded::DefectKind;

class OnlineOfflineTest : public testing::TestWithParam<DefectKind> {};

TEST_P(OnlineOfflineTest, TheFilesGiveTheSameJudgement) {
  for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
    const std::string defect = drawn_defect(GetParam(), seed);
    const KeptRun run({defect}, seed);
    EXPECT_EQ(run.offline(), run.online()) << defect << " seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, OnlineOfflineTest, testing::ValuesIn(all_kinds()), kind_name);

TEST(OnlineOfflineHonestTest, AlsoWhenWorkersCrash) {
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= seeds(3) * 8; ++seed) {
    const KeptRun run({}, seed, std::chrono::seconds(seed % 2 == 0 ? 3 : 0));
    EXPECT_EQ(run.offline(), run.online()) << "seed " << seed;
    crashes += run.result().crashes;
  }
  EXPECT_GT(crashes, 0U) << "no worker crashed: the seeds show less than they should";
}

// Where evidence is missing that the run had, neither a pass nor a fault can be told: what is missing looks like loss.
void expect_nothing_is_concluded(const report::Report& report, const std::string& reason) {
  EXPECT_EQ(report.judgement.status, judge::Status::kInconclusive);
  EXPECT_THAT(report.judgement.reasons, testing::Contains(testing::HasSubstr(reason)));
  EXPECT_TRUE(report.judgement.findings.empty());
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    EXPECT_EQ(report.judgement.counts[code], 0U) << core::code_row(code).name;
    EXPECT_TRUE(report.judgement.coverage.not_checked.contains(std::string(core::code_row(code).name))) << core::code_row(code).name;
  }
}

TEST(OnlineOfflineHonestTest, OfARunOfWhichAFileIsMissingNothingIsConcluded) {
  std::size_t files = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const KeptRun run({}, seed);
    for (const auto& file : run.files()) {
      const std::string name = file.filename().string();
      if (name.starts_with("coordinator")) continue;
      ++files;
      const auto aside = file.string() + ".aside";
      std::filesystem::rename(file, aside);
      const auto report = run.check();
      ASSERT_TRUE(report.has_value()) << report.error().message;
      expect_nothing_is_concluded(*report, "the history of " + name.substr(0, name.find(".jsonl")) + " is not among the files");
      std::filesystem::rename(aside, file);
    }
  }
  EXPECT_GT(files, 7U) << "some runs have two workers";
}

TEST(OnlineOfflineHonestTest, WithoutTheCoordinatorsFileThereIsNoVerdict) {
  const KeptRun run({}, 4);
  std::filesystem::remove(std::filesystem::path(run.path()) / "coordinator.jsonl.zst");
  EXPECT_THAT(run.offline(), testing::HasSubstr("there is no coordinator's file of a proof among them"));
}

TEST(OnlineOfflineHonestTest, ACoordinatorThatWasKilledLeavesWhatItHadSeen) {
  const KeptRun run({}, 4);
  const auto file = std::filesystem::path(run.path()) / "coordinator.jsonl.zst";
  const auto lines = std::filesystem::path(run.path()) / "coordinator.jsonl";
  ASSERT_TRUE(history::convert(file, lines, {}).has_value());
  std::filesystem::remove(file);
  std::string text = sys::read_file(lines, std::size_t{1} << 20U).value_or("");
  text.resize(text.find('\n', text.find("\"n\":2,")) + 1);  // and after its second tick it was gone
  ASSERT_TRUE(sys::write_atomically(lines, text).has_value());
  const auto report = run.check();
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->judgement.status, judge::Status::kInconclusive);
  EXPECT_THAT(report->judgement.reasons.at(0), testing::StartsWith("the coordinator's history does not end: it was killed"));
  EXPECT_TRUE(report->judgement.findings.empty()) << "what was on its way is not lost";
  EXPECT_GT(report->judgement.coverage.received, 0U);
  EXPECT_LT(report->judgement.coverage.received, run.result().report.judgement.coverage.received);
}

// Row W11 of the cases: what a killed worker had written, but the coordinator never seen, does not change the verdict; unless all evidence
// is asked for, and then that is said.
TEST(OnlineOfflineHonestTest, TheSurplusOfAKilledWorkerDoesNotCount) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 2; seed <= 40 && tried < 3; seed += 2) {
    const KeptRun run({}, seed, std::chrono::seconds(3));
    const auto file = std::filesystem::path(run.path()) / "worker-0.1.jsonl.zst";
    if (run.result().crashes == 0 || !std::filesystem::exists(std::filesystem::path(run.path()) / "worker-0.2.jsonl.zst")) continue;
    const auto lines = std::filesystem::path(run.path()) / "worker-0.1.jsonl";
    ASSERT_TRUE(history::convert(file, lines, {}).has_value());
    std::filesystem::remove(file);
    std::string text = sys::read_file(lines, std::size_t{1} << 26U).value_or("");
    // Its last delivery once more, and then half a line: the disk had more than the coordinator.
    const std::size_t deliver = text.rfind("\"f\":\"deliver\"");
    if (deliver == std::string::npos) continue;
    ++tried;
    const std::size_t begin = text.rfind('\n', deliver) + 1;
    std::string again = text.substr(begin, text.find('\n', deliver) + 1 - begin);
    const auto operations = std::ranges::count(text, '\n') - 1;
    again.replace(0, again.find(','), "{\"index\":" + std::to_string(operations));
    ASSERT_TRUE(sys::write_atomically(lines, text + again + again.substr(0, again.size() / 2)).has_value());
    EXPECT_EQ(run.offline(), run.online()) << "seed " << seed;
    check::CheckOptions all;
    all.merge.all_evidence = true;
    const auto report = run.check(all);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    const auto& counts = report->judgement.counts;
    EXPECT_EQ(counts[core::Code::kDuplicateDelivery], run.result().report.judgement.counts[core::Code::kDuplicateDelivery] + 1)
        << "seed " << seed;
    EXPECT_THAT(report->facts.warnings, testing::Contains(testing::HasSubstr("evidence that the coordinator never saw is used")));
  }
  EXPECT_EQ(tried, 3U) << "no worker crashed: the seeds show less than they should";
}

// What somebody may have done to the files: never a crash, never a pass, always the file and the line.
class SpoiltTest : public testing::Test {
 protected:
  // What is said of the run when the first `from` of that file has become `to`.
  std::string said(const std::string& file, const std::string& from, const std::string& to) {
    const std::filesystem::path folder(run_.path());
    const auto lines = folder / (file + ".jsonl");
    EXPECT_TRUE(history::convert(folder / (file + ".jsonl.zst"), lines, {}).has_value());
    std::string text = sys::read_file(lines, std::size_t{1} << 26U).value_or("");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    EXPECT_TRUE(sys::write_atomically(lines, text).has_value());
    std::filesystem::rename(folder / (file + ".jsonl.zst"), folder / "aside");
    const std::string offline = run_.offline();
    std::filesystem::rename(folder / "aside", folder / (file + ".jsonl.zst"));
    std::filesystem::remove(lines);
    return offline;
  }
  KeptRun run_{{}, 4};
  std::string key_ = core::run_text(run_.result().report.run) + ".0.1.0.0\"";
};

TEST_F(SpoiltTest, NumbersThatCannotBeAreRefusedWithFileAndLine) {
  EXPECT_THAT(said("worker-0.1", key_, key_.substr(0, key_.size() - 2) + "4294967294\""),
              testing::ContainsRegex("worker-0.1.jsonl: line [0-9]+: publish: key '.*4294967294' is none that the proof gave"));
  EXPECT_THAT(said("worker-0.1", key_, "k\""), testing::HasSubstr("publish: key 'k' is none that the proof gave to this worker"));
  EXPECT_THAT(said("worker-0.1", "\"partitions\":[0]", "\"partitions\":[4294967295]"),
              testing::HasSubstr("at most 1048576 partitions can be judged"));
  EXPECT_THAT(said("worker-0.1", "\"process\":\"consumer-0\"", "\"process\":\"consumer-4294967295\""),
              testing::HasSubstr("a worker has at most 65536 of a kind"));
  EXPECT_THAT(said("worker-0.1", "\"time_ns\":0,", "\"time_ns\":9223372036854775807,"),
              testing::HasSubstr("its 'time_ns' is out of range"));
  EXPECT_THAT(said("coordinator", "\"n\":1,", "\"n\":18446744073709551615,"), testing::HasSubstr("tick"));
  EXPECT_THAT(said("coordinator", "\"keys\":", "\"keys\":9999999"), testing::HasSubstr("keys"));
}

TEST_F(SpoiltTest, OfEvidenceThatIsMissingNothingIsConcluded) {
  const std::string nothing = "verdict inconclusive";
  EXPECT_THAT(said("worker-0.1", R"("f":"tick","n":1})", R"("f":"clock","wall_ns":1})"), testing::HasSubstr(nothing));
  EXPECT_THAT(said("coordinator", "\"worker-0.1\":", "\"worker-0.9\":"), testing::HasSubstr(nothing));
  const std::string dropped = said("worker-0.1", R"("process":"consumer-0","type":"ok","f":"deliver")",
                                   R"("process":"history","type":"info","f":"incomplete","dropped":500)");
  EXPECT_THAT(dropped, testing::HasSubstr(nothing + "\nreason the history of worker 0 lacks 500 operations: the disk could not keep up"));
  EXPECT_THAT(dropped, testing::HasSubstr("\nlost 0 allowed 0\n"));
  EXPECT_THAT(said("coordinator", "\"f\":\"end\"", "\"f\":\"clock\",\"wall_ns\":1"),
              testing::Not(testing::HasSubstr("verdict passed")));
}

}  // namespace
}  // namespace sp::simulation

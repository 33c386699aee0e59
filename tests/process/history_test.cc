// A run that keeps its history, as a person has it: run, check, convert. And files that are not as they were.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/program.h"
#include "process/result.h"
#include "sys/files.h"

namespace sp::process_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

// One live run for all tests: 5 records lost, its history kept, and what it said.
class HistoryProcessTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new sys::TemporaryFolder(sys::TemporaryFolder::make("sp-history-test").value());
    Program program({"run", "--duration", "3s", "--msg-rate", "2000", "--timeout", "5s", "--defect", "lose:count=5", "--out",
                     (folder_->path() / "run").string(), "--history", (folder_->path() / "h").string(), "--json", "--quiet"});
    online_ = new Outcome(program.end(60s));
  }
  static void TearDownTestSuite() {
    delete online_;
    delete folder_;
  }
  // A copy that may be spoilt.
  [[nodiscard]] static fs::path copy(const std::string& name) {
    const fs::path to = folder_->path() / name;
    fs::copy(folder_->path() / "h", to);
    return to;
  }
  static Outcome check(const fs::path& what, const std::vector<std::string>& flags = {"--json"}) {
    std::vector<std::string> words{"check", what.string()};
    words.insert(words.end(), flags.begin(), flags.end());
    return run_program(words);
  }
  // Key and value of that line.
  static std::pair<std::string, std::uint64_t> line_of(const std::string& file, std::uint64_t number) {
    const fs::path lines = folder_->path() / (file + ".jsonl");
    EXPECT_EQ(run_program({"convert", (folder_->path() / "h" / (file + ".jsonl.zst")).string(), lines.string()}).code, 0);
    std::ifstream in(lines);
    std::string line;
    for (std::uint64_t i = 0; i < number; ++i) std::getline(in, line);
    simdjson::dom::parser parser;
    const simdjson::dom::element operation = parser.parse(line);
    return {std::string(std::string_view(operation["key"])), std::uint64_t(operation["value"])};
  }
  static std::string judged(const std::string& json) { return ResultJson::of(json).judged(); }
  static sys::TemporaryFolder* folder_;
  static Outcome* online_;
};
sys::TemporaryFolder* HistoryProcessTest::folder_ = nullptr;
Outcome* HistoryProcessTest::online_ = nullptr;

TEST_F(HistoryProcessTest, CheckSaysWhatTheRunSaid) {
  ASSERT_EQ(online_->code, 1) << online_->err;
  const Outcome offline = check(folder_->path() / "h");
  EXPECT_EQ(offline.code, 1) << offline.err;
  EXPECT_EQ(judged(offline.out), judged(online_->out));
  EXPECT_THAT(judged(offline.out), HasSubstr("/counts {\"lost\":5,"));
  EXPECT_THAT(check(folder_->path() / "h", {}).out, HasSubstr("FAILED  5 acknowledged records were never received"));
  const ResultJson result = ResultJson::of(offline.out);
  const auto finding = result.list("/findings").at(0);
  ASSERT_EQ(finding["evidence"].get_array().value().size(), 2U) << "sent and acknowledged, and nothing else";
  EXPECT_EQ(std::string_view(finding["evidence"].at(1)["file"]), "worker-0.1.jsonl.zst");
  EXPECT_EQ(line_of("worker-0.1", std::uint64_t(finding["evidence"].at(1)["line"])),
            std::pair(std::string(std::string_view(finding["key"])), std::uint64_t(finding["first"])));
  EXPECT_THAT(check(folder_->path() / "h", {"--junit"}).out, HasSubstr("<testsuite"));
}

TEST_F(HistoryProcessTest, AFailedRunSaysHowToAskWhy) {
  const std::string kept = (folder_->path() / "why").string();
  const auto run = run_program({"run", "--simulate", "--duration", "5s", "--defect", "lose:count=1", "--history", kept});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("why: streaming-proof check " + kept + " --explain 1"));
  const auto clean = run_program({"run", "--simulate", "--duration", "5s", "--history", (folder_->path() / "clean").string()});
  EXPECT_EQ(clean.code, 0);
  EXPECT_THAT(clean.err, testing::Not(HasSubstr("why:")));
}

TEST_F(HistoryProcessTest, EveryFormGivesTheSameJudgement) {
  const fs::path other = copy("forms");
  for (const char* name : {"coordinator", "worker-0.1"}) {
    const std::string from = (other / name).string() + ".jsonl.zst";
    const std::string to = (other / name).string() + (std::string(name) == "coordinator" ? ".jsonl" : ".sph");
    const Outcome converted = run_program({"convert", from, to});
    EXPECT_EQ(converted.code, 0) << converted.err;
    EXPECT_THAT(converted.out, HasSubstr(" operations\n"));
    fs::remove(from);
  }
  EXPECT_EQ(judged(check(other).out), judged(online_->out));
}

TEST_F(HistoryProcessTest, ACutOffFileIsRefusedOrSalvagedButNeverAPass) {
  const fs::path cut = copy("cut");
  const fs::path worker = cut / "worker-0.1.jsonl.zst";
  fs::resize_file(worker, fs::file_size(worker) / 2);
  const Outcome refused = check(cut);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("worker-0.1.jsonl.zst"));
  EXPECT_THAT(refused.err, HasSubstr("--salvage"));
  const Outcome salvaged = check(cut, {"--salvage", "--json"});
  EXPECT_EQ(salvaged.code, 2) << "inconclusive, though the run failed: what is missing looks like loss";
  EXPECT_THAT(salvaged.out, HasSubstr("before what the coordinator had seen of it"));
  EXPECT_EQ(ResultJson::of(salvaged.out).list("/findings").size(), 0U);
}

TEST_F(HistoryProcessTest, WhatIsNoHistoryIsNamedWithItsRemedy) {
  EXPECT_THAT(check(folder_->path() / "nowhere").err, HasSubstr("nowhere"));
  fs::create_directory(folder_->path() / "empty");
  const Outcome empty = check(folder_->path() / "empty");
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.err, HasSubstr("holds no history (.jsonl, .jsonl.zst, .sph): was the run made with --history?"));
  const Outcome twice = run_program({"run", "--simulate", "--duration", "1s", "--history", (folder_->path() / "h").string()});
  EXPECT_EQ(twice.code, 3);
  EXPECT_THAT(twice.err, HasSubstr("it holds the history of another run (coordinator.jsonl.zst): name a new folder"));
  EXPECT_THAT(run_program({"convert", "a", "b", "c"}).err, HasSubstr("3 names are given; write the history and the new file"));
  const Outcome nameless = run_program({"convert", (folder_->path() / "h/coordinator.jsonl.zst").string(), "x.txt"});
  EXPECT_THAT(nameless.err, HasSubstr("x.txt: the name says no form: end it with .jsonl, .jsonl.zst or .sph"));
  EXPECT_EQ(nameless.code, 3);
}

}  // namespace
}  // namespace sp::process_test

// What the program says and leaves behind, seen from outside.
#include "process/program.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/result.h"

namespace sp::process_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ProgramProcessTest, EveryCommandHelpsWithAnExample) {
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"run", "--help"},
      {"check", "--help"},
      {"convert", "--help"},
      {"report", "--help"},
      {"cluster", "--help"},
      {"cluster", "up", "--help"},
      {"cluster", "status", "--help"},
      {"cluster", "leader", "--help"},
      {"cluster", "kill", "--help"},
      {"cluster", "freeze", "--help"},
      {"cluster", "thaw", "--help"},
      {"cluster", "restart", "--help"},
      {"cluster", "down", "--help"},
  };
  for (const auto& command : commands) {
    const auto outcome = run_program(command);
    EXPECT_EQ(outcome.code, 0) << command.front();
    EXPECT_THAT(outcome.out, HasSubstr("Example")) << command.front();
    EXPECT_EQ(outcome.err, "") << command.front();
  }
}

TEST(ProgramProcessTest, EverythingThatIsWrongIsToldTogetherWithPlaceAndRemedy) {
  Program program({"run", "proof.yaml", "--durration", "5", "--msg-rate", "0", "--defect",
                   "loose:count=1", "--defect", "lose:count=x", "--nodes", "3", "--runs", "2"});
  const auto outcome = program.end(30s);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              HasSubstr("--durration: unknown flag 'durration'; did you mean '--duration'?"));
  EXPECT_THAT(outcome.err, HasSubstr("--msg-rate: "));
  EXPECT_THAT(outcome.err, HasSubstr("there is no kind 'loose'; the kinds are lose, "));
  EXPECT_THAT(outcome.err, HasSubstr("defect 'lose:count=x'"));
  EXPECT_THAT(outcome.err, HasSubstr("--nodes: there is no cluster to start; add --cluster kafka"));
  EXPECT_THAT(outcome.err, HasSubstr("--runs: it is for simulations; add --simulate"));
  EXPECT_THAT(outcome.err, HasSubstr("streaming-proof run --help"));
}

TEST(ProgramProcessTest, FileAndFlagsAreRefusedTogetherWithLineAndColumn) {
  const auto folder = sys::TemporaryFolder::make("sp-process-test").value();
  const auto file = folder.path() / "proof.yaml";
  std::ofstream(file) << "features: [ordering]\nmgsRate: 5\nmessageSize: 3\n";
  const auto outcome = run_program(
      {"run", file.string(), "--chaos", "kill-leader:every=20s", "--driver", "embedded"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("proof.yaml line 2 column 1: unknown field 'mgsRate'; did you mean 'msgRate'?"));
  EXPECT_THAT(outcome.err, HasSubstr("proof.yaml line 3 column"));
  EXPECT_THAT(outcome.err, HasSubstr("--chaos"));
}

TEST(ProgramProcessTest, AClientSettingThatNobodyKnowsIsRefusedBeforeAnythingStarts) {
  const auto outcome = run_program(
      {"run", "--cluster", "kafka", "--nodes", "3", "-X", "linger.mss=5", "-X", "acks=many"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("'linger.mss'; did you mean linger.ms?"));
  EXPECT_THAT(outcome.err, HasSubstr("acks"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("starting")));
}

TEST(ProgramProcessTest, ADryRunPrintsAProofThatReadsBackToItself) {
  const auto folder = sys::TemporaryFolder::make("sp-process-test").value();
  const auto first = run_program({"run", "--dry-run", "--features", "exactly_once,ordering",
                                  "--driver", "embedded", "--features", "ordering"});
  EXPECT_EQ(first.code, 3) << "a set is given once";
  const auto printed = run_program({"run",
                                    "--dry-run",
                                    "--features",
                                    "at_least_once,ordering",
                                    "--duration",
                                    "90s",
                                    "--msg-rate",
                                    "777",
                                    "-X",
                                    "acks=all",
                                    "--topic-exists",
                                    "reuse",
                                    "--topic",
                                    "t",
                                    "--max-duplicates",
                                    "3",
                                    "--defect",
                                    "lose:count=2",
                                    "--defect",
                                    "corrupt",
                                    "--final-wait-seconds",
                                    "2m",
                                    "--seed",
                                    "9",
                                    "--name",
                                    "yes: no # \"x\""});
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  const auto file = folder.path() / "printed.yaml";
  std::ofstream(file) << printed.out;
  const auto again = run_program({"run", file.string(), "--dry-run"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, printed.out);
  const auto json = run_program({"run", file.string(), "--dry-run", "--json"});
  EXPECT_EQ(ResultJson::of(json.out).number("/msgRate"), 777U);
}

TEST(ProgramProcessTest, APipeGetsPlainLinesOnStderrAndTheReportAloneOnStdout) {
  const auto outcome = run_program({"run", "--duration", "2s", "--msg-rate", "500", "--out", "r"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("PASSED"));
  for (const auto& text : {outcome.out, outcome.err}) {
    EXPECT_THAT(text, Not(HasSubstr("\r")));
    EXPECT_THAT(text, Not(HasSubstr("\033")));
  }
  EXPECT_LT(lines(outcome.err), 12U) << outcome.err;
}

TEST(ProgramProcessTest, QuietSaysNothingButTheResultWhichIsStrictJson) {
  Program program(
      {"run", "--duration", "2s", "--msg-rate", "500", "--quiet", "--json", "--out", "r"});
  const auto outcome = program.end(60s);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto result = ResultJson::of(outcome.out);
  EXPECT_EQ(result.text("/verdict"), "passed");
  EXPECT_EQ(result.count("lost"), 0U);
  EXPECT_GT(result.number("/coverage/acked"), 500U);
  EXPECT_EQ(result.number("/coverage/received"), result.number("/coverage/acked"));
  const auto kept = sys::read_file(program.folder() / "r" / "result.json", 1U << 24U);
  ASSERT_TRUE(kept.has_value()) << kept.error().message;
  EXPECT_EQ(*kept, outcome.out);
}

TEST(ProgramProcessTest, TheSameSeedGivesTheSameBytes) {
  const std::vector<std::string> command = {
      "run", "--simulate", "--seed", "11",     "--duration", "5s",          "--keys",
      "40",  "--msg-rate", "400",    "--json", "--defect",   "lose:count=3"};
  const auto first = run_program(command);
  const auto second = run_program(command);
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_EQ(first.out, second.out);
  auto other_seed = command;
  other_seed[3] = "12";
  EXPECT_NE(run_program(other_seed).out, first.out);
  EXPECT_EQ(ResultJson::of(first.out).count("lost"), 3U);
}

TEST(ProgramProcessTest, APlantedLossFailsWithExactlyItsRecords) {
  Program program({"run", "--duration", "4s", "--msg-rate", "500", "--defect", "lose:count=5",
                   "--final-wait-seconds", "1", "--out", "r"});
  const auto outcome = program.end(60s);
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("FAILED"));
  const auto result = ResultJson::in(program.folder() / "r");
  EXPECT_EQ(result.text("/verdict"), "failed");
  const auto planted = ResultJson::truth(program.folder() / "r", "lose");
  EXPECT_EQ(planted.size(), 5U);
  EXPECT_EQ(result.named("lost"), planted);
  EXPECT_EQ(result.count("lost"), 5U);
  for (const auto& record : planted)
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr(record.key))
        << "each key is named to the person too";
}

TEST(ProgramProcessTest, ARateBelowTheMinimumIsInconclusive) {
  // What cannot be reached by far: 200 consumers' worth of delay does not matter, the producers'
  // pace does.
  const auto outcome =
      run_program({"run", "--duration", "2s", "--msg-rate", "3000000", "--min-rate", "3000000",
                   "--producers", "1", "--timeout", "60", "--out", "r"});
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("INCONCLUSIVE"));
  EXPECT_THAT(outcome.out, HasSubstr("under minRate"));
}

}  // namespace
}  // namespace sp::process_test

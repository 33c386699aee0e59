#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/run_folder.h"
#include "cli/run_request.h"
#include "sys/files.h"
#include "unit/cli/capture.h"

namespace sp::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

sys::TemporaryFolder folder() {
  auto made = sys::TemporaryFolder::make();
  EXPECT_TRUE(made.has_value());
  return std::move(*made);
}

TEST(ProgramTest, EveryCommandHasHelpWithAnExample) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"run"},
                                                          {"report"},
                                                          {"cluster"},
                                                          {"cluster", "up"},
                                                          {"cluster", "status"},
                                                          {"cluster", "leader"},
                                                          {"cluster", "kill"},
                                                          {"cluster", "freeze"},
                                                          {"cluster", "thaw"},
                                                          {"cluster", "restart"},
                                                          {"cluster", "down"}};
  for (auto command : commands) {
    command.emplace_back("--help");
    const auto outcome = call(command);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("streaming-proof ")) << command.front();
    EXPECT_THAT(outcome.out, HasSubstr("Example")) << command.front();
  }
}

TEST(ProgramTest, VersionNamesProgramAndClientLibrary) {
  const auto outcome = call({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("streaming-proof "));
  EXPECT_THAT(outcome.out, HasSubstr("librdkafka "));
}

TEST(ProgramTest, UnknownFlagIsRefusedWithTheWayToHelp) {
  const auto outcome = call({"run", "--durration", "5"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("durration"));
  EXPECT_THAT(outcome.err, HasSubstr("streaming-proof run --help"));
  EXPECT_EQ(outcome.out, "");
}

TEST(RunTest, HelpListsEveryFieldOfTheProof) {
  const auto outcome = call({"run", "--help"});
  for (const auto& field : proof::fields())
    EXPECT_THAT(outcome.out, HasSubstr("--" + proof::flag_name(field)));
}

TEST(RunTest, DryRunPrintsTheProofAsItWouldTakeEffect) {
  const auto outcome = call({"run", "--dry-run", "--msg-rate", "77", "--features", "ordering", "-X",
                             "acks=all", "--keep-topic"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("msgRate: 77"));
  EXPECT_THAT(outcome.out, HasSubstr("features: [ordering]"));
  EXPECT_THAT(outcome.out, HasSubstr("acks"));
  EXPECT_THAT(outcome.out, HasSubstr("keepTopic: true"));
}

TEST(RunTest, EveryFaultIsToldAtOnce) {
  const auto outcome = call({"run", "--msg-rate", "0", "--message-size", "3"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("msg-rate"));
  EXPECT_THAT(outcome.err, HasSubstr("message-size"));
}

TEST(RunTest, SimulationPrintsItsResultAndItsExitCode) {
  const auto good = call({"run", "--simulate", "--seed", "5", "--duration", "3s"});
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("PASSED"));
  EXPECT_EQ(good.err, "");
  const auto bad = call({"run", "--simulate", "--seed", "5", "--duration", "3s", "--defect",
                         "lose:count=2", "--json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("\"lost\": 2"));
}

TEST(RunTest, ManySeedsAreSummedUp) {
  const auto outcome =
      call({"run", "--simulate", "--seed", "1", "--runs", "4", "--duration", "2s"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "4 of 4 runs passed\n");
}

TEST(RunTest, SimulationLeavesItsFolderWhenAsked) {
  const auto temporary = folder();
  const auto out = (temporary.path() / "run").string();
  const auto run = call({"run", "--simulate", "--seed", "5", "--duration", "2s", "--out", out});
  EXPECT_EQ(run.code, 0);
  for (const char* name : {"proof.yaml", "result.json", "report.txt", "junit.xml"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / name)) << name;
  }
  const auto again = call({"report", out});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, run.out);
  EXPECT_THAT(call({"report", out, "--json"}).out, HasSubstr("\"verdict\": \"passed\""));
  EXPECT_THAT(call({"report", out, "--junit"}).out, HasSubstr("<testsuite "));
}

TEST(ReportCommandTest, GivesTheExitCodeOfTheRun) {
  const auto temporary = folder();
  const auto out = (temporary.path() / "run").string();
  EXPECT_EQ(call({"run", "--simulate", "--seed", "5", "--duration", "2s", "--defect",
                  "lose:count=1", "--out", out})
                .code,
            1);
  EXPECT_EQ(call({"report", out}).code, 1);
}

TEST(ReportCommandTest, FolderWithoutARunIsNamed) {
  const auto temporary = folder();
  const auto outcome = call({"report", temporary.path().string()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("holds no finished run"));
}

TEST(RunTest, LiveRunOnTheEmbeddedBrokerKeepsStdoutForTheReport) {
  const auto temporary = folder();
  const auto out = (temporary.path() / "run").string();
  const auto outcome = call({"run", "--duration", "1s", "--msg-rate", "200", "--out", out});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, testing::StartsWith("PASSED"));
  EXPECT_THAT(outcome.err, HasSubstr("results in " + out));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\r")));
}

TEST(RunTest, ResultsThatCannotBeKeptLeaveTheVerdictOnStdoutAndExitThree) {
  const auto temporary = folder();
  const auto file = temporary.path() / "file";
  std::ofstream(file) << "in the way";
  const auto outcome = call({"run", "--duration", "1s", "--msg-rate", "200", "--quiet", "--out",
                             (file / "run").string()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, testing::StartsWith("PASSED"));
  EXPECT_THAT(outcome.err, HasSubstr("could not be kept"));
  EXPECT_THAT(outcome.err, HasSubstr("passed: all"));
}

TEST(RequestTest, BootstrapMeansKafka) {
  RunFlags flags;
  flags.bootstrap = "localhost:9092";
  const auto request = read_request(flags);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->proof.driver, "kafka");
  EXPECT_EQ(request->proof.settings.at("bootstrap.servers"), "localhost:9092");
}

TEST(RequestTest, SettingOnTheCommandLineWinsOverTheFile) {
  const auto temporary = folder();
  const auto file = temporary.path() / "client.properties";
  std::ofstream(file) << "# ours\n\nbootstrap.servers = broker:9093\nacks=1\n";
  RunFlags flags;
  flags.client_config = file.string();
  flags.settings = {"acks=all"};
  const auto request = read_request(flags);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->proof.settings.at("bootstrap.servers"), "broker:9093");
  EXPECT_EQ(request->proof.settings.at("acks"), "all");
}

TEST(RequestTest, ClientConfigNamesTheLineThatIsWrong) {
  const auto temporary = folder();
  const auto file = temporary.path() / "client.properties";
  std::ofstream(file) << "acks=1\nnonsense\n";
  const auto settings = read_client_config(file.string());
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("line 2: expected name=value"));
}

std::string refusal(const RunFlags& flags) {
  const auto request = read_request(flags);
  return request ? "accepted" : request.error().message;
}

TEST(RequestTest, ContradictionsAreRefusedWithTheRemedy) {
  RunFlags flags;
  flags.fields = {{"driver", "kafka"}};
  EXPECT_THAT(refusal(flags), HasSubstr("--bootstrap host:port"));
  flags = {};
  flags.cluster = "kafka";
  flags.bootstrap = "localhost:9092";
  EXPECT_THAT(refusal(flags), HasSubstr("use one of them"));
  flags = {};
  flags.nodes = 3;
  EXPECT_THAT(refusal(flags), HasSubstr("--cluster kafka"));
  flags = {};
  flags.cluster = "kafka";
  flags.nodes = 1;
  flags.fields = {{"replication-factor", "3"}};
  EXPECT_THAT(refusal(flags), HasSubstr("--nodes 3"));
  flags = {};
  flags.simulate = true;
  flags.bootstrap = "localhost:9092";
  EXPECT_THAT(refusal(flags), HasSubstr("embedded broker only"));
  flags = {};
  flags.bootstrap = "localhost:9092";
  flags.fields = {{"chaos", "kill-leader:every=20s"}};
  EXPECT_THAT(refusal(flags), HasSubstr("--cluster kafka"));
}

coordinator::Live load_at(Nanoseconds at) {
  coordinator::Live live;
  live.stage = coordinator::Stage::kLoad;
  live.load = at;
  live.load_left = 60s - at;
  live.progress.issued = 60'000;
  live.progress.acked = 59'990;
  live.progress.received = 59'950;
  live.on_the_way = 40;
  return live;
}

TEST(ProgressTest, LineSaysStageAndNumbers) {
  EXPECT_EQ(
      progress_line(load_at(12s)),
      "load 12 s, 48 s left · 60,000 sent · 59,990 acknowledged · 59,950 received · 40 on the way");
}

TEST(ProgressTest, PipeGetsAPlainLineEveryFiveSeconds) {
  const Capture capture;
  {
    ProgressView view({capture.stream(), false, false, 120});
    for (int i = 0; i < 120; ++i) view.update(load_at(100ms * i), MonotonicTime{100ms * i});
  }
  const std::string text = capture.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(ProgressTest, PipeHearsOfAStageOfTheEndOnlyWhenItLasts) {
  const Capture capture;
  ProgressView view({capture.stream(), false, false, 120});
  coordinator::Live live = load_at(1s);
  view.update(live, MonotonicTime{1s});
  live.stage = coordinator::Stage::kRawRead;
  for (int i = 0; i < 109; ++i) view.update(live, MonotonicTime{1s + 100ms * i});
  const std::string text = capture.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(text, HasSubstr("reading the log"));
}

TEST(ProgressTest, TerminalGetsOneLineRewrittenAndCutToItsWidth) {
  const Capture capture;
  {
    ProgressView view({capture.stream(), true, false, 30});
    view.update(load_at(1s), MonotonicTime{1s});
    view.say("hello");
    view.update(load_at(2s), MonotonicTime{2s});
  }
  EXPECT_EQ(capture.text(),
            "\r\033[Kload 1 s, 59 s left · 60,000 \r\033[Khello\n\r\033[Kload 2 s, 58 s left · "
            "60,000 \r\033[K");
}

TEST(ProgressTest, QuietSaysNothing) {
  const Capture capture;
  {
    ProgressView view({capture.stream(), true, true, 80});
    view.update(load_at(1s), MonotonicTime{1s});
    view.say("hello");
  }
  EXPECT_EQ(capture.text(), "");
}

TEST(RunFolderTest, DefaultIsNamedAfterTheRun) {
  EXPECT_EQ(RunFolder(core::RunId{7}, "").path(),
            std::filesystem::path("runs") / core::run_text(core::RunId{7}));
}

}  // namespace
}  // namespace sp::cli

// What is wrong on a command line is told at once, each with its place and its remedy.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/commands.h"
#include "sys/files.h"
#include "unit/cli/capture.h"

namespace sp::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The lines that a refused command line is answered with; the last is the way to the help.
std::vector<std::string> refused(const std::vector<std::string>& arguments) {
  const Outcome outcome = call(arguments);
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  std::vector<std::string> lines;
  for (const auto line : split(outcome.err, {.separator = '\n'})) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

TEST(FlagsTest, ValuesOfTheWrongTypeAreToldTogetherWithAllElse) {
  EXPECT_THAT(refused({"run", "--nodes", "x", "--runs", "-3", "--workers", "y", "--seed", "abc", "--bogus", "--keep-topic=maybe"}),
              ElementsAre("--nodes: 'x' is not a whole number of 0 or more; write a number from 1 to 3",
                          "--runs: '-3' is not a whole number of 0 or more; write a number from 1 to 1,000,000,000",
                          StartsWith("--bogus: unknown flag 'bogus'; "),
                          AllOf(StartsWith("--keep-topic: "), HasSubstr("'maybe'"), HasSubstr("write true or false")),
                          AllOf(StartsWith("--workers: "), HasSubstr("'y' is not a whole number")),
                          AllOf(StartsWith("--seed: "), HasSubstr("'abc' is not a whole number")),
                          "See: streaming-proof run --help"));
}

TEST(FlagsTest, AFlagIsNoValueOfTheFlagBeforeIt) {
  const auto lines = refused({"run", "--out", "--quiet", "--workers", "--dry-run", "--cluster", "-Xacks=all", "-X"});
  EXPECT_THAT(lines, ElementsAre("--out: its value is missing; if '--quiet' is meant, write --out=--quiet",
                                 "--workers: its value is missing; if '--dry-run' is meant, write --workers=--dry-run",
                                 HasSubstr("--cluster: its value is missing"), "-X: its value is missing; write it behind the flag",
                                 "See: streaming-proof run --help"));
}

TEST(FlagsTest, AValueMayLookLikeAFlagBehindAnEqualsSignOrBeEmpty) {
  const auto outcome = call({"run", "--dry-run", "--description=--odd", "--name=", "--duration", "7s"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("--odd"));
  EXPECT_THAT(outcome.out, HasSubstr("duration: 7"));
}

TEST(FlagsTest, NumbersOutOfRangeAndFlagsGivenTwiceAreRefused) {
  EXPECT_THAT(refused({"run", "--nodes", "4294967299", "--runs", "0", "--bootstrap", "a", "--bootstrap", "b", "--quiet=x", "--seed",
                       "1", "--seed", "2"}),
              ElementsAre("--bootstrap: this flag is given twice; keep one of them",
                          "--nodes: 4294967299 is out of range; write a number from 1 to 3",
                          "--runs: 0 is out of range; write a number from 1 to 1,000,000,000",
                          "--quiet: 'x' is neither true nor false; write the flag alone",
                          "--seed: this flag is given twice; keep one of them", "See: streaming-proof run --help"));
}

TEST(FlagsTest, AnUnknownFlagIsComparedWithAllFlags) {
  EXPECT_THAT(refused({"run", "--bootstrp", "a:9092"}), Contains("--bootstrp: unknown flag 'bootstrp'; did you mean '--bootstrap'?"));
  EXPECT_THAT(refused({"run", "--msgRate=5"}), Contains(HasSubstr("did you mean '--msg-rate'?")));
  EXPECT_THAT(refused({"cluster", "up", "--node", "3"}), Contains(HasSubstr("did you mean '--nodes'?")));
}

TEST(FlagsTest, YesOrNoMayBeSaidInWords) {
  const auto outcome = call({"run", "--dry-run=true", "--json=false", "--keep-topic=false"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("keepTopic: false"));
}

TEST(FlagsTest, FilesThatCannotBeReadAreToldWithTheRestAndNothingIsGuessed) {
  auto temporary = sys::TemporaryFolder::make();
  ASSERT_TRUE(temporary);
  const auto gone = (temporary->path() / "gone").string();
  EXPECT_THAT(refused({"run", gone, "--client-config", gone, "--driver", "kafka", "--msg-rate", "0"}),
              ElementsAre(AllOf(StartsWith("--client-config: "), HasSubstr(gone)), AllOf(StartsWith("PROOF.yaml: "), HasSubstr(gone)),
                          StartsWith("--msg-rate: "), "See: streaming-proof run --help"));
}

TEST(FlagsTest, ASecondProofIsRefused) {
  auto temporary = sys::TemporaryFolder::make();
  ASSERT_TRUE(temporary);
  const auto file = (temporary->path() / "proof.yaml").string();
  std::ofstream(file) << "features: [ordering]\n";
  EXPECT_THAT(refused({"run", file, "b.yaml", "--keys", "x"}),
              ElementsAre(StartsWith("'b.yaml': one proof at a time"), StartsWith("--keys: "), "See: streaming-proof run --help"));
}

TEST(FlagsTest, EveryCommandTellsAllAndNamesItsOwnHelp) {
  EXPECT_THAT(refused({"cluster", "up", "--nodes", "x", "--bogus", "--name"}),
              ElementsAre(StartsWith("--name: its value is missing"), StartsWith("--nodes: 'x' is not a whole number"),
                          StartsWith("--bogus: unknown flag"), "See: streaming-proof cluster up --help"));
  EXPECT_THAT(refused({"cluster", "kill", "--partition", "x"}),
              ElementsAre(StartsWith("--partition: 'x'"), "NODE is missing; write its number, from 1; or leader",
                          "See: streaming-proof cluster kill --help"));
  EXPECT_THAT(refused({"report", "--json", "--junit", "--json"}),
              testing::UnorderedElementsAre(HasSubstr("DIR is missing"), "--junit: --json is there too; take one of them away",
                          "See: streaming-proof report --help"));
  EXPECT_THAT(refused({"report", "a", "b"}), Contains(StartsWith("'b': one run at a time")));
  EXPECT_THAT(refused({"cluster"}), Contains("See: streaming-proof cluster --help"));
  EXPECT_THAT(refused({"bogus"}), Contains("See: streaming-proof --help"));
}

TEST(FlagsTest, HelpShowsDotsOnlyWhereAFlagMayBeRepeated) {
  const auto help = call({"run", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("--chaos list of text ..."));
  EXPECT_THAT(help, HasSubstr("-X TEXT ..."));
  EXPECT_THAT(help, HasSubstr("--workers whole number  "));
  EXPECT_THAT(help, Not(HasSubstr("--keep-topic whole")));
}

}  // namespace
}  // namespace sp::cli

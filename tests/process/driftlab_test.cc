// check --format driftlab as a person has it: the files of corpus/driftlab with their lines and exit codes, and standard input.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process/program.h"
#include "process/result.h"

namespace sp::process_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

fs::path corpus_file(const std::string& name) { return fs::path(SP_CORPUS) / "driftlab" / (name + ".jsonl"); }
Outcome check(const std::vector<std::string>& words) {
  std::vector<std::string> all{"check", "--format", "driftlab"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, 30s);
}

struct FileCase {
  const char* name;
  int code;
  std::string out;
};

const FileCase kFiles[] = {
    {"clean", 0, "verdict clean, 0 of 4 publishes unknown\n"},
    {"poll-skip", 1,
     "verdict failed, 0 of 5 publishes unknown\n"
     "poll-skip consumer ops=[11 12]: expected sequence 3, received 5: 2 skipped, 0 delivered late, 2 never delivered\n"},
    {"first-skip", 1,
     "verdict failed, 0 of 3 publishes unknown\n"
     "poll-skip consumer ops=[6]: expected sequence 1, received 2: 1 skipped, 0 delivered late, 1 never delivered\n"},
    {"nonmonotonic-poll", 1,
     "verdict failed, 0 of 4 publishes unknown\n"
     "poll-skip consumer ops=[8 9]: expected sequence 2, received 3: 1 skipped, 1 delivered late, 0 never delivered\n"
     "nonmonotonic-poll consumer ops=[9 10]: sequence 2 was delivered after 3\n"},
    {"duplicate", 1,
     "verdict failed, 0 of 4 publishes unknown\n"
     "duplicate consumer ops=[9 10]: sequence 2 was delivered again\n"},
    {"stall", 1,
     "verdict failed, 0 of 4 publishes unknown\n"
     "stall consumer ops=[10 14]: reached 3 of 4 before the final read\n"},
    {"silent-consumer", 1,
     "verdict failed, 0 of 2 publishes unknown\n"
     "stall consumer ops=[5 7]: received nothing before the final read; the stream ends at 2\n"},
    {"lost-write", 1,
     "verdict failed, 0 of 3 publishes unknown\n"
     "lost-write producer ops=[5]: value 3, acknowledged at sequence 3, is not in the final read\n"},
    {"acked-hole", 1,
     "verdict failed, 0 of 4 publishes unknown\n"
     "lost-write producer ops=[5]: value 3, acknowledged at sequence 3, is not in the final read\n"},
    {"gapped-stream", 2,
     "verdict invalid, 1 of 4 publishes unknown\n"
     "invalid: the final read ends at sequence 4 and lacks 1 that no acknowledgement explains, the first at 3\n"
     "poll-skip consumer ops=[9 10]: expected sequence 3, received 4: 1 skipped, 0 delivered late, 1 never delivered\n"},
    {"phantom", 1,
     "verdict failed, 0 of 3 publishes unknown\n"
     "phantom consumer ops=[7 11]: value 2 appeared although its publish failed\n"
     "phantom consumer ops=[9 13]: value 7 was never published\n"},
    {"no-final-read", 2,
     "verdict invalid, 0 of 3 publishes unknown\n"
     "invalid: there is no final read\n"},
    {"fault-no-evidence", 2,
     "verdict invalid, 0 of 3 publishes unknown\n"
     "invalid: the declared fault stall never completed\n"},
    {"fault-with-evidence", 0,
     "verdict clean, 1 of 4 publishes unknown\n"
     "recovery consumer: caught up 0s after the faults ended\n"},
    {"fault-then-skip", 1,
     "verdict failed, 0 of 3 publishes unknown\n"
     "poll-skip consumer ops=[8 9]: expected sequence 2, received 3: 1 skipped, 0 delivered late, 1 never delivered\n"
     "recovery consumer: never caught up after the faults ended\n"},
    {"malformed", 3, ""},
};

class DriftlabFileTest : public testing::TestWithParam<FileCase> {};

TEST_P(DriftlabFileTest, IsJudgedAsDriftlabDoes) {
  const Outcome outcome = check({corpus_file(GetParam().name).string()});
  EXPECT_EQ(outcome.code, GetParam().code) << outcome.err;
  EXPECT_EQ(outcome.out, GetParam().out);
  EXPECT_EQ(outcome.err.empty(), outcome.code != 3) << outcome.err;
}

TEST_P(DriftlabFileTest, SaysTheSameInEveryFormAndThroughAPipe) {
  const std::string file = corpus_file(GetParam().name).string();
  const Outcome piped = Program(Shell{"cat '" + file + "' | $PROGRAM check --format driftlab -"}).end(30s);
  EXPECT_EQ(piped.code, GetParam().code) << piped.err;
  EXPECT_EQ(piped.out, GetParam().out);
  if (GetParam().code == 3) return;
  for (const char* form : {"x.jsonl.zst", "x.sph"}) {
    const std::string command = "$PROGRAM convert --quiet '" + file + "' " + form + " && $PROGRAM check --format driftlab " + form;
    EXPECT_EQ(Program(Shell{command}).end(30s).out, GetParam().out) << form;
  }
}

std::string case_name(const testing::TestParamInfo<FileCase>& param) {
  std::string name = param.param.name;
  std::erase(name, '-');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Corpus, DriftlabFileTest, testing::ValuesIn(kFiles), case_name);

TEST(DriftlabCommandTest, EveryFileOfTheCorpusIsInTheTable) {
  std::set<std::string> in_folder, in_table;
  for (const auto& entry : fs::directory_iterator(fs::path(SP_CORPUS) / "driftlab")) {
    if (entry.is_regular_file()) in_folder.insert(entry.path().stem().string());  // holes/ has a test of its own
  }
  for (const FileCase& file : kFiles) in_table.insert(file.name);
  EXPECT_EQ(in_folder, in_table);
}

TEST(DriftlabCommandTest, WhatCannotBeReadIsNamedWithItsRemedy) {
  const Outcome malformed = check({corpus_file("malformed").string()});
  EXPECT_THAT(malformed.err, HasSubstr("malformed.jsonl line 4 column 1: not JSON: no value begins like this; nothing of a file with "
                                       "a wrong line is judged: correct what writes it and repeat the run\n"));
  const Outcome missing = check({"nowhere.jsonl"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("cannot read nowhere.jsonl: No such file or directory"));
  const Outcome folder = check({(fs::path(SP_CORPUS) / "driftlab").string()});
  EXPECT_EQ(folder.code, 3);
  EXPECT_THAT(folder.err, HasSubstr("16 histories: a run of driftlab is one file; name it"));
}

TEST(DriftlabCommandTest, TheCommandLineIsHeldToOneFileAndItsOwnFlags) {
  const std::string file = corpus_file("clean").string();
  const Outcome nothing = check({});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.err, HasSubstr("DIR|FILE is missing"));
  const Outcome two = check({file, file});
  EXPECT_EQ(two.code, 3);
  EXPECT_THAT(two.err, HasSubstr("2 files are named; a run of driftlab is one file; check one after the other"));
  const Outcome unknown = run_program({"check", file, "--format", "jepsen"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("--format: unknown format 'jepsen'; there are auto, which the file says itself, and driftlab"));
  const std::vector<std::vector<std::string>> flags = {{"--json"}, {"--junit"}, {"--explain", "1"}, {"--key", "k"}, {"--all-evidence"}};
  for (const auto& flag : flags) {
    std::vector<std::string> words{file};
    words.insert(words.end(), flag.begin(), flag.end());
    const Outcome refused = check(words);
    EXPECT_EQ(refused.code, 3) << flag.front();
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr(flag.front() + ": it does not go with --format driftlab"));
  }
  EXPECT_EQ(run_program({"check", "--help"}).code, 0);
}

TEST(DriftlabCommandTest, AHistoryOfVersionOneIsSentElsewhere) {
  const std::string meta = R"({"type":"meta","version":1,"client":"c","scenario":"s"})";
  const Outcome refused = Program(Shell{"echo '" + meta + "' | $PROGRAM check --format driftlab -"}).end(30s);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, StartsWith("<stdin>: it is a history of version 1, not of driftlab; check it without --format"));
}

TEST(DriftlabCommandTest, WhatIsCutOffIsSalvagedAsInvalid) {
  const std::string cut = "head -c -20 '" + corpus_file("clean").string() + "' > cut.jsonl; $PROGRAM check --format driftlab cut.jsonl";
  const Outcome refused = Program(Shell{cut}).end(30s);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("cut.jsonl line 17: the last line is cut off"));
  const Outcome salvaged = Program(Shell{cut + " --salvage"}).end(30s);
  EXPECT_EQ(salvaged.code, 2);
  EXPECT_THAT(salvaged.out, HasSubstr("invalid: line 17 is cut off"));
}

TEST(DriftlabCommandTest, LongListsComeWhole) {
  const std::string lines =
      R"(BEGIN { print "{\"type\":\"meta\",\"client\":\"c\",\"scenario\":\"s\"}"; for (i = 0; i < 9000; ++i))"
      R"( printf "{\"index\":%d,\"process\":\"c\",\"type\":\"ok\",\"f\":\"deliver\",\"value\":1,\"stream_seq\":1}\n", i })";
  const std::string check = "$PROGRAM check --format driftlab - | grep -c '^duplicate c ops=.0 '";
  const Outcome outcome = Program(Shell{"awk '" + lines + "' | " + check}).end(60s);
  EXPECT_EQ(outcome.out, "8999\n") << outcome.err;
}

TEST(DriftlabCommandTest, APipeThatHasANameIsSentToStandardInput) {
  const Outcome refused = Program(Shell{"mkfifo pipe && $PROGRAM check --format driftlab pipe"}).end(30s);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, StartsWith("pipe: it can be read only once, and check may have to read twice: "
                                      "write check --format driftlab - < pipe"));
}

// Standard input, of any check.
TEST(StandardInputTest, IsReadFromAPipeAFileOrNothingAndNamedInErrors) {
  const std::string skip = corpus_file("phantom").string();
  const std::string from_file = "$PROGRAM check --format driftlab - < '" + skip + "'";
  EXPECT_THAT(Program(Shell{from_file}).end(30s).out, HasSubstr("ops=[7 11]")) << "read twice";
  const std::string part = "(head -c 1 > /dev/null; $PROGRAM check --format driftlab -) < '" + skip + "'";
  EXPECT_THAT(Program(Shell{part}).end(30s).err, StartsWith("<stdin> line 1 column 7: not JSON")) << "what was taken before is not there";
  const Outcome nothing = Program(Shell{"$PROGRAM check --format driftlab - < /dev/null"}).end(30s);
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.err, HasSubstr("<stdin>: is empty"));
  const Outcome closed = Program(Shell{"$PROGRAM check --format driftlab - <&-"}).end(30s);
  EXPECT_EQ(closed.code, 3);
  EXPECT_THAT(closed.err, HasSubstr("cannot read <stdin>: Bad file descriptor"));
}

TEST(StandardInputTest, LeavesNothingInTheTemporaryFolder) {
  const std::string file = corpus_file("phantom").string();
  const std::string command = "mkdir t && cat '" + file + "' | TMPDIR=t $PROGRAM check --format driftlab -; ls -A t";
  EXPECT_THAT(Program(Shell{command}).end(30s).out, testing::EndsWith("value 7 was never published\n"));
  const Outcome nowhere = Program(Shell{"echo x | TMPDIR=nowhere $PROGRAM check --format driftlab -"}).end(30s);
  EXPECT_EQ(nowhere.code, 3);
  EXPECT_THAT(nowhere.err, HasSubstr("set TMPDIR"));
}

TEST(StandardInputTest, IsOneFile) {
  const Outcome twice = Program(Shell{"echo x | $PROGRAM check - -"}).end(30s);
  EXPECT_EQ(twice.code, 3);
  EXPECT_THAT(twice.err, HasSubstr("- is named twice: standard input is one file; write the others to files and name these"));
}

TEST(StandardInputTest, MayBeOneOfTheFilesOfAProof) {
  const std::string run =
      "$PROGRAM run --simulate --seed 5 --duration 2s --timeout 5s --msg-rate 200 --defect lose:count=3 --history h --quiet > said; ";
  const Outcome made = Program(Shell{run + "cat h/worker-0.1.jsonl.zst | $PROGRAM check --json h/coordinator.jsonl.zst -"}).end(60s);
  EXPECT_EQ(made.code, 1) << made.err;
  EXPECT_THAT(made.out, HasSubstr("\"file\": \"<stdin>\""));
}

}  // namespace
}  // namespace sp::process_test

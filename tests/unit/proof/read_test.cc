#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proof/fields.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

ProofReading from_file(std::string_view text, const std::vector<Flag>& flags = {}) {
  return read_proof({.file_name = "p.yaml", .file_text = text, .flags = flags});
}
ProofReading from_flags(const std::vector<Flag>& flags) { return read_proof({.flags = flags}); }

std::vector<std::string> faults_of(const ProofReading& reading) {
  std::vector<std::string> texts;
  for (const Fault& fault : reading.faults) texts.push_back(fault.text());
  return texts;
}
using Faults = std::vector<std::string>;

TEST(ReadProofTest, AFileGivesWhatItSaysAndTheReferencesDefaultsElsewhere) {
  const auto reading = from_file(
      "features: [at_least_once]\nmsgRate: 5000\nduration: 2m\nkafka:\n  topicConfig:\n    "
      "segment.bytes: 1000\n");
  EXPECT_EQ(faults_of(reading), Faults{});
  EXPECT_TRUE(reading.proof.at_least_once);
  EXPECT_FALSE(reading.proof.ordering);
  EXPECT_EQ(reading.proof.rate, 5000U);
  EXPECT_EQ(reading.proof.duration, seconds{120});
  EXPECT_EQ(reading.proof.timeout, seconds{180});
  EXPECT_EQ(reading.proof.topic_config.at("segment.bytes"), "1000");
}

TEST(ReadProofTest, JsonOfTheRestInterfaceIsTheSame) {
  const auto reading = from_file(
      R"({"id":null,"name":"demo","driver":"kafka","drivers":null,"features":["at_least_once","ordering"],
    "partitions":6,"producers":5,"consumers":4,"msgRate":1001,"keys":7,"messageSize":256,
    "checkPointInterval":5,"timeout":60,"duration":600,"finalWaitSeconds":20,"maxStallSeconds":120,
    "kafka":{"topicConfig":{"retention.ms":"3600000"}},"webhookConfig":null,"pulsar":null})");
  EXPECT_EQ(faults_of(reading), Faults{});
  EXPECT_EQ(reading.proof.name, "demo");
  EXPECT_EQ(reading.proof.keys, 7U);
  EXPECT_EQ(reading.proof.final_wait, seconds{20});
  EXPECT_EQ(reading.proof.thresholds.stall_seconds_max, 120U);
}

TEST(ReadProofTest, NullIsAbsent) {
  const auto reading =
      from_file("features: [ordering]\nmsgRate: null\nkafka:\nfinalWaitSeconds: ~\n");
  EXPECT_EQ(faults_of(reading), Faults{});
  EXPECT_EQ(reading.proof.rate, 1000U);
  EXPECT_EQ(reading.proof.final_wait, std::nullopt);
}

TEST(ReadProofTest, FlagsTakeThePlaceOfTheFile) {
  const auto reading = from_file(
      "features: [at_least_once]\nmsgRate: 5\nchaos: [kill-all]\nsettings: {acks: all, linger.ms: "
      "5}\ndriver: kafka\n",
      {{"--msg-rate", "7"},
       {"--features", "ordering"},
       {"--chaos", "kill-leader:every=20s,down=8s"},
       {"--chaos", "freeze-leader:at=5s"},
       {"--settings", "acks=1"}});
  EXPECT_EQ(faults_of(reading), Faults{});
  EXPECT_EQ(reading.proof.rate, 7U);
  EXPECT_FALSE(reading.proof.at_least_once);
  EXPECT_TRUE(reading.proof.ordering);
  EXPECT_EQ(reading.proof.chaos,
            (std::vector<std::string>{"kill-leader:every=20s,down=8s", "freeze-leader:at=5s"}));
  EXPECT_EQ(reading.proof.settings,
            (std::map<std::string, std::string>{{"acks", "1"}, {"linger.ms", "5"}}));
}

TEST(ReadProofTest, AFlagMendsWhatTheFileSaysBadlyOfTheSameFieldButTheFaultIsTold) {
  const auto reading = from_file("features: [ordering]\nkeys: many\n", {{"--keys", "2"}});
  EXPECT_EQ(faults_of(reading),
            (Faults{"p.yaml line 2 column 7: keys: 'many' is not a whole number of 0 or more; "
                    "write a number from 1 to 1,000,000,000",
                    "--keys: 2 keys are too few for 4 producers: each key belongs to one producer; "
                    "raise keys to 4 or lower producers to 2"}));
}

TEST(ReadProofTest, EverythingThatIsWrongIsToldAtOnce) {
  const auto reading = from_file(
      "features: [at_least_onse]\nmgsRate: 5\nmessageSize: 7\nconsumeDelay: 200\nkafka: "
      "{topicConfg: {}}\n",
      {{"--keys", "3"}, {"--chekpoint", "1"}});
  EXPECT_EQ(faults_of(reading),
            (Faults{"p.yaml line 1 column 12: features: there is no 'at_least_onse'; choose from "
                    "at_least_once, ordering or exactly_once",
                    "p.yaml line 2 column 1: unknown field 'mgsRate'; did you mean 'msgRate'?",
                    "p.yaml line 3 column 14: messageSize: 7 is out of range; write a number from "
                    "8 to 67,108,864",
                    "p.yaml line 5 column 9: unknown field 'kafka.topicConfg'; did you mean "
                    "'kafka.topicConfig'?",
                    "--chekpoint: unknown flag 'chekpoint'; the manual lists all fields of a proof",
                    "--keys: 3 keys are too few for 4 producers: each key belongs to one producer; "
                    "raise keys to 4 or lower producers to 3",
                    "p.yaml line 4 column 1: consumeDelay 200 s is not below timeout 180 s: every "
                    "record would be late; raise timeout or lower "
                    "consumeDelay"}));
}

TEST(ReadProofTest, UnknownFlagsGetASuggestion) {
  EXPECT_EQ(faults_of(from_flags({{"--mgs-rate", "1"}})),
            Faults{"--mgs-rate: unknown flag 'mgs-rate'; did you mean '--msg-rate'?"});
  EXPECT_EQ(faults_of(from_flags({{"--", "1"}})),
            Faults{"--: unknown flag ''; the manual lists all fields of a proof"});
}

TEST(ReadProofTest, ZeroOrLessDurationIsWithoutEnd) {
  for (const auto* text : {"0", "-1", "-9223372036854775808"}) {
    const auto reading = from_flags({{"--duration", text}});
    EXPECT_EQ(faults_of(reading), Faults{});
    EXPECT_EQ(reading.proof.duration, seconds{0});
  }
  EXPECT_EQ(from_flags({{"--final-wait-seconds", "-5"}}).proof.final_wait, seconds{0});
}

TEST(ReadProofTest, ZeroStallSecondsIsNoLimitAndZeroDuplicatesIsOne) {
  const auto reading = from_file("features: [ordering]\nmaxStallSeconds: 0\nmaxDuplicates: 0\n");
  EXPECT_EQ(faults_of(reading), Faults{});
  EXPECT_EQ(reading.proof.thresholds.stall_seconds_max, std::nullopt);
  EXPECT_EQ(reading.proof.thresholds.duplicates_max, 0U);
  EXPECT_EQ(from_flags({{"--max-stall-seconds", "2m"}}).proof.thresholds.stall_seconds_max, 120U);
}

struct BadValue {
  std::string flag;
  std::string value;
  std::string fault;
};
class BadValueTest : public testing::TestWithParam<BadValue> {};
TEST_P(BadValueTest, IsRefusedWithARemedy) {
  EXPECT_EQ(faults_of(from_flags({{GetParam().flag, GetParam().value}})),
            Faults{GetParam().flag + ": " + GetParam().fault});
}
INSTANTIATE_TEST_SUITE_P(
    All, BadValueTest,
    testing::Values(
        BadValue{"--msg-rate", "fast",
                 "msgRate: 'fast' is not a whole number of 0 or more; write a number from 1 to "
                 "1,000,000,000"},
        BadValue{"--msg-rate", "",
                 "msgRate: '' is not a whole number of 0 or more; write a number from 1 to "
                 "1,000,000,000"},
        BadValue{"--partitions", "0",
                 "partitions: 0 is out of range; write a number from 1 to 100,000"},
        BadValue{
            "--keys", "99999999999999999999",
            "keys: '99999999999999999999' is too large; write a number from 1 to 1,000,000,000"},
        BadValue{
            "--timeout", "500ms",
            "timeout: '500ms' is not a whole number of seconds; write a time from 1 s to 3650 d"},
        BadValue{"--timeout", "-3",
                 "timeout: '-3' is not a duration; write 120, 120s, 2m, 1h30m or 500ms; write a "
                 "time from 1 s to 3650 d"},
        BadValue{"--duration", "20y",
                 "duration: '20y' is not a duration; write 120, 120s, 2m, 1h30m or 500ms; write a "
                 "time from 0 s to 3650 d"},
        BadValue{"--commit", "never",
                 "commit: there is no 'never'; choose checkpoint, each or auto"},
        BadValue{"--raw-read", "all", "rawRead: there is no 'all'; choose holes, full or none"},
        BadValue{"--keep-topic", "maybe",
                 "keepTopic: 'maybe' is not true or false; write true or false"},
        BadValue{"--min-rate", "-1",
                 "minRate: -1 is out of range; write a number from 0 to 1,000,000,000"},
        BadValue{"--min-rate", "nan",
                 "minRate: 'nan' is not a number; write a number from 0 to 1,000,000,000"},
        BadValue{
            "--seed", "-1",
            "seed: '-1' is not a whole number of 0 or more; write a whole number of 0 or more"},
        BadValue{"--gaps", "holes",
                 "gaps: there is no 'holes'; choose from compaction or retention"},
        BadValue{"--chaos", "", "chaos: an empty text is no item; write a list of text"},
        BadValue{"--settings", "acks",
                 "settings: 'acks' is not name=value; write name: value for each, with a name of 1 "
                 "to 200 bytes"},
        BadValue{
            "--settings", "=all",
            "settings: '' is no name; write name: value for each, with a name of 1 to 200 bytes"},
        BadValue{"--name", "a\xff", "name: the value is not UTF-8 text; write a text"}));

TEST(ReadProofTest, AFlagTwiceIsRefusedUnlessItIsAListOrAMap) {
  EXPECT_EQ(faults_of(from_flags({{"--keys", "5"}, {"--keys", "6"}})),
            Faults{"--keys: this flag is given twice; keep one of them"});
}

TEST(ReadProofTest, ABoolFlagWithoutAValueIsTrue) {
  EXPECT_TRUE(from_flags({{"--keep-topic", ""}}).proof.keep_topic);
}

TEST(ReadProofTest, TheWrongKindOfValueIsRefusedWithItsPlace) {
  EXPECT_EQ(faults_of(from_file("features: [ordering]\nmsgRate: [1]\nsettings: 5\nchaos: "
                                "[[x]]\ntimeout: {a: 1}\nkafka: 7\n")),
            (Faults{"p.yaml line 2 column 10: msgRate: a list is no value for it; write a number "
                    "from 1 to 1,000,000,000",
                    "p.yaml line 3 column 11: settings: it is a map; write name: value for each, "
                    "with a name of 1 to 200 bytes",
                    "p.yaml line 4 column 9: chaos: this item is not text; write a list of text",
                    "p.yaml line 5 column 10: timeout: a map is no value for it; write a time from "
                    "1 s to 3650 d",
                    "p.yaml line 6 column 1: unknown field 'kafka'; the manual lists all fields of "
                    "a proof"}));
}

TEST(ReadProofTest, FieldsOfTheReferenceThatAreNotReadSayWhatToDo) {
  EXPECT_EQ(
      faults_of(from_file("features: [ordering]\nid: x\ndrivers: {admin: a}\n")),
      (Faults{"p.yaml line 2 column 1: 'id' is not read here; remove it; each run gets its own",
              "p.yaml line 3 column 1: 'drivers' is not read here; name one system with 'driver'; "
              "separate systems for producers and "
              "consumers are not supported yet"}));
}

TEST(ReadProofTest, AFileThatIsNoDocumentIsOneFaultWithItsPlace) {
  EXPECT_EQ(faults_of(from_file("keys: 1\nkeys: 2\n")),
            Faults{"p.yaml line 2 column 1: 'keys' stands here and in line 1; keep one of them; "
                   "mend the named place"});
  EXPECT_EQ(
      faults_of(from_file("just text")),
      (Faults{
          "p.yaml line 1 column 1: a proof is a map of fields; write lines like 'msgRate: 1000'",
          "p.yaml: no feature is named, so there is nothing to prove; add features: "
          "at_least_once, ordering"}));
}

TEST(ReadProofTest, TopicConfigMayBeWrittenFlatButNotTwice) {
  EXPECT_EQ(
      from_file("features: [ordering]\nkafka.topicConfig: {a: b}\n").proof.topic_config.at("a"),
      "b");
  EXPECT_EQ(faults_of(from_file(
                "features: [ordering]\nkafka.topicConfig: {a: b}\nkafka: {topicConfig: {c: d}}\n")),
            Faults{"p.yaml line 3 column 9: 'kafka.topicConfig' is given twice; keep one of them"});
}

TEST(ReadProofTest, AllFaultsTogetherAreOneErrorWithALineForEach) {
  const Error error = to_error(from_flags({{"--keys", "x"}, {"--timeout", "y"}}).faults);
  EXPECT_EQ(error.code, ErrorCode::kParse);
  EXPECT_EQ(std::count(error.message.begin(), error.message.end(), '\n'), 1);
}

}  // namespace
}  // namespace sp::proof

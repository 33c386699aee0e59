#include "history/foreign/verifiable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/history/foreign.h"

namespace sp::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Files = std::vector<std::pair<std::string, std::string>>;

ForeignOutcome verifiable(const Files& files, bool salvage = false) {
  return convert_texts(ForeignKind::kVerifiable, files, {.salvage = salvage});
}
std::string event(const std::string& name, const std::string& members = "") {
  return R"({"timestamp":1000,"name":")" + name + "\"" + (members.empty() ? "" : "," + members) + "}\n";
}
std::string sent(const std::string& value, const std::string& key = "null", const std::string& topic = "t") {
  return event("producer_send_success",
               R"("key":)" + key + R"(,"value":")" + value + R"(","topic":")" + topic + R"(","partition":0,"offset":7)");
}
std::string record(const std::string& value, const std::string& key = "null") {
  return event("record_data", R"("key":)" + key + R"(,"value":")" + value + R"(","topic":"t","partition":0,"offset":7)");
}
std::string failed(const std::string& exception) {
  return event("producer_send_error", R"("key":null,"value":"0","topic":"t","exception":"class )" + exception + R"(","message":"m")");
}

TEST(VerifiableTest, EveryEventOfBothTools) {
  const ForeignOutcome outcome = verifiable({{"c/consumer-1.log", corpus("verifiable/consumer-1.log")},
                                             {"producer-1.log", corpus("verifiable/producer-1.log")}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.lines, corpus("verifiable/both.jsonl"));
  EXPECT_THAT(outcome.notes,
              ElementsAre(HasSubstr("the order between the files is that of their clocks"),
                          HasSubstr("with a time before that of the line above"),
                          HasSubstr("are of no producer whose output was named"),
                          HasSubstr("a key that does not belong to their value"),
                          "lines that are no events are left out (1)",
                          "attempts have no outcome in the files: it is unknown (1)"));
}

TEST(VerifiableTest, TheOrderOfTheFilesChangesNothing) {
  const Files one = {{"producer-1.log", corpus("verifiable/producer-1.log")}, {"consumer-1.log", corpus("verifiable/consumer-1.log")}};
  EXPECT_EQ(verifiable(one).lines, verifiable({one[1], one[0]}).lines);
  const Files producers = {{"a.log", sent("0")}, {"b.log", sent("1.0")}};
  EXPECT_EQ(verifiable(producers).lines, verifiable({producers[1], producers[0]}).lines) << "also of what was at the same millisecond";
}

TEST(VerifiableTest, KeysComeRoundAndPrefixesTellProducersApart) {
  const ForeignOutcome outcome = verifiable({{"keyed.log", corpus("verifiable/keyed.log")},
                                             {"killed.log", corpus("verifiable/killed.log")}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.lines, corpus("verifiable/keyed.jsonl"));
  EXPECT_THAT(verifiable({{"keyed.log", corpus("verifiable/keyed.log")}}).lines, HasSubstr(R"("order":"key")"));
}

TEST(VerifiableTest, WhatAKilledProducerSentUnseenIsUnknownAndNoPhantom) {
  const std::string consumer = record("4") + event("records_consumed",
                                                   R"("count":1,"partitions":[{"topic":"t","partition":0,"count":1}])");
  const ForeignOutcome outcome = verifiable({{"p.log", corpus("verifiable/killed.log")}, {"c.log", consumer}});
  EXPECT_THAT(outcome.lines, HasSubstr(R"("process":"p","type":"invoke","f":"publish","value":4})"));
  EXPECT_THAT(outcome.lines, HasSubstr(R"("process":"p","type":"info","f":"publish","value":4,"error":"no outcome was printed"})"));
  EXPECT_THAT(outcome.lines, Not(HasSubstr(R"("process":"p","type":"ok","f":"end")")));
  EXPECT_THAT(outcome.notes, testing::Contains("p.log: the producer did not end properly: it may have sent more than is known here"));
  const std::string ended = corpus("verifiable/killed.log") + event("tool_data", R"("sent":3)");
  EXPECT_THAT(verifiable({{"p.log", ended}, {"c.log", consumer}}).lines, Not(HasSubstr(R"("f":"publish","value":4)")))
      << "it sent three, and says so";
}

TEST(VerifiableTest, OnlyAnswersAboutTheRecordItselfAreCertain) {
  const auto outcome = [](const std::string& exception) {
    const std::string lines = verifiable({{"p.log", failed(exception)}}).lines;
    if (lines.find(R"("type":"fail")") != std::string::npos) return "fail";
    return lines.find(R"("type":"info")") != std::string::npos ? "info" : "none";
  };
  EXPECT_STREQ(outcome("org.apache.kafka.common.errors.RecordTooLargeException"), "fail");
  EXPECT_STREQ(outcome("java.lang.IllegalStateException"), "fail");
  EXPECT_STREQ(outcome("org.apache.kafka.common.errors.TimeoutException"), "info");
  EXPECT_STREQ(outcome("org.apache.kafka.common.errors.NotLeaderOrFollowerException"), "info");
  EXPECT_STREQ(outcome("org.apache.kafka.common.errors.TopicAuthorizationException"), "info");
}

TEST(VerifiableTest, SeveralTopicsStandInKeysAndBesidePositions) {
  const std::string lines = verifiable({{"a.log", sent("0", "null", "x")}, {"b.log", sent("0", "\"0\"", "y")}}).lines;
  EXPECT_THAT(lines,
              HasSubstr(R"("process":"a","type":"ok","f":"publish","topic":"x","key":"x/","value":0,"position":{"partition":0,)"));
  EXPECT_THAT(lines, HasSubstr(R"("process":"b","type":"ok","f":"publish","topic":"y","key":"y/0","value":0)"));
}

TEST(VerifiableTest, WithoutVerboseADeliveryCannotBeSaid) {
  const std::string polled = event("records_consumed",
                                   R"("count":2,"partitions":[{"topic":"t","partition":0,"count":2,"minOffset":0,"maxOffset":1}])");
  EXPECT_EQ(verifiable({{"p.log", sent("0")}, {"c.log", polled}}).error,
            "c.log line 1 column 1: 2 records of t-0 were consumed and 0 printed: which ones is not said; run the consumer with --verbose");
  EXPECT_THAT(verifiable({{"p.log", sent("0")}, {"c.log", record("0") + polled}}).error,
              HasSubstr("2 records of t-0 were consumed and 1 printed"));
  EXPECT_EQ(verifiable({{"p.log", sent("0")}, {"c.log", event("records_consumed", R"("count":0,"partitions":[])")}}).error, "");
}

TEST(VerifiableTest, FilesThatDoNotBelongTogetherAreRefused) {
  const auto error = [](const Files& files) { return verifiable(files).error; };
  EXPECT_THAT(error({{"a/p.log", sent("0")}, {"b/p.log", sent("0")}}), HasSubstr("a/p.log and b/p.log would both be process p"));
  EXPECT_THAT(error({{"a.log", sent("0")}, {"b.log", sent("0")}}), HasSubstr("run each producer with a --value-prefix of its own"));
  EXPECT_THAT(error({{"nemesis.log", sent("0")}}), HasSubstr("rename the file"));
  EXPECT_THAT(error({{"c.log", record("0")}}), HasSubstr("no file is the output of a VerifiableProducer"));
  EXPECT_THAT(error({{"p.log", ""}}), HasSubstr("p.log: holds no event"));
  EXPECT_THAT(error({{"p.log", sent("0") + record("0")}}),
              HasSubstr("p.log line 2 column 1: events of a producer and of a consumer in one file"));
  EXPECT_THAT(error({{"p.log", sent("0") + sent("0")}}), HasSubstr("value 0 has had an outcome"));
  EXPECT_THAT(error({{"p.log", sent("0") + sent("3.1")}}), HasSubstr("topic, prefix of the value or use of keys changes"));
  EXPECT_THAT(error({{"p.log", event("startup_complete") + event("startup_complete")}}), HasSubstr("a second startup_complete"));
  EXPECT_THAT(error({{"p.log", event("tool_data", R"("sent":1)") + event("tool_data", R"("sent":1)")}}), HasSubstr("a second tool_data"));
  EXPECT_THAT(error({{"p.log", sent("1", "\"1\"") + sent("2", "\"0\"") + sent("3", "\"0\"")}}), HasSubstr("do not come round"));
}

TEST(VerifiableTest, WhatIsNoEventIsRefusedWithItsPlace) {
  const auto error = [](const std::string& text) { return verifiable({{"p.log", text}}).error; };
  EXPECT_EQ(error("\n{\"timestamp\":1,\"name\":\"dance\"}"),
            "p.log line 2 column 1: event 'dance' is none of VerifiableProducer or VerifiableConsumer that is known here");
  EXPECT_EQ(error(R"({"timestamp":"x","name":"tool_data","sent":1})"),
            "p.log line 1 column 14: member 'timestamp' is a whole number from 0 to 4398046511104");
  EXPECT_THAT(error(R"({"timestamp":4398046511105,"name":"tool_data","sent":1})"), HasSubstr("member 'timestamp' is a whole number"));
  EXPECT_THAT(error(R"({"name":"tool_data"})"), HasSubstr("member 'timestamp' is missing"));
  EXPECT_THAT(error(R"({"timestamp":1,"name":"tool_data"})"), HasSubstr("member 'sent' is missing"));
  EXPECT_THAT(error(R"({"timestamp":1,"name":7})"), HasSubstr("member 'name' is a text"));
  EXPECT_THAT(error(event("partitions_assigned", R"("partitions":{})")), HasSubstr("member 'partitions' is missing: a list"));
  EXPECT_THAT(error(event("partitions_assigned", R"("partitions":[1])")), HasSubstr("a partition is an object"));
  EXPECT_THAT(error(event("offsets_committed", R"("offsets":[])")), HasSubstr("member 'success' is missing"));
  EXPECT_THAT(error(sent("x")), HasSubstr("the value is none that VerifiableProducer makes"));
  EXPECT_THAT(error(sent("1", "\"2\"")), HasSubstr("the key is none that VerifiableProducer makes"));
  EXPECT_THAT(error(sent("9000000")), HasSubstr("values have no outcome, more than 1048576"));
}

TEST(VerifiableTest, ALastLineThatIsCutOffIsRefusedOrLeftOut) {
  const std::string text = sent("0") + R"({"timestamp":1000,"na)";
  EXPECT_THAT(verifiable({{"p.log", text}}).error, HasSubstr("the file was cut off; --salvage converts what is before this line"));
  EXPECT_THAT(verifiable({{"p.log", text + "\n"}}, true).error, HasSubstr("one event a line is expected"))
      << "a line that ends is not cut off";
  const ForeignOutcome salvaged = verifiable({{"p.log", text}}, true);
  EXPECT_EQ(salvaged.error, "");
  EXPECT_THAT(salvaged.notes, testing::Contains("p.log: line 2 is cut off and left out"));
}

TEST(VerifiableTest, ValuesAreReadAsTheyArePrintedAndInNoOtherWay) {
  const auto read = [](std::string_view text) -> std::string {
    const auto value = parse_verifiable_value(text);
    return value ? std::string(value->prefix) + "|" + std::to_string(value->value) : "none";
  };
  EXPECT_EQ(read("17"), "|17");
  EXPECT_EQ(read("3.0"), "3|0");
  EXPECT_EQ(read("-3.4"), "-3|4");
  EXPECT_EQ(read("4611686018427387904"), "|4611686018427387904");
  for (const char* other : {"", ".", "1.", ".1", "017", "+1", "-1", "1.2.3", "a", "1 ", "4611686018427387905", "99999999999999999999"}) {
    EXPECT_EQ(read(other), "none") << other;
  }
}

}  // namespace
}  // namespace sp::history

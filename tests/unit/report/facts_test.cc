#include "report/facts.h"

#include <gtest/gtest.h>

namespace sp::report {
namespace {

MonotonicTime at(std::int64_t ns) { return MonotonicTime(Nanoseconds(ns)); }

// Every member is another than it is by default.
Report full() {
  Report report;
  report.failure = "no \"topic\"";
  report.program = "streaming-proof 9";
  report.topic = "t\n";
  report.topic_deleted = true;
  report.driver = "kafka";
  report.client = "c 1";
  report.idempotent = true;
  report.started = WallTime(Nanoseconds(1'767'225'600'000'000'001));
  report.notes = {"n"};
  report.messages = {"a", "b"};
  report.messages_left_out = 18'446'744'073'709'551'615ULL;
  report.load_begin = at(-5);
  report.load = Nanoseconds(17);
  report.staleness = Nanoseconds(3);
  report.no_staleness = "why";
  auto& facts = report.facts;
  facts.stopped = facts.interrupted = facts.raw_read_complete = facts.raw_read_refused = true;
  facts.raw_read_available = false;
  facts.raw_read_problem = "p";
  facts.refused = {{"g", "READ"}};
  facts.workers_lost = {"w"};
  facts.missing = {"m"};
  facts.rate = 0.1;
  facts.faults_without_effect = {"f"};
  facts.settings = {{"acks", "all"}};
  facts.warnings = {"x"};
  facts.faults.push_back({.number = 1, .name = "kill-leader", .target = "node 2", .effect = "moved", .begin = at(1),
                          .effect_seen = at(2), .released = at(3), .end = at(4), .recovered = at(5), .no_recovery = ""});
  facts.faults.push_back({.number = 2, .name = "freeze", .target = "", .effect = "", .begin = at(6), .effect_seen = {},
                          .released = {}, .end = {}, .recovered = {}, .no_recovery = "never"});
  facts.times = judge::RunTimes{at(7), WallTime(Nanoseconds(8)), at(9), at(10)};
  return report;
}

TEST(FactsTest, WhatIsWrittenIsReadAgain) {
  const std::string json = facts_json(full());
  EXPECT_EQ(json.find('\n'), std::string::npos) << "it stands in a line";
  Report read;
  ASSERT_TRUE(read_facts(json, read).has_value());
  EXPECT_EQ(facts_json(read), json);
  EXPECT_EQ(read.messages_left_out, full().messages_left_out);
  EXPECT_EQ(read.load_begin, full().load_begin);
  EXPECT_EQ(read.facts.rate, 0.1);
  EXPECT_EQ(read.facts.faults[0].recovered, at(5));
  EXPECT_EQ(read.facts.faults[1].effect_seen, std::nullopt);
  EXPECT_EQ(read.facts.times->judged, at(10));
  EXPECT_EQ(read.started, full().started);
}

TEST(FactsTest, NothingIsReadAsTheDefaults) {
  Report read;
  ASSERT_TRUE(read_facts(R"({"unknown":[1,{}],"topic":null})", read).has_value());
  EXPECT_EQ(facts_json(read), facts_json(Report{}));
  ASSERT_TRUE(read_facts(facts_json(Report{}), read).has_value());
  EXPECT_EQ(facts_json(read), facts_json(Report{}));
}

TEST(FactsTest, WhatIsOfTheWrongKindIsRefusedByName) {
  const auto refusal = [](std::string_view json) {
    Report report;
    const auto read = read_facts(json, report);
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(refusal("[]"), "it is no object");
  EXPECT_NE(refusal("{"), "");
  EXPECT_EQ(refusal(R"({"topic":3})"), "'topic' must be a text");
  EXPECT_EQ(refusal(R"({"stopped":"yes"})"), "'stopped' must be true or false");
  EXPECT_EQ(refusal(R"({"rate":"fast"})"), "'rate' must be a number");
  EXPECT_EQ(refusal(R"({"missing":["a",1]})"), "'missing' must be a list of texts");
  EXPECT_EQ(refusal(R"({"settings":{"acks":1}})"), "'settings' must be an object of texts");
  EXPECT_EQ(refusal(R"({"faults":[1]})"), "'faults' must be a list of objects");
  EXPECT_EQ(refusal(R"({"load_ns":18446744073709551615})"), "'load_ns' must be a whole number of 64 bits");
  EXPECT_EQ(refusal(R"({"messages_left_out":-1})"), "'messages_left_out' must be a whole number");
  EXPECT_EQ(refusal(R"({"times":[]})"), "'times' must be an object");
}

}  // namespace
}  // namespace sp::report

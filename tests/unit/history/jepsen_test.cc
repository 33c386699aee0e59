#include "history/foreign/jepsen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/history/foreign.h"

namespace sp::history {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ForeignOutcome jepsen(const std::string& text, bool salvage = false) {
  return convert_texts(ForeignKind::kJepsen, {{"h.edn", text}}, {.salvage = salvage});
}
// The operations without the meta record.
std::string told(const std::string& text) {
  const ForeignOutcome outcome = jepsen(text);
  EXPECT_EQ(outcome.error, "");
  return outcome.lines.substr(outcome.lines.find('\n') + 1);
}

TEST(JepsenTest, EveryOperationOfManualAssignment) {
  const ForeignOutcome outcome = jepsen(corpus("jepsen/assign.edn"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.lines, corpus("jepsen/assign.jsonl"));
  EXPECT_THAT(outcome.notes,
              ElementsAre("records of polls that did not succeed are left out: whether the consumer went on from there is not said (1)",
                          "operations :debug-topic-partitions are left out: they say nothing of a record (1)",
                          "operations have no completion in the history: what they sent is of unknown outcome (1)"));
}

TEST(JepsenTest, GroupsRebalancesAndOneVectorAroundAll) {
  const ForeignOutcome outcome = jepsen(corpus("jepsen/subscribe.edn"));
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.lines, corpus("jepsen/subscribe.jsonl"));
  EXPECT_THAT(outcome.notes, ElementsAre(HasSubstr("polls that did not succeed"), HasSubstr("moved partitions during several polls"),
                                         "revocations are left out: the history lacks the assignment before them (1)",
                                         HasSubstr("rebalance events are left out")));
}

TEST(JepsenTest, OnlyWhereAGroupMovesPartitionsIsNoOrderPromised) {
  EXPECT_THAT(jepsen(corpus("jepsen/assign.edn")).lines, HasSubstr(R"("order":"partition")"));
  EXPECT_THAT(jepsen(corpus("jepsen/subscribe.edn")).lines, HasSubstr(R"("order":"none")"));
}

TEST(JepsenTest, AFailedTransactionIsCertainAndAnUnknownOneIsNot) {
  constexpr std::string_view kInvoke = "{:process 1 :type :invoke :f :txn :value [[:send 5 1]]}\n";
  EXPECT_EQ(told(std::string(kInvoke) + "{:process 1 :type :fail :f :txn :value [[:send 5 [9 1]]] :error :x}"),
            R"({"index":0,"process":"producer-1","type":"invoke","f":"begin","txn":"txn-1"})" "\n"
            R"({"index":1,"process":"producer-1","type":"invoke","f":"publish","key":"5","value":0,"txn":"txn-1"})" "\n"
            R"({"index":2,"process":"producer-1","type":"invoke","f":"commit","txn":"txn-1"})" "\n"
            R"({"index":3,"process":"producer-1","type":"info","f":"begin","txn":"txn-1"})" "\n"
            R"({"index":4,"process":"producer-1","type":"fail","f":"publish","key":"5","value":0,"txn":"txn-1","error":":x"})" "\n"
            R"({"index":5,"process":"producer-1","type":"fail","f":"commit","txn":"txn-1","error":":x"})" "\n"
            R"({"index":6,"process":"jepsen","type":"ok","f":"end","reason":"done"})" "\n");
  EXPECT_THAT(told(std::string(kInvoke) + "{:process 1 :type :info :f :txn :error :timeout}"),
              testing::AllOf(HasSubstr(R"("type":"info","f":"publish","key":"5","value":0,"txn":"txn-1","error":":timeout")"),
                             HasSubstr(R"("type":"info","f":"commit","txn":"txn-1","error":":timeout")")));
}

TEST(JepsenTest, WhatTheSystemSaidOfAPollStandsInItsOrder) {
  EXPECT_THAT(told("{:process 0 :type :invoke :f :poll :value [[:poll]]}"
                   "{:process 0 :type :ok :f :poll :value ([:poll {7 [[nil 4]] 8 ([2 1])}] [:poll {}] [:poll nil])}"),
              HasSubstr(R"({"index":1,"process":"consumer-0","type":"ok","f":"deliver","key":"7","value":3})" "\n"
                        R"({"index":2,"process":"consumer-0","type":"ok","f":"deliver","key":"8","value":0,)"
                        R"("position":{"partition":8,"offset":2}})"));
}

TEST(JepsenTest, AProcessThatIsGivenUpHoldsNothingAnyMore) {
  const std::string held = "{:process 0 :type :invoke :f :assign :value [3]} {:process 0 :type :ok :f :assign :value [3]}"
                           "{:process 0 :type :invoke :f :poll :value [[:poll]]}";
  const std::string closed = R"("f":"revoke","partitions":[3],"closed":true)";
  EXPECT_THAT(told(held + "{:process 0 :type :info :f :poll :value [[:poll]] :error :x}"), HasSubstr(closed));
  EXPECT_THAT(told(held + "{:process 0 :type :fail :f :poll :value [[:poll]] :end-process? true}"), HasSubstr(closed));
  EXPECT_THAT(told(held + "{:process 0 :type :fail :f :poll :value [[:poll]]}"), testing::Not(HasSubstr(closed)));
}

TEST(JepsenTest, WhatIsNoneOfTheWorkloadIsRefusedWithItsPlace) {
  const auto error = [](const std::string& text) { return jepsen(text).error; };
  EXPECT_EQ(error("[1]"), "h.edn line 1 column 2: an operation is a map, {:type :invoke, :f :send, …}: is this a history.edn?");
  EXPECT_THAT(error("{:process 1 :type :ok :f :read}"), HasSubstr("operation :read is none of the Kafka workload (:send, :poll,"));
  EXPECT_THAT(error("{:type :ok :f :send}"), HasSubstr("member :process is missing"));
  EXPECT_THAT(error("{:process 1 :f :send}"), HasSubstr("member :type is missing"));
  EXPECT_THAT(error("{:process 1 :type :ok}"), HasSubstr("member :f is missing"));
  EXPECT_EQ(error("{:process 1\n :type :maybe :f :send}"), "h.edn line 2 column 8: :type is :invoke, :ok, :fail or :info");
  EXPECT_THAT(error("{:process :x :type :ok :f :send}"), HasSubstr(":process is a whole number from 0 or :nemesis"));
  EXPECT_THAT(error("{:process 1 :process 2 :type :ok :f :send}"), HasSubstr("member :process stands twice"));
  EXPECT_THAT(error("{:process 1 :type :ok :f :send :time 1.5}"), HasSubstr(":time is a whole number"));
  EXPECT_THAT(error("{:process 1 :type :ok :f :send :value []}"), HasSubstr("completes a :send that it has not invoked"));
  const std::string one = "{:process 1 :type :invoke :f :send :value [[:send 5 1]]}";
  EXPECT_THAT(error(one + one), HasSubstr("process 1 invokes :send while its :send has no completion"));
  EXPECT_THAT(error(one + "{:process 1 :type :ok :f :poll :value []}"), HasSubstr("completes a :poll that it has not invoked"));
  EXPECT_THAT(error(one + "{:process 1 :type :ok :f :send}"), HasSubstr("an operation that is :ok has a :value"));
  EXPECT_THAT(error(one + "{:process 1 :type :ok :f :send :value [[:send 5 [0 2]]]}"),
              HasSubstr("this send is not the one that was invoked"));
  EXPECT_THAT(error(one + "{:process 1 :type :ok :f :send :value []}"), HasSubstr("lacks a send that was invoked"));
}

TEST(JepsenTest, ValuesThatCannotBeSaidAreRefused) {
  const auto error = [](const std::string& mops) { return jepsen("{:process 1 :type :invoke :f :txn :value " + mops + "}").error; };
  EXPECT_THAT(error("[[:send 5 0]]"), HasSubstr("column 52: the values of a key are whole numbers from 1"));
  EXPECT_THAT(error("[[:send 5 :a]]"), HasSubstr("whole numbers from 1"));
  EXPECT_THAT(error("[[:send :k 1]]"), HasSubstr("a key is a whole number from 0 and below 2^32"));
  EXPECT_THAT(error("[[:send 4294967296 1]]"), HasSubstr("below 2^32"));
  EXPECT_THAT(error("[[:send \"05\" 1]]"), HasSubstr("below 2^32"));
  EXPECT_THAT(error("[[:send 5 1] [:send \"5\" 2]]"), HasSubstr("keys are numbers here and texts there"));
  EXPECT_THAT(error("[[:send 5 [-1 1]]]"), HasSubstr("an offset is a whole number from 0, or nil"));
  EXPECT_THAT(error("[[:send 5]]"), HasSubstr("a send is [:send key value]"));
  EXPECT_THAT(error("[[:append 5 1]]"), HasSubstr("[:send key value] or [:poll] is expected here"));
  EXPECT_THAT(error("{:topic 5}"), HasSubstr("has a vector as its :value"));
  EXPECT_THAT(jepsen("{:process 1 :type :invoke :f :poll :value [[:poll]]}"
                     "{:process 1 :type :ok :f :poll :value [[:poll {5 [[1 nil]]}]]}").error, HasSubstr("whole numbers from 1"));
}

TEST(JepsenTest, AFileThatIsCutOffIsRefusedOrConvertedUpToThere) {
  const std::string text = "{:process 1 :type :invoke :f :send :value [[:send 5 1]]}\n{:process 1 :type :ok :f :se";
  EXPECT_EQ(jepsen(text).error,
            "h.edn line 2 column 1: the file ends within what begins here: it was cut off; --salvage converts what is before it");
  const ForeignOutcome salvaged = jepsen(text, true);
  EXPECT_EQ(salvaged.error, "");
  EXPECT_THAT(salvaged.notes, ElementsAre("h.edn: line 2 is cut off and left out", HasSubstr("have no completion")));
  EXPECT_THAT(salvaged.lines, testing::Not(HasSubstr(R"("f":"end")"))) << "nobody said that it ended";
}

TEST(JepsenTest, OneFileIsOneHistory) {
  EXPECT_THAT(convert_texts(ForeignKind::kJepsen, {{"a", ""}, {"b", ""}}).error, HasSubstr("2 files are given"));
  EXPECT_THAT(jepsen("").notes, IsEmpty());
}

}  // namespace
}  // namespace sp::history

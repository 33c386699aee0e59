#include "history/line.h"

#include <gtest/gtest.h>

namespace sp::history {
namespace {

// What a line reads as: the line written back, or "column: what it says".
class LineTest : public testing::Test {
 protected:
  std::string read(std::string_view line, std::uint64_t index = 0) { return read_as(line, Dialect::kVersion1, index); }
  std::string driftlab(std::string_view line, std::uint64_t index = 0) { return read_as(line, Dialect::kDriftlab, index); }
  std::string read_as(std::string_view line, Dialect dialect, std::uint64_t index) {
    Operation operation;
    if (auto fault = parser_.operation(line, dialect, index, operation, details_)) return said(*fault);
    std::string out;
    append_operation(out, operation, vocabulary_, dialect);
    return out.substr(0, out.size() - 1);
  }
  std::string meta(std::string_view line) {
    Meta meta;
    if (auto fault = parser_.meta(line, meta)) return said(*fault);
    std::string out;
    append_meta(out, meta);
    return out.substr(0, out.size() - 1);
  }
  static std::string said(const LineFault& fault) { return std::to_string(fault.at + 1) + ": " + fault.says; }
  // A line of that name with these members, from the process p, ok.
  std::string members(std::string_view f, std::string_view rest, std::string_view type = "ok") {
    const std::string head = R"({"index":0,"process":"p","type":")" + std::string(type) + R"(","f":")" + std::string(f) + "\"";
    const std::string line = head + (rest.empty() ? "" : ",") + std::string(rest) + "}";
    const std::string said = read(line);
    return said == line ? "same" : said;
  }

  Vocabulary vocabulary_;
  LineParser parser_{vocabulary_};
  Details details_;
};

TEST_F(LineTest, EveryOperationReadsBackAsItIsWritten) {
  for (const auto& [f, rest] : std::vector<std::pair<std::string, std::string>>{
           {"publish", R"("topic":"t","key":"k3","value":17,"position":{"partition":2,"offset":41},"txn":"x","qos":1)"},
           {"publish", R"("value":18446744073709551615,"position":{"partition":4294967295,"offset":18446744073709551615})"},
           {"publish", R"("value":0,"position":{"seq":7})"},
           {"publish", R"("value":0,"position":{"partition":1,"ledger":5,"entry":6,"batch":0})"},
           {"publish", R"("value":0,"position":{"ledger":5,"entry":6},"error":"it \"hurts\"\n")"},
           {"subscribe", R"("start":"earliest","group":"g","mode":"key-shared")"},
           {"subscribe", R"("position":{"seq":9},"start":"latest")"},
           {"subscribe", R"("start":{"partition":0,"offset":5})"},
           {"unsubscribe", ""},
           {"assign", R"("group":"g","partitions":[0,3],"generation":4,"protocol":"classic","member":"m","instance":"i")"
                      R"(,"starts":[{"partition":0,"offset":5},{"partition":3,"offset":0}])"},
           {"revoke", R"("partitions":[0],"generation":4,"lost":true)"},
           {"revoke", R"("partitions":[],"lost":false,"closed":true)"},
           {"deliver", R"("key":"k","value":1,"position":{"partition":0,"offset":1},"asked":0,"checksum":"ok")"
                       R"(,"redelivered":true,"dup":false,"qos":2)"},
           {"deliver", R"("position":{"partition":0,"offset":1},"checksum":"bad")"},
           {"deliver", R"("run":"other")"},
           {"commit", R"("position":{"offset":42},"partition":2)"},
           {"commit", R"("txn":"t1")"},
           {"ack", R"("position":{"seq":3},"confirmed":true)"},
           {"nack", R"("value":3)"},
           {"begin", R"("txn":"t1")"},
           {"abort", R"("txn":"t1","error":"fenced")"},
           {"copy", R"("key":"k","value":1,"txn":"t1","from":{"partition":0,"offset":1})"},
           {"skip", R"("key":"k","value":1,"from":{"partition":0,"offset":1})"},
           {"client-error", R"("error":"all brokers down")"},
           {"disconnect", ""},
           {"reconnect", R"("session_present":false)"},
           {"cluster-state", R"("partition":0,"leader":2,"in_sync":[1,"n2"],"controller":"n3")"},
           {"probe", R"("error":"timed out")"},
           {"read-begin", R"("target":[{"partition":0,"end":42},{"partition":1,"start":3,"end":4}],"scope":"full")"
                          R"(,"isolation":"read-committed")"},
           {"read", R"("key":"k","value":1,"position":{"partition":0,"offset":1})"},
           {"read-end", R"("target":[{"partition":0,"end":42,"reached":true}])"},
           {"clock", R"("wall_ns":1764500000000000000)"},
           {"tick", R"("n":7,"seen":{"worker-0.1":812,"worker-1.1":0},"lost_incarnations":["worker-2.1"])"},
           {"end", R"("reason":"done")"},
           {"incomplete", R"("reason":"the disk is full","dropped":17)"},
       }) {
    EXPECT_EQ(members(f, rest), "same") << f;
  }
}

TEST_F(LineTest, TheOrderOfMembersBlanksAndUnknownMembersDoNotMatter) {
  EXPECT_EQ(read(R"( { "value" : 3, "new":{"a":[1,2,{}]} , "f":"publish","type":"invoke","process":"p","time_ns":-5,"index":7} )", 7),
            R"({"index":7,"time_ns":-5,"process":"p","type":"invoke","f":"publish","value":3})");
  EXPECT_EQ(read(R"({"index":0,"process":"p","type":"ok","f":"publish","value":3,"position":{"topic":"t","offset":1)"
                 R"(,"partition":0,"leader_epoch":2}})"),
            R"({"index":0,"process":"p","type":"ok","f":"publish","topic":"t","value":3,"position":{"partition":0,"offset":1}})");
}

TEST_F(LineTest, AFaultIsAnyNameOfTheNemesisAndOnlyOfIt) {
  EXPECT_EQ(read(R"({"index":0,"process":"nemesis","type":"ok","f":"cut","detail":{"ms":[1,2.5]}})"),
            R"({"index":0,"process":"nemesis","type":"ok","f":"cut","detail":{"ms":[1,2.5]}})");
  EXPECT_EQ(read(R"({"index":0,"process":"nemesis","type":"ok","f":"disconnect"})"),
            R"({"index":0,"process":"nemesis","type":"ok","f":"disconnect"})");
  EXPECT_EQ(members("cut", ""), "42: unknown f 'cut'; faults belong to the process nemesis");
}

TEST_F(LineTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(read("{"), "2: not JSON: a member's name in quotes is expected");
  EXPECT_EQ(read("[1]"), "1: the line is a list; a record is one object, in braces");
  EXPECT_EQ(read("{} 1"), "4: not JSON: something stands behind the value");
  EXPECT_EQ(read("{}"), "1: 'index' is missing; it must be 0");
  EXPECT_EQ(read(R"({"index":"0"})"), "10: 'index' is a text; it must be a whole number");
  EXPECT_EQ(read(R"({"index":1})"), "10: 'index' is 1 where 0 comes next: lines are missing, double or out of order");
  EXPECT_EQ(read(R"({"index":0})"), "1: 'process' is missing");
  EXPECT_EQ(read(R"({"index":0,"process":""})"), "22: 'process' is empty");
  EXPECT_EQ(read(R"({"index":0,"process":"p","type":"meta","f":"x"})"), "33: a second meta record: one file is one run; split it");
  EXPECT_EQ(read(R"({"index":0,"process":"p","type":"done","f":"x"})"), "33: unknown type 'done'; there are invoke, ok, fail and info");
  EXPECT_EQ(read(R"({"index":0,"process":"p","process":"q","type":"ok","f":"probe"})"), "36: 'process' stands twice");
  EXPECT_EQ(members("publish", R"("value":1,"value":2)"), "70: 'value' stands twice");
  EXPECT_EQ(members("publish", R"("value":-1)"), "60: 'value' is a number below 0; it must be a whole number");
  EXPECT_EQ(members("publish", R"("value":1.0)"), "60: 'value' is a number that is not whole; it must be a whole number");
  EXPECT_EQ(members("publish", R"("value":null)"), "60: 'value' is null: leave out what is absent");
  EXPECT_EQ(members("publish", R"("value":18446744073709551616)"),
            "60: not JSON: a whole number is from -9223372036854775808 to 18446744073709551615");
  EXPECT_EQ(members("publish", R"("value":1,"position":{"partition":1,"offset":-1})"),
            "97: 'offset' is a number below 0; it must be a whole number that is in range; a position of -1 is absent");
  EXPECT_EQ(members("publish", R"("value":1,"position":{"partition":1})").substr(0, 36), "73: 'position' must be a position: {");
  EXPECT_EQ(members("publish", R"("value":1,"qos":3)"), "68: 'qos' is a number; it must be 0, 1 or 2");
  EXPECT_EQ(members("publish", R"("value":1,"topic":"t","position":{"partition":1,"offset":1,"topic":"u"})"),
            "119: 'topic' within the position is another than beside it");
}

TEST_F(LineTest, WhatAnOperationMustHaveIsDemanded) {
  EXPECT_EQ(members("publish", ""), "1: publish needs member 'value'");
  EXPECT_EQ(members("subscribe", ""), "1: subscribe needs member 'start'");
  EXPECT_EQ(members("subscribe", "", "info"), "same");
  EXPECT_EQ(members("assign", ""), "1: assign needs member 'partitions'");
  EXPECT_EQ(members("deliver", ""), "1: deliver needs member 'value', or 'checksum' \"bad\" or 'run' to say why there is none");
  EXPECT_EQ(members("deliver", R"("value":1)", "invoke"), "1: deliver needs type \"ok\": it happened or is not written");
  EXPECT_EQ(members("read", R"("value":1)"), "1: read needs member 'position'");
  EXPECT_EQ(members("commit", ""), "1: commit needs member 'position' or, for a transaction, 'txn'");
  EXPECT_EQ(members("ack", ""), "1: ack needs member 'position' or 'value'");
  EXPECT_EQ(members("copy", R"("key":"k","value":1)"), "1: copy needs member 'from'");
  EXPECT_EQ(members("read-end", R"("target":[{"partition":0,"end":42}])"), "1: read-end needs 'reached' in each of its targets");
  EXPECT_EQ(members("read-begin", R"("target":[{"partition":0,"start":3,"end":2}])").substr(0, 27), "65: 'target' must be a list");
  EXPECT_EQ(members("tick", ""), "1: tick needs member 'n'");
  EXPECT_EQ(members("end", ""), "1: end needs member 'reason'");
  EXPECT_EQ(members("clock", ""), "1: clock needs member 'wall_ns'");
}

TEST_F(LineTest, InDriftlabZeroIsAbsentAndOtherMembersAreUnknown) {
  EXPECT_EQ(driftlab(R"({"index":0,"time_ns":1,"process":"consumer","type":"ok","f":"deliver","value":3,"stream_seq":9})"),
            R"({"index":0,"time_ns":1,"process":"consumer","type":"ok","f":"deliver","value":3,"stream_seq":9})");
  EXPECT_EQ(driftlab(R"({"process":"producer","type":"info","f":"publish","value":3,"stream_seq":0,"error":"","detail":null,"key":1})"),
            R"({"index":0,"process":"producer","type":"info","f":"publish","value":3})");
  EXPECT_EQ(driftlab(R"({"index":0,"process":"producer","type":"invoke","f":"publish","value":0})"),
            "1: publish needs member 'value' from 1 up");
  EXPECT_EQ(driftlab(R"({"index":0,"process":"producer","type":"ok","f":"publish","value":1})"),
            "1: publish needs member 'stream_seq' from 1 up");
  EXPECT_EQ(driftlab(R"({"index":0,"process":"x","type":"ok","f":"whatever"})"), R"({"index":0,"process":"x","type":"ok","f":"whatever"})");
  EXPECT_EQ(driftlab(R"({"process":"x","type":"ok","f":"whatever"})", 1), "1: 'index' is missing; it must be 1");
}

TEST_F(LineTest, MetaReadsBack) {
  for (const std::string line :
       {R"({"type":"meta","version":1,"run":"r7f3","driver":"nats-go","client":"c@1","api":"legacy")"
        R"(,"server":"nats-server 2.14.7","scenario":"net-cut","faults":["cut","kill"],"contract":{"order":"key"})"
        R"(,"params":{"n":1},"kind":"proof","topics":"reused","raw_read":false,"process":"worker-0","incarnation":2)"
        R"(,"started_wall_ns":5,"proof":{"a":1}})",
        R"({"type":"meta","client":"nats.go@v1.54.0","scenario":"stall","driftlab":"abc-dirty"})"}) {
    EXPECT_EQ(meta(line), line);
  }
}

TEST_F(LineTest, MetaIsRefusedWithItsReason) {
  EXPECT_EQ(meta("{}"), R"(1: the first record has no 'type'; it must be the meta record, {"type":"meta",…})");
  EXPECT_EQ(meta(R"({"type":"ok"})"), R"(9: the first record has type 'ok'; it must be the meta record, {"type":"meta",…})");
  EXPECT_EQ(meta(R"({"type":"meta","scenario":"s"})"), "1: the meta record has no 'client': say which library was tested");
  EXPECT_EQ(meta(R"({"type":"meta","client":"c"})"), "1: the meta record has no 'scenario': say what was run");
  EXPECT_EQ(meta(R"({"type":"meta","version":2})"), "26: 'version' must be 1, the only one that this program knows");
  EXPECT_EQ(meta(R"({"type":"meta","client":7})"), "25: 'client' is a number; it must be a text");
  EXPECT_EQ(meta(R"({"type":"meta","version":1,"kind":"x"})"), R"(35: 'kind' must be "lab" or "proof")");
  EXPECT_EQ(meta(R"({"type":"meta","kind":"x","version":1})"), R"(23: 'kind' must be "lab" or "proof")");
}

TEST_F(LineTest, MetaOfDriftlabHasMembersOfItsOwnAndIgnoresAllOthers) {
  EXPECT_EQ(meta(R"({"type":"meta","kind":"x","run":7,"contract":1,"incarnation":2,"client":"c","scenario":"s","params":null})"),
            R"({"type":"meta","client":"c","scenario":"s"})");
}

}  // namespace
}  // namespace sp::history

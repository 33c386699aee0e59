#include "history/retold.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/byte_source.h"
#include "history/observed.h"
#include "history/reader.h"
#include "history/writer.h"
#include "sys/files.h"

namespace sp::history {
namespace {

using core::Event;
using core::Observation;

// Everything of an observation that a recorder reads, in words.
std::string words(const Observation& o, std::string_view key) {
  std::string text = std::to_string(static_cast<int>(o.event)) + " p" + std::to_string(o.process) + " t" +
                     std::to_string(o.time.time_since_epoch().count());
  const auto add = [&](const char* name, std::uint64_t value) { text += std::string(" ") + name + std::to_string(value); };
  switch (o.event) {
    case Event::kInvoke:
    case Event::kOk:
    case Event::kFail:
    case Event::kInfo:
      text += " " + std::string(key);
      add("s", o.sequence.value());
      if (o.has_position) add("partition", o.partition.value()), add("offset", o.offset.value());
      break;
    case Event::kAssign:
    case Event::kRevoke:
      add("group", o.group.value()), add("partition", o.partition.value());
      if (o.has_generation) add("generation", o.generation.value());
      if (o.event == Event::kRevoke) add("close", static_cast<std::uint64_t>(o.close));
      if (o.event == Event::kAssign && o.has_start) add("start", o.start.value());
      if (o.event == Event::kAssign) text += " " + std::string(o.text) + " " + std::string(o.instance), add("classic", o.classic ? 1 : 0);
      break;
    case Event::kDeliver:
    case Event::kRaw:
      if (o.event == Event::kDeliver) add("group", o.group.value());
      add("content", static_cast<std::uint64_t>(o.content));
      add("partition", o.partition.value()), add("offset", o.offset.value()), add("asked", o.asked_partition.value());
      if (o.content == core::Content::kIntact || o.content == core::Content::kUnchecked) {
        text += " " + std::string(key);
        add("s", o.sequence.value());
      }
      break;
    case Event::kCommitInvoke:
    case Event::kCommitOk:
    case Event::kCommitFail:
    case Event::kCommitInfo: add("group", o.group.value()), add("partition", o.partition.value()), add("next", o.offset.value()); break;
    case Event::kRawBegin:
    case Event::kRawEnd:
      add("partition", o.partition.value()), add("begin", o.offset.value()), add("end", o.end.value());
      if (o.event == Event::kRawEnd) add("reached", o.reached ? 1 : 0);
      break;
    case Event::kTick: add("n", o.number); break;
    case Event::kClientError:
    case Event::kDisconnect:
    case Event::kReconnect:
    case Event::kEnd: break;
  }
  return text;
}

class Listener final : public core::ObservationSink {
 public:
  void observe(const Observation& observation) override { told.push_back(words(observation, observation.name)); }
  std::vector<std::string> told;
};

constexpr Event kEvents[] = {Event::kInvoke,       Event::kOk,       Event::kFail,       Event::kInfo,       Event::kAssign,
                             Event::kRevoke,       Event::kDeliver,  Event::kCommitInvoke, Event::kCommitOk, Event::kCommitFail,
                             Event::kCommitInfo,   Event::kRawBegin, Event::kRaw,        Event::kRawEnd,     Event::kTick,
                             Event::kClientError,  Event::kDisconnect, Event::kReconnect, Event::kEnd};

// An observation as a driver may make it. A consumer is of the group that its number says.
Observation drawn() {
  Observation o;
  o.event = *rc::gen::elementOf(std::vector<Event>(std::begin(kEvents), std::end(kEvents)));
  const bool producers = o.event <= Event::kInfo;
  const bool consumers = o.event == Event::kAssign || o.event == Event::kRevoke || o.event == Event::kDeliver ||
                         (o.event >= Event::kCommitInvoke && o.event <= Event::kCommitInfo);
  if (producers || consumers) o.process = *rc::gen::inRange(0U, 4U);
  if (consumers) o.group = core::GroupIndex{o.process % 2};
  o.time = MonotonicTime(Nanoseconds(*rc::gen::inRange<std::int64_t>(0, 1'000'000)));
  o.name = *rc::gen::element("k1", "k2", "k 3");
  o.sequence = core::Sequence{*rc::gen::arbitrary<std::uint64_t>()};
  o.partition = core::PartitionId{*rc::gen::inRange(0U, 5U)};
  o.offset = core::Offset{*rc::gen::arbitrary<std::uint32_t>()};
  o.has_position = !producers || (o.event == Event::kOk && *rc::gen::arbitrary<bool>());
  o.content = *rc::gen::element(core::Content::kIntact, core::Content::kUnchecked, core::Content::kDamaged, core::Content::kOtherRun);
  o.close = *rc::gen::element(core::LineageClose::kRevoked, core::LineageClose::kLost, core::LineageClose::kClosed);
  o.has_generation = *rc::gen::arbitrary<bool>();
  o.generation = core::Generation{*rc::gen::arbitrary<std::uint32_t>()};
  o.has_start = *rc::gen::arbitrary<bool>();
  o.start = core::Offset{*rc::gen::arbitrary<std::uint32_t>()};
  o.classic = *rc::gen::arbitrary<bool>();
  o.reached = *rc::gen::arbitrary<bool>();
  o.number = *rc::gen::arbitrary<std::uint64_t>();
  o.end = core::Offset{o.offset.value() + *rc::gen::inRange(0U, 9U)};
  if (*rc::gen::arbitrary<bool>()) o.asked_partition = core::PartitionId{*rc::gen::inRange(0U, 5U)};
  if (o.event == Event::kAssign) o.text = *rc::gen::element("", "member-1"), o.instance = *rc::gen::element("", "static");
  return o;
}

RC_GTEST_PROP(RetoldProperty, WhatAWorkerSawIsToldAgain, ()) {
  auto folder = sys::TemporaryFolder::make();
  RC_ASSERT(folder.has_value());
  const auto path = folder->path() / "worker-0.1.jsonl";
  Meta meta;
  meta.client = "c", meta.scenario = "s";
  auto writer = Writer::create(path, meta, {.zstd = false});
  RC_ASSERT(writer.has_value());
  const core::KeySpace keys(core::RunId{7});
  Observed observed(**writer, keys, {.groups = {"g0", "g1"}});
  std::vector<std::string> seen;
  const int count = *rc::gen::inRange(1, 60);
  for (int i = 0; i < count; ++i) {
    const Observation o = drawn();
    observed.observe(o);
    seen.push_back(words(o, o.name));
  }
  RC_ASSERT((*writer)->finish().complete());
  Vocabulary vocabulary;
  auto reader = Reader::open(path, vocabulary, {.threads = false});
  RC_ASSERT(reader.has_value());
  Retold retold(vocabulary, {"g0", "g1"});
  Listener listener;
  while (true) {
    const auto batch = (*reader)->next();
    RC_ASSERT(batch.has_value());
    if (batch->empty()) break;
    for (const Operation& operation : *batch) RC_ASSERT(retold.tell(operation, listener).has_value());
  }
  RC_ASSERT(listener.told == seen);
}

// One line, told.
std::string refusal(const std::string& line) {
  Vocabulary vocabulary;
  const std::string text = R"({"type":"meta","version":1,"client":"c","scenario":"s"})" "\n" R"({"index":0,)" + line + "}\n";
  auto reader = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.threads = false});
  EXPECT_TRUE(reader.has_value());
  const auto batch = (*reader)->next();
  EXPECT_TRUE(batch.has_value()) << batch.error().message;
  Retold retold(vocabulary, {"g0"});
  Listener listener;
  const auto told = retold.tell(batch->front(), listener);
  return told ? "" : told.error().message;
}

TEST(RetoldTest, WhatNoWorkerWritesIsRefused) {
  EXPECT_EQ(refusal(R"("process":"consumer-1","type":"ok","f":"deliver","value":3,"position":{"partition":0,"offset":4},"checksum":"ok")"),
            "line 2: deliver: a record of a proof has a 'key'");
  EXPECT_EQ(refusal(R"("process":"alice","type":"invoke","f":"publish","key":"k","value":3)"),
            "line 2: publish: process 'alice' does not do this in a worker of a proof");
  EXPECT_EQ(refusal(R"("process":"consumer-1","type":"ok","f":"subscribe","start":"earliest","group":"other")"),
            "line 2: subscribe: group 'other' is none of the proof's");
  EXPECT_EQ(refusal(R"("process":"consumer-1","type":"ok","f":"deliver","key":"k","value":3,"position":{"seq":4})"),
            "line 2: deliver: its position is not {\"partition\":p,\"offset\":o}");
  EXPECT_EQ(refusal(R"("process":"p","type":"ok","f":"ack","value":3)"), "line 2: ack: a worker of a proof does not write this");
  EXPECT_EQ(refusal(R"("process":"consumer-1","type":"info","f":"revoke","partitions":[1])"),
            "line 2: revoke: its type must be \"ok\"");
}

TEST(RetoldTest, SeveralPartitionsAreSeveralPossessions) {
  Vocabulary vocabulary;
  const std::string text = R"({"type":"meta","version":1,"client":"c","scenario":"s"})" "\n"
      R"({"index":0,"process":"consumer-1","type":"ok","f":"assign","partitions":[3,5],"starts":[{"partition":5,"offset":9}]})" "\n";
  auto reader = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.threads = false});
  ASSERT_TRUE(reader.has_value());
  const auto batch = (*reader)->next();
  ASSERT_TRUE(batch.has_value());
  Retold retold(vocabulary, {"g0"});
  Listener listener;
  ASSERT_TRUE(retold.tell(batch->front(), listener).has_value());
  ASSERT_EQ(listener.told.size(), 2U);
  EXPECT_EQ(listener.told[0], "4 p1 t0 group0 partition3   classic1");
  EXPECT_EQ(listener.told[1], "4 p1 t0 group0 partition5 start9   classic1");
}

}  // namespace
}  // namespace sp::history

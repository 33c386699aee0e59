#include "history/observed.h"

#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "history/line.h"
#include "history/reader.h"
#include "sys/files.h"

namespace sp::history {
namespace {

using core::Event;
using core::Observation;

class ObservedTest : public testing::Test {
 protected:
  ObservedTest() : folder_(std::move(*sys::TemporaryFolder::make())), keys_(core::RunId{7}) {
    meta_.client = "c";
    meta_.scenario = "s";
    seen_.time = MonotonicTime(Nanoseconds(5));
    seen_.partition = core::PartitionId{2};
    seen_.offset = core::Offset{41};
    seen_.has_position = true;
    seen_.sequence = core::Sequence{17};
    seen_.process = 3;
    seen_.name = "k3";
  }
  // What the history says of these observations: its lines without index, time and process, which must read back as they are.
  std::string story(const std::vector<Observation>& observations) {
    const auto path = folder_.path() / "h.jsonl";
    auto writer = Writer::create(path, meta_, {.zstd = false});
    EXPECT_TRUE(writer);
    Observed observed(**writer, keys_, {.groups = {"g"}, .start = "earliest"});
    for (const Observation& observation : observations) observed.observe(observation);
    EXPECT_TRUE((*writer)->finish().complete());
    const std::string text = sys::read_file(path, 1U << 20U).value_or("");
    check_reads_back(path, text);
    std::string said;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) said += line.substr(line.find("\"process\"")) + "\n";
    return said;
  }
  static void check_reads_back(const std::filesystem::path& path, const std::string& text) {
    Vocabulary vocabulary;
    auto reader = Reader::open(path, vocabulary, {});
    ASSERT_TRUE(reader);
    std::string again;
    append_meta(again, (*reader)->meta());
    while (true) {
      const auto batch = (*reader)->next();
      ASSERT_TRUE(batch) << batch.error().message;
      if (batch->empty()) break;
      for (const Operation& operation : *batch) append_operation(again, operation, vocabulary, (*reader)->meta().dialect);
    }
    EXPECT_EQ(again, text);
  }
  Observation with(Event event, const std::function<void(Observation&)>& change = {}) const {
    Observation observation = seen_;
    observation.event = event;
    if (change) change(observation);
    return observation;
  }

  static constexpr const char* kSubscribe =
      R"("process":"consumer-3","type":"ok","f":"subscribe","start":"earliest","group":"g"})"
      "\n";
  sys::TemporaryFolder folder_;
  core::KeySpace keys_;
  Meta meta_;
  Observation seen_;
};

TEST_F(ObservedTest, AttemptsHaveTheirOutcome) {
  EXPECT_EQ(story({with(Event::kInvoke, [](auto& o) { o.has_position = false; }), with(Event::kOk),
                   with(Event::kInfo, [](auto& o) { o.has_position = false, o.text = "timed out"; })}),
            R"("process":"producer-3","type":"invoke","f":"publish","key":"k3","value":17})"
            "\n"
            R"("process":"producer-3","type":"ok","f":"publish","key":"k3","value":17,"position":{"partition":2,"offset":41}})"
            "\n"
            R"("process":"producer-3","type":"info","f":"publish","key":"k3","value":17,"error":"timed out"})"
            "\n");
}

TEST_F(ObservedTest, AKeyThatIsARefGetsItsName) {
  const std::uint32_t block = keys_.block({{.worker = 1, .incarnation = 2}, 3});
  EXPECT_EQ(story({with(Event::kFail, [&](auto& o) { o.has_position = false, o.name = {}, o.key = {block, 4}; })}),
            R"("process":"producer-3","type":"fail","f":"publish","key":")" + core::run_text(core::RunId{7}) +
                R"(.1.2.3.4","value":17})"
                "\n");
}

TEST_F(ObservedTest, ADeliveryShowsWhatWasInIt) {
  const auto deliver = [&](core::Content content, std::uint32_t asked) {
    return with(Event::kDeliver, [&](auto& o) { o.content = content, o.asked_partition = core::PartitionId{asked}; });
  };
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const std::string head = R"("process":"consumer-3","type":"ok","f":"deliver","key":"k3",)";
  const std::string place = R"("position":{"partition":2,"offset":41})";
  EXPECT_EQ(story({deliver(core::Content::kIntact, 2), deliver(core::Content::kUnchecked, kNone),
                   deliver(core::Content::kDamaged, kNone), deliver(core::Content::kOtherRun, kNone)}),
            kSubscribe + head + "\"value\":17," + place + ",\"asked\":2,\"checksum\":\"ok\"}\n" + head + "\"value\":17," + place + "}\n" +
                head + place + ",\"checksum\":\"bad\"}\n" + head + place + ",\"run\":\"other\"}\n");
}

TEST_F(ObservedTest, ALineageOpensAndCloses) {
  const auto assigned = with(Event::kAssign, [](auto& o) {
    o.has_generation = true, o.generation = core::Generation{4}, o.has_start = true, o.start = core::Offset{9};
    o.text = "m", o.instance = "i";
  });
  const auto revoked = [&](core::LineageClose how) { return with(Event::kRevoke, [&](auto& o) { o.close = how; }); };
  const std::string revoke = R"("process":"consumer-3","type":"ok","f":"revoke","partitions":[2])";
  EXPECT_EQ(story({assigned, revoked(core::LineageClose::kRevoked), revoked(core::LineageClose::kLost),
                   revoked(core::LineageClose::kClosed)}),
            kSubscribe + std::string(R"("process":"consumer-3","type":"ok","f":"assign","partitions":[2],"generation":4,)") +
                R"("protocol":"classic","member":"m","instance":"i","starts":[{"partition":2,"offset":9}]})" + "\n" + revoke + "}\n" +
                revoke + ",\"lost\":true}\n" + revoke + ",\"closed\":true}\n");
}

TEST_F(ObservedTest, CommitsRangesTicksAndTheEndAreSaid) {
  EXPECT_EQ(story({with(Event::kCommitInvoke), with(Event::kRawBegin, [](auto& o) { o.end = core::Offset{50}; }), with(Event::kRaw),
                   with(Event::kRawEnd, [](auto& o) { o.end = core::Offset{50}, o.reached = true; }),
                   with(Event::kTick, [](auto& o) { o.number = 8; }), with(Event::kDisconnect, [](auto& o) { o.text = "all down"; }),
                   with(Event::kEnd)}),
            kSubscribe + std::string(R"("process":"consumer-3","type":"invoke","f":"commit","position":{"partition":2,"offset":41}})") +
                "\n" + R"("process":"final-read","type":"invoke","f":"read-begin","target":[{"partition":2,"start":41,"end":50}]})" + "\n" +
                R"("process":"final-read","type":"ok","f":"read","key":"k3","value":17,"position":{"partition":2,"offset":41},)" +
                R"("checksum":"ok"})" + "\n" +
                R"("process":"final-read","type":"ok","f":"read-end","target":[{"partition":2,"start":41,"end":50,"reached":true}]})" +
                "\n" + R"("process":"worker","type":"ok","f":"tick","n":8})" + "\n" +
                R"("process":"client","type":"info","f":"disconnect","error":"all down"})" + "\n" +
                R"("process":"worker","type":"ok","f":"end","reason":"done"})" + "\n");
}

}  // namespace
}  // namespace sp::history

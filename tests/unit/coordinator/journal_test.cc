#include "coordinator/journal.h"

#include <gtest/gtest.h>

#include "sys/files.h"

namespace sp::coordinator {
namespace {

MonotonicTime at(std::int64_t ns) { return MonotonicTime(Nanoseconds(ns)); }

// What the journal writes, a line each without index and process.
class JournalTest : public testing::Test {
 protected:
  JournalTest() : folder_(std::move(*sys::TemporaryFolder::make())) {
    history::Meta meta;
    meta.client = "c", meta.scenario = "s";
    journal = Journal(std::move(*history::Writer::create(path(), meta, {.zstd = false})));
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "h.jsonl"; }
  static track::Delta delta(core::SourceId source, std::uint64_t lines) {
    track::Delta delta;
    delta.source = source;
    delta.history_lines = lines;
    return delta;
  }
  std::string story() {
    EXPECT_TRUE(journal.end("done", "{}", at(99))->complete());
    std::string text = sys::read_file(path(), 1U << 20U).value_or("");
    text.erase(0, text.find('\n') + 1);
    std::string all;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::size_t time = text.find("\"time_ns\"", begin);
      all += text.substr(time, end - time) + "\n";
      begin = end + 1;
    }
    return all.substr(0, all.find("\"time_ns\":99"));
  }
  sys::TemporaryFolder folder_;
  Journal journal;
};

TEST_F(JournalTest, ATickSaysWhatHadBeenSeen) {
  journal.saw(delta({0, 1}, 3), at(1));
  journal.saw(delta({1, 2}, 9), at(1));
  journal.saw(delta({0, 1}, 2), at(1));  // it came twice
  journal.tick(4, at(5));
  EXPECT_EQ(story(), R"("time_ns":5,"process":"coordinator","type":"ok","f":"tick","n":4,"seen":{"worker-0.1":2,"worker-1.2":8}})" "\n");
}

TEST_F(JournalTest, WhoIsLostIsSaidAtOnceAndAgainWhenItsEvidenceComes) {
  journal.stage("load", at(1));
  journal.saw(delta({0, 1}, 3), at(2));
  journal.lost({0, 1}, at(3));
  journal.saw(delta({0, 1}, 5), at(4));
  const std::string head = R"(,"process":"coordinator","type":"info","f":"stage","seen":)";
  EXPECT_EQ(story(), "\"time_ns\":1" + head + "{},\"stage\":\"load\"}\n\"time_ns\":3" + head +
                         R"({"worker-0.1":2},"lost_incarnations":["worker-0.1"],"stage":"load"})" "\n\"time_ns\":4" + head +
                         R"({"worker-0.1":2},"stage":"load"})" "\n");
}

TEST_F(JournalTest, AFaultIsToldAsItGoesOnAndEachPartOnce) {
  core::FaultRecord fault{.number = 1, .name = "kill-leader", .target = "node 2", .effect = "", .begin = at(1), .effect_seen = {},
                          .released = {}, .end = {}, .recovered = {}, .no_recovery = ""};
  journal.faults({&fault, 1});
  journal.faults({&fault, 1});
  fault.effect_seen = at(2);
  fault.effect = "moved";
  journal.faults({&fault, 1});
  fault.end = at(3);
  journal.faults({&fault, 1});
  const std::string head = R"(,"process":"nemesis","type":)";
  const std::string detail = R"("f":"kill-leader","detail":{"number":1,"target":"node 2")";
  EXPECT_EQ(story(), "\"time_ns\":1" + head + "\"invoke\"," + detail + "}}\n\"time_ns\":2" + head + "\"info\"," + detail +
                         R"(,"effect":"moved"}})" "\n\"time_ns\":3" + head + "\"ok\"," + detail + "}}\n");
}

TEST(JournalWithoutAWriterTest, SaysNothing) {
  Journal journal;
  journal.tick(1, at(1));
  journal.stage("load", at(1));
  journal.lost({0, 1}, at(1));
  EXPECT_EQ(journal.end("done", "{}", at(1)), std::nullopt);
}

}  // namespace
}  // namespace sp::coordinator

#include "history/merge.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/byte_source.h"
#include "sys/files.h"

namespace sp::history {
namespace {

// A file of a run as a picture: a letter is an operation, a number the answer to a tick, "7?" a tick of the coordinator's that says what
// it had seen by then, "?" a stage that does.
struct Script {
  std::string process;
  std::uint64_t incarnation = 1;
  std::string picture;
  std::string tail = "";     // behind the last newline
  std::string run = "r1";
};

using Seen = std::map<std::string, std::uint64_t>;

std::string words_of(const Seen& seen) {
  std::string all;
  for (const auto& [source, last] : seen) all += (all.empty() ? "" : ",") + ("\"" + source + "\":") + std::to_string(last);
  return ",\"seen\":{" + all + "}";
}

// `seen`: for one line that says it after the other; the last one also for those behind.
std::string file_of(const Script& script, const std::vector<Seen>& seen = {{}}, const std::string& lost = "") {
  std::string text = R"({"type":"meta","version":1,"run":")" + script.run + R"(","client":"c","scenario":"s","process":")" +
                     script.process + R"(","incarnation":)" + std::to_string(script.incarnation) + "}\n";
  std::uint64_t index = 0;
  std::size_t marks = 0;
  std::istringstream words(script.picture);
  for (std::string word; words >> word;) {
    text += R"({"index":)" + std::to_string(index++) + R"(,"process":")" + script.process + R"(","type":"ok",)";
    const Seen& had_seen = seen[std::min(marks, seen.size() - 1)];
    if (word == "?") {
      ++marks;
      text += R"("f":"stage","stage":"load")" + words_of(had_seen) + "}\n";
      continue;
    }
    if (word[0] < '0' || word[0] > '9') {
      text += R"("f":"probe","error":")" + word + "\"}\n";
      continue;
    }
    text += R"("f":"tick","n":)" + std::to_string(std::stoull(word));
    if (word.back() == '?') {
      ++marks;
      text += words_of(had_seen);
      if (!lost.empty()) text += ",\"lost_incarnations\":[\"" + lost + "\"]";
    }
    text += "}\n";
  }
  return text + script.tail;
}

struct Merged {
  std::string picture;   // letters, and ticks as process:number
  std::string error;
  std::vector<Merge::Source> sources;
};

Merged merge(const std::vector<std::string>& files, Merge::Options options = {}) {
  Vocabulary vocabulary;
  std::vector<Merge::Input> inputs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = "f" + std::to_string(i);
    inputs.push_back({name, [&files, &vocabulary, name, i](Reader::Options how) {
                        return Reader::open(std::make_unique<codec::TextSource>(files[i]), name, vocabulary, how);
                      }});
  }
  options.threads = false;
  auto merger = Merge::open(std::move(inputs), options);
  if (!merger) return {"", merger.error().message, {}};
  Merged merged;
  while (true) {
    const auto run = (*merger)->next();
    if (!run) merged.error = run.error().message;
    if (!run || run->operations.empty()) break;
    const std::string& process = (*merger)->sources()[run->source].meta.process;
    for (const Operation& operation : run->operations) {
      merged.picture += operation.function == Function::kTick    ? process + ":" + std::to_string(operation.number)
                        : operation.function == Function::kStage ? "?"
                                                                 : operation.details->error;
      merged.picture += ' ';
    }
  }
  merged.sources = (*merger)->sources();
  return merged;
}

TEST(MergeTest, EachFileIsReadUpToItsTickBeforeAnyIsReadPastIt) {
  const std::vector<std::string> files = {file_of({"a", 1, "x1 1 x2 2 x3"}), file_of({"b", 1, "y1 1 y2 2 y3"})};
  EXPECT_EQ(merge(files).picture, "x1 a:1 y1 b:1 x2 a:2 y2 b:2 x3 y3 ");
  EXPECT_EQ(merge({files[1], files[0]}).picture, merge(files).picture);
}

TEST(MergeTest, WhatTheCoordinatorHadSeenComesBeforeItsLineAndNothingElse) {
  EXPECT_EQ(merge({file_of({"coordinator", 1, "c1 1? c2 2?"}, {{{"worker-0.1", 1}}, {{"worker-0.1", 3}}}),
                   file_of({"worker-0", 1, "x1 1 x2 2"})})
                .picture,
            "c1 x1 worker-0:1 coordinator:1 c2 x2 worker-0:2 coordinator:2 ");
  // A stage is as good as a tick; whoever is slow has not been seen yet.
  EXPECT_EQ(merge({file_of({"coordinator", 1, "? 1? ?"}, {{{"a.1", 0}}, {{"a.1", 2}, {"b.1", 1}}, {{"a.1", 3}, {"b.1", 2}}}),
                   file_of({"a", 1, "x1 x2 1 x3 x4"}), file_of({"b", 1, "y1 1 y2"})})
                .picture,
            "x1 ? x2 a:1 y1 b:1 coordinator:1 x3 y2 ? ");
}

TEST(MergeTest, WhatWasSeenStaysSeen) {
  EXPECT_EQ(merge({file_of({"coordinator", 1, "1? 2?"}, {{{"a.1", 2}}, {{"a.1", 1}}}), file_of({"a", 1, "x1 1 x2 2"})}).error,
            "f0 line 3: had seen line index 1 of a.1, but 2 before: what was seen stays seen");
}

TEST(MergeTest, AnIncarnationComesAfterTheOneBeforeIt) {
  EXPECT_EQ(merge({file_of({"a", 2, "z1 3 z2"}), file_of({"a", 1, "x1 1 x2"}), file_of({"b", 1, "y1 1 y2 2 y3 3 y4"})}).picture,
            "x1 a:1 y1 b:1 x2 z1 a:3 y2 b:2 y3 b:3 z2 y4 ");
  const Merged refused = merge({file_of({"a", 2, "z1 1"}), file_of({"a", 1, "x1 1"})});
  EXPECT_NE(refused.error.find("f0 line 3: tick 1 follows tick 1"), std::string::npos) << refused.error;
}

TEST(MergeTest, ATickThatIsFarAwayIsReachedAtOnce) {
  EXPECT_EQ(merge({file_of({"a", 1, "x1 18446744073709551614 x2"}), file_of({"b", 1, "y1 5 y2"})}).picture,
            "x1 a:18446744073709551614 y1 b:5 y2 x2 ");
}

TEST(MergeTest, WhatTheCoordinatorHadNotSeenIsLeftOutUnlessAllEvidenceIsAskedFor) {
  const std::vector<std::string> files = {file_of({"coordinator", 1, "1?"}, {{{"a.1", 1}}}), file_of({"a", 1, "x1 1 x2 x3"}),
                                          file_of({"b", 1, "y1"})};
  const Merged merged = merge(files);
  EXPECT_EQ(merged.picture, "x1 a:1 coordinator:1 ");
  EXPECT_TRUE(merged.sources[0].limited);
  EXPECT_TRUE(merged.sources[1].limited);  // nothing of it was seen
  EXPECT_FALSE(merged.sources[0].short_of_seen);
  const Merged all = merge(files, {.all_evidence = true});
  EXPECT_EQ(all.picture, "x1 a:1 x2 x3 y1 coordinator:1 ");
  EXPECT_FALSE(all.sources[0].limited);
}

TEST(MergeTest, AFileThatEndsBeforeWhatTheCoordinatorHadSeenIsSaid) {
  const Merged merged = merge({file_of({"coordinator", 1, "1?"}, {{{"a.1", 7}}}), file_of({"a", 1, "x1 1 x2"})});
  EXPECT_EQ(merged.picture, "x1 a:1 x2 coordinator:1 ");
  EXPECT_TRUE(merged.sources[0].short_of_seen);
}

TEST(MergeTest, ACutOffLineIsAcceptedOfALostIncarnationOnly) {
  const Script torn{"a", 1, "x1 1 x2", "{\"index\":3,\"pro"};
  const Merged lost = merge({file_of({"coordinator", 1, "1?"}, {{{"a.1", 7}}}, "a.1"), file_of(torn)});
  EXPECT_EQ(lost.error, "");
  EXPECT_EQ(lost.sources[0].torn_line, 5U);
  EXPECT_TRUE(lost.sources[0].lost);
  EXPECT_NE(merge({file_of({"coordinator", 1, "1?"}, {{{"a.1", 7}}}), file_of(torn)}).error.find("f1 line 5: the last line is cut off"),
            std::string::npos);
  EXPECT_EQ(merge({file_of({"coordinator", 1, "1?"}, {{{"a.1", 7}}}), file_of(torn)}, {.salvage = true}).error, "");
}

TEST(MergeTest, FilesThatAreNotOfOneRunAreRefusedByName) {
  const auto refusal = [](const std::vector<std::string>& files) { return merge(files).error; };
  const std::string a = file_of({"a", 1, "x1"});
  EXPECT_EQ(refusal({}), "no history is named");
  EXPECT_EQ(refusal({a, file_of({"b", 1, "y1", "", "r2"})}), "f1: is of run 'r2', and f0 of run 'r1': judge them one by one");
  EXPECT_EQ(refusal({a, a}), "f1: is of the same process and incarnation as f0: name one of them");
  EXPECT_EQ(refusal({file_of({"coordinator", 1, ""}), file_of({"coordinator", 2, ""})}),
            "f1: is of a second coordinator, besides f0: a run has one");
  const std::string alone = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";
  EXPECT_NE(refusal({a, alone}).find("f1: its meta record has no 'process' and 'incarnation'"), std::string::npos);
  EXPECT_NE(refusal({a, "{\"type\":\"meta\",\"client\":\"c\",\"scenario\":\"s\"}\n"}).find("f1: a driftlab file"), std::string::npos);
}

TEST(MergeTest, ACoordinatorThatNeverTickedHadSeenNothingAndATickMustSayWhatItHadSeen) {
  EXPECT_EQ(merge({file_of({"coordinator", 1, "c1"}), file_of({"a", 1, "x1"})}).picture, "c1 ");
  EXPECT_EQ(merge({file_of({"coordinator", 1, "c1 1"}), file_of({"a", 1, "x1"})}).error,
            "f0 line 3: a tick of the coordinator's needs 'seen' where there are other files: what it had seen of each");
}

TEST(MergeTest, OneFileIsReadAsItIs) {
  EXPECT_EQ(merge({file_of({"coordinator", 1, "x 2 y 1? z"}, {{{"a.1", 0}}})}).picture, "x coordinator:2 y coordinator:1 z ");
  EXPECT_EQ(merge({"{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n"}).error, "");
}

TEST(MergeTest, ARefusalWithinAFileStopsTheMerge) {
  const Merged merged = merge({file_of({"a", 1, "x1 1 x2", "nonsense\n"}), file_of({"b", 1, "y1"})});
  EXPECT_EQ(merged.error.substr(0, 19), "f0 line 5 column 1:");
}

RC_GTEST_PROP(MergeProperty, TheStreamObeysTheTicksAndDoesNotDependOnTheOrderOfTheFiles, ()) {
  const auto processes = *rc::gen::inRange<std::size_t>(2, 5);
  std::vector<std::string> files;
  std::map<std::string, std::vector<std::uint64_t>> ticks;  // each process answers some
  for (std::size_t p = 0; p < processes; ++p) {
    const std::string name = "p" + std::to_string(p);
    std::string picture;
    for (std::uint64_t tick = 1; tick < 8; ++tick) {
      const auto count = *rc::gen::inRange(0, 4);
      for (int i = 0; i < count; ++i) picture += name + " ";
      if (*rc::gen::inRange(0, 4) == 0) continue;
      picture += std::to_string(tick) + " ";
      ticks[name].push_back(tick);
    }
    files.push_back(file_of({name, 1, picture}));
  }
  const Merged merged = merge(files);
  RC_ASSERT(merged.error.empty());
  std::vector<std::string> shuffled = files;
  for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<std::size_t>(0, i)]);
  RC_ASSERT(merge(shuffled).picture == merged.picture);
  // What comes from Q after its tick n+1 comes after every tick up to n of the others, and so after all that stands before those.
  std::map<std::string, std::uint64_t> passed;
  std::istringstream words(merged.picture);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    const std::string process = word.substr(0, colon);
    for (const auto& [other, numbers] : ticks) {
      for (const std::uint64_t number : numbers) RC_ASSERT(number + 1 > passed[process] || number <= passed[other]);
    }
    if (colon != std::string::npos) passed[process] = std::stoull(word.substr(colon + 1));
  }
}

// A run as it may happen: processes write, the coordinator now and then says how far it had read each of them.
RC_GTEST_PROP(MergeProperty, ByTheCoordinatorsWordEachLineComesAfterWhatItHadSeenAndBeforeTheRest, ()) {
  const auto processes = *rc::gen::inRange<std::size_t>(1, 4);
  std::vector<std::uint64_t> lengths;
  std::vector<std::string> files;
  for (std::size_t p = 0; p < processes; ++p) {
    lengths.push_back(*rc::gen::inRange<std::uint64_t>(0, 9));
    std::string picture;
    for (std::uint64_t i = 0; i < lengths[p]; ++i) picture += static_cast<char>('a' + p) + std::to_string(i) + " ";
    files.push_back(file_of({"p" + std::to_string(p), 1, picture}));
  }
  std::vector<Seen> seen;
  std::vector<std::uint64_t> read(processes);  // lines of each
  std::string expected;
  std::string picture;
  for (int mark = *rc::gen::inRange(1, 6); mark > 0; --mark) {
    Seen now;
    for (std::size_t p = 0; p < processes; ++p) {
      const std::uint64_t before = std::exchange(read[p], *rc::gen::inRange(read[p], lengths[p] + 1));
      for (std::uint64_t i = before; i < read[p]; ++i) expected += static_cast<char>('a' + p) + std::to_string(i) + " ";
      if (read[p] > 0) now["p" + std::to_string(p) + ".1"] = read[p] - 1;
    }
    seen.push_back(now);
    picture += "? ";
    expected += "? ";
  }
  files.push_back(file_of({"coordinator", 1, picture}, seen));
  RC_ASSERT(merge(files).picture == expected);
  std::ranges::reverse(files);
  RC_ASSERT(merge(files).picture == expected);
}

TEST(MergeTest, FilesAreOpenedByName) {
  const auto folder = sys::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto a = folder->path() / "a.jsonl";
  const auto b = folder->path() / "b.jsonl";
  ASSERT_TRUE(sys::write_atomically(a, file_of({"a", 1, "x1"})));
  ASSERT_TRUE(sys::write_atomically(b, file_of({"b", 1, "y1 y2"})));
  Vocabulary vocabulary;
  auto merger = Merge::open({b, a}, vocabulary, {});
  ASSERT_TRUE(merger) << merger.error().message;
  EXPECT_EQ((*merger)->sources()[0].file, a.string());
  EXPECT_EQ((*merger)->next()->operations.size(), 1U);
  EXPECT_EQ((*merger)->next()->operations.size(), 2U);
  EXPECT_EQ((*merger)->next()->operations.size(), 0U);
  EXPECT_FALSE(Merge::open({a, "-"}, vocabulary, {}));
}

}  // namespace
}  // namespace sp::history

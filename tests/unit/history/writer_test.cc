// label: threads
#include "history/writer.h"

#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include <gtest/gtest.h>

#include "codec/zstd.h"
#include "history/reader.h"
#include "sys/files.h"

namespace sp::history {
namespace {

class WriterTest : public testing::Test {
 protected:
  WriterTest() : folder_(std::move(*sys::TemporaryFolder::make())) {
    meta_.client = "c";
    meta_.scenario = "s";
  }
  std::unique_ptr<Writer> open(const std::filesystem::path& path, const Writer::Options& options) {
    auto writer = Writer::create(path, meta_, options);
    EXPECT_TRUE(writer) << writer.error().message;
    return writer ? std::move(*writer) : nullptr;
  }
  static Operation probe(Writer& writer, std::int64_t time) {
    Operation operation;
    operation.function = Function::kProbe;
    operation.type = Type::kOk;
    operation.process = writer.vocabulary().processes.add("probe").value_or(0);
    operation.time_ns = time;
    operation.members = bit(Member::kTime);
    return operation;
  }
  static std::string line(std::uint64_t index, std::int64_t time) {
    return R"({"index":)" + std::to_string(index) + R"(,"time_ns":)" + std::to_string(time) +
           R"(,"process":"probe","type":"ok","f":"probe"})" + "\n";
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string text(const std::string& name) const { return sys::read_file(path(name), 1U << 28U).value_or(""); }
  // Without its zstd frames; what a cut frame holds included.
  [[nodiscard]] std::string unpacked(const std::string& name) const {
    const std::string packed = text(name);
    codec::ZstdSource source(std::make_unique<codec::TextSource>(packed));
    std::string all;
    std::string room(1000, '\0');
    while (const std::size_t got = source.read(room).value_or(0)) all.append(room, 0, got);
    return all;
  }

  sys::TemporaryFolder folder_;
  Meta meta_;
  const std::string head_ = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";
};

TEST_F(WriterTest, OperationsAreNumberedInTheOrderOfTheCalls) {
  auto writer = open(path("a.jsonl"), {.zstd = false});
  EXPECT_EQ(writer->last_index(), std::nullopt);
  EXPECT_EQ(writer->write(probe(*writer, 5)), 0U);
  EXPECT_EQ(writer->write(probe(*writer, 6)), 1U);
  EXPECT_EQ(writer->last_index(), 1U);
  const auto summary = writer->finish();
  EXPECT_TRUE(summary.complete());
  EXPECT_EQ(summary.written, 2U);
  EXPECT_EQ(text("a.jsonl"), head_ + line(0, 5) + line(1, 6));
  EXPECT_EQ(writer->take_message(), std::nullopt);
}

TEST_F(WriterTest, ManyChunksArriveWholeAndInOrder) {
  for (const bool zstd : {false, true}) {
    auto writer = open(path("a"), {.zstd = zstd, .chunk_bytes = 100, .chunks_max = 1'000'000});
    std::string expected = head_;
    for (std::uint64_t i = 0; i < 5000; ++i) {
      ASSERT_EQ(writer->write(probe(*writer, 7)), i);
      expected += line(i, 7);
    }
    EXPECT_TRUE(writer->finish().complete());
    EXPECT_EQ(zstd ? unpacked("a") : text("a"), expected);
  }
}

TEST_F(WriterTest, WhatWasFlushedSurvivesTheDeathOfItsWriter) {
  for (const bool zstd : {false, true}) {
    auto writer = open(path("a"), {.zstd = zstd, .flush_period = std::chrono::hours(1)});
    ASSERT_TRUE(writer->write(probe(*writer, 5)));
    const std::uint64_t first = writer->flush();
    ASSERT_TRUE(writer->wait_flushed(first, std::chrono::seconds(60)));
    EXPECT_EQ(zstd ? unpacked("a") : text("a"), head_ + line(0, 5));
    ASSERT_TRUE(writer->write(probe(*writer, 6)));
    ASSERT_TRUE(writer->wait_flushed(writer->flush(), std::chrono::seconds(60)));
    ASSERT_TRUE(writer->wait_flushed(first, std::chrono::seconds(0))) << "it was long ago";
    ASSERT_TRUE(writer->write(probe(*writer, 7)));
    writer.reset();  // as a crash
    EXPECT_EQ(zstd ? unpacked("a") : text("a"), head_ + line(0, 5) + line(1, 6));
  }
}

TEST_F(WriterTest, NobodyWaitsForAFlushOfADiskThatRefuses) {
  auto writer = open("/dev/full", {.zstd = false, .flush_period = std::chrono::hours(1)});
  ASSERT_TRUE(writer->write(probe(*writer, 5)));
  EXPECT_FALSE(writer->wait_flushed(writer->flush(), std::chrono::hours(1)));
  EXPECT_FALSE(writer->wait_flushed(writer->flush(), std::chrono::hours(1)));
  EXPECT_FALSE(writer->finish().complete());
}

TEST_F(WriterTest, WhatWasWrittenIsOnTheDiskAfterAFlushPeriodThoughNothingFollows) {
  auto writer = open(path("a.jsonl.zst"), {.flush_period = std::chrono::milliseconds(1)});
  ASSERT_TRUE(writer->write(probe(*writer, 5)));
  const SystemMonotonicClock clock;
  const auto give_up = clock.now() + std::chrono::seconds(60);
  while (unpacked("a.jsonl.zst") != head_ + line(0, 5) && clock.now() < give_up) std::this_thread::yield();
  EXPECT_EQ(unpacked("a.jsonl.zst"), head_ + line(0, 5));
}

TEST_F(WriterTest, WhenTheDiskCannotKeepUpOperationsAreLeftOutAndTheFileSaysHowMany) {
  // A pipe that nobody reads yet: the disk that cannot keep up.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string read;
  std::jthread reader;
  std::atomic<bool> go = false;
  reader = std::jthread([&] {
    std::FILE* pipe = std::fopen(path("pipe").c_str(), "r");
    go.wait(false);
    char room[4096];
    while (const std::size_t got = std::fread(room, 1, sizeof room, pipe)) read.append(room, got);
    std::fclose(pipe);
  });
  auto writer = open(path("pipe"), {.zstd = false, .chunk_bytes = 100, .chunks_max = 4, .flush_period = std::chrono::milliseconds(1)});
  std::uint64_t lost = 0;
  std::uint64_t written = 0;
  while (lost < 1000) (writer->write(probe(*writer, 7)) ? written : lost) += 1;
  const auto said = writer->take_message();
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("could not keep up"), std::string::npos) << *said;
  EXPECT_EQ(writer->take_message(), std::nullopt);
  go = true;
  go.notify_all();
  while (!writer->write(probe(*writer, 8))) ++lost;
  const auto summary = writer->finish();
  reader.join();
  EXPECT_EQ(summary.dropped, lost);
  EXPECT_FALSE(summary.complete());
  // The reader sees that no index is missing; what is missing is said in front of what follows it.
  Vocabulary vocabulary;
  auto history = Reader::open(std::make_unique<codec::TextSource>(read), "pipe", vocabulary, {});
  ASSERT_TRUE(history) << history.error().message;
  std::uint64_t said_lost = 0;
  std::uint64_t probes = 0;
  std::int64_t last = 0;
  while (true) {
    const auto batch = (*history)->next();
    ASSERT_TRUE(batch) << batch.error().message;
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      if (operation.function == Function::kIncomplete) said_lost += operation.number;
      if (operation.function == Function::kProbe) ++probes, last = operation.time_ns;
    }
  }
  EXPECT_EQ(said_lost, lost);
  EXPECT_EQ(probes, written + 1);
  EXPECT_EQ(last, 8);
}

TEST_F(WriterTest, AFullDiskIsSaidOnceAndTheRunGoesOn) {
  auto writer = open("/dev/full", {.chunk_bytes = 100, .chunks_max = 1'000'000, .flush_period = std::chrono::milliseconds(1)});
  std::optional<std::string> said;
  std::uint64_t calls = 0;
  while (!said) {
    (void)writer->write(probe(*writer, 7));
    ++calls;
    said = writer->take_message();
  }
  EXPECT_NE(said->find("No space left"), std::string::npos) << *said;
  EXPECT_EQ(writer->write(probe(*writer, 7)), std::nullopt);
  EXPECT_EQ(writer->take_message(), std::nullopt);
  const auto summary = writer->finish();
  EXPECT_EQ(summary.dropped, calls + 1);
  EXPECT_NE(summary.error.find("No space left"), std::string::npos);
}

TEST_F(WriterTest, AFileThatCannotBeMadeIsAnError) {
  const auto writer = Writer::create(path("no/such/folder/a"), meta_, {});
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().message.find("no/such/folder"), std::string::npos);
}

TEST_F(WriterTest, DestroyingItIsACrash) {
  {
    auto writer = open(path("a"), {.zstd = false, .flush_period = std::chrono::hours(1)});
    ASSERT_TRUE(writer->write(probe(*writer, 5)));
  }
  EXPECT_EQ(text("a"), "");
}

}  // namespace
}  // namespace sp::history

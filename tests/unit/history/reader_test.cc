// label: threads
#include "history/reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/zstd.h"
#include "history/line.h"
#include "sys/files.h"

namespace sp::history {
namespace {

const std::string kMeta = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";

std::string probe(std::uint64_t index) {
  return "{\"index\":" + std::to_string(index) + ",\"process\":\"p\",\"type\":\"ok\",\"f\":\"probe\"}\n";
}
std::string deliver(std::uint64_t index) {
  return "{\"index\":" + std::to_string(index) + ",\"process\":\"p\",\"type\":\"ok\",\"f\":\"deliver\",\"value\":1}\n";
}

struct Readout {
  std::string text;        // written back, meta first
  std::string error;
  std::string lines;       // the line of each operation
  std::uint64_t torn_line = 0;
};

Readout read(std::unique_ptr<codec::ByteSource> source, Reader::Options options = {}) {
  Vocabulary vocabulary;
  Readout readout;
  auto reader = Reader::open(std::move(source), "h", vocabulary, options);
  if (!reader) return {"", reader.error().message, "", 0};
  append_meta(readout.text, (*reader)->meta());
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) {
      readout.error = batch.error().message;
      return readout;
    }
    if (batch->empty()) break;
    for (const Operation& operation : *batch) {
      append_operation(readout.text, operation, vocabulary, (*reader)->meta().dialect);
      readout.lines += std::to_string(operation.line) + " ";
    }
  }
  readout.torn_line = (*reader)->torn_line();
  return readout;
}
Readout read(std::string_view text, Reader::Options options = {}) {
  return read(std::make_unique<codec::TextSource>(text), options);
}

std::string packed(const std::string& text) {
  codec::ZstdCompressor compressor(1);
  std::string out;
  compressor.append(text, out);
  compressor.end_frame(out);
  return out;
}

TEST(ReaderTest, OperationsComeInTheOrderOfTheFileWithTheirLines) {
  const Readout readout = read(kMeta + deliver(0) + probe(1) + "\n  \t\r\n" + deliver(2));
  EXPECT_EQ(readout.error, "");
  EXPECT_EQ(readout.text, kMeta + deliver(0) + probe(1) + deliver(2));
  EXPECT_EQ(readout.lines, "2 3 6 ");
}

TEST(ReaderTest, ManyOperationsOfBothKindsPassThroughAllBatches) {
  std::string text = kMeta;
  for (std::uint64_t i = 0; i < 20'000; ++i) text += i % 7 == 0 ? probe(i) : deliver(i);
  EXPECT_EQ(read(text).text, text);
  EXPECT_EQ(read(packed(text)).text, text);
  EXPECT_EQ(read(packed(text), {.threads = false}).text, text);
}

TEST(ReaderTest, AFileIsOpenedByNameAndToldByItsFirstBytes) {
  const auto folder = sys::TemporaryFolder::make();
  ASSERT_TRUE(folder);
  Vocabulary vocabulary;
  const auto path = folder->path() / "whatever";
  for (const std::string& content : {kMeta + probe(0), packed(kMeta + probe(0))}) {
    ASSERT_TRUE(sys::write_atomically(path, content));
    auto reader = Reader::open(path, vocabulary, {});
    ASSERT_TRUE(reader) << reader.error().message;
    const auto batch = (*reader)->next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->size(), 1U);
    EXPECT_EQ((*reader)->name(), path.string());
  }
  const auto missing = Reader::open(folder->path() / "missing", vocabulary, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST(ReaderTest, ARefusalNamesFileLineAndColumn) {
  EXPECT_EQ(read("").error, R"(h: is empty; a history begins with its meta record, {"type":"meta",…})");
  EXPECT_EQ(read("\n \n").error, R"(h: is empty; a history begins with its meta record, {"type":"meta",…})");
  EXPECT_EQ(read("\n" + probe(0)).error.substr(0, 17), "h line 2 column 3");
  EXPECT_EQ(read("x\n").error, "h line 1 column 1: not JSON: no value begins like this");
  EXPECT_EQ(read(kMeta + kMeta).error.substr(0, 56), "h line 2 column 1: 'index' is missing; it must be 0");
  EXPECT_EQ(read(kMeta + probe(0) + probe(2)).error,
            "h line 3 column 10: 'index' is 2 where 1 comes next: lines are missing, double or out of order");
  EXPECT_EQ(read(kMeta + probe(0) + "{\"index\":1,}\n").error, "h line 3 column 12: not JSON: a member's name in quotes is expected");
}

TEST(ReaderTest, WhatStandsBeforeTheRefusedLineIsGiven) {
  const Readout readout = read(kMeta + probe(0) + deliver(1) + "x\n");
  EXPECT_EQ(readout.text, kMeta + probe(0) + deliver(1));
  EXPECT_NE(readout.error, "");
}

TEST(ReaderTest, ATornLastLineIsRefusedOrLeftOutAndReported) {
  const std::string whole = kMeta + probe(0);
  const std::string torn = whole + probe(1).substr(0, 20);
  EXPECT_EQ(read(torn).error,
            "h line 3: the last line is cut off: whoever wrote it did not end properly; --salvage judges what is there and says so");
  const Readout salvaged = read(torn, {.accept_torn = true});
  EXPECT_EQ(salvaged.error, "");
  EXPECT_EQ(salvaged.text, whole);
  EXPECT_EQ(salvaged.torn_line, 3U);
}

TEST(ReaderTest, ALastLineWithoutItsNewlineIsWholeIfItReadsSo) {
  const std::string text = kMeta + probe(0) + deliver(1);
  const Readout readout = read(text.substr(0, text.size() - 1));
  EXPECT_EQ(readout.text, text);
  EXPECT_EQ(readout.torn_line, 0U);
}

TEST(ReaderTest, ALineThatIsJsonButWrongIsNotTorn) {
  EXPECT_EQ(read(kMeta + R"({"index":7,"process":"p","type":"ok","f":"probe"})", {.accept_torn = true}).error.substr(0, 29),
            "h line 2 column 10: 'index' i");
}

TEST(ReaderTest, ACutOffFrameIsTornWhereverItIsCut) {
  const std::string first = packed(kMeta + probe(0));
  const std::string both = first + packed(probe(1) + deliver(2));
  for (std::size_t size = first.size() + 1; size < both.size(); ++size) {
    const std::string cut = both.substr(0, size);
    for (const bool threads : {false, true}) {
      EXPECT_NE(read(cut, {.threads = threads}).error.find("--salvage"), std::string::npos) << size;
      const Readout readout = read(cut, {.accept_torn = true, .threads = threads});
      EXPECT_EQ(readout.error, "") << size;
      EXPECT_TRUE(readout.text.starts_with(kMeta + probe(0))) << size;
      EXPECT_GE(readout.torn_line, 3U) << size;
    }
  }
}

TEST(ReaderTest, ADamagedFrameIsAnErrorThatNamesTheLine) {
  std::string text = packed(kMeta + probe(0)) + "no frame at all";
  const Readout readout = read(text, {.accept_torn = true});
  EXPECT_EQ(readout.text, kMeta + probe(0));
  EXPECT_EQ(readout.error.substr(0, 28), "h line 3: not a zstd stream ");
}

// A line of many bytes, made as it is read.
class LongLine final : public codec::ByteSource {
 public:
  LongLine(std::string head, std::size_t blanks, std::string tail)
      : head_(std::move(head)), blanks_(blanks), tail_(std::move(tail)) {}
  Result<std::size_t> read(std::span<char> into) override {
    if (!head_.empty()) return give(head_, into);
    if (blanks_ == 0) return give(tail_, into);
    const std::size_t count = std::min(blanks_, into.size());
    std::fill_n(into.begin(), count, ' ');
    blanks_ -= count;
    return count;
  }

 private:
  static std::size_t give(std::string& from, std::span<char> into) {
    const std::size_t count = std::min(from.size(), into.size());
    std::copy_n(from.begin(), count, into.begin());
    from.erase(0, count);
    return count;
  }
  std::string head_;
  std::size_t blanks_;
  std::string tail_;
};

// Keys are looked up some lines behind the one that is read.
TEST(ReaderTest, AKeyTooManyIsRefusedInItsLine) {
  for (const std::uint64_t last : {3U, 15U, 16U, 17U, 40U, 700U}) {
    std::string text = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";
    for (std::uint64_t i = 0; i < last + 30; ++i) {
      text += "{\"index\":" + std::to_string(i) + R"(,"process":"p","type":"ok","f":"deliver","key":"k)" +
              std::to_string(i < last ? i % 3 : i) + "\",\"value\":1}\n";
    }
    Vocabulary vocabulary;
    vocabulary.keys = Names(3);
    const auto reader = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {});
    ASSERT_TRUE(reader);
    std::uint64_t given = 0;
    auto batch = (*reader)->next();
    for (; batch && !batch->empty(); batch = (*reader)->next()) {
      for (const Operation& operation : *batch) {
        EXPECT_EQ(operation.line, given + 2);
        EXPECT_EQ(operation.key, given % 3);
        ++given;
      }
    }
    EXPECT_EQ(given, last);
    ASSERT_FALSE(batch);
    EXPECT_TRUE(batch.error().message.starts_with("h line " + std::to_string(last + 2) + " column ")) << batch.error().message;
  }
}

TEST(ReaderTest, ALineMayHaveSixteenMebibytesAndNoMore) {
  const std::string head = kMeta + "{\"index\":0,";
  const std::string tail = "\"process\":\"p\",\"type\":\"ok\",\"f\":\"probe\"}";
  const std::size_t blanks = kLineBytesMax - std::string("{\"index\":0,").size() - tail.size();
  EXPECT_EQ(read(std::make_unique<LongLine>(head, blanks, tail + "\n")).text, kMeta + probe(0));
  const Readout refused = read(std::make_unique<LongLine>(head, blanks + 1, tail + "\n"));
  EXPECT_EQ(refused.error, "h line 2 column 16777217: the line has more than 16777216 bytes; split what it holds");
}

RC_GTEST_PROP(ReaderProperty, HoweverTheBytesComeTheAnswerIsTheSame, (const std::vector<std::uint8_t>& choices)) {
  std::string text = kMeta;
  for (std::size_t i = 0; i < choices.size(); ++i) text += choices[i] % 2 == 0 ? probe(i) : deliver(i);
  text.resize(kMeta.size() + *rc::gen::inRange<std::size_t>(0, text.size() - kMeta.size() + 1));
  const Readout plain = read(text, {.accept_torn = true});
  const Readout zstd = read(packed(text), {.accept_torn = true});
  RC_ASSERT(plain.error == "");
  RC_ASSERT(plain.text == zstd.text);
  RC_ASSERT(plain.torn_line == zstd.torn_line);
  RC_ASSERT(text.starts_with(plain.text) || plain.text == text + "\n");
}

}  // namespace
}  // namespace sp::history

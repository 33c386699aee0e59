// label: threads
#include "history/operations_ahead.h"

#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "codec/byte_source.h"
#include "history/line.h"

namespace sp::history {
namespace {

constexpr std::size_t kPieceMax = OperationsAhead::kPieceOperations;

// Each third operation has details.
std::string lines_read_ahead(std::size_t operations) {
  std::string text = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";
  for (std::size_t i = 0; i < operations; ++i) {
    text += fmt::format(R"({{"index":{},"process":"p-{}","type":"ok",)", i, i % 7);
    text += i % 3 == 0 ? fmt::format("\"f\":\"assign\",\"partitions\":[{}]}}\n", i) : fmt::format("\"f\":\"deliver\",\"value\":{}}}\n", i);
  }
  return text;
}

// Written back, what ended it, and how large the batches were.
struct AheadReadout {
  std::string text;
  std::string ended;
  std::string batches;
  bool operator==(const AheadReadout&) const = default;
};

AheadReadout read_through(const std::string& text, bool ahead, bool accept_torn = false) {
  Vocabulary vocabulary;
  auto opened = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.accept_torn = accept_torn, .threads = false});
  if (!opened) return {"", opened.error().message, ""};
  std::unique_ptr<Reader> reader = std::move(*opened);
  if (ahead) reader = std::make_unique<OperationsAhead>(std::move(reader));
  AheadReadout readout;
  append_meta(readout.text, reader->meta());
  while (true) {
    const auto batch = reader->next();
    if (!batch) {
      readout.ended = batch.error().message;
      return readout;
    }
    if (batch->empty()) break;
    for (const Operation& operation : *batch) append_operation(readout.text, operation, vocabulary, Dialect::kVersion1);
    readout.batches += fmt::format("{} ", batch->size());
  }
  readout.ended = fmt::format("{} torn {}", reader->name(), reader->torn_line());
  return readout;
}

TEST(OperationsAheadTest, GivesWhatTheReaderGivesInTheSameBatches) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t operations : {kOne - 1, kOne, Reader::kBatch, Reader::kBatch + 1, kPieceMax, kPieceMax + 1, 9 * kPieceMax + 700}) {
    const std::string text = lines_read_ahead(operations);
    const AheadReadout plain = read_through(text, false);
    EXPECT_EQ(plain.text, text);
    EXPECT_EQ(read_through(text, true), plain) << operations;
  }
}

TEST(OperationsAheadTest, AnErrorStandsBehindTheOperationsBeforeIt) {
  for (const std::size_t operations : {std::size_t{0}, std::size_t{1}, kPieceMax, kPieceMax + 700}) {
    const std::string text = lines_read_ahead(operations) + "{}\n";
    const AheadReadout plain = read_through(text, false);
    EXPECT_NE(plain.ended.find(fmt::format("line {}", operations + 2)), std::string::npos) << plain.ended;
    EXPECT_EQ(read_through(text, true), plain) << operations;
  }
}

TEST(OperationsAheadTest, TellsTheLineThatWasCutOff) {
  const std::string text = lines_read_ahead(kPieceMax + 5) + "{\"ind";
  EXPECT_EQ(read_through(text, true, true), read_through(text, false, true));
  EXPECT_EQ(read_through(text, true, true).ended, fmt::format("h torn {}", kPieceMax + 7));
}

TEST(OperationsAheadTest, EndsAlsoWhenNobodyReadsOn) {
  const std::string text = lines_read_ahead(20 * kPieceMax);
  for (int batches = 0; batches < 4; ++batches) {
    Vocabulary vocabulary;
    auto opened = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.threads = false});
    ASSERT_TRUE(opened);
    OperationsAhead ahead(std::move(*opened));
    for (int i = 0; i < batches; ++i) ASSERT_TRUE(ahead.next());
  }
}

TEST(OperationsAheadTest, AfterTheEndThereIsNothingMore) {
  Vocabulary vocabulary;
  const std::string text = lines_read_ahead(3);
  auto opened = Reader::open(std::make_unique<codec::TextSource>(text), "h", vocabulary, {.threads = false});
  ASSERT_TRUE(opened);
  OperationsAhead ahead(std::move(*opened));
  EXPECT_EQ(ahead.next()->size(), 3U);
  EXPECT_TRUE(ahead.next()->empty());
  EXPECT_TRUE(ahead.next()->empty());
}

}  // namespace
}  // namespace sp::history

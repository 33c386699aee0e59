#include "history/fast_line.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/line_reader.h"
#include "history/line.h"

namespace sp::history {
namespace {

// Whether the fast reader knows a line, and whether it then reads what the slow one reads. Each has a vocabulary of its own.
enum class Known { kYes, kNo, kOtherwise };

Known fast(const std::string& line, Dialect dialect, std::uint64_t index = 0) {
  Vocabulary fast_names;
  Vocabulary slow_names;
  const std::string padded = line + "\n" + std::string(codec::kLinePadding, 'x');
  Operation quick;
  const char* end = padded.data() + line.size() + 1;
  const char* next = FastLine(fast_names, dialect).read(padded.data(), end, index, quick);
  if (next == nullptr) return Known::kNo;
  Operation slow;
  Details details;
  const auto fault = LineParser(slow_names).operation(line, dialect, index, slow, details);
  return next == end && !fault && same(quick, slow) ? Known::kYes : Known::kOtherwise;
}

std::string with(std::string_view f, std::string_view rest, std::string_view type = "ok") {
  return R"({"index":0,"time_ns":5,"process":"p","type":")" + std::string(type) + R"(","f":")" + std::string(f) + "\"" +
         std::string(rest) + "}";
}

TEST(FastLineTest, KnowsTheLinesThatMakeUpAHistory) {
  const auto known = [](const std::string& line) { return fast(line, Dialect::kVersion1); };
  EXPECT_EQ(known(with("publish", R"(,"value":0)", "invoke")), Known::kYes);
  EXPECT_EQ(known(with("publish", R"(,"key":"r7f3.0.1.2.3","value":17,"position":{"partition":2,"offset":41})")), Known::kYes);
  EXPECT_EQ(known(with("publish", R"(,"topic":"t","key":"k","value":18446744073709551615,"txn":"x")", "fail")), Known::kYes);
  EXPECT_EQ(known(with("deliver", R"(,"key":"k","value":1,"position":{"seq":7},"asked":3,"checksum":"ok")")), Known::kYes);
  EXPECT_EQ(known(with("read", R"(,"value":1,"position":{"partition":0,"offset":0})")), Known::kYes);
  EXPECT_EQ(known(with("commit", R"(,"position":{"partition":0,"offset":9})", "info")), Known::kYes);
  EXPECT_EQ(known(R"({"index":0,"process":"p","type":"ok","f":"deliver","value":1})"), Known::kYes);
}

TEST(FastLineTest, KnowsTheLinesOfDriftlab) {
  const auto known = [](const std::string& line) { return fast(line, Dialect::kDriftlab); };
  EXPECT_EQ(known(with("publish", R"(,"value":1)", "invoke")), Known::kYes);
  EXPECT_EQ(known(with("publish", R"(,"value":1,"stream_seq":2)")), Known::kYes);
  EXPECT_EQ(known(with("deliver", R"(,"value":1,"stream_seq":2)")), Known::kYes);
  EXPECT_EQ(known(with("publish", R"(,"value":1)")), Known::kNo);
  EXPECT_EQ(known(with("publish", R"(,"value":0)", "invoke")), Known::kNo);
}

TEST(FastLineTest, LeavesAllElseToTheSlowReader) {
  for (const std::string& line :
       {with("publish", ""), with("publish", R"(,"value":01)"), with("publish", R"(,"value":1,"value":1)"),
        with("publish", R"(,"value":1,"key":"k")"), with("publish", R"(,"value":18446744073709551616)"),
        with("publish", R"(,"key":"\u0041","value":1)"), with("publish", R"(,"value": 1)"), with("publish", R"(,"value":1,"new":2)"),
        with("publish", R"(,"value":1,"error":"e")"), with("publish", R"(,"value":1,"position":{"partition":4294967296,"offset":1})"),
        with("publish", R"(,"value":1,"position":{"offset":1,"partition":0})"), with("deliver", R"(,"value":1)", "invoke"),
        with("read", R"(,"value":1)"), with("commit", ""), with("deliver", R"(,"checksum":"bad")"), with("end", R"(,"reason":"done")"),
        std::string(R"({"index":1,"process":"p","type":"ok","f":"deliver","value":1})"),
        std::string(R"({"index":0,"process":"nemesis","type":"ok","f":"deliver","value":1})"),
        std::string(R"({"index":0,"process":"","type":"ok","f":"deliver","value":1})"),
        std::string(R"({"index":0,"time_ns":9223372036854775808,"process":"p","type":"ok","f":"deliver","value":1})")}) {
    EXPECT_EQ(fast(line, Dialect::kVersion1), Known::kNo) << line;
  }
}

RC_GTEST_PROP(FastLineProperty, AChangedByteIsReadAsTheSlowReaderReadsIt, (std::uint16_t where, std::uint8_t what, bool driftlab)) {
  std::string line = driftlab ? with("deliver", R"(,"value":12,"stream_seq":2)")
                              : with("deliver", R"(,"topic":"t","key":"k","value":1,"position":{"partition":0,"offset":12})"
            R"(,"asked":3,"checksum":"ok")");
  line[where % line.size()] = static_cast<char>(what);
  RC_ASSERT(fast(line, driftlab ? Dialect::kDriftlab : Dialect::kVersion1) != Known::kOtherwise);
}

}  // namespace
}  // namespace sp::history

#include "driver/embedded/log.h"

#include <string>

#include <gtest/gtest.h>

#include "driver/embedded/murmur2.h"

namespace sp::driver::embedded {
namespace {

LogRecord log_record(const std::string& key, const std::string& payload) {
  LogRecord record;
  record.key = key;
  record.payload = std::as_bytes(std::span(payload));
  record.visible = MonotonicTime(Nanoseconds(static_cast<std::int64_t>(key.size())));
  return record;
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST(PartitionLogTest, ARecordIsFoundAtThePositionItGot) {
  PartitionLog log;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    EXPECT_EQ(log.append(log_record("k" + std::to_string(i), "p" + std::to_string(i * 7))), i);
  }
  for (const std::uint64_t i : {0U, 4095U, 4096U, 9999U}) {
    const LogRecord record = log.at(i);
    EXPECT_EQ(record.key, "k" + std::to_string(i));
    EXPECT_EQ(text_of(record.payload), "p" + std::to_string(i * 7));
    EXPECT_EQ(record.visible.time_since_epoch().count(), static_cast<std::int64_t>(record.key.size()));
  }
}

TEST(PartitionLogTest, FlagsAreKeptAndSetLater) {
  PartitionLog log;
  const std::string key = "a";  // a LogRecord is views of what it is made from
  const std::string payload = "b";
  LogRecord withheld = log_record(key, payload);
  withheld.withheld = true;
  log.append(withheld);
  log.append(log_record("c", ""));
  EXPECT_TRUE(log.at(0).withheld);
  EXPECT_FALSE(log.at(1).withheld || log.at(1).empty || log.at(1).marked);
  log.clear(1);
  log.mark(0);
  EXPECT_TRUE(log.at(1).empty);
  EXPECT_TRUE(log.at(0).marked && log.at(0).withheld && !log.at(0).empty);
}

TEST(PartitionLogTest, OnlyWholeSegmentsBelowAreDropped) {
  PartitionLog log;
  for (std::uint64_t i = 0; i < 3 * PartitionLog::kSegmentRecords; ++i) log.append(log_record("key", "payload"));
  const std::size_t before = log.bytes();
  EXPECT_EQ(log.drop_before(PartitionLog::kSegmentRecords - 1), 0U);
  EXPECT_EQ(log.drop_before(2 * PartitionLog::kSegmentRecords), before / 3 * 2);
  EXPECT_EQ(log.begin(), 2 * PartitionLog::kSegmentRecords);
  EXPECT_EQ(log.at(log.begin()).key, "key");
  EXPECT_EQ(log.bytes(), before / 3);
}

TEST(PartitionLogTest, ARecordOfAHundredBytesTakesLessThanAHalfMore) {
  PartitionLog log;
  const std::string payload(100, 'x');
  for (int i = 0; i < 100'000; ++i) log.append(log_record("r7f3a2k9.0.1.3.17", payload));
  EXPECT_LT(log.bytes(), 100'000U * 150U);
}

// Published values of Kafka's own tests of murmur2.
TEST(Murmur2Test, AgreesWithKafka) {
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("21")), -973932308);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("foobar")), -790332482);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("a-little-bit-long-string")), -985981536);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("a-little-bit-longer-string")), -1486304829);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")), -58897971);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("abc")), 479470107);
}

TEST(Murmur2Test, PartitionsAreWithinTheTopic) {
  for (int i = 0; i < 1000; ++i) EXPECT_LT(partition_of("key" + std::to_string(i), 7), 7U);
}

}  // namespace
}  // namespace sp::driver::embedded

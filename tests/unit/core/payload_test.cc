#include "core/payload.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/crc32c.h"

namespace sp::core {
namespace {

using Bytes = std::vector<std::byte>;
using std::chrono::microseconds;

constexpr RunId kOurRun{0x0102030405060708};

PayloadFields some_fields() {
  return {.run = kOurRun,
          .incarnation = 9,
          .sequence = Sequence{0x1122334455667788},
          .partition = 3,
          .published = WallTime(microseconds{0x0A0B0C0D0E})};
}

Bytes written(std::size_t size, std::string_view key = "key",
              const PayloadFields& fields = some_fields()) {
  Bytes payload(size, std::byte{0xAA});
  write_payload(fields, key, payload);
  return payload;
}

Content content_of(const Bytes& payload, std::size_t expected, std::string_view key = "key",
                   RunId run = kOurRun) {
  return read_payload(payload, key, run, expected).content;
}

std::string hex(const Bytes& bytes, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

TEST(PayloadTest, FieldsStandWhereTheFormatSaysBigEndian) {
  const Bytes payload = written(100);
  EXPECT_EQ(hex(payload, 0, 8), "1122334455667788");
  EXPECT_EQ(hex(payload, 8, 12), "53503031");
  EXPECT_EQ(hex(payload, 12, 20), "0102030405060708");
  EXPECT_EQ(hex(payload, 20, 24), "00000009");
  EXPECT_EQ(hex(payload, 32, 36), "00000003");
  EXPECT_EQ(hex(payload, 36, 44), "0000000a0b0c0d0e");
}

TEST(PayloadTest, TheKeyHashIsXxh64) {
  EXPECT_EQ(hex(written(48, "abc"), 24, 32), "44bc2cf5ad770999");
}

TEST(PayloadTest, TheChecksumCoversKeyAndPayloadWithItsOwnBytesZero) {
  Bytes payload = written(77);
  const std::string found = hex(payload, 44, 48);
  std::memset(payload.data() + 44, 0, 4);
  EXPECT_EQ(found, fmt::format("{:08x}", codec::crc32c(payload, codec::crc32c("key"))));
}

TEST(PayloadTest, AnEightBytePayloadIsTheSequenceAlone) {
  const Bytes payload = written(8);
  EXPECT_EQ(hex(payload, 0, 8), "1122334455667788");
  const PayloadReading reading = read_payload(payload, "key", kOurRun, 8);
  EXPECT_EQ(reading.content, Content::kUnchecked);
  EXPECT_EQ(reading.fields.sequence, Sequence{0x1122334455667788});
}

TEST(PayloadTest, IdentityBeginsAtFortyEightBytes) {
  EXPECT_EQ(content_of(written(47), 47), Content::kUnchecked);
  EXPECT_EQ(content_of(written(48), 48), Content::kIntact);
}

TEST(PayloadTest, AnotherSizeOfThisRunIsDamage) {
  EXPECT_EQ(content_of(written(100), 99), Content::kDamaged);
  EXPECT_EQ(content_of(written(8), 9), Content::kDamaged);
  Bytes cut = written(100);
  cut.resize(60);
  EXPECT_EQ(content_of(cut, 100), Content::kDamaged);
  cut.resize(7);
  EXPECT_EQ(content_of(cut, 100), Content::kDamaged);
  EXPECT_EQ(content_of({}, 100), Content::kDamaged);
}

TEST(PayloadTest, AnIntactPayloadOfAnotherRunIsThatWhateverItsSize) {
  EXPECT_EQ(content_of(written(100), 100, "key", RunId{5}), Content::kOtherRun);
  EXPECT_EQ(content_of(written(100), 20, "key", RunId{5}), Content::kOtherRun);
}

TEST(PayloadTest, UnderAnotherKeyItIsDamaged) {
  EXPECT_EQ(content_of(written(100), 100, "kez"), Content::kDamaged);
}

// With bytes [begin, end) all ones and a checksum that covers them.
Bytes resealed(Bytes payload, std::size_t begin, std::size_t end) {
  std::memset(payload.data() + begin, 0xFF, end - begin);
  std::memset(payload.data() + 44, 0, 4);
  const std::uint32_t crc = codec::crc32c(payload, codec::crc32c("key"));
  for (unsigned i = 0; i < 4; ++i)
    payload[44 + i] = std::byte{static_cast<unsigned char>(crc >> (24 - 8 * i))};
  return payload;
}

TEST(PayloadTest, AWrongKeyHashOrMagicIsDamageEvenUnderAGoodChecksum) {
  EXPECT_EQ(content_of(resealed(written(100), 48, 100), 100), Content::kIntact);
  EXPECT_EQ(content_of(resealed(written(100), 24, 32), 100), Content::kDamaged);
  EXPECT_EQ(content_of(resealed(written(100), 8, 12), 100), Content::kDamaged);
}

TEST(PayloadTest, FillerDiffersBetweenSequencesAndWithinARecord) {
  PayloadFields next = some_fields();
  next.sequence = next.sequence.next();
  EXPECT_NE(hex(written(100), 48, 100), hex(written(100, "key", next), 48, 100));
  EXPECT_NE(hex(written(100), 48, 56), hex(written(100), 56, 64));
  EXPECT_EQ(hex(written(100), 48, 100), hex(written(200), 48, 100));
}

TEST(PayloadTest, TheLargestTimesDoNotOverflow) {
  PayloadFields fields = some_fields();
  fields.published = WallTime::max();
  const auto reading = read_payload(written(48, "key", fields), "key", kOurRun, 48);
  EXPECT_EQ(reading.content, Content::kIntact);
  EXPECT_EQ(reading.fields.published,
            WallTime(std::chrono::floor<microseconds>(WallTime::max().time_since_epoch())));
}

RC_GTEST_PROP(PayloadProperty, WhatIsWrittenReadsBack,
              (std::uint64_t run, std::uint32_t incarnation, std::uint64_t sequence,
               std::uint32_t partition, std::uint32_t time, const std::string& key,
               std::uint8_t extra)) {
  const PayloadFields fields{.run = RunId{run},
                             .incarnation = incarnation,
                             .sequence = Sequence{sequence},
                             .partition = partition,
                             .published = WallTime(microseconds{time})};
  const Bytes payload = written(std::size_t{48} + extra, key, fields);
  const PayloadReading reading = read_payload(payload, key, RunId{run}, payload.size());
  RC_ASSERT(reading.content == Content::kIntact);
  RC_ASSERT(reading.fields.run == fields.run);
  RC_ASSERT(reading.fields.incarnation == incarnation);
  RC_ASSERT(reading.fields.sequence == fields.sequence);
  RC_ASSERT(reading.fields.partition == partition);
  RC_ASSERT(reading.fields.published == fields.published);
}

RC_GTEST_PROP(PayloadProperty, AnyChangedBitIsDamage, (std::uint16_t place, std::uint8_t extra)) {
  Bytes payload = written(std::size_t{48} + extra);
  const std::size_t bit = place % (payload.size() * 8);
  payload[bit / 8] ^= std::byte{1} << (bit % 8);
  RC_ASSERT(content_of(payload, payload.size()) == Content::kDamaged);
}

RC_GTEST_PROP(PayloadProperty, AnyBytesAreReadWithoutHarm,
              (const std::vector<std::uint8_t>& drawn, const std::string& key)) {
  const Bytes payload = [&] {
    Bytes bytes;
    for (const auto byte : drawn) bytes.push_back(std::byte{byte});
    return bytes;
  }();
  const Content content = content_of(payload, payload.size(), key);
  RC_ASSERT(content ==
            (payload.size() >= 8 && payload.size() < 48 ? Content::kUnchecked : Content::kDamaged));
}

TEST(ReadRecordTest, ARecordWithNeitherOurMarkNorOurKeyIsSomebodyElses) {
  const RunId run{7};
  const std::string ours = run_text(run) + ".0.1.0.5";
  for (const std::size_t size : {0U, 3U, 8U, 20U, 48U, 100U}) {
    const std::vector<std::byte> bytes(size, std::byte{'x'});
    EXPECT_EQ(read_record(bytes, "order-17", run, 100).content, Content::kOtherRun) << size;
    EXPECT_EQ(read_record(bytes, ours, run, 100).content, Content::kDamaged) << size << ": our key says that it was ours";
  }
}

TEST(ReadRecordTest, AMarkedRecordIsReadAsEver) {
  const RunId run{7};
  std::vector<std::byte> bytes(100);
  PayloadFields fields;
  fields.run = run;
  write_payload(fields, "k", bytes);
  EXPECT_EQ(read_record(bytes, "k", run, 100).content, Content::kIntact);
  EXPECT_EQ(read_record(bytes, "k", RunId{8}, 100).content, Content::kOtherRun);
  bytes[60] ^= std::byte{1};
  EXPECT_EQ(read_record(bytes, "k", run, 100).content, Content::kDamaged);
}

}  // namespace
}  // namespace sp::core

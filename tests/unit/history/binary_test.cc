#include "history/binary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/byte_source.h"
#include "history/line.h"
#include "history/reader.h"

namespace sp::history {
namespace {

const std::string kBinaryMeta = "{\"type\":\"meta\",\"version\":1,\"client\":\"c\",\"scenario\":\"s\"}\n";
const std::string kDriftlabMeta = "{\"type\":\"meta\",\"client\":\"c\",\"scenario\":\"s\"}\n";

struct Unpacked {
  std::string text;
  std::string error;
  std::uint64_t torn_line = 0;
  bool operator==(const Unpacked&) const = default;
};

// Any form as lines.
Unpacked unpack(std::string_view bytes, bool accept_torn = false) {
  Vocabulary vocabulary;
  auto reader = Reader::open(std::make_unique<codec::TextSource>(bytes), "h", vocabulary, {.accept_torn = accept_torn, .threads = false});
  if (!reader) return {"", reader.error().message, 0};
  Unpacked unpacked;
  append_meta(unpacked.text, (*reader)->meta());
  while (true) {
    const auto batch = (*reader)->next();
    if (!batch) unpacked.error = batch.error().message;
    if (!batch || batch->empty()) break;
    for (const Operation& operation : *batch) append_operation(unpacked.text, operation, vocabulary, (*reader)->meta().dialect);
  }
  unpacked.torn_line = (*reader)->torn_line();
  return unpacked;
}

std::string pack(std::string_view lines) {
  Vocabulary vocabulary;
  auto reader = Reader::open(std::make_unique<codec::TextSource>(lines), "h", vocabulary, {.threads = false});
  EXPECT_TRUE(reader) << reader.error().message;
  BinaryEncoder encoder((*reader)->meta(), vocabulary);
  std::string out;
  while (true) {
    const auto batch = (*reader)->next();
    EXPECT_TRUE(batch) << batch.error().message;
    if (!batch || batch->empty()) break;
    for (const Operation& operation : *batch) encoder.add(operation);
    out += encoder.take();
  }
  encoder.finish();
  return out + encoder.take();
}

std::string numbered(const std::vector<std::string>& lines, const std::string& meta = kBinaryMeta) {
  std::string text = meta;
  for (std::size_t i = 0; i < lines.size(); ++i) text += "{\"index\":" + std::to_string(i) + "," + lines[i] + "}\n";
  return text;
}

const std::vector<std::string> kSamples = {
    R"("time_ns":5,"process":"producer-1","type":"invoke","f":"publish","key":"k","value":18446744073709551615)",
    R"("time_ns":-9223372036854775808,"process":"producer-1","type":"ok","f":"publish","topic":"t","key":"k2","value":0)"
    R"(,"position":{"partition":4294967295,"offset":18446744073709551615},"txn":"x","qos":2)",
    R"("process":"c","type":"ok","f":"deliver","value":3,"position":{"partition":0,"ledger":7,"entry":8,"batch":9})"
    R"(,"asked":4294967295,"checksum":"ok","redelivered":true,"dup":false)",
    R"("process":"c","type":"ok","f":"deliver","position":{"ledger":7,"entry":8},"checksum":"bad")",
    R"("process":"c","type":"ok","f":"commit","position":{"offset":42},"partition":2)",
    R"("process":"c","type":"ok","f":"ack","position":{"seq":3},"confirmed":true)",
    R"("process":"c","type":"ok","f":"subscribe","start":"earliest","group":"g")",
    R"("process":"c","type":"info","f":"subscribe","group":"g")",
    R"("process":"nemesis","type":"ok","f":"cut","detail":{"a":[1,null]})",
    R"("process":"nemesis","type":"invoke","f":"cut")",
    R"("process":"coordinator","type":"ok","f":"tick","n":7)",
    R"("process":"coordinator","type":"ok","f":"tick","n":8,"seen":{"worker-0.1":812})",
    R"("process":"p","type":"ok","f":"clock","wall_ns":1764500000000000000)",
    R"("process":"p","type":"info","f":"publish","value":3,"error":"e")",
    R"("process":"p","type":"ok","f":"end","reason":"done")",
};

TEST(BinaryTest, EveryKindOfOperationReadsBack) {
  const std::string text = numbered(kSamples);
  EXPECT_EQ(unpack(pack(text)), (Unpacked{text, "", 0}));
  EXPECT_EQ(unpack(pack(kBinaryMeta)), (Unpacked{kBinaryMeta, "", 0}));
}

TEST(BinaryTest, DriftlabKeepsItsDialect) {
  const std::string text = numbered({R"("time_ns":1,"process":"producer","type":"invoke","f":"publish","value":1)",
                                     R"("time_ns":2,"process":"producer","type":"ok","f":"publish","value":1,"stream_seq":1)",
                                     R"("process":"x","type":"ok","f":"whatever","detail":{"a":1})"},
                                    kDriftlabMeta);
  EXPECT_EQ(unpack(pack(text)), (Unpacked{text, "", 0}));
}

TEST(BinaryTest, UnknownMembersBlanksAndOrderAreGoneTheRestIsThere) {
  const std::string text = kBinaryMeta + "\n{ \"new\":[1], \"f\":\"probe\",\"type\":\"ok\",\"process\":\"p\", \"index\":0}\n";
  EXPECT_EQ(unpack(pack(text)).text, kBinaryMeta + "{\"index\":0,\"process\":\"p\",\"type\":\"ok\",\"f\":\"probe\"}\n");
}

TEST(BinaryTest, ManyBlocksAreOneHistory) {
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < 3 * kBlockOperations + 5; ++i) {
    lines.push_back(i % 1000 == 0 ? kSamples[i / 1000 % kSamples.size()]
                                  : R"("time_ns":)" + std::to_string(i * 17) + R"(,"process":"p","type":"ok","f":"deliver","key":"k)" +
                                        std::to_string(i % 5000) + R"(","value":)" + std::to_string(i));
  }
  const std::string text = numbered(lines);
  EXPECT_EQ(unpack(pack(text)), (Unpacked{text, "", 0}));
}

TEST(BinaryTest, ACutIsTornWhereverItIs) {
  const std::string text = numbered(kSamples);
  const std::string bytes = pack(text);
  for (std::size_t size = kBinaryMagic.size(); size < bytes.size(); ++size) {
    const Unpacked strict = unpack(bytes.substr(0, size));
    EXPECT_NE(strict.error.find("cut off"), std::string::npos) << size << " " << strict.error;
    const Unpacked lenient = unpack(bytes.substr(0, size), true);
    if (!lenient.error.empty()) continue;  // within the meta record
    EXPECT_TRUE(text.starts_with(lenient.text)) << size;
    EXPECT_GE(lenient.torn_line, 2U) << size;
  }
}

TEST(BinaryTest, AChangedByteIsDamageThatNamesItsLine) {
  const std::string text = numbered(kSamples);
  const std::string bytes = pack(text);
  for (std::size_t at = kBinaryMagic.size(); at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    const Unpacked read = unpack(damaged, true);
    const bool cut = read.error.empty() && read.torn_line > 0;  // a size that is larger than what is there
    EXPECT_TRUE(cut || read.error.starts_with("h")) << at;
    EXPECT_TRUE(text.starts_with(read.text)) << at;
  }
}

RC_GTEST_PROP(BinaryProperty, WhatIsPackedReadsBack, (const std::vector<std::pair<std::uint8_t, std::uint64_t>>& choices)) {
  std::vector<std::string> lines;
  for (const auto& [sample, number] : choices) {
    std::string line = kSamples[sample % kSamples.size()];
    for (const std::string_view member : {"\"value\":", "\"offset\":"}) {
      const std::size_t at = line.find(member);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + member.size();
      line.replace(begin, line.find_first_not_of("0123456789", begin) - begin, std::to_string(number >> (sample % 64)));
    }
    lines.push_back(line);
  }
  const std::string text = numbered(lines);
  RC_ASSERT(unpack(pack(text)) == (Unpacked{text, "", 0}));
}

}  // namespace
}  // namespace sp::history

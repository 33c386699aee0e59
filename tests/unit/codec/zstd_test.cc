#include "codec/zstd.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sp::codec {
namespace {

struct Reading {
  std::string text;
  bool torn = false;
  std::string error;
};

Reading read_all(std::string_view compressed, std::size_t piece = 1000) {
  ZstdSource source(std::make_unique<TextSource>(compressed));
  Reading reading;
  std::string room(piece, '\0');
  while (true) {
    const auto got = source.read(room);
    if (!got) {
      reading.error = got.error().message;
      return reading;
    }
    reading.text.append(room, 0, *got);
    if (*got == 0) break;
  }
  reading.torn = source.torn();
  return reading;
}

std::string frames_of(const std::vector<std::string>& texts) {
  ZstdCompressor compressor(1);
  std::string out;
  for (const auto& text : texts) {
    compressor.append(text, out);
    compressor.end_frame(out);
  }
  return out;
}

TEST(ZstdTest, FramesOneAfterTheOtherAreOneStream) {
  const std::string frames = frames_of({"one ", "", "two ", std::string(100'000, 'x')});
  EXPECT_TRUE(is_zstd(frames));
  EXPECT_EQ(read_all(frames).text, "one two " + std::string(100'000, 'x'));
  EXPECT_EQ(read_all(frames, 1).text.size(), 100'008U);
  EXPECT_FALSE(read_all(frames).torn);
  EXPECT_EQ(read_all("").text, "");
}

TEST(ZstdTest, AFrameThatEndedIsReadThoughTheNextIsCutOff) {
  const std::string first = frames_of({"one "});
  const std::string both = frames_of({"one ", "two"});
  for (std::size_t size = first.size() + 1; size < both.size(); ++size) {
    const Reading reading = read_all(std::string_view(both).substr(0, size));
    EXPECT_TRUE(reading.text.starts_with("one ")) << size;
    EXPECT_TRUE(reading.torn) << size;
    EXPECT_EQ(reading.error, "") << size;
  }
  EXPECT_FALSE(read_all(first).torn);
}

TEST(ZstdTest, WhatIsNoFrameOrIsDamagedIsAnError) {
  EXPECT_NE(read_all("this is no frame").error, "");
  std::string damaged = frames_of({std::string(1000, 'x') + "123456789"});
  damaged[damaged.size() - 2] = static_cast<char>(damaged[damaged.size() - 2] ^ 1);  // of the checksum
  EXPECT_NE(read_all(damaged).error, "");
}

TEST(ZstdTest, ABlockHasTheSizeThatWasAnnounced) {
  const std::string block = zstd_block("hello hello hello", 3);
  std::string room(17, '\0');
  ASSERT_TRUE(zstd_unblock(block, room));
  EXPECT_EQ(room, "hello hello hello");
  room.resize(18);
  EXPECT_FALSE(zstd_unblock(block, room));
  room.resize(16);
  EXPECT_FALSE(zstd_unblock(block, room));
}

RC_GTEST_PROP(ZstdProperty, WhatWasCompressedReadsBack, (const std::vector<std::string>& texts)) {
  std::string all;
  for (const auto& text : texts) all += text;
  const Reading reading = read_all(frames_of(texts), *rc::gen::inRange<std::size_t>(1, 100));
  RC_ASSERT(reading.text == all);
  RC_ASSERT(!reading.torn);
}

}  // namespace
}  // namespace sp::codec

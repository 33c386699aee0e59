#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/crc32c.h"
#include "codec/xxh64.h"

namespace sp::codec {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The definition: one bit at a time.
std::uint32_t crc_by_definition(std::string_view text) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1U) ^ 0x82F63B78U : crc >> 1U;
  }
  return ~crc;
}

TEST(Crc32cTest, KnownAnswers) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
}

RC_GTEST_PROP(Crc32cProperty, HardwareTableAndDefinitionAgree, (const std::string& text)) {
  RC_ASSERT(crc32c(text) == crc_by_definition(text));
  RC_ASSERT(crc32c_portable(bytes_of(text)) == crc_by_definition(text));
}

// Hardware reads longer texts in lanes of two lengths.
TEST(Crc32cTest, EveryLengthAndStartAgreesWithTheTable) {
  std::string text;
  for (unsigned i = 0; i < 2000; ++i) text += static_cast<char>(i * 2654435761U >> 24U);
  for (std::size_t size = 0; size + 3 < text.size(); ++size) {
    const auto bytes = bytes_of(text).subspan(size % 3, size);
    ASSERT_EQ(crc32c(bytes, 0x12345678U), crc32c_portable(bytes, 0x12345678U)) << size;
  }
  EXPECT_EQ(crc32c(text), crc_by_definition(text));
}

RC_GTEST_PROP(Crc32cProperty, InPartsEqualsAtOnce, (const std::string& a, const std::string& b)) {
  RC_ASSERT(crc32c(b, crc32c(a)) == crc32c(a + b));
  RC_ASSERT(crc32c_portable(bytes_of(b), crc32c_portable(bytes_of(a))) == crc32c(a + b));
}

TEST(Xxh64Test, KnownAnswers) {
  EXPECT_EQ(xxh64(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(xxh64("a"), 0xD24EC4F1A98C6E5BU);
  EXPECT_EQ(xxh64("abc"), 0x44BC2CF5AD770999U);
}

TEST(Xxh64Test, TheSeedMatters) { EXPECT_NE(xxh64("abc", 1), xxh64("abc")); }

}  // namespace
}  // namespace sp::codec

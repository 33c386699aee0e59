#include "codec/crc32c.h"

#include <array>
#include <cstring>

namespace sp::codec {
namespace {

constexpr std::uint32_t kCrcPolynomial = 0x82F63B78;

// Bytes of a lane in hardware, of which three are read at once.
constexpr std::size_t kLongLane = 256;
constexpr std::size_t kShortLane = 64;

// table[n][b]: the effect of byte b that stands n bytes before the end of an eight-byte step.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kCrcPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t n = 1; n < tables.size(); ++n) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[n - 1][byte];
      tables[n][byte] = (crc >> 8U) ^ tables[0][crc & 0xFFU];
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = make_crc_tables();

std::uint32_t crc_byte(std::uint32_t crc, std::byte byte) {
  return (crc >> 8U) ^ kCrcTables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
}

#if defined(__x86_64__)
// What `kBytes` zero bytes make of a checksum, by each of its four bytes: a checksum is linear in what came before.
using ZerosTables = std::array<std::array<std::uint32_t, 256>, 4>;

template <std::size_t kBytes>
constexpr ZerosTables make_zeros_tables() {
  ZerosTables tables{};
  for (std::size_t n = 0; n < tables.size(); ++n) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::uint32_t crc = 1U << (8 * n + bit);
      for (std::size_t i = 0; i < kBytes; ++i) crc = (crc >> 8U) ^ kCrcTables[0][crc & 0xFFU];
      for (std::size_t byte = 0; byte < 256; ++byte) {
        if (((byte >> bit) & 1U) != 0) tables[n][byte] ^= crc;
      }
    }
  }
  return tables;
}

template <std::size_t kBytes>
std::uint32_t after_zeros(std::uint32_t crc) {
  static constexpr ZerosTables kTables = make_zeros_tables<kBytes>();
  return kTables[0][crc & 0xFFU] ^ kTables[1][(crc >> 8U) & 0xFFU] ^ kTables[2][(crc >> 16U) & 0xFFU] ^
         kTables[3][crc >> 24U];
}

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

// The instruction takes three cycles and can begin every cycle: three neighbouring lanes at once, then joined.
template <std::size_t kLane>
__attribute__((target("sse4.2"))) std::uint32_t crc_of_lanes(const std::byte*& at, std::size_t& size, std::uint32_t crc) {
  while (size >= 3 * kLane) {
    std::uint64_t first = crc;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      first = __builtin_ia32_crc32di(first, word_at(at + i));
      second = __builtin_ia32_crc32di(second, word_at(at + kLane + i));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kLane + i));
    }
    crc = after_zeros<kLane>(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    crc = after_zeros<kLane>(crc) ^ static_cast<std::uint32_t>(third);
    at += 3 * kLane;
    size -= 3 * kLane;
  }
  return crc;
}

__attribute__((target("sse4.2"))) std::uint32_t crc_hardware(const std::byte* at, std::size_t size,
                                                             std::uint32_t crc) {
  if (size >= 3 * kShortLane) {
    crc = crc_of_lanes<kLongLane>(at, size, crc);
    crc = crc_of_lanes<kShortLane>(at, size, crc);
  }
  std::uint64_t wide = crc;
  for (; size >= 8; size -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  if (size >= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, at, 4);
    narrow = __builtin_ia32_crc32si(narrow, word);
    size -= 4;
    at += 4;
  }
  for (; size > 0; --size, ++at)
    narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(*at));
  return narrow;
}

bool crc_in_hardware() {
  static const bool supported = __builtin_cpu_supports("sse4.2") != 0;
  return supported;
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  while (bytes.size() >= 8) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t low =
          std::to_integer<std::uint32_t>(bytes[i]) ^ ((crc >> (8 * i)) & 0xFFU);
      next ^= kCrcTables[7 - i][low];
      next ^= kCrcTables[3 - i][std::to_integer<std::size_t>(bytes[i + 4])];
    }
    crc = next;
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes) crc = crc_byte(crc, byte);
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (crc_in_hardware()) return ~crc_hardware(bytes.data(), bytes.size(), ~before);
#endif
  return crc32c_portable(bytes, before);
}

std::uint32_t crc32c(std::string_view text, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())), before);
}

}  // namespace sp::codec

#include "codec/utf8.h"

namespace sp::codec {
namespace {

// The range of the second byte keeps out overlong forms, surrogates and what is past U+10FFFF.
struct LeadByte {
  std::size_t length;
  unsigned char second_first;
  unsigned char second_last;
};

LeadByte lead_byte(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) return 1;
  const LeadByte lead = lead_byte(byte(0));
  if (lead.length == 0 || text.size() < lead.length) return 0;
  if (byte(1) < lead.second_first || byte(1) > lead.second_last) return 0;
  for (std::size_t i = 2; i < lead.length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return lead.length;
}

std::size_t utf8_find_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace sp::codec

#include "core/ids.h"

namespace sp::core {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kDigits = 8;

}  // namespace

std::string run_text(RunId run) {
  std::string text = "r";
  for (std::size_t digit = kDigits; digit-- > 0;) text += kAlphabet[(run.value() >> (5 * digit)) & 31U];
  return text;
}

bool is_run_text(std::string_view text) {
  return text.size() == 1 + kDigits && text.front() == 'r' && text.find_first_not_of(kAlphabet, 1) == std::string_view::npos;
}

RunId run_of_text(std::string_view text) {
  std::uint64_t id = 0;
  for (const char digit : text.substr(1)) id = id << 5U | (kAlphabet.find(digit) & 31U);
  return RunId{id};
}

}  // namespace sp::core

#include "history/numbered.h"

#include <charconv>
#include <system_error>

namespace sp::history {

std::optional<std::uint32_t> number_of(std::string_view name, std::string_view kind) {
  if (!name.starts_with(kind) || name.size() <= kind.size() + 1 || name[kind.size()] != '-') return std::nullopt;
  const std::string_view digits = name.substr(kind.size() + 1);
  if (digits.front() == '0' && digits.size() > 1) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace sp::history

#include "coordinator/chatter.h"

#include <fmt/core.h>

namespace sp::coordinator {
namespace {

// Without digits and without what stands in parentheses.
std::string kind_of(std::string_view sentence) {
  std::string kind;
  int depth = 0;
  for (const char c : sentence) {
    if (c == '(') ++depth;
    if (depth == 0 && (c < '0' || c > '9')) kind += c;
    if (c == ')' && depth > 0) --depth;
  }
  while (!kind.empty() && kind.back() == ' ') kind.pop_back();
  return kind;
}

}  // namespace

std::optional<std::string> Chatter::hear(std::string_view sentence, MonotonicTime now) {
  const std::string name = kind_of(sentence);
  const auto found = kinds_.find(name);
  if (found == kinds_.end()) {
    if (kinds_.size() < kKindsMax) kinds_.emplace(name, Kind{now, 0});
    return std::string(sentence);
  }
  Kind& kind = found->second;
  if (now - kind.told < quiet_) {
    ++kind.more;
    ++untold_;
    return std::nullopt;
  }
  std::string text(sentence);
  if (kind.more > 0) text += fmt::format(" ({} more like it before)", kind.more);
  kind = {now, 0};
  return text;
}

}  // namespace sp::coordinator

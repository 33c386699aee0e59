#include "coordinator/raw_read.h"

#include <algorithm>

#include <fmt/core.h>

namespace sp::coordinator {

control::RawReadRequest RawReadState::request() const {
  control::RawReadRequest request;
  for (const auto& target : targets_) {
    request.targets.push_back({target.partition, {target.begin, target.end}});
  }
  return request;
}

void RawReadState::note(const track::Row& row) {
  if (row.kind != track::RowKind::kRawRange || (row.flags & track::kReached) == 0) return;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const auto& target = targets_[i];
    if (target.partition.value() == row.which && target.begin.value() >= row.offset &&
        target.end.value() <= row.sequence) {
      reached_[i] = true;
    }
  }
}

std::size_t RawReadState::unreached() const {
  return static_cast<std::size_t>(std::count(reached_.begin(), reached_.end(), false));
}

std::string RawReadState::unreached_text() const {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (reached_[i]) continue;
    if (shown == kShown) return text + ", …";
    const auto& target = targets_[i];
    text += fmt::format("{}partition {} from {} to {}", shown == 0 ? "" : ", ",
                        target.partition.value(), target.begin.value(), target.end.value());
    ++shown;
  }
  return text;
}

std::string ends_too_low(const std::vector<control::LogBounds>& bounds,
                         const std::map<std::uint32_t, std::uint64_t>& acked_end) {
  std::string text;
  for (const auto& [partition, end] : acked_end) {
    if (end == 0) continue;
    const auto found = std::find_if(bounds.begin(), bounds.end(),
                                    [wanted = partition](const control::LogBounds& bound) {
                                      return bound.partition.value() == wanted;
                                    });
    if (found != bounds.end() && found->end.value() >= end) continue;
    const std::string where =
        found == bounds.end() ? "is not there" : fmt::format("ends at {}", found->end.value());
    text += fmt::format("{}partition {} {} but offset {} was acknowledged",
                        text.empty() ? "" : ", ", partition, where, end - 1);
  }
  return text;
}

}  // namespace sp::coordinator

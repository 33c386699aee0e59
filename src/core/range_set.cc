#include "core/range_set.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/check.h"

namespace sp::core {

std::size_t RangeSet::find(std::uint64_t number) const {
  const auto found = std::upper_bound(ranges_.begin(), ranges_.end(), number,
                                      [](std::uint64_t n, const Range& range) { return n < range.end; });
  return static_cast<std::size_t>(found - ranges_.begin());
}

bool RangeSet::insert_elsewhere(std::uint64_t number) {
  if (!ranges_.empty() && number < ranges_.back().begin) return insert_range(number, number + 1) != 0;
  if (!ranges_.empty() && number < ranges_.back().end) return false;
  ranges_.push_back({number, number + 1});
  return true;
}

std::uint64_t RangeSet::insert_range(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  // All ranges that overlap or touch [begin, end) become one.
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                                [](const Range& range, std::uint64_t n) { return range.end < n; });
  std::uint64_t had = 0;
  Range joined{begin, end};
  auto last = first;
  for (; last != ranges_.end() && last->begin <= end; ++last) {
    const std::uint64_t shared_begin = std::max(last->begin, begin);
    const std::uint64_t shared_end = std::min(last->end, end);
    if (shared_begin < shared_end) had += shared_end - shared_begin;
    joined.begin = std::min(joined.begin, last->begin);
    joined.end = std::max(joined.end, last->end);
  }
  const auto at = static_cast<std::size_t>(first - ranges_.begin());
  if (first == last) {
    ranges_.insert(at, joined);
  } else {
    *first = joined;
    ranges_.erase(at + 1, static_cast<std::size_t>(last - ranges_.begin()));
  }
  check();
  return (end - begin) - had;
}

void RangeSet::insert_all(const RangeSet& other) {
  for (const auto& range : other.ranges_) insert_range(range.begin, range.end);
}

std::uint64_t RangeSet::erase_range(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  std::uint64_t had = 0;
  std::size_t at = find(begin);
  while (at < ranges_.size() && ranges_[at].begin < end) {
    const Range range = ranges_[at];
    const std::uint64_t cut_begin = std::max(range.begin, begin);
    const std::uint64_t cut_end = std::min(range.end, end);
    had += cut_end - cut_begin;
    if (range.begin < cut_begin && cut_end < range.end) {
      ranges_[at].end = cut_begin;
      ranges_.insert(at + 1, {cut_end, range.end});
      break;
    }
    if (range.begin < cut_begin) {
      ranges_[at].end = cut_begin;
      ++at;
    } else if (cut_end < range.end) {
      ranges_[at].begin = cut_end;
      break;
    } else {
      ranges_.erase(at, at + 1);
    }
  }
  check();
  return had;
}

bool RangeSet::contains_below(std::uint64_t number) const { return ranges_[find(number)].begin <= number; }

std::uint64_t RangeSet::size() const {
  std::uint64_t sum = 0;
  for (const auto& range : ranges_) sum += range.size();
  return sum;
}

std::uint64_t RangeSet::count_in(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t sum = 0;
  for (std::size_t at = find(begin); at < ranges_.size() && ranges_[at].begin < end; ++at) {
    sum += std::min(ranges_[at].end, end) - std::max(ranges_[at].begin, begin);
  }
  return sum;
}

std::uint64_t RangeSet::end_of_run(std::uint64_t number) const {
  const std::size_t at = find(number);
  if (at == ranges_.size() || ranges_[at].begin > number) return number;
  return ranges_[at].end;
}

RangeSet RangeSet::intersect(const RangeSet& other) const {
  RangeSet result;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < ranges_.size() && b < other.ranges_.size()) {
    const std::uint64_t begin = std::max(ranges_[a].begin, other.ranges_[b].begin);
    const std::uint64_t end = std::min(ranges_[a].end, other.ranges_[b].end);
    if (begin < end) result.ranges_.push_back({begin, end});
    if (ranges_[a].end < other.ranges_[b].end) {
      ++a;
    } else {
      ++b;
    }
  }
  return result;
}

RangeSet RangeSet::minus(const RangeSet& other) const {
  RangeSet result;
  std::size_t b = 0;
  for (const auto& range : ranges_) {
    std::uint64_t begin = range.begin;
    while (b < other.ranges_.size() && other.ranges_[b].end <= begin) ++b;
    for (std::size_t c = b; c < other.ranges_.size() && other.ranges_[c].begin < range.end; ++c) {
      if (begin < other.ranges_[c].begin) result.ranges_.push_back({begin, other.ranges_[c].begin});
      begin = std::max(begin, other.ranges_[c].end);
    }
    if (begin < range.end) result.ranges_.push_back({begin, range.end});
  }
  return result;
}

RangeSet RangeSet::clip(std::uint64_t begin, std::uint64_t end) const {
  RangeSet result;
  if (begin >= end) return result;
  for (std::size_t at = find(begin); at < ranges_.size() && ranges_[at].begin < end; ++at) {
    result.ranges_.push_back({std::max(ranges_[at].begin, begin), std::min(ranges_[at].end, end)});
  }
  return result;
}

std::uint64_t RangeSet::count_shared(const RangeSet& other) const { return intersect(other).size(); }

std::string RangeSet::text() const {
  std::string text;
  for (const auto& range : ranges_) {
    if (!text.empty()) text += ' ';
    text += fmt::format("[{},{})", range.begin, range.end);
  }
  return text;
}

void RangeSet::check() const {
#ifdef SP_DEBUG_CHECKS
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    DCHECK(ranges_[i].begin < ranges_[i].end, "a range is not empty");
    DCHECK(i == 0 || ranges_[i - 1].end < ranges_[i].begin, "ranges rise and do not touch");
  }
#endif
}

}  // namespace sp::core

#include "workload/open_attempts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace sp::workload {
namespace {

constexpr std::size_t kShareAtFirst = 32;

}  // namespace

OpenAttempts::OpenAttempts(const Options& options)
    : keys_(options.keys),
      lanes_(std::size_t{options.partitions} + 1),
      ways_(std::max<std::size_t>(1, std::min(options.partitions, options.keys))),
      open_max_(std::max<std::size_t>(1, options.open_max)),
      ceiling_(open_max_) {
  set_limit(options.open_at_first != 0 ? options.open_at_first : kShareAtFirst * ways_);
}

void OpenAttempts::set_limit(std::size_t limit) {
  limit_ = std::clamp<std::size_t>(limit, 1, ceiling_);
  share_ = std::max<std::size_t>(1, limit_ / ways_);
  unknown_max_ = std::max<std::size_t>(1, limit_ / 2);
  unknown_key_max_ = std::max<std::size_t>(1, limit_ / std::max<std::size_t>(1, keys_.size()));
}

bool OpenAttempts::may_open(std::uint32_t key) const {
  const Key& place = keys_[key];
  if (size_ >= limit_ || lanes_[place.lane] >= lane_max(place.lane)) return false;
  if (place.span >= kSpanMax) return false;
  return place.lane != 0 || place.open < unknown_key_max_;
}

void OpenAttempts::grow(Key& key) {
  const std::uint32_t capacity = 2 * key.capacity;
  auto ring = std::make_unique<MonotonicTime[]>(capacity);
  for (std::uint64_t sequence = key.oldest(); sequence < key.next; ++sequence) {
    ring[sequence & (capacity - 1)] = key.due_of(sequence);
  }
  key.ring = std::move(ring);
  key.capacity = capacity;
}

core::Sequence OpenAttempts::open(std::uint32_t key, MonotonicTime due) {
  Key& place = keys_[key];
  if (place.span == place.capacity) grow(place);
  place.due_of(place.next) = due;
  ++place.span;
  ++place.open;
  ++lanes_[place.lane];
  ++size_;
  return core::Sequence{place.next++};
}

std::optional<MonotonicTime> OpenAttempts::close(std::uint32_t key, core::Sequence sequence) {
  if (key >= keys_.size()) return std::nullopt;
  Key& place = keys_[key];
  if (sequence.value() < place.oldest() || sequence.value() >= place.next) return std::nullopt;
  const MonotonicTime due = std::exchange(place.due_of(sequence.value()), kClosed);
  if (due == kClosed) return std::nullopt;
  while (place.span > 0 && !place.is_open(place.oldest())) --place.span;
  --place.open;
  --lanes_[place.lane];
  --size_;
  return due;
}

void OpenAttempts::succeeded(std::uint32_t key, std::optional<core::PartitionId> partition) {
  if (key >= keys_.size()) return;
  Key& place = keys_[key];
  const std::uint32_t lane = partition ? partition->value() + 1 : 0;
  // A lane that was at least half full and still gets answers is what the limit grows by.
  if (2 * (lanes_[place.lane] + 1) >= lane_max(place.lane) && limit_ < ceiling_) set_limit(limit_ + ways_);
  if (lane != place.lane && lane != 0) {
    if (lane >= lanes_.size()) lanes_.resize(std::size_t{lane} + 1);
    lanes_[place.lane] -= place.open;
    lanes_[lane] += place.open;
    place.lane = lane;
  }
  if (ceiling_ < open_max_ && ++successes_ > 8 * ceiling_) {  // a refusal long ago may no longer be true
    ceiling_ = std::min(open_max_, ceiling_ + ceiling_ / 8 + 1);
    successes_ = 0;
  }
}

void OpenAttempts::refused(std::size_t in_library) {
  ceiling_ = std::clamp(in_library, std::min(4 * ways_, open_max_), open_max_);
  successes_ = 0;
  set_limit(ceiling_);
}

std::vector<OpenAttempts::Attempt> OpenAttempts::all() const {
  std::vector<Attempt> attempts;
  if (size_ == 0) return attempts;
  for (std::uint32_t key = 0; key < keys_.size(); ++key) {
    const Key& place = keys_[key];
    for (std::uint64_t sequence = place.oldest(); sequence < place.next; ++sequence) {
      if (place.is_open(sequence)) attempts.push_back({key, core::Sequence{sequence}});
    }
  }
  return attempts;
}

}  // namespace sp::workload

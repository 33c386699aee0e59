#include "workload/open_attempts.h"

#include <algorithm>

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
  return place.lane != 0 || place.open < unknown_key_max_;
}

core::Sequence OpenAttempts::open(std::uint32_t key, MonotonicTime due) {
  Key& place = keys_[key];
  std::uint32_t slot = free_;
  if (slot == kNone) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    free_ = slots_[slot].next;
  }
  slots_[slot] = {place.next, due, slot};
  if (place.newest != kNone) {
    slots_[slot].next = slots_[place.newest].next;
    slots_[place.newest].next = slot;
  }
  place.newest = slot;
  ++place.open;
  ++lanes_[place.lane];
  ++size_;
  return core::Sequence{place.next++};
}

std::optional<MonotonicTime> OpenAttempts::close(std::uint32_t key, core::Sequence sequence) {
  if (key >= keys_.size() || keys_[key].newest == kNone) return std::nullopt;
  Key& place = keys_[key];
  std::uint32_t before = place.newest;
  for (std::uint32_t count = 0; count < place.open; ++count, before = slots_[before].next) {
    const std::uint32_t slot = slots_[before].next;
    if (slots_[slot].sequence != sequence.value()) continue;
    slots_[before].next = slots_[slot].next;
    if (place.newest == slot) place.newest = before == slot ? kNone : before;
    slots_[slot].next = free_;
    free_ = slot;
    --place.open;
    --lanes_[place.lane];
    --size_;
    return slots_[slot].due;
  }
  return std::nullopt;
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
    std::uint32_t slot = keys_[key].newest;
    for (std::uint32_t count = 0; count < keys_[key].open; ++count) {
      slot = slots_[slot].next;
      attempts.push_back({key, core::Sequence{slots_[slot].sequence}});
    }
  }
  return attempts;
}

}  // namespace sp::workload

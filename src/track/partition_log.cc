#include "track/partition_log.h"

#include <algorithm>

namespace sp::track {

Slot* PartitionLog::find(std::uint64_t offset) {
  if (Slot* slot = in_ring(offset)) return slot->seen != 0 ? slot : nullptr;
  const auto found = unfinished.find(offset);
  return found == unfinished.end() ? nullptr : &found->second;
}

const Slot* PartitionLog::find(std::uint64_t offset) const {
  if (const Slot* slot = in_ring(offset)) return slot->seen != 0 ? slot : nullptr;
  const auto found = unfinished.find(offset);
  return found == unfinished.end() ? nullptr : &found->second;
}

Slot& PartitionLog::reach(std::uint64_t offset, std::uint64_t retain_from) {
  if (ring_.empty()) ring_.resize(std::min(slots_first, slots_max));
  if (head_ == 0 && offset >= ring_.size()) {  // the first sighting is far up: a log that did not begin with this run
    tail_ = offset;
    frontier_ = offset;
    head_ = offset;
  }
  while (offset - tail_ >= ring_.size()) {
    const Slot& oldest = ring_[tail_ & (ring_.size() - 1)];
    const bool worth_keeping = tail_ < head_ && (tail_ >= std::min(retain_from, frontier_) || (oldest.seen != 0 && !finished(oldest)));
    if (worth_keeping && ring_.size() < slots_max) {
      grow();
      continue;
    }
    // An eighth of the ring at a time, so that pushing out is rare, but nothing of what is to be kept while the ring may grow.
    const std::uint64_t step = ring_.size() / 8;
    if (offset - tail_ >= 2 * ring_.size()) {
      push_out(head_);
      tail_ = std::max(tail_, offset - ring_.size() / 2);
    } else {
      const std::uint64_t keep_from = ring_.size() < slots_max ? std::max(std::min(retain_from, frontier_), tail_ + 1) : head_;
      push_out(std::min({tail_ + step, head_, keep_from}));
      if (tail_ == head_) tail_ = std::max(tail_, offset - ring_.size() / 2);
    }
    head_ = std::max(head_, tail_);
  }
  for (; head_ <= offset; ++head_) ring_[head_ & (ring_.size() - 1)] = Slot{};
  return ring_[offset & (ring_.size() - 1)];
}

void PartitionLog::push_out(std::uint64_t new_tail) {
  for (; tail_ < new_tail; ++tail_) {
    const Slot& slot = ring_[tail_ & (ring_.size() - 1)];
    if (slot.seen != 0 && !finished(slot)) unfinished.emplace(tail_, slot);
    if (watched && slot.named()) left.emplace_back(tail_, slot);
  }
}

void PartitionLog::grow() {
  std::vector<Slot> larger(ring_.size() * 2);
  for (std::uint64_t offset = tail_; offset < head_; ++offset) {
    larger[offset & (larger.size() - 1)] = ring_[offset & (ring_.size() - 1)];
  }
  ring_ = std::move(larger);
}

std::size_t PartitionLog::bytes() const {
  return ring_.size() * sizeof(Slot) + scanned.range_count() * sizeof(core::Range) +
         unfinished.size() * (sizeof(Slot) + 40);
}

}  // namespace sp::track

// The log of one partition as it is known: which record stands at which position, by acks, deliveries and the raw read.
//
//     scanned ──────────────►│ frontier ── known? ── known? ──► head
//     positions below: each scanned once, in order; only gaps remember that they are gaps
//     the last `slots` positions keep their identity in a ring; unfinished ones that fall out of it move to `unfinished`
//
// Scanning is what finds duplicate-write and reordered-write: every position is passed to the caller once, lowest first as long as
// evidence comes in any reasonable order; a position that becomes known after the frontier passed it is passed late.
//
// Shape:    tail <= frontier <= head; head - tail <= capacity (a power of two).
// Cost:     O(1) a sighting; 24 bytes a slot.
// Limits:   slots_max of a partition; `unfinished` is bounded by the caller.
// Errors:   none.   Threads: one owner.   Source: docs/algebra.md 4.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/key_space.h"
#include "core/range_set.h"

namespace sp::track {

// How a position was seen.
constexpr std::uint8_t kSeenAck = 1;
constexpr std::uint8_t kSeenHanded = 2;   // handed over to some group
constexpr std::uint8_t kSeenRaw = 4;
constexpr std::uint8_t kSeenDamaged = 8;  // handed over or read, but damaged: identity only by ack
constexpr std::uint8_t kScanned = 16;     // its record is counted in the state of its key
constexpr std::uint8_t kNamed = 32;       // key and sequence are known

struct Slot {
  core::KeyRef key{};
  std::uint64_t sequence = 0;
  std::uint32_t groups = 0;  // a bit for each group that was handed it
  std::uint8_t seen = 0;
  [[nodiscard]] bool named() const { return (seen & kNamed) != 0; }
  [[nodiscard]] bool is(core::KeyRef other, std::uint64_t other_sequence) const {
    return key == other && sequence == other_sequence;
  }
};

class PartitionLog {
 public:
  std::size_t slots_first = 1024;  // a power of two from 8
  std::size_t slots_max = 65'536;  // a power of two from 8

  [[nodiscard]] std::uint64_t tail() const { return tail_; }
  [[nodiscard]] std::uint64_t frontier() const { return frontier_; }
  [[nodiscard]] std::uint64_t head() const { return head_; }

  // True if making room for the position pushes out all there is: what is to be scanned has to be scanned before.
  [[nodiscard]] bool overwhelmed_by(std::uint64_t offset) const {
    return !ring_.empty() && (offset - tail_ >= slots_max || offset - tail_ >= 2 * ring_.size());
  }
  // The slot of a position that is still in the ring, or null.
  [[nodiscard]] Slot* in_ring(std::uint64_t offset) {
    return offset >= tail_ && offset < head_ ? &ring_[offset & (ring_.size() - 1)] : nullptr;
  }
  [[nodiscard]] const Slot* in_ring(std::uint64_t offset) const {
    return offset >= tail_ && offset < head_ ? &ring_[offset & (ring_.size() - 1)] : nullptr;
  }
  // Acknowledged and found by all groups: nothing more is expected of it.
  [[nodiscard]] bool finished(const Slot& slot) const {
    return (slot.seen & kSeenAck) != 0 && ((slot.seen & kSeenRaw) != 0 || (slot.groups & all_groups) == all_groups);
  }
  // The slot of a position, in the ring or among the unfinished; null if it is finished and forgotten, or was never seen.
  [[nodiscard]] Slot* find(std::uint64_t offset);
  [[nodiscard]] const Slot* find(std::uint64_t offset) const;
  // Makes room in the ring for `offset`, which is at or above tail(), and returns its slot. Slots that are pushed out and not
  // finished go to `unfinished`. `retain_from`: slots at or above it are kept as long as the ring may grow.
  Slot& reach(std::uint64_t offset, std::uint64_t retain_from);

  std::uint32_t all_groups = 1;  // bits of all groups
  // The slot of head(), if the ring has room for it without pushing anything out; null otherwise.
  [[nodiscard]] Slot* append(std::uint64_t offset) {
    if (offset != head_ || head_ - tail_ >= ring_.size()) return nullptr;
    ++head_;
    return &ring_[offset & (ring_.size() - 1)];
  }
  // Positions known to hold a record that were scanned.
  core::RangeSet scanned;
  // With `watched`, named slots that fall out of the ring are put here for the caller, lowest position first.
  bool watched = false;
  std::vector<std::pair<std::uint64_t, Slot>> left;
  // Positions that fell out of the ring before they were acknowledged and found.
  std::unordered_map<std::uint64_t, Slot> unfinished;

  void set_frontier(std::uint64_t frontier) { frontier_ = frontier; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  void push_out(std::uint64_t new_tail);
  void grow();

  std::vector<Slot> ring_;  // empty until the first sighting
  std::uint64_t tail_ = 0;
  std::uint64_t frontier_ = 0;
  std::uint64_t head_ = 0;
};

}  // namespace sp::track

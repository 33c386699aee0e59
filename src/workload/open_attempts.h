// A producer's own book of its keys: the next sequence of each, the attempts that have no outcome
// yet, and whether one more may be opened, so that a partition that is blocked cannot take the
// whole queue of the client library.
//
//     limit        how many may be open; starts small, grows while successes come, falls to what the
//                  library took when its queue was full, and is tried higher again later
//     partition    at most limit / min(partitions, keys) open each. Which partition a key is on is
//                  learnt from its successes; until then the key counts for "not known", which may
//                  hold half the limit, and limit / keys itself
//
// A partition that answers nothing keeps its share and no more, and does not make the limit grow;
// the keys of the others go on. Drivers without positions have "not known" keys only: there the
// share of a key is what bounds.
//
// Shape:    sequences of a key rise by one from 0 and are used once. The dues of a key's attempts stand in a ring at their
//           sequences: neighbours in memory, as they are answered together.
// Cost:     10 to 20 ns an attempt; 64 bytes a key, and 8 to 16 an attempt where a key has more than four.
// Limits:   `open_max` attempts; `kSpanMax` sequences of a key from its oldest open one on.
// Errors:   none.   Threads: one owner.   Source: docs/reference/load.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/ids.h"

namespace sp::workload {

class OpenAttempts {
 public:
  static constexpr std::uint64_t kSpanMax = std::uint64_t{1} << 20U;
  struct Options {
    std::uint32_t keys = 0;
    std::uint32_t partitions = 1;
    std::size_t open_max = 65'536;
    std::size_t open_at_first = 0;   // 0: 32 for each partition
  };
  explicit OpenAttempts(const Options& options);

  [[nodiscard]] bool may_open(std::uint32_t key) const;
  // Opens the next attempt of the key: its sequence. `due` is remembered.
  core::Sequence open(std::uint32_t key, MonotonicTime due);
  // Brings near what close() will look at; in this order, some attempts ahead.
  void fetch_key(std::uint32_t key) const {
    if (key < keys_.size()) __builtin_prefetch(&keys_[key], 1);
  }
  void fetch_due(std::uint32_t key, core::Sequence sequence) const {
    if (key < keys_.size()) __builtin_prefetch(keys_[key].place_of(sequence.value()), 1);
  }
  // Closes an attempt: its `due`; nullopt if it was not open.
  std::optional<MonotonicTime> close(std::uint32_t key, core::Sequence sequence);
  // An attempt of the key succeeded; `partition` if that is known.
  void succeeded(std::uint32_t key, std::optional<core::PartitionId> partition);
  // The library took no more although only `in_library` attempts were open in it.
  void refused(std::size_t in_library);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  // Those that are open, by key and sequence; O(keys).
  struct Attempt {
    std::uint32_t key;
    core::Sequence sequence;
  };
  [[nodiscard]] std::vector<Attempt> all() const;

 private:
  // What stands in a ring where there is no open attempt.
  static constexpr MonotonicTime kClosed = MonotonicTime::min();
  static constexpr std::uint32_t kFew = 4;
  // One cache line, with room for the dues of a few attempts: an outcome comes when all this is cold.
  struct alignas(64) Key {
    std::uint64_t next = 0;
    std::uint32_t span = 0;                    // from the lowest open sequence to `next`
    std::uint32_t open = 0;
    std::uint32_t lane = 0;                    // 0: not known; else partition + 1
    std::uint32_t capacity = kFew;             // a power of two; of `few`, later of `ring`
    std::unique_ptr<MonotonicTime[]> ring{};
    std::array<MonotonicTime, kFew> few{};
    [[nodiscard]] std::uint64_t oldest() const { return next - span; }
    // A sequence's place is its lowest bits.
    [[nodiscard]] MonotonicTime& due_of(std::uint64_t sequence) {
      return ring ? ring[sequence & (capacity - 1)] : few[sequence % kFew];
    }
    [[nodiscard]] const MonotonicTime* place_of(std::uint64_t sequence) const {
      return ring ? &ring[sequence & (capacity - 1)] : &few[sequence % kFew];
    }
    [[nodiscard]] bool is_open(std::uint64_t sequence) const { return *place_of(sequence) != kClosed; }
  };
  static void grow(Key& key);
  [[nodiscard]] std::size_t lane_max(std::uint32_t lane) const { return lane == 0 ? unknown_max_ : share_; }
  void set_limit(std::size_t limit);

  std::vector<Key> keys_;
  std::vector<std::size_t> lanes_;    // open attempts
  std::size_t size_ = 0;
  std::size_t ways_;
  std::size_t open_max_;
  std::size_t ceiling_;               // what the library is known to take
  std::size_t limit_ = 0;
  std::size_t share_ = 0;             // of a partition
  std::size_t unknown_max_ = 0;       // of all keys whose partition is not known
  std::size_t unknown_key_max_ = 0;   // of one of them
  std::size_t successes_ = 0;         // since the ceiling was set
};

}  // namespace sp::workload

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
// Shape:    sequences of a key rise by one from 0 and are used once.
// Cost:     10 to 20 ns an attempt; 24 bytes a key and 24 an open attempt.
// Limits:   `open_max` attempts.   Errors: none.   Threads: one owner.   Source: docs/reference/load.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "core/ids.h"

namespace sp::workload {

class OpenAttempts {
 public:
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
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Key {
    std::uint64_t next = 0;
    std::uint32_t newest = kNone;     // its open attempts are a ring; newest → next is the oldest
    std::uint32_t open = 0;
    std::uint32_t lane = 0;           // 0: not known; else partition + 1
  };
  struct Slot {
    std::uint64_t sequence = 0;
    MonotonicTime due{};
    std::uint32_t next = kNone;
  };
  [[nodiscard]] std::size_t lane_max(std::uint32_t lane) const { return lane == 0 ? unknown_max_ : share_; }
  void set_limit(std::size_t limit);

  std::vector<Key> keys_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
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

// A consumer group: who owns which partition in which generation, and what was committed.
//
//     join, leave, expel ─► rebalance: generation + 1, a target for each partition
//     owner is target ─► goes on
//     owner is another ─► asked back (revoking) ─► released or taken ─► target opens
//
// Only partitions that move are asked back (cooperative). An owner that does not give one back within the session
// timeout loses it. A lineage carries the generation in which it opened.
//
// Cost:    a rebalance O(partitions × members).   Limits: –.   Errors: none.
// Threads: one owner (the broker's lock).   Source: –.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/range_set.h"
#include "driver/driver.h"
#include "driver/embedded/truth.h"

namespace sp::driver::embedded {

// One possession of a partition by a member, from its opening until the member knows that it ended.
struct Lineage {
  std::uint32_t partition = 0;
  std::uint64_t serial = 0;
  core::Generation generation;
  std::uint64_t next = 0;            // the position to hand over next
  bool revoking = false;             // asked back
  bool lost = false;                 // taken away; the member has not polled since
  bool intruder = false;             // a second owner (dual-owner)
  bool announced = false;            // the member's poll returned after it was asked back
  MonotonicTime opened{};
  core::Generation lost_generation;  // the first without it
  MonotonicTime revoke_since{};
  std::uint64_t handed_records = 0;
  TruthBook::Item rewind_item = 0;   // opened below the committed offset on purpose ...
  std::uint64_t rewind_end = 0;      // ... which was this
  std::uint64_t stall_offset = 0;    // waits here for the next record of its key (reorder-delivery) ...
  std::optional<MonotonicTime> stall_until;  // ... this long
};

// A commit whose outcome the member does not know yet.
struct OpenCommit {
  MonotonicTime due{};
  core::Event outcome = core::Event::kCommitOk;
  std::uint32_t partition = 0;
  std::uint64_t next = 0;
  std::uint64_t lineage = 0;         // serial
  bool counts = true;                // of a lineage that is no intruder
};

struct Member {
  std::string id;
  ConsumerSpec spec;
  bool joined = false;
  bool crashed = false;              // its client is gone without a close
  bool paused = false;
  MonotonicTime seen{};              // last poll
  std::optional<MonotonicTime> rejoin_at;
  std::vector<Lineage> lineages;
  std::deque<OpenCommit> commits;
  std::size_t cursor = 0;            // the lineage to serve first
  [[nodiscard]] bool holds(std::uint32_t partition) const;  // or does not know yet that it lost it
  std::condition_variable condition;
  bool waiting = false;
};

struct GroupPartition {
  Member* owner = nullptr;
  Member* target = nullptr;
  Member* second = nullptr;          // is to own it too, once `target` does (dual-owner)
  std::optional<std::uint64_t> committed;   // where the next lineage starts
  std::optional<std::uint64_t> confirmed;   // of the last commit that a member knows to be ok
  std::uint64_t confirmed_by = 0;           // serial of that lineage
  std::uint32_t commits_open = 0;
  std::uint64_t last_serial = 0;            // of the lineage that opened last
  bool want_rewind = false;
  core::RangeSet handed;
};

class Group {
 public:
  Group(std::string name, std::uint32_t partitions) : name_(std::move(name)), parts_(partitions) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] core::Generation generation() const { return core::Generation(generation_); }
  [[nodiscard]] std::vector<GroupPartition>& parts() { return parts_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Member>>& members() const { return members_; }
  [[nodiscard]] std::size_t joined() const;
  // The owner's lineage of a partition; absent if there is none or it is asked back.
  [[nodiscard]] const Lineage* settled(std::uint32_t partition) const;
  // True if the member is to become a second owner now: the first has opened in this generation.
  [[nodiscard]] bool may_intrude(const Member& member, std::uint32_t partition) const;
  // True while a partition has, or is to get, a second owner.
  [[nodiscard]] bool has_intruder() const;

  // A member that is not in the group yet.
  Member& add(const ConsumerSpec& spec, MonotonicTime now);
  void join(Member& member, MonotonicTime now);
  // Takes all its partitions away and the member out of the group; its lineages stay, as lost, until it polls.
  void expel(Member& member, MonotonicTime now);
  // Leaves and forgets the member.
  void remove(Member& member, MonotonicTime now);
  // A new generation in which `partition` is asked back from its owner and given to `target` (and `second`).
  void move(std::uint32_t partition, Member& target, Member* second, MonotonicTime now);
  // A new generation in which intruders are asked to go.
  void end_intruders(MonotonicTime now);
  // Opens the lineage of `member` on `partition`; the caller says where it starts.
  Lineage& open(Member& member, std::uint32_t partition, std::uint64_t start, bool intruder, MonotonicTime now);
  // The member gave the lineage back, or knows that it lost it: forgets it.
  void close(Member& member, std::size_t lineage);
  // Takes back what was not released in time.
  void take_overdue(MonotonicTime now, Nanoseconds session_timeout);
  // When take_overdue has something to do; absent: never.
  [[nodiscard]] std::optional<MonotonicTime> next_overdue(Nanoseconds session_timeout) const;

 private:
  void rebalance(MonotonicTime now);
  void choose_targets();
  void ask_back(MonotonicTime now);
  void take(Member& member, Lineage& lineage);

  std::string name_;
  std::vector<GroupPartition> parts_;
  std::vector<std::unique_ptr<Member>> members_;  // in the order in which they came
  std::uint64_t generation_ = 0;
  std::uint64_t serials_ = 0;
  std::uint64_t ids_ = 0;
};

}  // namespace sp::driver::embedded

// How one row of evidence changes the state. The ledger decides when a row is folded, this decides what it means.
//
// Cost:     30 to 60 ns a row where nothing is unusual.   Limits, errors: as ledger.h.   Threads: one owner.
// Source:   docs/algebra.md 4 and 5.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "track/state.h"

namespace sp::track {

class Fold {
 public:
  explicit Fold(State& state) : state_(state) {}

  // True if the row has to wait for the owner of its key: a delivery of what was not issued yet, as far as is known.
  [[nodiscard]] bool must_wait(const Source& source, const Row& row) const;
  void row(Source& source, const Delta& delta, const Row& row);
  // The rows that a healthy run consists of, in their healthy shape: true if it was folded, false if row() must look.
  [[nodiscard]] bool quiet(const Source& source, const Row& row);
  // Passes over gaps of the partition's log below `limit` and scans what is named.
  void sweep(std::uint32_t partition, std::uint64_t limit);

  // The partition, made if it is new.
  PartitionState& partition(std::uint32_t number);
  // Makes room for keys [0, count) of a block.
  void make_keys(std::uint32_t block, std::size_t count);
  // Open attempts of the key become unknown.
  void close_attempts(core::KeyRef key);
  // What has no outcome of these was never attempted, although a higher one was: no obligation, and a phantom where it was seen.
  void never_attempted(core::KeyRef ref, const core::Range& sequences);
  // These are acknowledged after all, those of unknown outcome among them.
  void proven(core::KeyRef ref, const core::Range& sequences);
  // The ack named a position that is empty while the log holds the record elsewhere.
  void refute_ack(std::uint32_t partition, std::uint64_t offset);
  // Judges the logs that are not in order, with what is in the rings. `last`: for good.
  void judge_logs(bool last);
  // What only all evidence together shows of suspects and of misplaced records.
  void settle();
  [[nodiscard]] static core::KeyRef map_key(const Source& source, core::KeyRef key) {
    if (key.block != core::KeySpace::kLiteralBlock) return {source.blocks[key.block], key.index};
    if (key.index < source.same_literals) return key;
    return key.index < source.literals.size() ? source.literals[key.index] : core::KeyRef{core::KeySpace::kLiteralBlock, kNone};
  }

 private:
  [[nodiscard]] bool quiet_issue(const Source& source, const Row& row);
  [[nodiscard]] bool quiet_ack(const Source& source, const Row& row);
  [[nodiscard]] bool quiet_delivery(const Source& source, const Row& row);
  [[nodiscard]] bool quiet_raw(const Source& source, const Row& row);
  // The record stands right behind all that is known of its partition's log, and of its key's: its slot, named and scanned; else null.
  [[nodiscard]] Slot* append(std::uint32_t number, std::uint64_t offset, core::KeyRef ref, KeyState& key, std::uint64_t sequence);

  // producer side
  KeyState* producer_key(const Source& source, core::KeyRef key);
  // The key of a record that was handed over or read: nobody's if none was declared, but in a history keys are declared by being seen.
  KeyState* seen_key(const Source& source, core::KeyRef key);
  void issued(KeyState& key, std::uint64_t sequence);
  bool decide(KeyState& key, std::uint64_t sequence);
  void acked(const Source& source, const Row& row);
  void failed(const Source& source, const Row& row);
  void unknown(const Source& source, const Row& row);
  void make_unknown(core::KeyRef ref, KeyState& key, std::uint64_t sequence);
  void make_unknown(core::KeyRef ref, KeyState& key, const core::Range& sequences);
  // A delivery of what an absent owner has not reported: it may have issued it.
  void issue_provisionally(KeyState& key, std::uint64_t sequence);
  void withdraw_provisional(core::KeyRef ref, KeyState& key);
  void failed_but_seen(core::KeyRef ref, std::uint64_t sequence);

  // consumer side
  void opened(Source& source, const Delta& delta, const Row& row);
  void closed(const Source& source, const Row& row);
  void committed(const Source& source, const Delta& delta, const Row& row);
  void delivered(const Source& source, const Row& row);
  void delivered_damaged(const Source& source, std::uint32_t lineage, const Row& row);
  void delivered_foreign(const Lineage& lineage, const Row& row, core::KeyRef ref, bool is_new);
  void delivered_leftover(Lineage& lineage, const Row& row);
  // True if the record is one that nobody issued or whose attempt failed; what an absent owner may have issued is not.
  [[nodiscard]] bool is_phantom(core::KeyRef ref, KeyState& key, std::uint64_t sequence);
  void arrived(Group& group, GroupDetail* detail, const Named& named);
  // Enters the position into the group's and the lineage's sets. `repeat`: the group had been handed it before.
  struct Handing {
    bool repeat = false;
    bool inner = false;     // by this very lineage
    bool backward = false;  // below a position this lineage had handed over
  };
  Handing hand_over(const Source& source, std::uint32_t lineage, std::uint64_t offset);
  // The lineage came to the position: false if it had been beyond.
  bool went_on(Lineage& lineage, std::uint64_t offset);
  void repeated(std::uint32_t lineage, const Named& named, const Handing& handing);
  // The record counts as received by the group: true if it was not before. Order of what has no position is judged at once.
  bool receive(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence, std::uint64_t offset,
               std::uint32_t lineage);
  void filled(const Hole& hole, GroupKey& group_key, const Named& named);
  void reordered(GroupKey& group_key, const Named& named);
  void landed(core::KeyRef ref, std::uint64_t sequence);

  // order of hand-overs: what follows from positions
  struct Ordering {
    Handing handing;
    bool again = false;     // the lineage had handed over the record from this position
    bool first = false;     // the first hand-over of the record in the group
    std::uint64_t period = 0;
    std::uint64_t order = 0;  // in its source's rows
  };
  void order(const Named& named, const Ordering& how);
  void overtaken_within(const Named& named, bool first);
  void overtaken_across(const Named& named, const Ordering& how);
  // Another hand-over of the record, in `period`: if it may have been the first, nothing is said across lineages.
  void handed_again(const Named& named, std::uint64_t period, std::uint64_t order);
  // As handed_again(), of a damaged hand-over whose record is remembered no more: of those at its position, and of those with
  // another copy.
  void handed_forgotten(const Named& place, std::uint64_t period, std::uint64_t order);
  // As handed_again(), of what had been handed over damaged and has a name now.
  void handed_damaged(std::uint32_t group, const Named& named);
  // True if the group was handed the record intact, which it was handed.
  [[nodiscard]] bool handed_intact_to(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence);
  // Higher sequences of the key that the lineage handed over intact from higher positions, as far as the log remembers.
  [[nodiscard]] core::RangeSet handed_above(const Lineage& lineage, const Named& named,
                                            const std::function<bool(std::uint64_t)>& counts) const;
  // True if the lineage handed over higher positions, of records that are remembered no more.
  [[nodiscard]] bool handed_and_forgotten(const Lineage& lineage, const Named& named) const;
  // True if the record is known to stand there, and the key's log is in order.
  [[nodiscard]] bool stands_in_order(const Named& named) const;
  // True if the log remembers that the lineage handed over the record, intact, from another position.
  [[nodiscard]] bool handed_intact_elsewhere(const Lineage& lineage, const Named& named) const;
  // True if a second copy of the record is known.
  [[nodiscard]] bool has_copy(const Named& named) const;
  // True if the lineage may have handed over another copy of the record, at a position that is remembered no more.
  [[nodiscard]] bool copy_forgotten(const Lineage& lineage, const Named& named) const;
  // A suspect that handed over another copy is none.
  void acquit(const Lineage& lineage, Suspect& suspect);
  // Where only what is remembered no more could tell, it is said.
  void say_forgotten();
  // Lineages that had gone on past the position now handed over by another.
  void suspect_others(std::uint32_t lineage, const Named& named);
  void jumped(Lineage& lineage, std::uint64_t begin, std::uint64_t end);
  void suspect(Lineage& lineage, const Named& named);

  // log side
  struct Sighting {
    core::KeyRef ref{};
    std::uint64_t sequence = 0;
    std::uint8_t how = 0;               // kSeenAck, kSeenHanded, kSeenRaw
    std::uint32_t groups = 0;           // the bit of the group that was handed it
    std::uint8_t placement = 0;         // kRightPartition, kWrongPartition, or 0 where its payload does not say
  };
  void sight(std::uint32_t partition, std::uint64_t offset, const Sighting& sighting);
  void sight_damaged(std::uint32_t partition, std::uint64_t offset, std::uint8_t how, std::uint32_t groups);
  Slot& reach(std::uint32_t partition, std::uint64_t offset, std::uint64_t retain_from);
  void merge(std::uint32_t partition, std::uint64_t offset, Slot& slot, const Sighting& sighting);
  void conflict(std::uint32_t partition, std::uint64_t offset, Slot& slot, const Sighting& sighting);
  void advance(std::uint32_t partition);
  void scan(std::uint32_t partition, std::uint64_t offset, Slot& slot);
  // True if the log of the key is known to hold the sequence.
  [[nodiscard]] bool log_holds(core::KeyRef ref, std::uint64_t sequence) const;
  // The higher sequence of a key whose log is in order that stands before the position although this one was not found yet.
  [[nodiscard]] std::optional<std::uint64_t> overtaker(const KeyState& key, std::uint32_t partition, std::uint64_t sequence,
                                                       std::uint64_t offset) const;
  // True if the sequence is in a hole of the key's log and stands where the hole is.
  bool fill(KeyDetail& detail, std::uint64_t sequence, std::uint64_t offset);
  void raw(const Source& source, const Row& row);
  void raw_range(const Row& row);
  void inconsistent(std::uint32_t partition, std::uint64_t offset, core::KeyRef ref, std::uint64_t sequence);
  // True if some group was handed it intact.
  [[nodiscard]] bool handed_to_any(std::uint32_t partition, std::uint64_t offset) const;

  // keys whose log is not in order
  void disturb(core::KeyRef ref, KeyState& key);
  // What is believed to stand there does not: an ack named the place.
  void withdraw(std::uint32_t partition, std::uint64_t offset, Slot& slot);
  void absorb(std::uint32_t partition);
  void raise(const NamedList& list, core::Code code, core::RangeSet KeyLog::*alarmed);
  void late_copy(const Named& named, KeyDetail& detail, std::optional<std::uint64_t> overtaken_by);
  void place(std::uint32_t partition, std::uint64_t offset, const Sighting& sighting);
  // Records without a key belong nowhere: that of a history's nameless key.
  [[nodiscard]] bool has_no_home(core::KeyRef ref) const;
  void move_key(core::KeyRef ref, KeyState& key, std::uint32_t partition);
  void stray(std::uint32_t partition, std::uint64_t offset, core::KeyRef ref, KeyState& key, std::uint64_t sequence);

  State& state_;
};

}  // namespace sp::track

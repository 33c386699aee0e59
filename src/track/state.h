// All that the engine knows of a run: made by the ledger's folding, read by the judge's rules.
//
//     key (quiet: 64 bytes)   KeyState: producer and log side 40, delivery side of group 0 24; 24 more for each further group
//     what is not quiet       KeyDetail, GroupDetail: holes, sets of exceptions
//     partition               PartitionLog; for each group GroupPartition with its lineages
//
// Below `outcome_top` every sequence has an outcome but those in `open`; it is ok but those in `failed` and `unknown`.
// Below a group's `top` every sequence was received but those in `holes`.
//
// Cost:     as ledger.h.   Limits: LedgerLimits.   Errors: none.   Threads: one owner.   Source: docs/algebra.md.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/huge_pages.h"
#include "base/prefetch.h"
#include "core/range_set.h"
#include "track/ledger.h"
#include "track/partition_log.h"

namespace sp::track {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};
constexpr std::size_t kPartitionsMax = std::size_t{1} << 20U;

struct KeyHash {
  std::size_t operator()(core::KeyRef key) const noexcept {
    std::uint64_t x = (std::uint64_t{key.block} << 32U) | key.index;
    x *= 0x9E3779B97F4A7C15ULL;
    return x ^ (x >> 29U);
  }
};

struct RecordId {
  core::KeyRef key;
  std::uint64_t sequence = 0;
  auto operator<=>(const RecordId&) const = default;
};
struct RecordHash {
  std::size_t operator()(const RecordId& id) const noexcept {
    return KeyHash{}(id.key) ^ (id.sequence * 0xD6E8FEB86659FD93ULL);
  }
};

struct GroupKey {
  std::uint64_t top = 0;
  std::uint64_t high = 0;         // the highest sequence that `lineage` handed over
  std::uint32_t lineage = kNone;  // the last that handed over a record of this key
  std::uint32_t detail = kNone;
};
static_assert(sizeof(GroupKey) == 24);

struct alignas(64) KeyState {
  std::uint64_t issued_end = 0;
  std::uint64_t outcome_top = 0;
  std::uint64_t scan_end = 0;     // one above the highest sequence found in the log
  std::uint64_t scan_offset = 0;  // where that one stands (its first copy)
  std::uint32_t partition = kNone;
  std::uint32_t detail = kNone;
  GroupKey first_group;           // of group 0: one cache line for a record's whole life
};
static_assert(sizeof(KeyState) == 64);

// Sequences [begin, end) that are missing from the log scan, and the first copies around them.
struct ScanHole {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t higher_offset = kNoOffset;  // lowest position of a higher sequence
  std::uint64_t lower_offset = kNoOffset;   // position of the highest lower sequence when the hole was made
};

// Sequences a group has not received, and the hand-over that jumped over them.
struct Hole {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t higher_offset = kNoOffset;  // of the record whose hand-over made the hole
  std::uint32_t lineage = kNone;            // which handed that over
};

// The log of a key that is not in order: what was found at positions that have left the ring, in the order of the log; what is
// in the ring is judged when it leaves, or at the end, when all that can be known of it is known.
struct KeyLog {
  struct Part {
    std::uint32_t partition = kNone;
    core::RangeSet ordered;     // sequences found in this partition
    core::RangeSet unplaced;    // of these: where the first copy stands is not known, so nothing is told by it
  };
  core::RangeSet found;         // sequences, wherever they stand
  std::vector<Part> parts;
  core::RangeSet alarmed_copies;
  core::RangeSet alarmed_inverted;
};

struct Cohort {  // records whose deadline is the same
  core::RangeSet sequences;
  MonotonicTime deadline{};
  MonotonicTime since{};        // of the last tick that did not know their outcome
};

struct Overdue {  // records of a key that passed their deadline at one tick
  std::uint32_t group = kNone;
  core::KeyRef key{};
  core::Range sequences;
  MonotonicTime since{};        // of the last tick that did not know their acks
  MonotonicTime at{};           // of the tick at which they were overdue
};

struct KeyDetail {
  core::RangeSet open;          // below outcome_top, no outcome yet
  core::RangeSet failed;
  core::RangeSet aborted;       // of these: with their transaction
  core::RangeSet fenced;        // of these: because their producer was shut out
  core::RangeSet unknown;
  core::RangeSet landed;        // unknown, but seen
  core::RangeSet unknown_settled;   // unknown and past the deadline
  std::vector<Cohort> unknown_cohorts;
  std::vector<ScanHole> scan_holes;
  std::unique_ptr<KeyLog> log;  // there once the key's log is not in order; then scan_holes hold nothing
  core::RangeSet inverted;      // reordered-write; before the end only what Inversions have no room for
  core::RangeSet misplaced_said;  // their payload asked for another partition
  bool home_guessed = false;      // the key's partition is that of a delivery: no ack has told one yet, and no payload
  std::vector<KeyLog::Part> strays;  // found outside the key's partition, and their payload has not been seen
  core::RangeSet provisional;   // counted as issued because its owner was away when it was delivered
  core::RangeSet raw_phantoms;  // in the raw read, nobody issued them or their attempt failed
  [[nodiscard]] bool empty() const;
};

struct GroupDetail {
  std::vector<Hole> holes;      // sorted, disjoint
  core::RangeSet phantoms;
  core::RangeSet reordered;     // reordered-delivery, for certain
  core::RangeSet late;          // passed its deadline
  core::RangeSet arrived_late;  // ... and arrived afterwards
  std::vector<Cohort> cohorts;
  std::uint32_t touched = 0;
  [[nodiscard]] bool empty() const;
};

// Details in a deque with a free list: references stay valid, a quiet key gives its detail back.
template <typename T>
class DetailPool {
 public:
  T& get(std::uint32_t& index) {
    if (index == kNone) {
      if (free_.empty()) {
        index = static_cast<std::uint32_t>(items_.size());
        items_.emplace_back();
      } else {
        index = free_.back();
        free_.pop_back();
      }
    }
    return items_[index];
  }
  [[nodiscard]] T* find(std::uint32_t index) { return index == kNone ? nullptr : &items_[index]; }
  [[nodiscard]] const T* find(std::uint32_t index) const { return index == kNone ? nullptr : &items_[index]; }
  void release(std::uint32_t& index) {
    items_[index] = T{};
    free_.push_back(index);
    index = kNone;
  }
  [[nodiscard]] std::size_t used() const { return items_.size() - free_.size(); }

 private:
  std::deque<T> items_;
  std::vector<std::uint32_t> free_;
};

// One anomaly with its name.
struct Named {
  core::KeyRef key{};
  std::uint64_t sequence = 0;
  std::uint32_t partition = kNone;
  std::uint64_t offset = kNoOffset;
  std::uint32_t lineage = kNone;
  std::uint32_t group = kNone;
};

// Anomalies of one kind: counted exactly, named up to a limit.
struct NamedList {
  std::uint64_t count = 0;
  std::vector<Named> items;
  void add(const Named& named, std::size_t items_max) {
    ++count;
    if (items.size() < items_max) items.push_back(named);
  }
};

struct LineageCommit {
  std::uint64_t next = 0;
  std::uint64_t period = 0;
  std::uint64_t order = 0;  // of its source's rows
};

struct AheadGap {           // a commit at `end` passed [begin, end) that the lineage had not handed over
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Suspect {            // the lineage jumped over a record that another one handed over
  Named record;
  core::RangeSet above;     // higher sequences of its key that the lineage handed over from higher positions
  bool handed = false;      // but it handed over the record after all, from another position
  bool forgotten = false;   // it handed over higher positions too whose records are remembered no more
};

struct Overtaken {          // handed over after higher sequences of its key, from a lower position
  Named record;
  core::RangeSet above;     // those; one of them must take part in the order
  bool forgotten = false;   // higher positions were handed over before too whose records are remembered no more
  std::uint64_t period = 0; // of this hand-over, the record's first in the group
  std::uint64_t order = 0;  // ... in its source's rows
};

struct Inversion {          // stands in the log behind higher sequences of its key
  Named record;
  core::RangeSet above;     // those; one of them must take part in the order, as the record must
  bool more = false;        // ... and lower ones of these, for which there was no room
};

struct PeriodMark {         // in `period` the lineage handed over positions from `next` on
  std::uint64_t period = 0;
  std::uint64_t next = 0;
};

struct Lineage {
  core::SourceId source;
  std::uint32_t consumer = 0;
  std::uint32_t group = 0;
  std::uint32_t partition = 0;
  std::optional<std::uint64_t> generation;
  std::optional<std::uint64_t> start;
  std::uint64_t opened_period = 0;
  std::uint64_t opened_order = 0;       // of its source's rows
  bool classic = true;
  bool open = true;
  bool source_lost = false;             // its source died while it was open
  core::LineageClose close = core::LineageClose::kClosed;
  std::optional<std::uint64_t> left_generation;  // at the close
  std::uint64_t closed_period = 0;
  std::uint64_t closed_order = 0;
  std::string member;
  std::string instance;
  core::RangeSet handed;
  std::uint64_t first_handed = kNoOffset;
  std::uint64_t next = 0;               // one above the highest offset handed over; at first the stated start
  std::uint64_t inner_repeats = 0;
  std::optional<std::uint64_t> committed_before;  // as known at its first repeat: for alarms only
  std::uint64_t committed = 0;          // highest end of a commit with outcome ok
  std::vector<LineageCommit> commits;   // with outcome ok
  std::vector<AheadGap> ahead;
  std::unordered_map<core::KeyRef, std::vector<Suspect>, KeyHash> suspects;  // by key
  std::size_t suspect_count = 0;
  core::RangeSet damaged;               // positions it handed over damaged only
  std::unordered_map<std::uint64_t, std::uint64_t> damaged_order;  // of these: when, in its source's rows
  std::deque<PeriodMark> marks;         // the latest periods
  std::unordered_map<std::uint64_t, std::uint64_t> backward;  // offset -> period, of hand-overs below its highest
  std::vector<Named> repeats;           // positions that another lineage had handed over before
  std::vector<Named> inner;             // positions that it had handed over itself before

  // The lowest position it read from.
  [[nodiscard]] std::uint64_t begin() const { return start.value_or(first_handed); }
};

struct GroupPartition {
  core::RangeSet handed;                // positions, all lineages
  core::RangeSet damaged;               // positions that were handed over damaged
  std::uint64_t reached = 0;            // one above the highest position that any lineage came to
  std::uint64_t repeats = 0;
  std::uint64_t committed = 0;          // highest end of a commit with outcome ok
  std::vector<std::uint32_t> lineages;  // by arrival
};

struct Group {
  std::string name;
  std::vector<HugeVector<GroupKey>> keys;   // [block][index]; empty for group 0, whose are in KeyState
  std::vector<GroupPartition> partitions;   // by partition
  std::uint64_t deliveries = 0;
  std::uint64_t received = 0;           // distinct records
  std::uint64_t late = 0;
  NamedList repeats_unplaced;           // repeats of records without a position
  std::uint64_t phantoms = 0;
  NamedList foreign_phantoms;           // no key of this run: another run's, or a name nobody owns
  NamedList corrupt;
  NamedList before_start;
  std::vector<Overtaken> overtaken;     // within a lineage; rules/reordered_delivery.cc decides
  std::unordered_map<RecordId, Overtaken, RecordHash> overtaken_across;
};

struct Block {
  core::KeyBlock identity;
  bool open_ended = false;              // its source is gone: all above its last report is unknown
  HugeVector<KeyState> keys;
};

struct Queued {
  Delta delta;
  std::uint64_t round = 0;              // in which it was applied
};

struct Source {
  core::SourceId id;
  bool expected = true;                 // ticks wait for it
  bool ended = false;
  bool lost = false;
  bool away = false;
  std::uint64_t applied = 0;            // deltas folded or queued without a gap
  std::map<std::uint64_t, Delta> early;
  std::deque<Queued> queue;             // applied, not yet folded to the end
  std::size_t row = 0;                  // next row of queue.front()
  std::uint64_t rows_folded = 0;
  std::uint64_t answered = 0;           // highest tick answered, as folded
  bool waiting = false;                 // for the tick it answered to be complete
  std::vector<std::uint32_t> blocks;    // its block numbers -> ours
  std::vector<core::KeyRef> literals;   // its literal numbers -> ours
  std::uint32_t same_literals = 0;      // the first of these are numbered alike: so are all of a history
  std::vector<std::uint32_t> lineages;  // its lineage numbers -> ours
};

struct PartitionState {
  PartitionLog log;
  core::RangeSet damaged;               // positions that were handed over or read damaged
  core::RangeSet foreign;               // positions of other runs' records, in a reused topic
  core::RangeSet raw_present;           // positions at which the raw read found a record
  core::RangeSet raw_covered;           // positions the raw read saw, records or not
  bool raw_incomplete = false;
  std::optional<std::uint64_t> log_begin;  // bounds at the raw read
  std::optional<std::uint64_t> log_end;
  std::uint64_t acked_end = 0;          // one above the highest acked offset
  std::uint64_t sweep_to = 0;           // the head at the last tick: gaps below are passed over at the next
};

// A transaction that was committed.
struct Transaction {
  std::string name;
  std::vector<std::pair<core::KeyRef, core::Range>> records;
};

// Where records stand; a record may stand at several positions.
class Places {
 public:
  using Entry = std::pair<RecordId, core::Position>;
  void add(core::KeyRef ref, std::uint64_t sequence, std::uint32_t partition, std::uint64_t offset) {
    entries_.push_back({{ref, sequence}, {core::PartitionId{partition}, core::Offset{offset}}});
  }
  // After the last add(), before the first of().
  void sort();
  // Lowest position first.
  [[nodiscard]] std::span<const Entry> of(core::KeyRef ref, std::uint64_t sequence) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;
};

// Sequences by key. Keys without a block are a history's: there are as many as it has names, and nearly all of them have some.
class KeySets {
 public:
  [[nodiscard]] core::RangeSet& of(core::KeyRef ref) {
    if (ref.block != core::KeySpace::kLiteralBlock) return others_[ref];
    if (ref.index >= literals_.size()) literals_.resize(ref.index + std::size_t{1});
    return literals_[ref.index];
  }
  void prefetch(core::KeyRef ref) const {
    if (ref.block == core::KeySpace::kLiteralBlock && ref.index < literals_.size()) sp::prefetch(&literals_[ref.index]);
  }
  // Null, or empty: none.
  [[nodiscard]] const core::RangeSet* find(core::KeyRef ref) const {
    if (ref.block == core::KeySpace::kLiteralBlock) return ref.index < literals_.size() ? &literals_[ref.index] : nullptr;
    const auto found = others_.find(ref);
    return found == others_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool contains(core::KeyRef ref, std::uint64_t sequence) const {
    const core::RangeSet* sequences = find(ref);
    return sequences != nullptr && sequences->contains(sequence);
  }

 private:
  std::vector<core::RangeSet> literals_;
  std::unordered_map<core::KeyRef, core::RangeSet, KeyHash> others_;
};

struct State {
  explicit State(LedgerOptions ledger_options);

  LedgerOptions options;
  core::KeySpace keys;
  std::vector<Block> blocks;                        // by block number of `keys`
  std::map<std::uint32_t, core::SourceId> literal_owner;
  std::vector<Group> groups;
  std::vector<PartitionState> partitions;           // by partition
  std::vector<Lineage> lineages;
  std::map<core::SourceId, Source> sources;
  DetailPool<KeyDetail> key_details;
  DetailPool<GroupDetail> group_details;

  std::uint64_t tick = 0;                           // the last completed
  std::uint64_t round = 0;
  MonotonicTime now{};                              // of the last tick
  bool load_closed = false;
  bool consumers_closed = false;
  bool finished = false;

  // The log's own anomalies: counted once, not by group.
  std::vector<core::KeyRef> disturbed;              // keys whose log is not in order: they have a KeyLog
  NamedList second_copies;                          // of what has left the ring; at the end of all
  NamedList inverted;                               // made at the end of `inversions`; before, what these have no room for
  std::vector<Inversion> inversions;                // of what has left the ring, in the order of the log
  std::uint64_t copies_now = 0;                     // with what is in the ring, at the last tick
  std::uint64_t inverted_now = 0;
  NamedList misplaced;                              // candidates; at the end those that are
  NamedList inconsistent;
  std::set<std::pair<std::uint32_t, std::uint64_t>> inconsistent_positions;
  std::vector<Overdue> overdue;                     // as found; at most named_max
  std::uint64_t raw_phantoms = 0;
  NamedList raw_phantoms_named;
  NamedList raw_corrupt;
  KeySets raw_seen;                                 // records the raw read holds
  KeySets raw_damaged;                              // ... holds, but damaged
  Places raw_found;                                 // where, of those that some group lacks

  std::vector<Transaction> transactions;                                // committed; for rules/torn_transaction.cc

  // Counters.
  std::uint64_t issued = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t proven = 0;                         // of `acked`: of unknown outcome, but something of their transaction was seen
  std::uint64_t unpositioned = 0;
  std::uint64_t unchecked = 0;                      // too short to carry a checksum
  std::uint64_t foreign = 0;
  std::uint64_t pairs_not_judged = 0;               // across a declared partition change
  std::map<std::string, std::uint64_t> not_checked;
  std::vector<Alarm> alarms;
  Progress progress;
  std::uint64_t verified_best = 0;
  MonotonicTime verified_rose{};
  bool ticked = false;

  [[nodiscard]] const KeyState* key(core::KeyRef ref) const {
    return ref.block < blocks.size() && ref.index < blocks[ref.block].keys.size() ? &blocks[ref.block].keys[ref.index] : nullptr;
  }
  [[nodiscard]] KeyState* key(core::KeyRef ref) { return const_cast<KeyState*>(std::as_const(*this).key(ref)); }
  [[nodiscard]] GroupKey& group_key(std::uint32_t group, core::KeyRef ref) {
    return group == 0 ? blocks[ref.block].keys[ref.index].first_group : groups[group].keys[ref.block][ref.index];
  }
  [[nodiscard]] const GroupKey& group_key(std::uint32_t group, core::KeyRef ref) const {
    return group == 0 ? blocks[ref.block].keys[ref.index].first_group : groups[group].keys[ref.block][ref.index];
  }
  // True if the group received the record. Phantoms are not received.
  [[nodiscard]] bool received(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence) const;
  // The sequences of the key with outcome ok.
  [[nodiscard]] core::RangeSet acked_set(const KeyState& key_state) const;
  // The sequences of the key that the group received.
  [[nodiscard]] core::RangeSet received_set(const GroupKey& group_key_state) const;
  // Sequences of the key that stand outside its partition; none if a change of partitions is declared.
  [[nodiscard]] core::RangeSet misplaced_set(const KeyState& key_state) const;
  // Phantoms and misplaced records take no part in order rules.
  [[nodiscard]] bool takes_part(core::KeyRef ref, std::uint64_t sequence) const;
  // True if one of the sequences does.
  [[nodiscard]] bool any_takes_part(core::KeyRef ref, const core::RangeSet& sequences) const;
  void alarm(core::Code code, const Named& named);
  // True if the owner of the block may still report: it is neither lost nor away.
  [[nodiscard]] bool owner_reports(std::uint32_t block) const;
};

// The bits of that many groups in a Slot; what is beyond the 32nd shares its bit.
[[nodiscard]] constexpr std::uint32_t all_groups_of(std::size_t groups) { return groups >= 32 ? ~0U : (1U << groups) - 1; }

// Lineages of one partition and group in their order: by generation, then opening. True if it is certain that a was before b.
[[nodiscard]] bool ordered_before(const Lineage& a, const Lineage& b);
// A total order; see LineageOrder.
[[nodiscard]] bool lineage_less(const Lineage& a, const Lineage& b);
// The lineages of one partition and group, sorted by lineage_less().
struct LineageOrder {
  std::vector<std::uint32_t> numbers;
  bool alike = true;            // all tell their generation, or none does: then the order agrees with ordered_before()
  // True if, by generations or ticks, `a` and all that stand before it are before `b`.
  [[nodiscard]] bool surely_over(const Lineage& a, const Lineage& b) const;
};
[[nodiscard]] LineageOrder in_order(const State& state, std::vector<std::uint32_t> lineages);
// Where the commits of the lineages that were certainly before it left off: the last commit with outcome ok of the latest of them that
// has one, the lowest of these where nothing tells which is the latest; 0 (the start) if there is none. `order` holds the lineage too.
[[nodiscard]] std::uint64_t committed_before(const State& state, const LineageOrder& order, const Lineage& lineage);
// Those of which nothing says that another one came after them. O(lineages) where they are ordered.
[[nodiscard]] std::vector<std::uint32_t> latest_lineages(const State& state, const std::vector<std::uint32_t>& lineages);

}  // namespace sp::track

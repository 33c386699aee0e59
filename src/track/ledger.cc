#include "track/ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/prefetch.h"
#include "track/deadline.h"
#include "track/fold.h"
#include "track/state.h"

namespace sp::track {
namespace {

constexpr std::size_t kPrefetchRows = 32;
constexpr std::uint64_t kRoundsToWait = 2;  // the owner of a key was asked after the delivery was reported, and has answered

void prefetch(const State& state, const Source& source, const Row& row) {
  if (row.kind > RowKind::kDelivered && row.kind != RowKind::kRaw) return;
  const core::KeyRef ref = Fold::map_key(source, row.key);
  const KeyState* key = state.key(ref);
  if (key == nullptr) return;
  sp::prefetch(key);
  if (row.kind == RowKind::kRaw) state.raw_seen.prefetch(ref);
}

// Numbers run up to 2^64 - 2, because one above each must still be a number, and partitions up to kPartitionsMax.
bool beyond_limits(const Source& source, const Delta& delta, const Row& row) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  const auto has_lineage = [&] { return row.which < source.lineages.size() && source.lineages[row.which] != kNone; };
  switch (row.kind) {
    case RowKind::kIssued:
    case RowKind::kFailed:
    case RowKind::kUnknown: return row.sequence == kLast;
    case RowKind::kAcked:
      return row.sequence == kLast || ((row.flags & kHasOffset) != 0 && (row.offset == kLast || row.which >= kPartitionsMax));
    case RowKind::kDelivered: return row.sequence == kLast || row.offset == kLast || !has_lineage();
    case RowKind::kRaw:
    case RowKind::kRawRange: return row.sequence == kLast || row.offset == kLast || row.which >= kPartitionsMax;
    case RowKind::kOpen: return delta.opens[row.sequence].partition.value() >= kPartitionsMax;
    case RowKind::kClose:
    case RowKind::kCommit: return !has_lineage();
    case RowKind::kTick:
    case RowKind::kEnd: return false;
  }
  return false;
}

// True if the owner of the key reported the attempt in rows that wait for a tick.
bool issued_in_queue(const Source& owner, core::KeyRef ref, std::uint64_t sequence) {
  bool first = true;
  for (const auto& [delta, round] : owner.queue) {
    for (std::size_t at = first ? owner.row : 0; at < delta.rows.size(); ++at) {
      const Row& row = delta.rows[at];
      if (row.kind <= RowKind::kUnknown && row.sequence >= sequence && Fold::map_key(owner, row.key) == ref) return true;
    }
    first = false;
  }
  return false;
}

// Whether a delivery that nobody has issued has to go on waiting; raises issued_end where the owner's waiting rows say so.
bool still_waits(State& state, const Fold& fold, Source& source, const Row& row) {
  if (!fold.must_wait(source, row)) return false;
  const core::KeyRef ref = Fold::map_key(source, row.key);
  if (KeyState* key = state.key(ref); key != nullptr && ref.block != core::KeySpace::kLiteralBlock) {
    const auto owner = state.sources.find(state.blocks[ref.block].identity.source);
    if (owner == state.sources.end() || owner->second.lost) return false;
    if (issued_in_queue(owner->second, ref, row.sequence)) {
      state.issued += row.sequence + 1 - key->issued_end;
      key->issued_end = row.sequence + 1;
      return false;
    }
    if (owner->second.ended && owner->second.queue.empty()) return false;
  }
  return true;
}

// Folds what the source has, up to a tick that is not complete or a delivery that must wait. True if anything was folded.
bool fold_source(State& state, Fold& fold, Source& source, bool decide) {
  bool moved = false;
  while (!source.queue.empty() && !source.waiting) {
    const Delta& delta = source.queue.front().delta;
    for (; source.row < delta.rows.size(); ++source.row) {
      const Row& row = delta.rows[source.row];
      if (source.row + kPrefetchRows < delta.rows.size()) prefetch(state, source, delta.rows[source.row + kPrefetchRows]);
      if (row.kind == RowKind::kTick) {
        source.answered = std::max(source.answered, row.sequence);
        if (row.sequence > state.tick && !decide) source.waiting = true;
      } else if (!state.options.quiet_paths || !fold.quiet(source, row)) {
        if (beyond_limits(source, delta, row)) {
          ++state.not_checked["numbers beyond the limits"];
          ++source.rows_folded;
          continue;
        }
        const bool old = decide || state.round >= source.queue.front().round + kRoundsToWait;
        if (still_waits(state, fold, source, row) && !old) return moved;
        fold.row(source, delta, row);
      }
      ++source.rows_folded;
      moved = true;
      if (source.waiting) {
        ++source.row;
        return true;
      }
    }
    source.queue.pop_front();
    source.row = 0;
  }
  return moved;
}

void fold_all(State& state, bool decide) {
  Fold fold(state);
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& [id, source] : state.sources) moved = fold_source(state, fold, source, decide) || moved;
  }
}

void enqueue(State& state, Source& source, Delta delta) {
  source.applied = delta.number;
  if (source.blocks.empty()) source.blocks.push_back(core::KeySpace::kLiteralBlock);
  for (std::size_t i = 0; i < delta.blocks.size(); ++i) {
    if (delta.first_block + i < source.blocks.size()) continue;
    source.blocks.push_back(state.keys.block(delta.blocks[i]));
    Fold(state).make_keys(source.blocks.back(), 0);
  }
  for (std::size_t i = 0; i < delta.literals.size(); ++i) {
    if (delta.first_literal + i < source.literals.size()) continue;
    const auto ref = state.keys.find(delta.literals[i]);
    source.literals.push_back(ref.value_or(core::KeyRef{core::KeySpace::kLiteralBlock, kNone}));
    const bool same = source.same_literals + 1 == source.literals.size() &&
                      source.literals.back() == core::KeyRef{core::KeySpace::kLiteralBlock, source.same_literals};
    if (same) ++source.same_literals;
  }
  source.queue.push_back({std::move(delta), state.round});
}

Source& source_of(State& state, core::SourceId id) {
  Source& source = state.sources[id];
  source.id = id;
  return source;
}

}  // namespace

Ledger::Ledger(LedgerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Ledger::~Ledger() = default;

void Ledger::declare(const core::KeyBlock& identity, std::uint32_t key_count) {
  Fold fold(*state_);
  const std::uint32_t block = state_->keys.block(identity);
  fold.make_keys(block, key_count);
  state_->blocks[block].identity = identity;
  source_of(*state_, identity.source);
}

void Ledger::expect(core::SourceId source) { source_of(*state_, source).expected = true; }

core::GroupIndex Ledger::add_group(std::string name) {
  State& state = *state_;
  const core::GroupIndex number{static_cast<std::uint32_t>(state.groups.size())};
  Group& group = state.groups.emplace_back();
  group.name = std::move(name);
  group.keys.resize(state.blocks.size());
  for (std::size_t block = 0; block < state.blocks.size(); ++block) group.keys[block].resize(state.blocks[block].keys.size());
  for (auto& partition : state.partitions) partition.log.all_groups = all_groups_of(state.groups.size());
  return number;
}

void Ledger::share() { state_->options.contract.shared = true; }

std::size_t Ledger::group_count() const { return state_->groups.size(); }

void Ledger::never_attempted(std::string_view key, const core::Range& sequences) {
  fold_all(*state_, false);
  if (const auto ref = state_->keys.find(key)) Fold(*state_).never_attempted(*ref, sequences);
}

Applied Ledger::apply(Delta delta) {
  Source& source = source_of(*state_, delta.source);
  source.away = false;
  if (delta.number <= source.applied) return Applied::kSeen;
  if (delta.number > source.applied + 1) {
    const std::uint64_t number = delta.number;
    source.early.try_emplace(number, std::move(delta));
    return Applied::kEarly;
  }
  enqueue(*state_, source, std::move(delta));
  for (auto next = source.early.find(source.applied + 1); next != source.early.end();
       next = source.early.find(source.applied + 1)) {
    Delta early = std::move(next->second);
    source.early.erase(next);
    enqueue(*state_, source, std::move(early));
  }
  source.early.erase(source.early.begin(), source.early.upper_bound(source.applied));
  fold_all(*state_, false);
  return Applied::kFolded;
}

std::uint64_t Ledger::applied(core::SourceId source) const {
  const auto found = state_->sources.find(source);
  return found == state_->sources.end() ? 0 : found->second.applied;
}

void Ledger::round() {
  ++state_->round;
  fold_all(*state_, false);
}

bool Ledger::answered(std::uint64_t n) const {
  return std::all_of(state_->sources.begin(), state_->sources.end(), [n](const auto& entry) {
    const Source& source = entry.second;
    return !source.expected || source.ended || source.lost || source.away || source.answered >= n;
  });
}

void Ledger::tick(std::uint64_t n, MonotonicTime now) {
  CHECK(answered(n), "a tick is complete when every live source has answered it");
  State& state = *state_;
  state.tick = std::max(state.tick, n);
  Fold fold(state);
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    PartitionState& partition = state.partitions[number];
    fold.sweep(number, partition.sweep_to);
    partition.sweep_to = partition.log.head();
    // A hand-over of an unknown attempt is never acknowledged: nothing more is expected of it.
    std::erase_if(partition.log.unfinished, [&](const auto& entry) {
      const Slot& slot = entry.second;
      if (!slot.named() || (slot.groups & partition.log.all_groups) != partition.log.all_groups) return false;
      const KeyState* key = state.key(slot.key);
      const KeyDetail* detail = key == nullptr ? nullptr : state.key_details.find(key->detail);
      return key == nullptr || (detail != nullptr && detail->unknown.contains(slot.sequence));
    });
  }
  fold.judge_logs(false);
  pass_deadlines(state, now, false);
  for (auto& [id, source] : state.sources) {
    if (source.answered <= state.tick) source.waiting = false;
  }
  fold_all(state, false);
}

void Ledger::lose(core::SourceId id, bool away) {
  State& state = *state_;
  Source& source = source_of(state, id);
  if (away) {
    source.away = true;
    return;
  }
  source.lost = true;
  source.away = false;
  source.waiting = false;
  fold_all(state, false);
  Fold fold(state);
  for (std::uint32_t block = 1; block < state.blocks.size(); ++block) {
    if (state.blocks[block].identity.source != id) continue;
    state.blocks[block].open_ended = true;
    for (std::uint32_t index = 0; index < state.blocks[block].keys.size(); ++index) fold.close_attempts({block, index});
  }
  for (Lineage& lineage : state.lineages) {
    if (lineage.source != id || !lineage.open) continue;
    lineage.open = false;
    lineage.source_lost = true;
    lineage.close = core::LineageClose::kLost;
  }
}

void Ledger::close_load() {
  fold_all(*state_, false);
  close_attempts();
  state_->load_closed = true;
}

void Ledger::close_attempts() {
  State& state = *state_;
  Fold fold(state);
  for (std::uint32_t block = 0; block < state.blocks.size(); ++block) {
    for (std::uint32_t index = 0; index < state.blocks[block].keys.size(); ++index) fold.close_attempts({block, index});
  }
}

void Ledger::close_consumers(MonotonicTime now) {
  State& state = *state_;
  drain();
  state.consumers_closed = true;
  pass_deadlines(state, now, true);
}

// Folds all there is; what still waited is decided.
void Ledger::drain() {
  for (auto& [id, source] : state_->sources) source.waiting = false;
  fold_all(*state_, true);
}

bool Ledger::all_received() const {
  const State& state = *state_;
  for (std::uint32_t block = 0; block < state.blocks.size(); ++block) {
    for (std::uint32_t index = 0; index < state.blocks[block].keys.size(); ++index) {
      const KeyState& key = state.blocks[block].keys[index];
      for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
        const GroupKey& own = state.group_key(group, {block, index});
        if (own.top == key.outcome_top && own.detail == kNone) continue;
        if (!state.acked_set(key).minus(state.received_set(own)).empty()) return false;
      }
    }
  }
  return true;
}

Progress Ledger::progress() const {
  Progress progress = state_->progress;
  progress.issued = state_->issued;
  progress.acked = state_->acked;
  progress.failed = state_->failed;
  progress.unknown = state_->unknown;
  for (const Group& group : state_->groups) progress.received += group.received;
  return progress;
}

core::PerCode<std::uint64_t> Ledger::counts_so_far() const {
  const State& state = *state_;
  core::PerCode<std::uint64_t> counts;
  counts[core::Code::kDuplicateWrite] = state.copies_now;
  counts[core::Code::kReorderedWrite] = state.inverted_now;
  counts[core::Code::kMisplaced] = state.misplaced.count;
  counts[core::Code::kInconsistentPosition] = state.inconsistent.count;
  counts[core::Code::kCorrupt] = state.raw_corrupt.count;
  counts[core::Code::kPhantom] = state.raw_phantoms;
  for (const Group& group : state.groups) {
    for (const auto& partition : group.partitions) counts[core::Code::kDuplicateDelivery] += partition.repeats;
    counts[core::Code::kDuplicateDelivery] += group.repeats_unplaced.count;
    counts[core::Code::kPhantom] += group.phantoms + group.foreign_phantoms.count;
    counts[core::Code::kCorrupt] += group.corrupt.count;
    counts[core::Code::kLate] += group.late;
    counts[core::Code::kBeforeStart] += group.before_start.count;
    counts[core::Code::kReorderedDelivery] += group.overtaken.size() + group.overtaken_across.size();
  }
  return counts;
}

std::vector<Alarm> Ledger::take_alarms() { return std::exchange(state_->alarms, {}); }

const std::map<std::string, std::uint64_t>& Ledger::not_checked() const { return state_->not_checked; }

std::string Ledger::key_name(core::KeyRef key) const {
  if (key.index == kNone) return {};
  return state_->keys.name(key);
}

std::size_t Ledger::bytes() const {
  std::size_t sum = sizeof(State);
  for (const Block& block : state_->blocks) sum += block.keys.capacity() * sizeof(KeyState);
  for (const Group& group : state_->groups) {
    for (const auto& keys : group.keys) sum += keys.capacity() * sizeof(GroupKey);
  }
  for (const auto& partition : state_->partitions) sum += partition.log.bytes();
  return sum + state_->key_details.used() * sizeof(KeyDetail) + state_->group_details.used() * sizeof(GroupDetail);
}

}  // namespace sp::track

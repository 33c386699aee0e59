// lost: an acknowledged record that was never received although its time is over and the system could be read, the log lacks
// it, or the group went past it;
// with a full raw read also one that was handed over and is gone from the log.
#include <algorithm>

#include "judge/rule.h"
#include "track/deadline.h"

namespace sp::judge {
namespace {

class Losses {
 public:
  explicit Losses(Context& context)
      : context_(context),
        state_(context.state),
        acked_at_(track::outstanding_positions(context.state)),
        raw_complete_(context.facts.raw_read_complete && context.contract.raw_read != core::RawReadScope::kNone) {}

  void look(core::KeyRef ref, const track::KeyState& key) {
    const core::RangeSet* raw = state_.raw_seen.find(ref);
    const auto* detail = state_.key_details.find(key.detail);
    const bool full = raw_complete_ && context_.contract.raw_read == core::RawReadScope::kFull;
    if (state_.groups.empty() && full) not_stored(ref, key, raw);
    for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
      const track::GroupKey& own = state_.group_key(group, ref);
      if (own.top == key.outcome_top && own.detail == track::kNone && detail == nullptr && !full) continue;
      const core::RangeSet acked = state_.acked_set(key);
      const core::RangeSet received = state_.received_set(own);
      const core::RangeSet absent = acked.minus(received);
      for (const auto& range : absent.ranges()) {
        for (std::uint64_t s = range.begin; s < range.end; ++s) missing(group, ref, own, s, raw);
      }
      if (detail != nullptr && raw != nullptr) landed_but_passed(group, ref, detail->unknown.intersect(*raw).minus(received));
      if (full) gone(group, ref, key, raw, acked.intersect(received));
    }
  }

 private:
  using Where = std::span<const track::Places::Entry>;
  // Where it stands, by the raw read, else by acks and by what other groups were handed.
  [[nodiscard]] Where places(core::KeyRef ref, std::uint64_t sequence) const {
    const Where raw = state_.raw_found.of(ref, sequence);
    return raw.empty() ? acked_at_.of(ref, sequence) : raw;
  }
  [[nodiscard]] bool went_past(std::uint32_t group, Where where) const {
    return std::any_of(where.begin(), where.end(), [&](const auto& entry) { return track::passed(state_, group, entry.second); });
  }
  [[nodiscard]] static std::optional<core::Position> lowest(Where where) {
    if (where.empty()) return std::nullopt;
    return where.front().second;
  }

  // Neither received nor excused by what the contract allows the log to drop.
  void missing(std::uint32_t group, core::KeyRef ref, const track::GroupKey& own, std::uint64_t sequence,
               const core::RangeSet* raw) {
    const Where where = places(ref, sequence);
    const auto place = lowest(where);
    const Owed is = owed(group, ref, sequence, where);
    if (is == Owed::kUnclear) ++context_.result.undecided;
    if (is != Owed::kYes) return;
    const bool in_log = (raw != nullptr && raw->contains(sequence)) || damaged(ref, sequence);
    if (!in_log && excused(where, sequence, raw)) return;
    if (!in_log && held_back(where)) {
      ++context_.result.undecided;
      return;
    }
    const auto* detail = state_.group_details.find(own.detail);
    // Nobody may be blamed for not receiving what the system refused to show.
    const bool overdue = readable(group) && detail != nullptr && detail->late.contains(sequence);
    const bool by = went_past(group, where);
    const bool absent = raw_complete_ && !in_log;
    if (place && unverifiable(group, *place)) {
      ++context_.result.coverage.unverifiable;
      return;
    }
    if (!overdue && !by && !absent) {
      ++context_.result.undecided;
      return;
    }
    const bool whole = place && nothing_of(group, place->partition.value());
    core::Blame blame = core::Blame::kUnknown;
    std::string_view note = whole ? "acknowledged, never received, nor anything of its whole partition" : "acknowledged, never received";
    if (in_log) {
      blame = by ? core::Blame::kClient : core::Blame::kBehind;
      note = by ? "acknowledged and in the log, passed over by the consumers"
             : whole ? "acknowledged and in the log, but nothing of its whole partition was delivered"
                       : "acknowledged and in the log, never reached by the consumers";
    } else if (raw_complete_) {
      blame = core::Blame::kLog;
      note = whole ? "acknowledged, not in the log; nothing of its whole partition was delivered" : "acknowledged, not in the log";
    }
    lose(group, ref, sequence, blame, place, note);
  }

  // A group that starts at the end of the log is owed nothing of what was there before. Where the end was its consumers say, or the order
  // of what happened: what was acknowledged before the group came was there, what was attempted afterwards was not.
  enum class Owed : std::uint8_t { kYes, kNo, kUnclear };
  [[nodiscard]] Owed owed(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence, Where where) const {
    if (context_.contract.start != core::Start::kLatest) return Owed::kYes;
    bool told = !where.empty();
    bool below = true;
    for (const auto& [id, place] : where) {
      const auto start = stated_start(group, place.partition.value());
      told = told && start.has_value();
      below = below && place.offset.value() < start.value_or(0);
    }
    if (told) return below ? Owed::kNo : Owed::kYes;
    if (!context_.facts.lab) return Owed::kUnclear;
    const auto& before = context_.facts.lab->before_group;
    const auto found = before.find({state_.groups[group].name, state_.keys.name(ref)});
    if (found == before.end() || !found->second.attempted.contains(sequence)) return Owed::kYes;
    return found->second.decided.contains(sequence) ? Owed::kNo : Owed::kUnclear;
  }
  // The lowest start that a consumer of the group said, unless one that said nothing was handed what lies below it.
  [[nodiscard]] std::optional<std::uint64_t> stated_start(std::uint32_t group, std::uint32_t partition) const {
    const auto& partitions = state_.groups[group].partitions;
    if (partition >= partitions.size()) return std::nullopt;
    std::uint64_t stated = track::kNoOffset;
    std::uint64_t handed = track::kNoOffset;
    for (const std::uint32_t number : partitions[partition].lineages) {
      const track::Lineage& lineage = state_.lineages[number];
      auto& lowest = lineage.start ? stated : handed;
      lowest = std::min(lowest, lineage.begin());
    }
    return stated == track::kNoOffset || handed < stated ? std::nullopt : std::optional(stated);
  }

  [[nodiscard]] bool readable(std::uint32_t group) const {
    return !context_.facts.raw_read_refused && !context_.facts.refused.contains(state_.groups[group].name);
  }

  // True if it may stand behind a transaction of which nobody knows how it ended: then no reader is shown it.
  [[nodiscard]] bool held_back(Where where) const {
    const auto& bounds = context_.facts.held_back;
    if (bounds.empty() || where.empty()) return !bounds.empty();
    return std::any_of(where.begin(), where.end(), [&](const auto& entry) {
      const auto bound = bounds.find(entry.second.partition.value());
      return bound != bounds.end() && entry.second.offset.value() >= bound->second;
    });
  }

  // True if the group was handed nothing of that partition.
  [[nodiscard]] bool nothing_of(std::uint32_t group, std::uint32_t partition) const {
    const auto& partitions = state_.groups[group].partitions;
    return partition >= partitions.size() || partitions[partition].handed.empty();
  }

  bool excused(Where where, std::uint64_t sequence, const core::RangeSet* raw) {
    const auto below = [&](const auto& entry) {
      const auto& partition = state_.partitions[entry.second.partition.value()];
      return partition.log_begin && entry.second.offset.value() < *partition.log_begin;
    };
    if (context_.contract.gaps_retention && !where.empty() && std::all_of(where.begin(), where.end(), below)) {
      ++context_.result.coverage.expired;
      return true;
    }
    if (!compacted(sequence, raw)) return false;
    ++context_.result.coverage.compacted;
    return true;
  }

  [[nodiscard]] bool compacted(std::uint64_t sequence, const core::RangeSet* raw) const {
    return context_.contract.gaps_compaction && raw_complete_ && raw != nullptr && !raw->empty() && raw->last() > sequence;
  }

  // Between what a consumer that died had reported and where the next one started: a commit of its own may have covered it.
  [[nodiscard]] bool unverifiable(std::uint32_t group, const core::Position& place) const {
    const auto& partitions = state_.groups[group].partitions;
    if (place.partition.value() >= partitions.size()) return false;
    const auto& lineages = partitions[place.partition.value()].lineages;
    const auto before = [this](std::uint32_t a, std::uint32_t b) { return track::ordered_before(state_.lineages[a], state_.lineages[b]); };
    return std::any_of(lineages.begin(), lineages.end(), [&](std::uint32_t dead) {
      const track::Lineage& lineage = state_.lineages[dead];
      const bool silent = lineage.source_lost && lineage.committed <= place.offset.value() && place.offset.value() >= lineage.next;
      return silent && std::any_of(lineages.begin(), lineages.end(), [&](std::uint32_t next) {
        if (next == dead || state_.lineages[next].begin() <= place.offset.value() || before(next, dead)) return false;
        const auto between = [&](std::uint32_t other) { return before(dead, other) && before(other, next); };
        return std::none_of(lineages.begin(), lineages.end(), between);
      });
    });
  }

  // Of unknown outcome, but the raw read holds it and the group went past it.
  void landed_but_passed(std::uint32_t group, core::KeyRef ref, const core::RangeSet& sequences) {
    for (const auto& range : sequences.ranges()) {
      for (std::uint64_t s = range.begin; s < range.end; ++s) {
        const Where where = places(ref, s);
        if (!went_past(group, where)) continue;
        lose(group, ref, s, core::Blame::kClient, lowest(where), "of unknown outcome but in the log, passed over by the consumers");
      }
    }
  }

  // Nobody was there to receive: the log alone must hold what was acknowledged.
  void not_stored(core::KeyRef ref, const track::KeyState& key, const core::RangeSet* raw) {
    const core::RangeSet acked = state_.acked_set(key);
    const core::RangeSet absent = raw == nullptr ? acked : acked.minus(*raw);
    for (const auto& range : absent.ranges()) {
      for (std::uint64_t s = range.begin; s < range.end; ++s) {
        if (damaged(ref, s)) continue;
        // Where it stood no group's outstanding records tell.
        const Below below = context_.contract.gaps_retention ? below_log(ref, key, s) : Below::kNo;
        if (below == Below::kYes) ++context_.result.coverage.expired;
        if (below == Below::kUnknown) ++context_.result.undecided;
        const Where where = places(ref, s);
        if (below != Below::kNo || excused(where, s, raw)) continue;
        lose(track::kNone, ref, s, core::Blame::kLog, lowest(where), "acknowledged, not in the log");
      }
    }
  }

  // Handed over, and absent from a full raw read: gone, if it stood at or above the log's start.
  void gone(std::uint32_t group, core::KeyRef ref, const track::KeyState& key, const core::RangeSet* raw,
            const core::RangeSet& handed) {
    const core::RangeSet absent = raw == nullptr ? handed : handed.minus(*raw);
    for (const auto& range : absent.ranges()) {
      for (std::uint64_t s = range.begin; s < range.end; ++s) {
        if (damaged(ref, s) || compacted(s, raw)) continue;
        switch (below_log(ref, key, s)) {
          case Below::kYes: break;
          case Below::kNo: lose(group, ref, s, core::Blame::kLog, std::nullopt, "handed over, then gone from the log"); break;
          case Below::kUnknown: ++context_.result.undecided; break;
        }
      }
    }
  }

  // Whether a record that was handed over stood below the log's start at the raw read.
  enum class Below : std::uint8_t { kYes, kNo, kUnknown };
  [[nodiscard]] Below below_log(core::KeyRef ref, const track::KeyState& key, std::uint64_t sequence) {
    const auto begins_at_zero = [](const track::PartitionState& partition) { return partition.log_begin.value_or(0) == 0; };
    if (std::all_of(state_.partitions.begin(), state_.partitions.end(), begins_at_zero)) return Below::kNo;
    if (!stands_) stands_ = remembered();
    const Where where = stands_->of(ref, sequence);
    if (!where.empty()) {
      const bool below = std::all_of(where.begin(), where.end(), [&](const auto& entry) {
        return entry.second.offset.value() < state_.partitions[entry.second.partition.value()].log_begin.value_or(0);
      });
      return below ? Below::kYes : Below::kNo;
    }
    if (key.partition == track::kNone) return Below::kUnknown;
    // What is remembered no more stood below the ring.
    const track::PartitionState& partition = state_.partitions[key.partition];
    return partition.log.tail() <= partition.log_begin.value_or(0) ? Below::kYes : Below::kUnknown;
  }
  [[nodiscard]] track::Places remembered() const {
    track::Places places;
    for (std::uint32_t number = 0; number < state_.partitions.size(); ++number) {
      const track::PartitionLog& log = state_.partitions[number].log;
      for (std::uint64_t at = log.tail(); at < log.head(); ++at) {
        const track::Slot* slot = log.in_ring(at);
        if (slot->named()) places.add(slot->key, slot->sequence, number, at);
      }
    }
    places.sort();
    return places;
  }

  // The raw read holds it, but damaged.
  [[nodiscard]] bool damaged(core::KeyRef ref, std::uint64_t sequence) const {
    return state_.raw_damaged.contains(ref, sequence);
  }
  void lose(std::uint32_t group, core::KeyRef ref, std::uint64_t sequence, core::Blame blame,
            const std::optional<core::Position>& place, std::string_view note) {
    ++context_.count(core::Code::kLost);
    context_.lost[{group, ref}].insert(sequence);
    Collector::Item item;
    item.code = core::Code::kLost;
    item.blame = blame;
    item.group = group;
    item.key = ref;
    item.first = sequence;
    item.last = sequence;
    item.position = place;
    item.note = note;
    context_.findings.add(item);
  }

  Context& context_;
  const track::State& state_;
  track::Places acked_at_;
  std::optional<track::Places> stands_;  // made when the first record is gone
  bool raw_complete_;
};

}  // namespace

void rule_lost(Context& context) {
  if (context.facts.interrupted) return;  // a second interrupt judges nothing that is outstanding
  Losses losses(context);
  for_each_key(context.state, [&](core::KeyRef ref, const track::KeyState& key) { losses.look(ref, key); });
}

}  // namespace sp::judge

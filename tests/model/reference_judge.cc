#include "model/reference_judge.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/reference_facts.h"

namespace sp::model {
namespace {

using core::Code;
using core::Position;

class Judge {
 public:
  Judge(const History& history, const RawRead& raw)
      : history_(history), raw_(raw), facts_(read_facts(history)) {}

  ReferenceVerdict judge() {
    look_at_log();
    count_attempts();
    for (std::uint32_t g = 0; g < history_.groups.size(); ++g) {
      lost(g);
      late(g);
      duplicate_delivery(g);
      rewind(g);
      if (!history_.contract.shared) order(g);
    }
    commit_ahead();
    phantom();
    content();
    before_start();
    dual_owner();
    status();
    return result_;
  }

 private:
  [[nodiscard]] bool ignored(core::Content content) const {  // a leftover in a reused topic
    return content == core::Content::kOtherRun && !history_.contract.topic_created;
  }
  [[nodiscard]] static bool names_itself(core::Content content) {
    return content != core::Content::kDamaged;
  }

  // All positions at which each record was seen, by whom ever; and which acks contradict that.
  void look_at_log() {
    find_homes();
    for (const auto& lineage : facts_.lineages) {
      for (const auto& hand : lineage.handed)
        note(hand.record, hand.place, hand.content, hand.asked);
    }
    for (const auto& record : raw_.records) {
      std::optional<core::PartitionId> asked;
      if (record.asked) asked = core::PartitionId{*record.asked};
      note({record.key, record.sequence}, record.position, record.content, asked);
      if (!names_itself(record.content)) raw_damaged_.insert(record.position);
      if (names_itself(record.content))
        raw_holds_[{record.key, record.sequence}].insert(record.position);
    }
    for (const auto& [record, attempt] : facts_.attempts) {
      if (!attempt.ok) continue;
      for (const auto& position : attempt.acked_at) {
        if (contradicted(record, position)) {
          inconsistent_.insert(position);
        } else {
          copies_[record].insert(position);
        }
      }
    }
    for (const auto& [position, records] : stands_at_) {
      if (records.size() > 1) inconsistent_.insert(position);
    }
    result_.counts[Code::kInconsistentPosition] = inconsistent_.size();
    for (const auto& [record, positions] : copies_) {
      const bool phantom = !facts_.acked(record) && !facts_.unknown(record);
      if (!phantom) result_.counts[Code::kDuplicateWrite] += positions.size() - 1;
    }
    misplaced_unsaid();
    if (!history_.contract.shared) reordered_write();
  }

  // A key whose partition changed: of records whose payload says nothing, as nobody has read it.
  void misplaced_unsaid() {
    if (history_.contract.partition_change) return;
    for (const auto& [record, positions] : copies_) {
      if (said_.contains(record) || (!facts_.acked(record) && !facts_.unknown(record))) continue;
      const auto home = home_.find(record.first);
      if (home == home_.end()) continue;
      for (const auto& position : positions) {
        if (position.partition != home->second) misplaced_.insert(record);
      }
    }
  }
  // Where the key belongs: where a payload says that it stands right, else where its first ack was.
  void find_homes() {
    for (const auto& step : history_.steps) {
      const auto& value = step.seen.value;
      if (step.seen.key == history_.homeless) continue;
      if (step.kind == StepKind::kObserve && value.event == core::Event::kOk && value.has_position)
        home_.try_emplace(step.seen.key, value.partition);
    }
    const auto said = [&](const Key& key, core::PartitionId asked, core::PartitionId found,
                          core::Content content) {
      if (key == history_.homeless) return;
      if (asked == found && names_itself(content) && !ignored(content)) home_[key] = asked;
    };
    for (const auto& lineage : facts_.lineages) {
      for (const auto& hand : lineage.handed) {
        if (hand.asked) said(hand.record.first, *hand.asked, lineage.partition, hand.content);
      }
    }
    for (const auto& record : raw_.records) {
      if (record.asked)
        said(record.key, core::PartitionId{*record.asked}, record.position.partition,
             record.content);
    }
  }

  void note(const Record& record, const Place& place, core::Content content,
            const std::optional<core::PartitionId>& asked) {
    if (ignored(content)) {
      foreign_.insert(record);
      return;
    }
    if (!names_itself(content)) {
      if (place) corrupt_.insert(*place);
      if (!place) ++corrupt_unplaced_;
      return;
    }
    if (asked) said_.insert(record);
    const bool misplaced = asked && place && *asked != place->partition;
    if (misplaced && !history_.contract.partition_change) misplaced_.insert(record);
    seen_.insert(record);
    if (!place) return;
    copies_[record].insert(*place);
    stands_at_[*place].insert(record);
  }

  // An ack naming a position that holds another record, or that is empty although the log holds the
  // record elsewhere.
  [[nodiscard]] bool contradicted(const Record& record, const Position& position) const {
    const auto there = stands_at_.find(position);
    if (there != stands_at_.end()) return !there->second.contains(record);
    if (corrupt_.contains(position)) return false;
    if (!read_to_end(position)) return false;
    const auto elsewhere = copies_.find(record);
    return elsewhere != copies_.end() && !elsewhere->second.empty();
  }

  [[nodiscard]] bool read_to_end(const Position& position) const {
    for (const auto& part : raw_.parts) {
      if (part.reached && part.range.partition == position.partition &&
          part.range.begin <= position.offset && position.offset < part.range.end) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool full_read() const {
    return history_.contract.raw_read == core::RawReadScope::kFull &&
           history_.log.outcome == RawOutcome::kComplete;
  }
  // Where the log began when the targets of the raw read were taken; without one nobody asked.
  [[nodiscard]] std::uint64_t log_begin(core::PartitionId partition) const {
    if (history_.contract.raw_read == core::RawReadScope::kNone ||
        history_.log.outcome == RawOutcome::kUnavailable)
      return 0;
    for (const auto& bound : history_.log.bounds) {
      if (bound.partition == partition) return bound.begin.value();
    }
    return 0;
  }

  void reordered_write() {
    for (const auto& [record, positions] : copies_) {
      if (!takes_part(record)) continue;
      bool inverted = false;
      for (const auto& [other, other_positions] : copies_) {
        if (other.second <= record.second || other.first != record.first || !takes_part(other))
          continue;
        for (const auto& mine : positions) {
          const auto first_mine = first_in(positions, mine.partition);
          const auto first_other = first_in(other_positions, mine.partition);
          if (first_other && *first_other < *first_mine) inverted = true;
        }
      }
      if (!inverted) continue;
      ++result_.counts[Code::kReorderedWrite];
      if (facts_.unknown(record) && !history_.contract.idempotent)
        ++result_.allowed[Code::kReorderedWrite];
    }
  }
  static std::optional<std::uint64_t> first_in(const std::set<Position>& positions,
                                               core::PartitionId partition) {
    for (const auto& position : positions) {
      if (position.partition == partition) return position.offset.value();
    }
    return std::nullopt;
  }
  // Phantoms and misplaced records take no part in order rules.
  [[nodiscard]] bool takes_part(const Record& record) const {
    return (facts_.acked(record) || facts_.unknown(record)) && !misplaced_.contains(record);
  }

  void count_attempts() {
    for (const auto& [record, attempt] : facts_.attempts) {
      if (facts_.acked(record)) ++result_.acked;
      if (facts_.failed(record)) ++result_.failed;
      if (!facts_.unknown(record)) continue;
      ++result_.unknown;
      if (seen_.contains(record)) ++result_.landed;
    }
    result_.foreign = foreign_.size();
  }

  // ---- lost, and what is missing otherwise

  [[nodiscard]] bool received(std::uint32_t group, const Record& record) const {
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& hand : lineage.handed) {
        if (ignored(hand.content)) continue;
        if (names_itself(hand.content) && hand.record == record) return true;
        if (!names_itself(hand.content) && stands_there(record, hand.place)) return true;
      }
    }
    return false;
  }

  // A damaged hand-over is one of what the log holds there, as far as acks, deliveries and the raw
  // read tell.
  [[nodiscard]] bool stands_there(const Record& record, const Place& place) const {
    const auto copies = copies_.find(record);
    return place && copies != copies_.end() && copies->second.contains(*place);
  }

  // By whichever lineage is the latest.
  [[nodiscard]] bool passed(std::uint32_t group, const Position& position) const {
    if (history_.contract.acknowledgement == core::Acknowledgement::kIndividual) return false;
    bool any = false;
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group || lineage.partition != position.partition) continue;
      const bool superseded = std::any_of(facts_.lineages.begin(), facts_.lineages.end(), [&](const Possession& other) {
        return other.group == group && other.partition == position.partition && earlier(lineage, other);
      });
      if (superseded) continue;
      if (!passed_by(lineage, position)) return false;
      any = true;
    }
    return any;
  }
  [[nodiscard]] static bool passed_by(const Possession& lineage, const Position& position) {
    const std::uint64_t offset = position.offset.value();
    const auto above = [&](const HandOver& hand) { return hand.place && hand.place->offset.value() > offset; };
    return (lineage.start && *lineage.start > offset) || std::any_of(lineage.handed.begin(), lineage.handed.end(), above) ||
           std::any_of(lineage.commits.begin(), lineage.commits.end(), [&](const auto& commit) { return commit.next > offset; });
  }

  [[nodiscard]] bool past_deadline(const Attempt& attempt) const {
    for (const auto& [number, now] : facts_.ticks) {
      if (attempt.ack_known_at_tick && number >= *attempt.ack_known_at_tick) {
        return now + history_.contract.timeout <= facts_.closed;
      }
    }
    return false;
  }

  [[nodiscard]] bool held_by_raw(const Record& record) const { return raw_holds_.contains(record); }

  // A complete raw read of the place where it must stand does not hold it.
  [[nodiscard]] bool absent(const Record& record, const Attempt& attempt) const {
    if (held_by_raw(record)) return false;
    for (const auto& position : attempt.acked_at) {
      if (raw_damaged_.contains(position)) return false;
    }
    const bool complete = history_.log.outcome == RawOutcome::kComplete &&
                          history_.contract.raw_read != core::RawReadScope::kNone;
    // Without a position: what a group was not handed stands where it was not handed anything, and
    // that is read.
    if (full_read() || (complete && attempt.acked_at.empty())) return true;
    for (const auto& position : attempt.acked_at) {
      const bool below = complete && position.offset.value() < log_begin(position.partition);
      if (read_to_end(position) || below) return true;
    }
    return false;
  }

  [[nodiscard]] bool expired(const Record& record) const {
    return history_.contract.gaps_retention && below_log(record);
  }
  // Every position at which it is known to have stood is below the log's start.
  [[nodiscard]] bool below_log(const Record& record) const {
    const std::set<Position> at = known_at(record);
    return !at.empty() && std::all_of(at.begin(), at.end(), [&](const Position& position) {
      return position.offset.value() < log_begin(position.partition);
    });
  }
  [[nodiscard]] std::set<Position> known_at(const Record& record) const {
    const auto copies = copies_.find(record);
    return copies == copies_.end() ? std::set<Position>{} : copies->second;
  }
  [[nodiscard]] bool compacted(const Record& record) const {
    if (!history_.contract.gaps_compaction) return false;
    return std::any_of(raw_holds_.begin(), raw_holds_.end(), [&](const auto& held) {
      return held.first.first == record.first && held.first.second > record.second;
    });
  }

  void lose(std::uint32_t group, const Record& record, core::Blame blame) {
    ++result_.counts[Code::kLost];
    ++result_.lost_by[blame];
    lost_.insert({group, record});
    result_.lost.insert(record);
  }

  void lost(std::uint32_t group) {
    for (const auto& [record, attempt] : facts_.attempts) {
      if (facts_.unknown(record)) {
        if (received(group, record) || !held_by_raw(record)) continue;
        const auto& at = raw_holds_.at(record);
        if (std::any_of(at.begin(), at.end(), [&](const Position& p) { return passed(group, p); })) {
          lose(group, record, core::Blame::kClient);
        }
      } else if (facts_.acked(record)) {
        judge_acked(group, record, attempt);
      }
    }
  }

  // It may stand where nobody is shown anything, behind a transaction of which nobody knows how it ended.
  [[nodiscard]] bool held_back(const Record& record) const {
    const auto& bounds = history_.facts.held_back;
    const std::set<Position> at = known_at(record);
    const auto is_behind = [&](const Position& p) {
      return bounds.contains(p.partition.value()) && p.offset.value() >= bounds.at(p.partition.value());
    };
    return !bounds.empty() && (at.empty() || std::any_of(at.begin(), at.end(), is_behind));
  }

  void judge_acked(std::uint32_t group, const Record& record, const Attempt& attempt) {
    const bool gone = absent(record, attempt);
    if (received(group, record)) {
      if (gone && full_read() && !below_log(record) && !compacted(record))
        lose(group, record, core::Blame::kLog);
      return;
    }
    switch (owed(group, record)) {
      case Owed::kYes: break;
      case Owed::kNo: return;
      case Owed::kUnclear: ++result_.undecided; return;
    }
    if (expired(record)) {
      ++result_.expired;
    } else if (gone && compacted(record)) {
      ++result_.compacted;
    } else if (!held_by_raw(record) && held_back(record)) {
      ++result_.undecided;
    } else if (gone) {
      lose(group, record, core::Blame::kLog);
    } else {
      std::set<Position> at = known_at(record);
      if (held_by_raw(record)) at = raw_holds_.at(record);
      const bool by = std::any_of(at.begin(), at.end(), [&](const Position& p) { return passed(group, p); });
      if (!by && !past_deadline(attempt)) {
        ++result_.undecided;
      } else if (!held_by_raw(record) && !damaged_in_raw(attempt)) {
        lose(group, record, core::Blame::kUnknown);
      } else {
        lose(group, record, by ? core::Blame::kClient : core::Blame::kBehind);
      }
    }
  }
  // Whether a group that starts at the end of the log is owed the record: by where its consumers said that they start, if that is known
  // wherever the record stands, else by whether it had been acknowledged, or at least attempted, when the group came.
  enum class Owed : std::uint8_t { kYes, kNo, kUnclear };
  [[nodiscard]] Owed owed(std::uint32_t group, const Record& record) const {
    if (history_.contract.start != core::Start::kLatest) return Owed::kYes;
    std::set<Position> at = known_at(record);
    if (held_by_raw(record)) at = raw_holds_.at(record);
    const auto stated = [&](const Position& p) -> std::optional<std::uint64_t> {
      std::optional<std::uint64_t> said;
      std::optional<std::uint64_t> shown;
      for (const auto& lineage : facts_.lineages) {
        const auto begin = lineage.begin();
        if (lineage.group != group || lineage.partition != p.partition || !begin) continue;
        auto& lowest = lineage.start ? said : shown;
        lowest = std::min(lowest.value_or(*begin), *begin);
      }
      return said && shown && *shown < *said ? std::nullopt : said;
    };
    if (!at.empty() && std::all_of(at.begin(), at.end(), [&](const Position& p) { return stated(p).has_value(); })) {
      const bool below = std::all_of(at.begin(), at.end(), [&](const Position& p) { return p.offset.value() < *stated(p); });
      return below ? Owed::kNo : Owed::kYes;
    }
    bool attempted = false;
    for (const auto& step : history_.steps) {
      const auto& value = step.seen.value;
      if (step.kind != StepKind::kObserve) continue;
      if (value.event >= core::Event::kAssign && value.event <= core::Event::kCommitInfo) {
        if (value.group.value() == group) return attempted ? Owed::kUnclear : Owed::kYes;
        continue;
      }
      if (step.seen.key != record.first || value.sequence.value() != record.second) continue;
      if (value.event == core::Event::kInvoke) attempted = true;
      if (value.event == core::Event::kOk || value.event == core::Event::kFail || value.event == core::Event::kInfo) return Owed::kNo;
    }
    return Owed::kYes;
  }
  [[nodiscard]] bool damaged_in_raw(const Attempt& attempt) const {
    return std::any_of(attempt.acked_at.begin(), attempt.acked_at.end(), [&](const Position& p) { return raw_damaged_.contains(p); });
  }

  void late(std::uint32_t group) {
    for (const auto& [record, attempt] : facts_.attempts) {
      if (!attempt.ok || !attempt.ack_known_at_tick) continue;
      std::optional<MonotonicTime> deadline;
      std::optional<std::uint64_t> judged_at;
      for (const auto& [number, now] : facts_.ticks) {
        if (!deadline && number >= *attempt.ack_known_at_tick) deadline = now + history_.contract.timeout;
        if (deadline && !judged_at && now >= *deadline) judged_at = number;
      }
      const auto known = delivery_known(group, record);
      if (judged_at && known && *known > *judged_at) ++result_.counts[Code::kLate];
    }
  }
  // The first tick that knows of a delivery of the record; none if only the raw read tells.
  [[nodiscard]] std::optional<std::uint64_t> delivery_known(std::uint32_t group, const Record& record) const {
    std::optional<std::uint64_t> tick;
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& hand : lineage.handed) {
        if (ignored(hand.content) || !hands(hand, record)) continue;
        const std::optional<std::uint64_t> named = names_itself(hand.content) ? 0 : named_by(record, *hand.place);
        if (named)
          tick = std::min(tick.value_or(~std::uint64_t{0}), std::max(hand.moment.until, *named));
      }
    }
    return tick;
  }
  // The first tick that knows which record stands there.
  [[nodiscard]] std::optional<std::uint64_t> named_by(const Record& record, const Position& position) const {
    std::optional<std::uint64_t> tick;
    const auto attempt = facts_.attempts.find(record);
    if (attempt != facts_.attempts.end() && attempt->second.acked_at.contains(position))
      tick = attempt->second.ack_known_at_tick;
    for (const auto& lineage : facts_.lineages) {
      for (const auto& hand : lineage.handed) {
        if (names_itself(hand.content) && hand.record == record && hand.place == position)
          tick = std::min(tick.value_or(~std::uint64_t{0}), hand.moment.until);
      }
    }
    return tick;
  }

  // ---- repeats

  // What a hand-over is told apart by: the record and its position; a damaged one is what the log
  // holds there.
  using Pair = std::pair<Record, Place>;
  [[nodiscard]] Pair pair_of(std::uint32_t group, const HandOver& hand) const {
    if (names_itself(hand.content) || !hand.place) return {hand.record, hand.place};
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& other : lineage.handed) {
        if (names_itself(other.content) && other.place == hand.place)
          return {other.record, other.place};
      }
    }
    return {Record{}, hand.place};
  }

  void duplicate_delivery(std::uint32_t group) {
    std::map<Pair, std::vector<const Possession*>> by_pair;  // lineages in their order
    std::uint64_t deliveries = 0;
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& hand : lineage.handed) {
        if (ignored(hand.content) || (!names_itself(hand.content) && !hand.place)) continue;
        ++deliveries;
        by_pair[pair_of(group, hand)].push_back(&lineage);
      }
    }
    result_.counts[Code::kDuplicateDelivery] += deliveries - by_pair.size();
    if (history_.contract.acknowledgement == core::Acknowledgement::kIndividual) return;
    for (auto& [pair, lineages] : by_pair) {
      if (!pair.second) continue;
      const std::set<const Possession*> holders(lineages.begin(), lineages.end());
      std::uint64_t allowed = 0;
      bool first_is_not_allowed = false;  // one that may have been the first, for which nothing needs to be allowed
      for (const Possession* lineage : holders) {
        const bool first = std::none_of(holders.begin(), holders.end(), [&](const Possession* other) { return earlier(*other, *lineage); });
        if (pair.second->offset.value() >= committed(*lineage)) {
          ++allowed;
        } else if (first) {
          first_is_not_allowed = true;
        }
      }
      result_.allowed[Code::kDuplicateDelivery] += first_is_not_allowed ? allowed : std::max<std::uint64_t>(allowed, 1) - 1;
    }
  }

  // The last commit with outcome ok of the latest earlier lineage that has one. Where nothing says which is the latest, it may be any.
  [[nodiscard]] std::uint64_t committed(const Possession& lineage) const {
    std::map<const Possession*, std::uint64_t> commits;
    for (const auto& other : facts_.lineages) {
      if (other.group != lineage.group || other.partition != lineage.partition || !earlier(other, lineage)) continue;
      const bool older = other.generation && lineage.generation && *other.generation < *lineage.generation;
      for (const auto& commit : other.commits) {
        if (older || before(commit.answered, lineage.opened)) commits[&other] = commit.next;
      }
    }
    std::optional<std::uint64_t> lowest;
    for (const auto& [own, next] : commits) {
      const bool latest = std::none_of(commits.begin(), commits.end(), [&](const auto& other) { return earlier(*own, *other.first); });
      if (latest) lowest = std::min(lowest.value_or(next), next);
    }
    return lowest.value_or(0);
  }

  void rewind(std::uint32_t group) {
    if (history_.contract.acknowledgement == core::Acknowledgement::kIndividual) return;
    for (const auto& lineage : facts_.lineages) {
      const std::uint64_t c = committed(lineage);
      if (lineage.group != group || !lineage.begin() || *lineage.begin() >= c) continue;
      std::set<Pair> again;
      for (const auto& hand : lineage.handed) {
        if (!hand.place || hand.place->offset.value() >= c || ignored(hand.content)) continue;
        for (const auto& other : facts_.lineages) {
          if (other.group != group || other.partition != lineage.partition || !earlier(other, lineage)) continue;
          const Pair mine = pair_of(group, hand);
          if (std::any_of(other.handed.begin(), other.handed.end(),
                          [&](const HandOver& theirs) { return pair_of(group, theirs) == mine; })) {
            again.insert(mine);
          }
        }
      }
      result_.counts[Code::kRewind] += again.size();
    }
  }

  // ---- order

  [[nodiscard]] bool ordered(const HandOver& hand) const { return names_itself(hand.content) && takes_part(hand.record); }
  [[nodiscard]] static bool rises(const Place& lower, const Place& higher) {
    return !lower || !higher || (lower->partition == higher->partition && lower->offset < higher->offset);
  }

  void order(std::uint32_t group) {
    std::set<Record> records;
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& hand : lineage.handed) {
        if (ordered(hand)) records.insert(hand.record);
      }
    }
    for (const auto& record : records) {
      if (lost_.contains({group, record})) continue;
      if (skipped(group, record)) {
        ++result_.counts[Code::kSkip];
        if (reordered_within(group, record) || reordered_across(group, record)) ++result_.skipped_and_reordered;
      } else if (reordered_within(group, record) || reordered_across(group, record)) {
        ++result_.counts[Code::kReorderedDelivery];
      }
    }
  }

  // Damaged, it is a hand-over of what the log holds there.
  [[nodiscard]] bool handed(const Possession& lineage, const Record& record) const {
    return std::any_of(lineage.handed.begin(), lineage.handed.end(), [&](const HandOver& hand) { return hands(hand, record); });
  }
  [[nodiscard]] bool hands(const HandOver& hand, const Record& record) const {
    return names_itself(hand.content) ? hand.record == record : stands_there(record, hand.place);
  }

  // Some lineage jumped over it and never handed it over, though another one did.
  [[nodiscard]] bool skipped(std::uint32_t group, const Record& record) const {
    for (const auto& jumper : facts_.lineages) {
      if (jumper.group != group || handed(jumper, record)) continue;
      for (const auto& other : facts_.lineages) {
        if (other.group != group || other.partition != jumper.partition || &other == &jumper) continue;
        for (const auto& hand : other.handed) {
          if (hand.record == record && ordered(hand) && hand.place && jumped(jumper, record, *hand.place)) return true;
        }
      }
    }
    return false;
  }
  [[nodiscard]] bool jumped(const Possession& lineage, const Record& record, const Position& position) const {
    const auto begin = lineage.begin();
    if (!begin || *begin > position.offset.value()) return false;
    return std::any_of(lineage.handed.begin(), lineage.handed.end(), [&](const HandOver& hand) {
      return hand.record.second > record.second && hand.record.first == record.first && ordered(hand) && hand.place &&
             hand.place->offset > position.offset;
    });
  }

  [[nodiscard]] bool reordered_within(std::uint32_t group, const Record& record) const {
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      const auto first = std::find_if(lineage.handed.begin(), lineage.handed.end(),
                                      [&](const HandOver& hand) { return ordered(hand) && hand.record == record; });
      for (auto hand = lineage.handed.begin(); hand != first && first != lineage.handed.end(); ++hand) {
        if (hand->record.second > record.second && hand->record.first == record.first && ordered(*hand) &&
            rises(first->place, hand->place)) {
          return true;
        }
      }
    }
    return false;
  }

  // Only for records never handed over before, and only what is certainly after.
  [[nodiscard]] bool reordered_across(std::uint32_t group, const Record& record) const {
    std::vector<std::pair<const Possession*, const HandOver*>> all;
    for (const auto& lineage : facts_.lineages) {
      if (lineage.group != group) continue;
      for (const auto& hand : lineage.handed) all.emplace_back(&lineage, &hand);
    }
    for (const auto& [lineage, hand] : all) {
      if (hand->record != record || !ordered(*hand)) continue;
      const bool first_of_all = std::all_of(all.begin(), all.end(), [&](const auto& other) {
        return other.second == hand || !hands(*other.second, record) || before(hand->moment, other.second->moment);
      });
      if (!first_of_all) continue;
      for (const auto& [other_lineage, other] : all) {
        if (other->record.second > record.second && other->record.first == record.first && ordered(*other) &&
            earlier(*other_lineage, *lineage) && before(other->moment, hand->moment) && rises(hand->place, other->place)) {
          return true;
        }
      }
    }
    return false;
  }

  // ---- the rest

  void commit_ahead() {
    std::set<std::pair<std::uint32_t, Position>> passed_over;
    for (const auto& lineage : facts_.lineages) {
      for (const auto& commit : lineage.commits) {
        std::optional<std::uint64_t> from = lineage.start;
        if (commit.highest_at_invoke)
          from = std::max(from.value_or(0), *commit.highest_at_invoke + 1);
        if (!from) continue;
        for (const auto& position : shown_by_others(lineage)) {
          if (position.offset.value() >= *from && position.offset.value() < commit.next) {
            passed_over.insert({lineage.group, position});
          }
        }
      }
    }
    result_.counts[Code::kCommitAhead] = passed_over.size();
  }
  [[nodiscard]] std::set<Position> shown_by_others(const Possession& lineage) const {
    std::set<Position> shown;
    for (const auto& record : raw_.records) {
      if (record.position.partition == lineage.partition && !ignored(record.content))
        shown.insert(record.position);
    }
    for (const auto& other : facts_.lineages) {
      if (&other == &lineage || other.partition != lineage.partition) continue;
      for (const auto& hand : other.handed) {
        if (hand.place && !ignored(hand.content)) shown.insert(*hand.place);
      }
    }
    return shown;
  }

  void phantom() {
    std::set<std::pair<std::uint32_t, Record>> by_group;
    std::set<Record> handed_over;
    for (const auto& lineage : facts_.lineages) {
      for (const auto& hand : lineage.handed) {
        if (ignored(hand.content) || !facts_.phantom(hand)) continue;
        by_group.insert({lineage.group, hand.record});
        handed_over.insert(hand.record);
      }
    }
    std::set<Record> only_raw;
    for (const auto& record : raw_.records) {
      const Record id{record.key, record.sequence};
      if (!ignored(record.content) && facts_.phantom(id, record.content) &&
          !handed_over.contains(id))
        only_raw.insert(id);
    }
    result_.counts[Code::kPhantom] = by_group.size() + only_raw.size();
  }

  void content() {
    std::set<std::pair<std::uint32_t, Position>> handed_damaged;
    std::set<Position> only_raw = raw_damaged_;
    for (const auto& lineage : facts_.lineages) {
      for (const auto& hand : lineage.handed) {
        if (names_itself(hand.content) || !hand.place) continue;
        handed_damaged.insert({lineage.group, *hand.place});
        only_raw.erase(*hand.place);
      }
    }
    result_.counts[Code::kCorrupt] = handed_damaged.size() + only_raw.size() + corrupt_unplaced_;
    result_.counts[Code::kMisplaced] = misplaced_.size();
  }

  void before_start() {
    for (const auto& lineage : facts_.lineages) {
      std::set<Position> below;
      for (const auto& hand : lineage.handed) {
        if (lineage.start && hand.place && hand.place->offset.value() < *lineage.start)
          below.insert(*hand.place);
      }
      result_.counts[Code::kBeforeStart] += below.size();
    }
  }

  // `second` may hold the partition in the same generation if it came after `first`.
  [[nodiscard]] static bool succeeds(const Possession& first, const Possession& second) {
    const bool same_instance = !first.instance.empty() && first.instance == second.instance;
    const bool later_life = first.source.worker == second.source.worker && first.source.incarnation < second.source.incarnation;
    if (first.member == second.member || same_instance || later_life) return true;
    if (!first.close || *first.close == core::LineageClose::kClosed) return false;
    const bool too_late = first.left_generation && *first.left_generation > *second.generation;
    return !too_late && !before(second.opened, first.closed);
  }

  void dual_owner() {
    std::set<std::tuple<std::uint32_t, core::PartitionId, std::uint64_t>> found;
    for (const auto& first : facts_.lineages) {
      for (const auto& second : facts_.lineages) {
        if (&first >= &second || first.group != second.group || first.partition != second.partition) continue;
        if (!first.generation || first.generation != second.generation || !first.classic ||
            !second.classic)
          continue;
        const bool ordered = earlier(first, second) || earlier(second, first);
        if (!earlier(second, first) && succeeds(first, second)) continue;
        if ((!ordered || earlier(second, first)) && succeeds(second, first)) continue;
        found.insert({first.group, first.partition, *first.generation});
      }
    }
    result_.counts[Code::kDualOwner] = found.size();
  }

  [[nodiscard]] bool forbidden(Code code) const {
    const core::Contract& c = history_.contract;
    const std::set<Code> always = {Code::kPhantom, Code::kCorrupt, Code::kMisplaced,
                                   Code::kInconsistentPosition, Code::kBeforeStart};
    const std::set<Code> once = {Code::kLost, Code::kCommitAhead};
    const std::set<Code> orders = {Code::kReorderedWrite, Code::kReorderedDelivery, Code::kSkip,
                                   Code::kDualOwner};
    const std::set<Code> exact = {Code::kDuplicateWrite, Code::kDuplicateDelivery, Code::kRewind};
    return always.contains(code) || ((c.at_least_once || c.exactly_once) && once.contains(code)) ||
           (c.ordering && orders.contains(code)) || (c.exactly_once && exact.contains(code));
  }

  void status() {
    result_.status = judge::Status::kPassed;
    if (history_.facts.stopped) result_.status = judge::Status::kStopped;
    const bool raw_failed = history_.log.outcome == RawOutcome::kFails &&
                            history_.contract.raw_read != core::RawReadScope::kNone;
    const bool raw_needed =
        history_.contract.raw_read == core::RawReadScope::kFull ||
                            result_.counts[Code::kLost] + result_.undecided > 0;
    if (result_.undecided > 0 || result_.acked == 0 || !history_.facts.workers_lost.empty() ||
        !history_.facts.missing.empty() || (raw_failed && raw_needed)) {
      result_.status = judge::Status::kInconclusive;
    }
    for (std::size_t i = 0; i < core::kCodeCount; ++i) {
      const auto code = static_cast<Code>(i);
      if (forbidden(code) && result_.counts[code] > result_.allowed[code])
        result_.status = judge::Status::kFailed;
    }
  }

  const History& history_;  // outlive this
  const RawRead& raw_;
  Facts facts_;
  ReferenceVerdict result_;
  std::map<Record, std::set<Position>> copies_;
  std::map<Record, std::set<Position>> raw_holds_;
  std::map<Position, std::set<Record>> stands_at_;
  std::set<Position> raw_damaged_;
  std::set<Position> inconsistent_;
  std::set<Position> corrupt_;
  std::set<Record> misplaced_;
  std::set<Record> said_;                     // their payload asks for a partition
  std::map<Key, core::PartitionId> home_;
  std::set<Record> seen_;
  std::set<Record> foreign_;
  std::set<std::pair<std::uint32_t, Record>> lost_;
  std::uint64_t corrupt_unplaced_ = 0;
};

}  // namespace

ReferenceVerdict reference_judge(const History& history, const RawRead& raw) {
  return Judge(history, raw).judge();
}

}  // namespace sp::model

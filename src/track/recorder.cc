#include "track/recorder.h"

#include <algorithm>

#include "base/check.h"

namespace sp::track {

using core::Event;
using core::Observation;

namespace {
// A key that could not be named: nobody issued it.
constexpr core::KeyRef kNoKey{core::KeySpace::kLiteralBlock, ~std::uint32_t{0}};
}  // namespace

Recorder::Recorder(core::SourceId source, core::RunId run) : source_(source), keys_(run) {
  current_.source = source;
}

Recorder::~Recorder() = default;

void Recorder::observe(const Observation& observation) {
  switch (observation.event) {
    case Event::kInvoke: return attempt(observation, RowKind::kIssued);
    case Event::kOk: return attempt(observation, RowKind::kAcked);
    case Event::kFail: return attempt(observation, RowKind::kFailed);
    case Event::kInfo: return attempt(observation, RowKind::kUnknown);
    case Event::kDeliver: return deliver(observation);
    case Event::kAssign: return assign(observation);
    case Event::kRevoke: return revoke(observation);
    case Event::kCommitInvoke: return commit_invoked(observation);
    case Event::kCommitOk: return commit_answered(observation, CommitOutcome::kOk);
    case Event::kCommitFail: return commit_answered(observation, CommitOutcome::kFail);
    case Event::kCommitInfo: return commit_answered(observation, CommitOutcome::kInfo);
    case Event::kRaw: return raw(observation);
    case Event::kRawEnd: {
      Row& row = add(RowKind::kRawRange, observation.partition.value());
      row.offset = observation.offset.value();
      row.sequence = observation.end.value();
      row.flags = observation.reached ? kReached : 0;
      return;
    }
    case Event::kTick: add(RowKind::kTick, 0).sequence = observation.number; return;
    case Event::kEnd: add(RowKind::kEnd, 0); return;
    case Event::kRawBegin:
    case Event::kClientError:
    case Event::kDisconnect:
    case Event::kReconnect: return;  // for histories and people; no rule of the engine reads them
  }
}

Row& Recorder::add(RowKind kind, std::uint32_t which) {
  Row& row = current_.rows.emplace_back();
  row.kind = kind;
  row.which = which;
  return row;
}

void Recorder::attempt(const Observation& observation, RowKind kind) {
  Row& row = add(kind, observation.partition.value());
  row.key = observation.name.empty() ? observation.key : keys_.find(observation.name).value_or(kNoKey);
  row.sequence = observation.sequence.value();
  row.offset = observation.offset.value();
  if (observation.has_position) row.flags = kHasOffset;
  if (kind == RowKind::kFailed) row.which = static_cast<std::uint32_t>(observation.failure);
}

core::KeyRef Recorder::resolve(const Observation& observation, std::uint8_t& flags) {
  switch (observation.content) {
    case core::Content::kDamaged: flags |= kDamaged; return kNoKey;
    case core::Content::kOtherRun: flags |= kOtherRun; return kNoKey;
    case core::Content::kUnchecked: flags |= kUnchecked; break;
    case core::Content::kIntact: break;
  }
  const auto asked = observation.asked_partition.value();
  if (asked != ~std::uint32_t{0}) flags |= asked == observation.partition.value() ? kRightPartition : kWrongPartition;
  if (observation.name.empty()) return observation.key;
  return keys_.find(observation.name).value_or(kNoKey);
}

void Recorder::deliver(const Observation& observation) {
  std::uint8_t flags = observation.has_position ? kHasOffset : 0;
  const core::KeyRef key = resolve(observation, flags);
  const std::uint32_t number = lineage_of(observation);
  Lineage& lineage = lineages_[number];
  if (!lineage.dirty) {
    lineage.dirty = true;
    dirty_.push_back(number);
  }
  lineage.last_delta = next_number_;
  if (observation.has_position) {
    lineage.handed_end = std::max(lineage.handed_end, observation.offset.value() + 1);
  }
  Row& row = add(RowKind::kDelivered, number);
  row.flags = flags;
  row.key = key;
  row.sequence = observation.sequence.value();
  row.offset = observation.offset.value();
}

void Recorder::raw(const Observation& observation) {
  std::uint8_t flags = observation.has_position ? kHasOffset : 0;
  const core::KeyRef key = resolve(observation, flags);
  Row& row = add(RowKind::kRaw, observation.partition.value());
  row.flags = flags;
  row.key = key;
  row.sequence = observation.sequence.value();
  row.offset = observation.offset.value();
}

std::uint32_t& Recorder::held(std::uint32_t consumer, std::uint32_t partition) {
  if (open_.size() <= consumer) open_.resize(consumer + 1);
  auto& partitions = open_[consumer];
  if (partitions.size() <= partition) partitions.resize(partition + 1, kNoLineage);
  return partitions[partition];
}

std::uint32_t Recorder::lineage_of(const Observation& observation) {
  const std::uint32_t number = held(observation.process, observation.partition.value());
  if (number != kNoLineage) return number;
  // A driver that never said assign: the first delivery opens the possession.
  LineageOpen open;
  open.consumer = observation.process;
  open.group = observation.group;
  open.partition = observation.partition;
  open.member = observation.text;
  return open_lineage(std::move(open));
}

std::uint32_t Recorder::open_lineage(LineageOpen open) {
  const auto number = static_cast<std::uint32_t>(lineages_.size());
  Lineage& lineage = lineages_.emplace_back();
  lineage.consumer = open.consumer;
  lineage.partition = open.partition.value();
  held(lineage.consumer, lineage.partition) = number;
  add(RowKind::kOpen, number).sequence = current_.opens.size();
  current_.opens.push_back(std::move(open));
  return number;
}

void Recorder::close_lineage(std::uint32_t number, core::LineageClose how, std::optional<core::Generation> left) {
  lineages_[number].open = false;
  held(lineages_[number].consumer, lineages_[number].partition) = kNoLineage;
  Row& row = add(RowKind::kClose, number);
  row.sequence = static_cast<std::uint64_t>(how);
  if (!left) return;
  row.flags = kHasOffset;
  row.offset = left->value();
}

void Recorder::assign(const Observation& observation) {
  const std::uint32_t old = held(observation.process, observation.partition.value());
  // A driver that assigns anew without a revoke lost the old possession.
  if (old != kNoLineage) close_lineage(old, core::LineageClose::kLost, std::nullopt);
  LineageOpen open;
  open.consumer = observation.process;
  open.group = observation.group;
  open.partition = observation.partition;
  if (observation.has_generation) open.generation = observation.generation;
  if (observation.has_start) open.start = observation.start;
  open.classic = observation.classic;
  open.member = observation.text;
  open.instance = observation.instance;
  open_lineage(std::move(open));
}

void Recorder::revoke(const Observation& observation) {
  const std::uint32_t number = held(observation.process, observation.partition.value());
  if (number == kNoLineage) return;
  std::optional<core::Generation> left;
  if (observation.has_generation) left = observation.generation;
  close_lineage(number, observation.close, left);
}

void Recorder::commit_invoked(const Observation& observation) {
  const std::uint32_t number = held(observation.process, observation.partition.value());
  if (number == kNoLineage) return;  // of a partition it does not hold: no lineage to judge it by
  commits_.push_back({number, observation.offset, lineages_[number].handed_end});
}

void Recorder::commit_answered(const Observation& observation, CommitOutcome outcome) {
  const auto is_it = [&](const OpenCommit& open) {
    const Lineage& lineage = lineages_[open.lineage];
    return lineage.consumer == observation.process && lineage.partition == observation.partition.value() &&
           open.next == observation.offset;
  };
  const auto found = std::find_if(commits_.begin(), commits_.end(), is_it);
  if (found == commits_.end()) return;
  add(RowKind::kCommit, found->lineage).sequence = current_.commits.size();
  current_.commits.push_back({found->next, outcome, found->handed_end});
  commits_.erase(found);
}

bool Recorder::cut(bool force, std::uint64_t history_lines) {
  if (current_.rows.empty() && !force) return false;
  current_.number = next_number_++;
  current_.history_lines = history_lines;
  current_.first_block = blocks_sent_;
  for (; blocks_sent_ < keys_.blocks_end(); ++blocks_sent_) {
    current_.blocks.push_back(keys_.identity(blocks_sent_));
  }
  current_.first_literal = literals_sent_;
  for (; literals_sent_ < keys_.literal_count(); ++literals_sent_) {
    current_.literals.push_back(keys_.literal_name(literals_sent_));
  }
  for (const std::uint32_t number : dirty_) {
    lineages_[number].dirty = false;
    marks_.push_back({current_.number, number, lineages_[number].handed_end});
  }
  dirty_.clear();
  rows_in_kept_ += current_.rows.size();
  const std::size_t rows_expected = current_.rows.size();
  kept_.push_back(std::make_unique<Delta>(std::move(current_)));
  current_ = Delta{};
  current_.source = source_;
  current_.rows.reserve(rows_expected);
  return true;
}

std::optional<Delta> Recorder::hand_over(bool force) {
  DCHECK(kept_.empty(), "a recorder whose deltas are handed over keeps none");
  if (!cut(force)) return std::nullopt;
  Delta delta = std::move(*kept_.back());
  rows_in_kept_ -= delta.rows.size();
  kept_.pop_back();
  acknowledge(delta.number);
  return delta;
}

std::vector<const Delta*> Recorder::pending(std::uint64_t acknowledged) const {
  std::vector<const Delta*> deltas;
  for (const auto& delta : kept_) {
    if (delta->number > acknowledged) deltas.push_back(delta.get());
  }
  return deltas;
}

void Recorder::acknowledge(std::uint64_t number) {
  CHECK(number < next_number_, "only a delta that was cut can be acknowledged");
  acknowledged_ = std::max(acknowledged_, number);
  while (!kept_.empty() && kept_.front()->number <= number) {
    rows_in_kept_ -= kept_.front()->rows.size();
    kept_.pop_front();
  }
  while (!marks_.empty() && marks_.front().number <= number) {
    lineages_[marks_.front().lineage].covered_end = marks_.front().handed_end;
    marks_.pop_front();
  }
}

std::vector<Recorder::Covered> Recorder::take_covered(std::uint32_t consumer) {
  std::vector<Covered> covered;
  if (consumer >= open_.size()) return covered;
  for (const std::uint32_t number : open_[consumer]) {
    if (number == kNoLineage) continue;
    Lineage& lineage = lineages_[number];
    if (lineage.covered_end <= lineage.taken_end) continue;
    lineage.taken_end = lineage.covered_end;
    covered.push_back({core::PartitionId{lineage.partition}, core::Offset{lineage.covered_end}});
  }
  return covered;
}

bool Recorder::all_covered(std::uint32_t consumer) const {
  if (consumer >= open_.size()) return true;
  return std::none_of(open_[consumer].begin(), open_[consumer].end(), [&](std::uint32_t number) {
    return number != kNoLineage && lineages_[number].last_delta > acknowledged_;
  });
}

std::size_t Recorder::rows_kept() const { return rows_in_kept_ + current_.rows.size(); }

}  // namespace sp::track

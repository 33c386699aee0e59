#include "model/reference_facts.h"

#include <algorithm>

namespace sp::model {

bool before(const Moment& x, const Moment& y) {
  if (x.source == y.source) return x.at < y.at;
  return x.until < y.since;
}

std::optional<std::uint64_t> Possession::begin() const {
  if (start) return start;
  for (const auto& hand : handed) {
    if (hand.place) return hand.place->offset.value();
  }
  return std::nullopt;
}

bool earlier(const Possession& a, const Possession& b) {
  if (a.generation && b.generation && *a.generation != *b.generation)
    return *a.generation < *b.generation;
  return before(a.opened, b.opened);
}

bool Facts::acked(const Record& record) const {
  const auto found = attempts.find(record);
  return found != attempts.end() && found->second.ok;
}

bool Facts::failed(const Record& record) const {
  const auto found = attempts.find(record);
  return found != attempts.end() && found->second.fail && !found->second.ok;
}

bool Facts::unknown(const Record& record) const {
  const auto found = attempts.find(record);
  if (found != attempts.end()) return !found->second.ok && !found->second.fail;
  if (!record.first.foreign.empty() || !lost.contains(record.first.block.source)) return false;
  for (const auto& [other, attempt] : attempts) {
    if (other.first == record.first && other.second > record.second) return false;
  }
  return true;
}

bool Facts::phantom(const Record& record, core::Content content) const {
  if (content == core::Content::kDamaged) return false;
  if (content == core::Content::kOtherRun) return true;
  return !acked(record) && !unknown(record);
}

bool Facts::phantom(const HandOver& hand) const { return phantom(hand.record, hand.content); }

namespace {

class FactReader {
 public:
  explicit FactReader(const History& history) : history_(history) {}

  Facts read() {
    find_silenced();
    for (at_ = 0; at_ < history_.steps.size(); ++at_) {
      const Step& step = history_.steps[at_];
      switch (step.kind) {
        case StepKind::kObserve:
          if (!silenced(step.source)) observe(step);
          break;
        case StepKind::kAnswer:
          since_[step.source] = step.number;
          break;
        case StepKind::kComplete:
          facts_.ticks.emplace_back(step.number, step.now);
          break;
        case StepKind::kDie:
          facts_.lost.insert(step.source);
          break;
        case StepKind::kAway:
          facts_.lost.insert(step.source);
          break;
        case StepKind::kRelease:
          facts_.lost.erase(step.source);
          break;
        case StepKind::kCloseConsumers:
          facts_.closed = step.now;
          closed_ = true;
          break;
        case StepKind::kJoin:
        case StepKind::kHold:
        case StepKind::kCloseLoad:
          break;
      }
    }
    facts_.lineages = std::move(lineages_);
    std::stable_sort(facts_.lineages.begin(), facts_.lineages.end(),
                     [](const Possession& a, const Possession& b) {
                       return a.generation.value_or(0) < b.generation.value_or(0);
                     });
    return std::move(facts_);
  }

 private:
  // What a source saw after it was held back, if that was never released.
  void find_silenced() {
    for (std::size_t i = 0; i < history_.steps.size(); ++i) {
      const Step& step = history_.steps[i];
      if (step.kind == StepKind::kHold || step.kind == StepKind::kDie)
        silent_from_.try_emplace(step.source, i);
      if (step.kind == StepKind::kRelease) silent_from_.erase(step.source);
    }
  }
  [[nodiscard]] bool silenced(core::SourceId source) const {
    const auto found = silent_from_.find(source);
    return found != silent_from_.end() && at_ > found->second;
  }

  void observe(const Step& step) {
    const core::Observation& value = step.seen.value;
    const Moment moment{step.source, since_[step.source], next_answer(step.source), at_};
    const Record record{step.seen.key, value.sequence.value()};
    const core::Position position{value.partition, value.offset};
    switch (value.event) {
      case core::Event::kInvoke:
        facts_.attempts[record];
        return;
      case core::Event::kOk: {
        Attempt& attempt = facts_.attempts[record];
        attempt.ok = true;
        if (value.has_position) attempt.acked_at.insert(position);
        attempt.ack_known_at_tick =
            std::min(attempt.ack_known_at_tick.value_or(moment.until), moment.until);
        return;
      }
      case core::Event::kFail:
        facts_.attempts[record].fail = true;
        return;
      case core::Event::kAssign:
        assign(step, moment);
        return;
      case core::Event::kRevoke:
        if (Possession* held = holding(step)) {
          held->close = value.close;
          held->closed = moment;
          if (value.has_generation) held->left_generation = value.generation.value();
        }
        return;
      case core::Event::kDeliver:
        deliver(step, moment, record);
        return;
      case core::Event::kCommitInvoke:
        if (Possession* held = holding(step)) {
          std::optional<std::uint64_t> highest;
          for (const auto& hand : held->handed) {
            if (hand.place) highest = std::max(highest.value_or(0), hand.place->offset.value());
          }
          invoked_.push_back({static_cast<std::size_t>(held - lineages_.data()),
                              {value.offset.value(), highest, {}}});
        }
        return;
      case core::Event::kCommitOk:
      case core::Event::kCommitFail:
      case core::Event::kCommitInfo:
        commit_answered(step, moment);
        return;
      case core::Event::kInfo:  // what has no other outcome is unknown
      case core::Event::kRawBegin:
      case core::Event::kRaw:
      case core::Event::kRawEnd:
      case core::Event::kClientError:
      case core::Event::kDisconnect:
      case core::Event::kReconnect:
      case core::Event::kTick:
      case core::Event::kEnd:
        return;
    }
  }

  [[nodiscard]] std::uint64_t next_answer(core::SourceId source) const {
    for (std::size_t i = at_; i < history_.steps.size(); ++i) {
      if (history_.steps[i].kind == StepKind::kAnswer && history_.steps[i].source == source)
        return history_.steps[i].number;
    }
    return ~std::uint64_t{0};
  }

  void assign(const Step& step, const Moment& moment) {
    const core::Observation& value = step.seen.value;
    if (Possession* held = holding(step)) {
      held->close = core::LineageClose::kLost;
      held->closed = moment;
    }
    Possession opened;
    opened.source = step.source;
    opened.consumer = value.process;
    opened.group = value.group.value();
    opened.partition = value.partition;
    if (value.has_generation) opened.generation = value.generation.value();
    if (value.has_start) opened.start = value.start.value();
    opened.classic = value.classic;
    opened.member = step.seen.member;
    opened.instance = step.seen.instance;
    opened.opened = moment;
    lineages_.push_back(std::move(opened));
  }

  void deliver(const Step& step, const Moment& moment, const Record& record) {
    const core::Observation& value = step.seen.value;
    if (closed_) return;
    Possession* held = holding(step);
    if (held == nullptr) return;
    if (value.content == core::Content::kUnchecked) ++facts_.unchecked;
    HandOver hand{moment, record, std::nullopt, value.content, std::nullopt};
    if (value.has_position) hand.place = core::Position{value.partition, value.offset};
    const auto asked = value.asked_partition.value();
    if (asked != ~std::uint32_t{0}) hand.asked = value.asked_partition;
    held->handed.push_back(std::move(hand));
  }

  void commit_answered(const Step& step, const Moment& moment) {
    for (std::size_t i = 0; i < invoked_.size(); ++i) {
      Possession& lineage = lineages_[invoked_[i].first];
      if (lineage.source != step.source || lineage.consumer != step.seen.value.process) continue;
      if (lineage.partition != step.seen.value.partition ||
          invoked_[i].second.next != step.seen.value.offset.value())
        continue;
      if (step.seen.value.event == core::Event::kCommitOk) {
        invoked_[i].second.answered = moment;
        lineage.commits.push_back(invoked_[i].second);
      }
      invoked_.erase(invoked_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  Possession* holding(const Step& step) {
    for (auto& lineage : lineages_) {
      if (!lineage.close && lineage.source == step.source &&
          lineage.consumer == step.seen.value.process &&
          lineage.partition == step.seen.value.partition) {
        return &lineage;
      }
    }
    return nullptr;
  }

  const History& history_;
  Facts facts_;
  std::size_t at_ = 0;
  bool closed_ = false;
  std::map<core::SourceId, std::uint64_t> since_;
  std::map<core::SourceId, std::size_t> silent_from_;
  std::vector<Possession> lineages_;
  std::vector<std::pair<std::size_t, CommitDone>> invoked_;
};

}  // namespace

Facts read_facts(const History& history) { return FactReader(history).read(); }

}  // namespace sp::model

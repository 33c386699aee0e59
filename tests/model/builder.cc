#include "model/builder.h"

#include <algorithm>
#include <utility>

namespace sp::model {

Step& Builder::add(StepKind kind, core::SourceId source) {
  Step& step = history.steps.emplace_back();
  step.kind = kind;
  step.source = source;
  step.now = now;
  const auto back = clocks_back.find(source);
  step.seen.value.time = back == clocks_back.end() ? now : now - back->second;
  return step;
}

void Builder::join(core::SourceId source) {
  live_.insert(source);
  add(StepKind::kJoin, source);
}
void Builder::hold(core::SourceId source) { add(StepKind::kHold, source); }
void Builder::release(core::SourceId source) {
  live_.insert(source);
  add(StepKind::kRelease, source);
}
void Builder::die(core::SourceId source) {
  live_.erase(source);
  add(StepKind::kDie, source);
}
void Builder::away(core::SourceId source) {
  live_.erase(source);
  add(StepKind::kAway, source);
}

core::Observation& Builder::attempt(core::SourceId source, core::Event event, const Key& key,
                                    std::uint64_t sequence) {
  Step& step = add(StepKind::kObserve, source);
  step.seen.key = key;
  step.seen.value.event = event;
  step.seen.value.process = key.block.producer;
  step.seen.value.sequence = core::Sequence{sequence};
  return step.seen.value;
}

void Builder::issue(core::SourceId source, const Key& key, std::uint64_t sequence) {
  attempt(source, core::Event::kInvoke, key, sequence);
}
void Builder::ack(core::SourceId source, const Key& key, std::uint64_t sequence,
                  std::optional<core::Position> position) {
  auto& value = attempt(source, core::Event::kOk, key, sequence);
  if (!position) return;
  value.has_position = true;
  value.partition = position->partition;
  value.offset = position->offset;
}
void Builder::refuse(core::SourceId source, const Key& key, std::uint64_t sequence) {
  attempt(source, core::Event::kFail, key, sequence);
}
void Builder::lose_track(core::SourceId source, const Key& key, std::uint64_t sequence) {
  attempt(source, core::Event::kInfo, key, sequence);
}

core::Observation& Builder::reading(const Consumer& consumer, core::Event event) {
  Step& step = add(StepKind::kObserve, consumer.source);
  step.seen.value.event = event;
  step.seen.value.process = consumer.process;
  step.seen.value.group = consumer.group;
  step.seen.value.partition = consumer.partition;
  return step.seen.value;
}

void Builder::open(const Consumer& consumer, const Opening& opening) {
  auto& value = reading(consumer, core::Event::kAssign);
  value.has_generation = opening.generation.has_value();
  value.generation = core::Generation{opening.generation.value_or(0)};
  value.has_start = opening.start.has_value();
  value.start = core::Offset{opening.start.value_or(0)};
  value.classic = opening.classic;
  history.steps.back().seen.member = opening.member;
  history.steps.back().seen.instance = opening.instance;
}
void Builder::close(const Consumer& consumer, core::LineageClose how,
                    std::optional<std::uint64_t> generation) {
  auto& value = reading(consumer, core::Event::kRevoke);
  value.close = how;
  value.has_generation = generation.has_value();
  value.generation = core::Generation{generation.value_or(0)};
}
void Builder::deliver(const Consumer& consumer, const Stored& record,
                      std::optional<core::Offset> offset) {
  auto& value = reading(consumer, core::Event::kDeliver);
  value.content = record.content;
  value.sequence = core::Sequence{record.sequence};
  value.has_position = offset.has_value();
  value.offset = offset.value_or(core::Offset{0});
  if (record.asked) value.asked_partition = core::PartitionId{*record.asked};
  history.steps.back().seen.key = record.key;
}
void Builder::commit_begin(const Consumer& consumer, std::uint64_t next) {
  auto& value = reading(consumer, core::Event::kCommitInvoke);
  value.has_position = true;
  value.offset = core::Offset{next};
}
void Builder::commit_end(const Consumer& consumer, std::uint64_t next,
                         track::CommitOutcome outcome) {
  auto event = core::Event::kCommitInfo;
  if (outcome == track::CommitOutcome::kOk) event = core::Event::kCommitOk;
  if (outcome == track::CommitOutcome::kFail) event = core::Event::kCommitFail;
  auto& value = reading(consumer, event);
  value.has_position = true;
  value.offset = core::Offset{next};
}

void Builder::answer(core::SourceId source) {
  if (!answered_.insert(source).second) return;
  add(StepKind::kAnswer, source).number = tick_ + 1;
}
void Builder::complete(Nanoseconds after) {
  now += after;
  ++tick_;
  answered_.clear();
  add(StepKind::kComplete, {}).number = tick_;
}
void Builder::tick(Nanoseconds after) {
  for (const auto& source : live_) answer(source);
  complete(after);
}
void Builder::close_load() { add(StepKind::kCloseLoad, {}); }
void Builder::close_consumers() { add(StepKind::kCloseConsumers, {}); }

core::Position Builder::store(core::PartitionId partition, const Stored& record,
                              std::optional<core::Offset> offset) {
  const std::uint64_t at = offset ? offset->value() : ends_[partition];
  logs_[partition][at] = record;
  ends_[partition] = std::max(ends_[partition], at + 1);
  return {partition, core::Offset{at}};
}

std::uint64_t Builder::log_end(core::PartitionId partition) const {
  const auto found = ends_.find(partition);
  return found == ends_.end() ? 0 : found->second;
}

void Builder::write_log(const std::map<core::PartitionId, std::uint64_t>& begins,
                        const std::map<core::PartitionId, std::uint64_t>& ends) {
  for (const auto& [partition, records] : logs_) {
    const auto begin = begins.find(partition);
    const auto end = ends.find(partition);
    history.log.bounds.push_back(
        {partition, core::Offset{begin == begins.end() ? 0 : begin->second},
         core::Offset{end == ends.end() ? log_end(partition) : end->second}});
    for (const auto& [offset, stored] : records) {
      if (begin != begins.end() && offset < begin->second) continue;
      history.log.records.push_back({{partition, core::Offset{offset}},
                                     stored.key,
                                     stored.sequence,
                                     stored.content,
                                     stored.asked});
    }
  }
}

}  // namespace sp::model

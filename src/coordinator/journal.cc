#include "coordinator/journal.h"

#include <algorithm>
#include <utility>

#include "codec/json_writer.h"
#include "control/proof_history.h"
#include "history/merge.h"

namespace sp::coordinator {

using history::bit;
using history::Function;
using history::Member;
using history::Type;

void Journal::begin_line(Function function, Type type, std::string_view process, MonotonicTime now) {
  details_.clear();
  operation_ = {};
  operation_.members = bit(Member::kTime);
  operation_.time_ns = now.time_since_epoch().count();
  operation_.function = function;
  operation_.type = type;
  operation_.process = writer_->vocabulary().processes.add(process).value_or(0);
  operation_.details = &details_;
}

void Journal::write() { (void)writer_->write(operation_); }

void Journal::add_seen() {
  const auto name = [](core::SourceId source) {
    return history::source_name(control::worker_name(source.worker), source.incarnation);
  };
  operation_.members |= bit(Member::kSeen);
  for (const auto& [source, lines] : lines_) details_.seen.emplace_back(name(source), lines - 1);
  if (lost_.empty()) return;
  operation_.members |= bit(Member::kLostIncarnations);
  for (const auto& source : lost_) details_.lost_incarnations.push_back(name(source));
}

void Journal::saw(const track::Delta& delta, MonotonicTime now) {
  if (!writer_ || delta.history_lines == 0) return;
  if (lost_.erase(delta.source) > 0) mark(now);  // it came back
  std::uint64_t& lines = lines_[delta.source];
  lines = std::max(lines, delta.history_lines);
}

void Journal::mark(MonotonicTime now) {
  begin_line(Function::kStage, Type::kInfo, history::kCoordinator, now);
  details_.stage = stage_;
  operation_.members |= bit(Member::kStage);
  add_seen();
  write();
}

void Journal::lost(core::SourceId source, MonotonicTime now) {
  if (!writer_) return;
  lost_.insert(source);
  mark(now);
}

void Journal::stage(std::string_view name, MonotonicTime now) {
  if (!writer_) return;
  stage_ = name;
  mark(now);
}

void Journal::tick(std::uint64_t n, MonotonicTime now) {
  if (!writer_) return;
  begin_line(Function::kTick, Type::kOk, history::kCoordinator, now);
  operation_.number = n;
  operation_.members |= bit(Member::kN);
  add_seen();
  write();
}

void Journal::bounds(const std::vector<track::RawRange>& bounds, core::RawReadScope scope, MonotonicTime now) {
  if (!writer_) return;
  begin_line(Function::kReadBegin, Type::kInfo, history::kCoordinator, now);
  for (const auto& bound : bounds) {
    details_.target.push_back({bound.partition.value(), bound.begin.value(), bound.end.value(), std::nullopt});
  }
  details_.scope = scope == core::RawReadScope::kFull ? "full" : "holes";
  operation_.members |= bit(Member::kTarget) | bit(Member::kScope);
  write();
}

void Journal::fault(const core::FaultRecord& fault, Type type, MonotonicTime at) {
  begin_line(Function::kFault, type, "nemesis", at);
  operation_.name = writer_->vocabulary().words.add(fault.name).value_or(0);
  codec::JsonWriter json;
  json.begin_object().member("number", fault.number).member("target", fault.target);
  if (type == Type::kInfo) json.member("effect", fault.effect);
  details_.detail = json.end_object().take();
  operation_.members |= bit(Member::kDetail);
  write();
}

void Journal::faults(std::span<const core::FaultRecord> faults) {
  if (!writer_) return;
  told_.resize(std::max(told_.size(), faults.size()));
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const core::FaultRecord& one = faults[i];
    if (!std::exchange(told_[i].begin, true)) fault(one, Type::kInvoke, one.begin);
    if (one.effect_seen && !std::exchange(told_[i].effect, true)) fault(one, Type::kInfo, *one.effect_seen);
    if (one.end && !std::exchange(told_[i].end, true)) fault(one, Type::kOk, *one.end);
  }
}

std::optional<history::Writer::Summary> Journal::end(std::string_view reason, std::string facts, MonotonicTime now) {
  if (!writer_) return std::nullopt;
  begin_line(Function::kEnd, Type::kOk, history::kCoordinator, now);
  details_.reason = reason;
  details_.detail = std::move(facts);
  operation_.members |= bit(Member::kReason) | bit(Member::kDetail);
  write();
  return std::exchange(writer_, nullptr)->finish();
}

}  // namespace sp::coordinator

#include "scenario/fault/nemesis.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "scenario/fault/node_text.h"

namespace sp::scenario::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanoseconds kStepEvery = milliseconds(50);  // while something is held or awaited
constexpr Nanoseconds kVictimWait = seconds(5);       // for a leader or follower that can be struck
constexpr Nanoseconds kKnownMax = seconds(5);         // a state older than this chooses no victim
constexpr Nanoseconds kStopPatience = seconds(15);    // with an orderly end, before it is killed
constexpr Nanoseconds kSettle = seconds(10);          // past the release, while no effect was seen
constexpr Nanoseconds kRecoveryMax = seconds(60);     // past the release

}  // namespace

Nemesis::Nemesis(const std::vector<ChaosSpec>& specs, const NemesisOptions& options, Target& target,
                 Observer& observer)
    : specs_(specs), options_(options), target_(target), observer_(observer), nodes_(target.nodes()) {
  const Prng root = Prng(options.seed).fork("chaos");
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    chances_.push_back(root.fork(std::to_string(i)));
    for (const auto start : chaos_starts(specs_[i], options.duration))
      due_.push_back({options.begin + start, i});
  }
  // Of the same moment in the order they were asked for.
  std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return std::pair(a.time, a.spec) < std::pair(b.time, b.spec); });
}

MonotonicTime Nemesis::step(MonotonicTime now) {
  sighting_ = observer_.latest();
  if (sighting_ && sighting_->state) {
    known_ = *sighting_->state;
    known_asked_ = sighting_->asked;
  }
  if (all_held()) all_held_last_ = now;
  if (known_ && now - known_asked_ > kKnownMax) known_.reset();
  for (auto& each : strikes_) {
    look_for_effect(each);
    advance(each, now);
  }
  std::erase_if(strikes_, [this, now](Strike& each) { return conclude(each, now); });
  start_due(now);
  if (!strikes_.empty() || (!due_.empty() && due_.front().time <= now)) {
    MonotonicTime next = now + kStepEvery;
    if (!due_.empty() && due_.front().time > now) next = std::min(next, due_.front().time);
    for (const auto& each : strikes_) {
      if (each.phase == Phase::kHeld) next = std::min(next, std::max(each.next, now));
    }
    return next;
  }
  return due_.empty() ? MonotonicTime::max() : due_.front().time;
}

void Nemesis::release_all(MonotonicTime now) {
  due_.clear();
  for (auto& each : strikes_) {
    const std::set<std::int32_t> held = each.holding;
    for (const auto node : held) let_go(each, node, now);
    if (each.phase == Phase::kRecovering) continue;
    const std::size_t begun = each.turn + (each.phase == Phase::kNextNode ? 0U : 1U);
    if (row_of(each).action == Action::kRestart && begun < each.victims.size()) {
      each.victims.resize(begun);
      note(records_[each.record], "it was cut short by the end of the run");
    }
    if (each.phase != Phase::kReturning) each.released = now;
    records_[each.record].released = each.released;
    each.phase = Phase::kRecovering;
  }
}

bool Nemesis::is_held(std::int32_t node) const {
  const auto found = holders_.find(node);
  return found != holders_.end() && found->second.down + found->second.frozen > 0;
}

bool Nemesis::all_held() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [this](std::int32_t node) { return is_held(node); });
}

const driver::PartitionState* Nemesis::partition_zero() const {
  if (!known_) return nullptr;
  for (const auto& partition : known_->partitions) {
    if (partition.partition.value() == 0) return &partition;
  }
  return nullptr;
}

// Starts what is due; what finds nobody to strike stays due for a while.
void Nemesis::start_due(MonotonicTime now) {
  std::vector<Due> waiting;
  std::size_t taken = 0;
  for (; taken < due_.size() && due_[taken].time <= now; ++taken) {
    const Due due = due_[taken];
    const auto victims = choose(due.spec);
    if (!victims.empty())
      strike(due.spec, victims, now);
    else if (now - due.time >= kVictimWait)
      strike_nobody(due.spec, now);
    else
      waiting.push_back(due);
  }
  due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(taken));
  due_.insert(due_.begin(), waiting.begin(), waiting.end());
}

std::vector<std::int32_t> Nemesis::choose(std::size_t spec) {
  const KindRow& row = kind_row(specs_[spec].kind);
  std::vector<std::int32_t> free;
  if (row.victims == Victims::kAll) {
    for (const auto node : nodes_) {
      const auto found = holders_.find(node);
      const bool down = found != holders_.end() && found->second.down > 0;
      if (!down && (row.action == Action::kKill || !is_held(node))) free.push_back(node);
    }
    if (row.action == Action::kRestart && free.size() != nodes_.size()) return {};
    return free;
  }
  const driver::PartitionState* zero = partition_zero();
  if (zero == nullptr || !zero->leader) return {};
  if (row.victims == Victims::kLeader) {
    if (!is_held(*zero->leader)) free.push_back(*zero->leader);
    return free;
  }
  for (const auto node : zero->replicas) {
    const bool in_sync = std::find(zero->in_sync.begin(), zero->in_sync.end(), node) != zero->in_sync.end();
    if (node != *zero->leader && in_sync && !is_held(node)) free.push_back(node);
  }
  std::sort(free.begin(), free.end());
  if (row.victims == Victims::kFollower && !free.empty()) return {free[chances_[spec].below(free.size())]};
  return free;
}

void Nemesis::strike(std::size_t spec, const std::vector<std::int32_t>& victims, MonotonicTime now) {
  const KindRow& row = kind_row(specs_[spec].kind);
  core::FaultRecord record;
  record.number = records_.size() + 1;
  record.name = row.name;
  record.target = node_text(victims);
  record.begin = now;
  records_.push_back(record);

  Strike made;
  made.record = records_.size() - 1;
  made.spec = spec;
  made.victims = victims;
  if (const auto* zero = partition_zero(); zero != nullptr) made.leader = zero->leader.value_or(-1);
  if (known_) {
    for (const auto& partition : known_->partitions) {
      for (const auto node : partition.in_sync) {
        if (std::find(victims.begin(), victims.end(), node) != victims.end()) {
          made.was_in_sync[node].push_back(partition.partition);
        }
      }
    }
  }
  if (row.action == Action::kRestart) {
    made.phase = Phase::kNextNode;
    advance_rolling(made, now);
  } else {
    for (const auto node : victims) take(made, node);
    made.next = now + specs_[spec].hold;
  }
  strikes_.push_back(std::move(made));
}

void Nemesis::strike_nobody(std::size_t spec, MonotonicTime now) {
  core::FaultRecord record;
  record.number = records_.size() + 1;
  record.name = kind_row(specs_[spec].kind).name;
  record.target = "nobody";
  record.begin = now;
  record.released = now;
  record.end = now;
  records_.push_back(record);
  const auto* zero = partition_zero();
  note(record, zero == nullptr ? "the state of the topic is not known"
               : zero->leader  ? "every node that it could strike was held by another fault or out of sync"
                               : "partition 0 has no leader");
}

void Nemesis::take(Strike& strike, std::int32_t node) {
  Holders& holders = holders_[node];
  if (row_of(strike).action == Action::kFreeze) {
    ++holders.frozen;
    check_done(target_.freeze(node), strike, "frozen", node);
  } else {
    ++holders.down;
    check_done(target_.kill(node), strike, "killed", node);
  }
  strike.holding.insert(node);
}

void Nemesis::let_go(Strike& strike, std::int32_t node, MonotonicTime now) {
  strike.holding.erase(node);
  strike.released = now;
  const bool last = row_of(strike).action != Action::kRestart || strike.turn + 1 == strike.victims.size();
  if (last) records_[strike.record].released = now;
  Holders& holders = holders_[node];
  if (row_of(strike).action == Action::kFreeze) {
    --holders.frozen;  // a node that was killed meanwhile needs no thaw: what starts again is another process
    if (holders.frozen == 0 && holders.down == 0) check_done(target_.thaw(node), strike, "thawed", node);
  } else {
    --holders.down;  // to 0: a node that is down is nobody else's victim
    check_done(target_.restart(node), strike, "started again", node);
  }
}

void Nemesis::advance(Strike& strike, MonotonicTime now) {
  if (strike.phase == Phase::kRecovering) return;
  if (row_of(strike).action == Action::kRestart) return advance_rolling(strike, now);
  if (now < strike.next) return;
  for (const auto node : strike.victims) let_go(strike, node, now);
  strike.phase = Phase::kRecovering;
}

// kNextNode ─ stop ─► kStopping ─ gone ─► kHeld ─ start ─► kReturning ─ in sync ─► kNextNode …, at last kRecovering
void Nemesis::advance_rolling(Strike& strike, MonotonicTime now) {
  const std::int32_t node = strike.victims[strike.turn];
  if (strike.phase == Phase::kNextNode) {
    if (!is_held(node)) begin_stop(strike, now);  // while another fault has it, its turn waits
  } else if (strike.phase == Phase::kStopping) {
    if (target_.running(node)) {
      if (now < strike.next) return;
      check_done(target_.kill(node), strike, "killed", node);
    }
    strike.phase = Phase::kHeld;
    strike.next = now + specs_[strike.spec].hold;
  } else if (strike.phase == Phase::kHeld) {
    if (now < strike.next) return;
    let_go(strike, node, now);
    strike.phase = Phase::kReturning;
  } else {
    const bool settled = strike.left.contains(node) || now - strike.released >= kSettle;
    const bool back = settled && in_sync_again({node}, strike.released);
    if (!back && now - strike.released < kRecoveryMax) return;
    if (strike.turn + 1 == strike.victims.size()) {
      strike.phase = Phase::kRecovering;
    } else {
      ++strike.turn;
      strike.phase = Phase::kNextNode;
    }
  }
}

void Nemesis::begin_stop(Strike& strike, MonotonicTime now) {
  const std::int32_t node = strike.victims[strike.turn];
  ++holders_[node].down;
  strike.holding.insert(node);
  check_done(target_.stop(node), strike, "stopped", node);
  strike.phase = Phase::kStopping;
  strike.next = now + kStopPatience;
}

bool Nemesis::in_sync_again(const std::vector<std::int32_t>& nodes, MonotonicTime since) const {
  if (!sighting_ || !sighting_->state || sighting_->asked < since) return false;
  for (const auto& partition : sighting_->state->partitions) {
    for (const auto node : nodes) {
      const auto has = [node](const std::vector<std::int32_t>& all) {
        return std::find(all.begin(), all.end(), node) != all.end();
      };
      if (has(partition.replicas) && !has(partition.in_sync)) return false;
    }
    if (!partition.leader) return false;
  }
  return true;
}

bool Nemesis::conclude(Strike& strike, MonotonicTime now) {
  if (strike.phase != Phase::kRecovering) return false;
  core::FaultRecord& record = records_[strike.record];
  const bool rolling = row_of(strike).action == Action::kRestart;
  if (strike.victims.empty()) {  // a rolling restart that was cut short before its first node
    record.end = now;
    return true;
  }
  const bool seen = rolling ? strike.left.size() == strike.victims.size() : record.took_effect();
  const bool settled = seen || now - strike.released >= kSettle;
  const bool back = in_sync_again(strike.victims, strike.released);
  if (!back && now - strike.released >= kRecoveryMax) {
    note(record, fmt::format("{} was not back in sync {} s after the release", node_text(strike.victims),
                             std::chrono::duration_cast<seconds>(kRecoveryMax).count()));
  } else if (!back || !settled) {
    return false;
  }
  if (rolling && seen && back) {
    felt(strike, strike.first_left.value_or(now),
         fmt::format("{} left the in-sync sets and came back", node_text(strike.victims)));
  } else if (rolling && !seen) {
    note(record, fmt::format("only {} of {} nodes were seen leaving an in-sync set", strike.left.size(),
                             strike.victims.size()));
  }
  record.end = now;
  return true;
}

void Nemesis::note(const core::FaultRecord& record, const std::string& what) {
  const auto after = std::chrono::duration_cast<milliseconds>(record.begin - options_.begin).count();
  notes_.push_back(fmt::format("fault {} ({} at {}.{} s): {}", record.number, record.name, after / 1000,
                               after % 1000 / 100, what));
}

void Nemesis::check_done(const Result<void>& result, const Strike& strike, std::string_view verb,
                         std::int32_t node) {
  if (result) return;
  note(records_[strike.record],
       fmt::format("node {} could not be {}: {}", node, verb, result.error().message));
}

}  // namespace sp::scenario::fault

// How the nemesis recognises that a fault was felt.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "scenario/fault/nemesis.h"
#include "scenario/fault/node_text.h"

namespace sp::scenario::fault {

std::string node_text(const std::vector<std::int32_t>& nodes) {
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) text += i + 1 == nodes.size() ? " and " : ", ";
    text += std::to_string(nodes[i]);
  }
  return text;
}

void Nemesis::look_for_effect(Strike& strike) {
  if (!sighting_) return;
  const KindRow& row = row_of(strike);
  const bool fresh = sighting_->asked >= records_[strike.record].begin;
  const bool by_leader =
      row.victims == Victims::kLeader || (row.victims == Victims::kAll && row.action == Action::kKill);
  if (fresh && by_leader) look_at_leader(strike);
  if (fresh && !by_leader) look_at_replicas(strike);
  const bool everybody = row.action != Action::kRestart && strike.victims.size() == nodes_.size();
  if (row.victims == Victims::kFollowers || everybody) look_at_silence(strike);
}

// Leader kinds: it moved or is gone. kill-all: it is gone.
void Nemesis::look_at_leader(Strike& strike) {
  const core::FaultRecord& record = records_[strike.record];
  if (!sighting_->state) {
    if (!record.took_effect() && all_held_last_ && sighting_->asked <= *all_held_last_)
      felt(strike, sighting_->told, "no node answers");
    return;
  }
  const auto* zero = partition_zero();
  if (zero == nullptr) return;
  if (!zero->leader) {
    if (record.took_effect()) return;
    felt(strike, sighting_->told,
         strike.leader < 0 ? "partition 0 has no leader"
                           : fmt::format("partition 0 lost its leader {}", strike.leader));
    return;
  }
  const bool moved = strike.leader >= 0 && *zero->leader != strike.leader && strike.victims.size() == 1;
  if (!moved || record.effect.find("moved") != std::string::npos) return;
  felt(strike, sighting_->told,
       fmt::format("{}{}leader of partition 0 moved from {} to {}", record.effect,
                   record.took_effect() ? ", then " : "", strike.leader, *zero->leader));
}

// A victim counts as having left when a partition in whose set it was when the fault began shows a set without it.
void Nemesis::look_at_replicas(Strike& strike) {
  if (!sighting_->state) return;
  std::optional<core::PartitionId> where;
  for (const auto& partition : sighting_->state->partitions) {
    for (const auto node : strike.victims) {
      const auto was = strike.was_in_sync.find(node);
      if (was == strike.was_in_sync.end() || strike.left.contains(node)) continue;
      const auto& all = was->second;
      const auto& now_in = partition.in_sync;
      if (std::find(all.begin(), all.end(), partition.partition) == all.end()) continue;
      if (std::find(now_in.begin(), now_in.end(), node) != now_in.end()) continue;
      if (row_of(strike).action == Action::kRestart && node != strike.victims[strike.turn]) continue;
      strike.left.insert(node);
      if (!where) where = partition.partition;
    }
  }
  if (!where) return;
  if (!strike.first_left) strike.first_left = sighting_->told;
  if (row_of(strike).action == Action::kRestart) return;  // told as one effect at the end
  felt(strike, sighting_->told,
       fmt::format("{} left the in-sync set of partition {}",
                   node_text(std::vector<std::int32_t>(strike.left.begin(), strike.left.end())),
                   where->value()));
}

// With most nodes frozen the quorum is gone and no in-sync set can change until the thaw; with all of them dead nobody
// is there to tell. That none of them answers is what a client can see meanwhile.
void Nemesis::look_at_silence(Strike& strike) {
  const core::FaultRecord& record = records_[strike.record];
  if (record.took_effect() || strike.phase != Phase::kHeld || sighting_->silence_asked < record.begin) return;
  for (const auto node : strike.victims) {
    if (std::find(sighting_->silent.begin(), sighting_->silent.end(), node) == sighting_->silent.end())
      return;
  }
  felt(strike, sighting_->silence_told,
       strike.victims.size() == nodes_.size()
           ? "no node answers"
           : fmt::format("{} stopped answering", node_text(strike.victims)));
}

// The first sight keeps its time; a later one may say more.
void Nemesis::felt(const Strike& strike, MonotonicTime when, std::string effect) {
  core::FaultRecord& record = records_[strike.record];
  if (!record.effect_seen) record.effect_seen = when;
  record.effect = std::move(effect);
}

}  // namespace sp::scenario::fault

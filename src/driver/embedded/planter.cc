#include "driver/embedded/planter.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/payload.h"

namespace sp::driver::embedded {
namespace {

constexpr std::uint64_t kNear = 3;                 // sequences on each side that a plant keeps free of others
constexpr std::uint64_t kGapUnknown = 100;         // candidates between plants when the run's length is not known
constexpr std::uint64_t kKeyGapUnknown = 3;
constexpr std::uint64_t kAllSequences = ~std::uint64_t{0};
constexpr std::uint64_t kMisplaceFrom = 3;         // by then the key's home is known

}  // namespace

Planter::Planter(const std::vector<DefectSpec>& specs, const Prng& prng, const Expected& expected, TruthBook& book)
    : prng_(prng.fork("planter")), book_(book) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const DefectRow& row = defect_row(specs[i].kind);
    Plan plan{.spec = specs[i], .unit = row.unit, .prng = prng.fork(fmt::format("{}-{}", row.name, i))};
    plan.left = specs[i].count;
    if (row.unit == DefectUnit::kKey) {
      plan.expected = expected.keys;
    } else if (row.unit == DefectUnit::kDelivery || row.unit == DefectUnit::kLineage) {
      plan.expected = expected.records * std::max<std::uint64_t>(expected.groups, 1);
    } else {
      plan.expected = expected.records;
    }
    schedule(plan);
    plans_.push_back(plan);
  }
}

// The next plant is due after a gap that leaves the later ones their share of the run's first 85 %.
void Planter::schedule(Plan& plan) {
  if (plan.left == 0) return;
  std::uint64_t gap_max = plan.unit == DefectUnit::kKey ? kKeyGapUnknown : kGapUnknown;
  if (plan.expected > 0) {
    const std::uint64_t until = plan.expected - plan.expected * 15 / 100;
    gap_max = until > plan.seen ? std::max<std::uint64_t>((until - plan.seen) / plan.left, 1) : 1;
  }
  plan.next = plan.seen + plan.prng.between(1, gap_max);
}

void Planter::step(Plan& plan) {
  ++plan.seen;
  if (plan.spec.count == 0) {
    const bool hit = plan.prng.chance(plan.spec.rate);
    plan.due = hit || (plan.due && plan.unit == DefectUnit::kLineage);
  } else if (plan.left > 0 && plan.seen >= plan.next) {
    plan.due = true;
  }
}

void Planter::fulfil(Plan& plan) {
  plan.due = false;
  if (plan.spec.count == 0) return;
  --plan.left;
  schedule(plan);
}

Planter::Plan* Planter::plan_of(DefectKind kind) {
  Plan* found = nullptr;
  for (auto& plan : plans_) {
    if (plan.spec.kind == kind && (found == nullptr || (plan.due && !found->due))) found = &plan;
  }
  return found;
}

void Planter::topic_made(std::uint32_t partitions) {
  for (auto& plan : plans_) {
    if (plan.unit != DefectUnit::kPartition) continue;
    // Half of the partitions at most, so that a run has something that is received.
    const std::uint64_t most = std::max<std::uint64_t>(partitions / 2, 1);
    std::uint64_t wanted = std::min(plan.left, most);
    for (std::uint32_t p = 0; plan.spec.count == 0 && p < partitions; ++p) {
      if (plan.prng.chance(plan.spec.rate)) ++wanted;
    }
    while (lost_partitions_.size() < std::min(wanted, most)) {
      const auto partition = static_cast<std::uint32_t>(plan.prng.below(partitions));
      if (lost_partitions_.contains(partition)) continue;
      Planted planted{.kind = plan.spec.kind};
      planted.partition = core::PartitionId(partition);
      lost_partitions_[partition] = book_.plant(std::move(planted));
    }
  }
}

bool Planter::partition_lost(std::uint32_t partition) const { return lost_partitions_.contains(partition); }

std::optional<Fate> Planter::whole_fate(const Candidate& candidate) const {
  if (const auto lost = lost_partitions_.find(candidate.partition); lost != lost_partitions_.end()) {
    return Fate{DefectKind::kLosePartition, lost->second, 0, {}};
  }
  if (whole_keys_.empty()) return std::nullopt;
  const auto whole = whole_keys_.find(std::string(candidate.key));
  if (whole == whole_keys_.end() || candidate.sequence >= whole->second.end) return std::nullopt;
  return Fate{whole->second.kind, whole->second.item, 0, {}};
}

bool Planter::fits(const Plan& plan, const Candidate& candidate, std::uint32_t partitions) const {
  switch (plan.spec.kind) {
    case DefectKind::kLosePrefix:
    case DefectKind::kLoseKey: return candidate.sequence == 0;
    case DefectKind::kLoseTail: return candidate.sequence > 0;
    case DefectKind::kMisplace: return candidate.sequence >= kMisplaceFrom && partitions > 1 &&
                                       lost_partitions_.size() + 1 < partitions;
    case DefectKind::kLose:
    case DefectKind::kDuplicateWrite:
    case DefectKind::kReorderWrite:
    case DefectKind::kPhantom:
    case DefectKind::kAckUnstored:
    case DefectKind::kStoreUnacked:
    case DefectKind::kFreeze: return true;
    case DefectKind::kLosePartition:
    case DefectKind::kDuplicateDelivery:
    case DefectKind::kReorderDelivery:
    case DefectKind::kCorrupt:
    case DefectKind::kRewind:
    case DefectKind::kDualOwner: return false;
  }
  return false;
}

Fate Planter::plant_append(Plan& plan, const Candidate& candidate, std::uint32_t partitions) {
  Fate fate{plan.spec.kind, 0, candidate.partition, plan.spec.duration};
  Planted planted{.kind = plan.spec.kind, .key = std::string(candidate.key)};
  planted.first = planted.last = candidate.sequence;
  planted.partition = core::PartitionId(candidate.partition);
  if (plan.spec.kind == DefectKind::kFreeze) {
    planted = Planted{.kind = DefectKind::kFreeze};
    planted.complete = true;
  }
  if (plan.spec.kind == DefectKind::kMisplace) {
    do {
      fate.partition = static_cast<std::uint32_t>(plan.prng.below(partitions));
    } while (fate.partition == candidate.partition || partition_lost(fate.partition));
    planted.partition = core::PartitionId(fate.partition);
  }
  fate.item = book_.plant(std::move(planted));
  const auto whole = [&](std::uint64_t end) {
    whole_keys_[std::string(candidate.key)] = WholeKey{plan.spec.kind, fate.item, end};
    take(candidate.key, candidate.sequence, end == kAllSequences ? end - kNear - 2 : end);
  };
  if (plan.spec.kind == DefectKind::kLoseKey || plan.spec.kind == DefectKind::kLoseTail) {
    whole(kAllSequences);
  } else if (plan.spec.kind == DefectKind::kLosePrefix) {
    whole(plan.prng.between(1, plan.spec.length_max));
  } else if (plan.spec.kind != DefectKind::kFreeze) {
    take(candidate.key, candidate.sequence, candidate.sequence + 1);
  }
  fulfil(plan);
  return fate;
}

Fate Planter::on_append(const Candidate& candidate, std::uint32_t partitions) {
  if (plans_.empty()) return {};
  for (auto& plan : plans_) {
    const bool by_record = plan.unit == DefectUnit::kRecord || plan.unit == DefectUnit::kBroker;
    if (by_record || (plan.unit == DefectUnit::kKey && candidate.sequence == 0)) step(plan);
  }
  if (auto whole = whole_fate(candidate)) return *whole;
  for (auto& plan : plans_) {
    if (!plan.due || !fits(plan, candidate, partitions)) continue;
    if (!is_free(candidate.key, candidate.sequence)) break;
    return plant_append(plan, candidate, partitions);
  }
  return {};
}

bool Planter::step_delivery() {
  bool any = false;
  for (auto& plan : plans_) {
    if (plan.unit != DefectUnit::kDelivery && plan.unit != DefectUnit::kLineage) continue;
    step(plan);
    any = any || plan.due;
  }
  return any;
}

std::optional<DefectKind> Planter::due_delivery(const Candidate& candidate) const {
  for (const auto& plan : plans_) {
    if (!plan.due || plan.unit != DefectUnit::kDelivery) continue;
    if (plan.spec.kind == DefectKind::kCorrupt && candidate.payload_bytes < core::kPayloadBytesIdentified) continue;
    if (!is_free(candidate.key, candidate.sequence) ||
        !positions_free(candidate.partition, candidate.offset, candidate.offset)) {
      return std::nullopt;
    }
    return plan.spec.kind;
  }
  return std::nullopt;
}

TruthBook::Item Planter::planted(Planted planted) {
  if (Plan* plan = plan_of(planted.kind)) fulfil(*plan);
  return book_.plant(std::move(planted));
}

void Planter::missed(DefectKind kind) {
  Plan* plan = plan_of(kind);
  if (plan != nullptr && plan->spec.count == 0) plan->due = false;
}

bool Planter::due(DefectKind kind) const {
  return std::any_of(plans_.begin(), plans_.end(),
                     [&](const Plan& plan) { return plan.due && plan.spec.kind == kind; });
}

std::uint64_t Planter::draw_length(DefectKind kind) {
  Plan* plan = plan_of(kind);
  return plan == nullptr ? 1 : plan->prng.between(1, plan->spec.length_max);
}

void Planter::undo(TruthBook::Item item) {
  book_[item].complete = false;
  Plan* plan = plan_of(book_[item].kind);
  if (plan == nullptr || plan->spec.count == 0) return;
  ++plan->left;
  plan->next = std::min(plan->next, plan->seen + 1);
}

bool Planter::is_free(std::string_view key, std::uint64_t sequence) const {
  const auto found = taken_.find(std::string(key));
  if (found == taken_.end()) return true;
  const std::uint64_t begin = sequence > kNear ? sequence - kNear : 0;
  return found->second.count_in(begin, sequence + kNear + 1) == 0;
}

bool Planter::positions_free(std::uint32_t partition, std::uint64_t first, std::uint64_t last) const {
  const auto found = taken_positions_.find(partition);
  return found == taken_positions_.end() || found->second.count_in(first, last + 1) == 0;
}

std::uint64_t Planter::free_since(std::uint32_t partition, std::uint64_t begin, std::uint64_t end) const {
  const auto found = taken_positions_.find(partition);
  if (found == taken_positions_.end() || begin >= end) return begin;
  const auto part = found->second.clip(begin, end);
  return part.empty() ? begin : part.last() + 1;
}

void Planter::take(std::string_view key, std::uint64_t first, std::uint64_t last) {
  if (!active()) return;
  taken_[std::string(key)].insert_range(first, last + 1);
}

void Planter::take_positions(std::uint32_t partition, std::uint64_t first, std::uint64_t last) {
  if (!active()) return;
  taken_positions_[partition].insert_range(first, last + 1);
}

}  // namespace sp::driver::embedded

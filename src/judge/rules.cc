#include <algorithm>
#include <array>

#include "judge/rule.h"

namespace sp::judge {
namespace {

// lost, skip and reordered-delivery in this order: a record counts under the first that holds.
constexpr std::array kRules = {
    Rule{core::Code::kLost, rule_lost},
    Rule{core::Code::kLate, rule_late},
    Rule{core::Code::kDuplicateWrite, rule_duplicate_write},
    Rule{core::Code::kDuplicateDelivery, rule_duplicate_delivery},
    Rule{core::Code::kReorderedWrite, rule_reordered_write},
    Rule{core::Code::kSkip, rule_skip},
    Rule{core::Code::kReorderedDelivery, rule_reordered_delivery},
    Rule{core::Code::kRewind, rule_rewind},
    Rule{core::Code::kCommitAhead, rule_commit_ahead},
    Rule{core::Code::kPhantom, rule_phantom},
    Rule{core::Code::kMisplaced, rule_misplaced},
    Rule{core::Code::kCorrupt, rule_corrupt},
    Rule{core::Code::kInconsistentPosition, rule_inconsistent_position},
    Rule{core::Code::kBeforeStart, rule_before_start},
    Rule{core::Code::kDualOwner, rule_dual_owner},
    Rule{core::Code::kTornTransaction, rule_torn_transaction},
};
// stall, sub-death, precommitted-read, g0, g1c, g-single, g2: RunFacts::lab tells them
constexpr std::size_t kOfTheLab = 7;
static_assert(kRules.size() + kOfTheLab == core::kCodeCount, "every code has its rule");

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::vector<EarlierLineages> earlier_lineages(const track::State& state, const track::GroupPartition& partition) {
  const track::LineageOrder order = track::in_order(state, partition.lineages);
  const std::size_t count = order.numbers.size();
  const auto lineage = [&](std::size_t at) -> const track::Lineage& { return state.lineages[order.numbers[at]]; };
  std::vector<EarlierLineages> all;
  core::RangeSet handed;        // by all that stand before it
  core::RangeSet settled;       // by the first `settled_count`, which are before all that come now
  std::size_t settled_count = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const track::Lineage& own = lineage(at);
    while (settled_count < at && order.surely_over(lineage(settled_count), own)) settled.insert_all(lineage(settled_count++).handed);
    EarlierLineages earlier{order.numbers[at], track::committed_before(state, order, own), own.handed.intersect(handed),
                            own.handed.intersect(settled)};
    for (std::size_t other = settled_count; other < count; ++other) {
      if (other > at && order.surely_over(own, lineage(other))) break;
      const bool before = other != at && track::ordered_before(lineage(other), own);
      if (before) earlier.again.insert_all(own.handed.intersect(lineage(other).handed));
    }
    handed.insert_all(own.handed);
    all.push_back(std::move(earlier));
  }
  return all;
}

}  // namespace sp::judge

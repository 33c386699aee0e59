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

std::vector<std::uint32_t> lineages_in_order(const track::State& state, const track::GroupPartition& partition) {
  std::vector<std::uint32_t> order = partition.lineages;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return track::lineage_less(state.lineages[a], state.lineages[b]);
  });
  return order;
}

}  // namespace sp::judge

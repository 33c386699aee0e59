#include "coordinator/key_view.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "track/state.h"

namespace sp::coordinator {
namespace {

KeyView view_of(const track::State& state, core::KeyRef ref) {
  const track::KeyState& key = state.blocks[ref.block].keys[ref.index];
  KeyView view;
  view.key = state.keys.name(ref);
  view.issued = key.issued_end;
  if (const core::RangeSet acked = state.acked_set(key); !acked.empty()) {
    view.acked = core::Sequence{acked.last()};
    const bool found = key.scan_end == acked.last() + 1 && key.partition != track::kNone;
    if (found) view.acked_at = core::Position{core::PartitionId{key.partition}, core::Offset{key.scan_offset}};
  }
  if (const track::KeyDetail* const detail = state.key_details.find(key.detail)) {
    view.unknown = detail->unknown;
    view.failed = detail->failed;
  }
  for (std::uint32_t group = 0; group < state.groups.size(); ++group) {
    KeyView::Group into;
    into.name = state.groups[group].name;
    into.received = state.received_set(state.group_key(group, ref));
    if (!into.received.empty() && into.received.first() == 0) into.watermark = into.received.end_of_run(0);
    view.groups.push_back(std::move(into));
  }
  return view;
}

}  // namespace

Result<KeyView> view_key(const track::Ledger& ledger, std::string_view name) {
  const track::State& state = ledger.state();
  const auto dot = name.rfind('.');
  for (std::uint32_t block = 1; dot != std::string_view::npos && block < state.blocks.size(); ++block) {
    const auto index = parse_unsigned(name.substr(dot + 1));
    if (!index || *index >= state.blocks[block].keys.size()) continue;
    const core::KeyRef ref{block, static_cast<std::uint32_t>(*index)};
    if (state.keys.name(ref) == name) return view_of(state, ref);
  }
  return fail(ErrorCode::kNotFound, fmt::format("no producer of this proof owns a key '{}'", printable(name, 100)));
}

std::vector<KeyView> view_keys(const track::Ledger& ledger, std::size_t most) {
  const track::State& state = ledger.state();
  std::vector<KeyView> views;
  for (std::uint32_t block = 1; block < state.blocks.size(); ++block) {
    const auto count = static_cast<std::uint32_t>(state.blocks[block].keys.size());
    for (std::uint32_t index = 0; index < count && views.size() < most; ++index) views.push_back(view_of(state, {block, index}));
  }
  return views;
}

std::uint64_t deliveries(const track::Ledger& ledger) {
  std::uint64_t sum = 0;
  for (const track::Group& group : ledger.state().groups) sum += group.deliveries;
  return sum;
}

CheckpointSummary count_keys(const track::Ledger& ledger) {
  const track::State& state = ledger.state();
  CheckpointSummary counts;
  for (std::uint32_t block = 1; block < state.blocks.size(); ++block) {
    for (const track::KeyState& key : state.blocks[block].keys) {
      ++counts.latest_producer_keys;
      const track::GroupKey& group = key.first_group;
      if (group.lineage == track::kNone && group.top == 0) continue;
      ++counts.latest_consumer_keys;
      // All that has an outcome was received: nothing of the key is waited for.
      const track::GroupDetail* const detail = state.group_details.find(group.detail);
      if ((detail == nullptr || detail->holes.empty()) && group.top >= key.outcome_top) ++counts.verified_consumer_keys;
    }
  }
  counts.in_check_keys = counts.latest_producer_keys;
  counts.verified_producer_keys = counts.verified_consumer_keys;
  return counts;
}

}  // namespace sp::coordinator

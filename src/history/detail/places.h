// Where a member lives in Operation or Details, for those who go by table.
//
// Cost: a walk over a few rows.   Errors: a member that is not in the table is a bug.   Threads: constants.
// Source: docs/formats/history.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "history/schema.h"

namespace sp::history::detail {

template <typename Place>
struct PlaceRow {
  Member member;
  Place place;
};

constexpr std::array<PlaceRow<std::string Details::*>, 14> kTextPlaces = {{
    {Member::kError, &Details::error},
    {Member::kRun, &Details::run},
    {Member::kMode, &Details::mode},
    {Member::kProtocol, &Details::protocol},
    {Member::kMember, &Details::member},
    {Member::kInstance, &Details::instance},
    {Member::kScope, &Details::scope},
    {Member::kIsolation, &Details::isolation},
    {Member::kReason, &Details::reason},
    {Member::kLeader, &Details::leader},
    {Member::kInSync, &Details::in_sync},
    {Member::kController, &Details::controller},
    {Member::kDetail, &Details::detail},
    {Member::kStage, &Details::stage},
}};
constexpr std::array<PlaceRow<std::uint32_t Operation::*>, 4> kIdPlaces = {{
    {Member::kKey, &Operation::key},
    {Member::kTopic, &Operation::topic},
    {Member::kTxn, &Operation::txn},
    {Member::kGroup, &Operation::group},
}};
constexpr std::array<PlaceRow<std::uint64_t Operation::*>, 5> kNumberPlaces = {{
    {Member::kValue, &Operation::value},
    {Member::kGeneration, &Operation::generation},
    {Member::kN, &Operation::number},
    {Member::kWallNs, &Operation::number},
    {Member::kDropped, &Operation::number},
}};
constexpr std::array<PlaceRow<std::uint32_t Operation::*>, 2> kSmallPlaces = {{
    {Member::kPartition, &Operation::partition},
    {Member::kAsked, &Operation::asked},
}};  // and kQos, which is smaller

template <typename Table>
[[nodiscard]] constexpr auto place_of(const Table& table, Member member) {
  for (const auto& row : table) {
    if (row.member == member) return row.place;
  }
  CHECK(false, "the member is in the table of its kind");
  return table.front().place;
}

}  // namespace sp::history::detail

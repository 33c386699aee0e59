// What is kept of a key, and who takes part in the order.
#include "track/state.h"

#include <functional>

#include <gtest/gtest.h>

namespace sp::track {
namespace {

TEST(DetailTest, OfAKeyIsGivenBackOnlyIfNothingIsInIt) {
  EXPECT_TRUE(KeyDetail{}.empty());
  const std::vector<std::function<void(KeyDetail&)>> fills = {
      [](KeyDetail& d) { d.open.insert(1); },
      [](KeyDetail& d) { d.failed.insert(1); },
      [](KeyDetail& d) { d.unknown.insert(1); },
      [](KeyDetail& d) { d.landed.insert(1); },
      [](KeyDetail& d) { d.unknown_settled.insert(1); },
      [](KeyDetail& d) { d.unknown_cohorts.emplace_back(); },
      [](KeyDetail& d) { d.scan_holes.emplace_back(); },
      [](KeyDetail& d) { d.log = std::make_unique<KeyLog>(); },
      [](KeyDetail& d) { d.inverted.insert(1); },
      [](KeyDetail& d) { d.misplaced_said.insert(1); },
      [](KeyDetail& d) { d.home_guessed = true; },
      [](KeyDetail& d) { d.strays.emplace_back(); },
      [](KeyDetail& d) { d.provisional.insert(1); },
      [](KeyDetail& d) { d.raw_phantoms.insert(1); },
  };
  for (std::size_t at = 0; at < fills.size(); ++at) {
    KeyDetail detail;
    fills[at](detail);
    EXPECT_FALSE(detail.empty()) << at;
  }
}

TEST(DetailTest, OfAGroupIsGivenBackOnlyIfNothingIsInIt) {
  EXPECT_TRUE(GroupDetail{}.empty());
  const std::vector<std::function<void(GroupDetail&)>> fills = {
      [](GroupDetail& d) { d.holes.emplace_back(); },       [](GroupDetail& d) { d.phantoms.insert(1); },
      [](GroupDetail& d) { d.reordered.insert(1); },        [](GroupDetail& d) { d.late.insert(1); },
      [](GroupDetail& d) { d.arrived_late.insert(1); },     [](GroupDetail& d) { d.cohorts.emplace_back(); },
  };
  for (std::size_t at = 0; at < fills.size(); ++at) {
    GroupDetail detail;
    fills[at](detail);
    EXPECT_FALSE(detail.empty()) << at;
  }
}

TEST(DetailTest, APoolGivesAgainWhatWasGivenBackAndEmpty) {
  DetailPool<GroupDetail> pool;
  std::uint32_t first = kNone;
  std::uint32_t second = kNone;
  pool.get(first).late.insert(7);
  pool.get(second);
  EXPECT_EQ(pool.used(), 2U);
  const std::uint32_t had = first;
  pool.release(first);
  EXPECT_EQ(first, kNone);
  EXPECT_EQ(pool.used(), 1U);
  EXPECT_EQ(pool.find(first), nullptr);
  std::uint32_t third = kNone;
  EXPECT_TRUE(pool.get(third).empty());
  EXPECT_EQ(third, had);
  EXPECT_EQ(&pool.get(third), pool.find(third));
}

// Block 1 has one key, of which sequences 0 to 9 were issued.
class TakesPartTest : public testing::Test {
 protected:
  TakesPartTest() {
    state_.blocks.resize(2);
    state_.blocks[1].keys.resize(1);
    key().issued_end = 10;
    key().partition = 0;
  }
  KeyState& key() { return state_.blocks[1].keys[0]; }
  KeyDetail& detail() { return state_.key_details.get(key().detail); }
  // Which of the sequences 0 to 11 take part; the same is asked of each alone and of the set of it.
  std::string takes_part() {
    core::RangeSet all;
    for (std::uint64_t s = 0; s < 12; ++s) {
      core::RangeSet alone;
      alone.insert(s);
      EXPECT_EQ(state_.takes_part(kKey, s), state_.any_takes_part(kKey, alone)) << s;
      if (state_.takes_part(kKey, s)) all.insert(s);
    }
    return all.text();
  }
  static constexpr core::KeyRef kKey{1, 0};
  State state_{LedgerOptions{}};
};

TEST_F(TakesPartTest, WhatWasIssuedDoes) { EXPECT_EQ(takes_part(), "[0,10)"); }

TEST_F(TakesPartTest, WhatFailedDoesNot) {
  detail().failed.insert_range(3, 5);
  EXPECT_EQ(takes_part(), "[0,3) [5,10)");
  core::RangeSet some;
  some.insert_range(4, 6);
  EXPECT_TRUE(state_.any_takes_part(kKey, some));
}

TEST_F(TakesPartTest, WhatIsMisplacedDoesNot) {
  detail().misplaced_said.insert(2);
  KeyLog::Part stray;
  stray.partition = 1;
  stray.ordered.insert(6);
  KeyLog::Part home;
  home.partition = 0;
  home.ordered.insert(7);
  detail().strays = {stray, home};
  EXPECT_EQ(takes_part(), "[0,2) [3,6) [7,10)");
  detail().home_guessed = true;  // nobody knows where the key belongs: only what a payload said
  EXPECT_EQ(takes_part(), "[0,2) [3,10)");
  state_.options.contract.partition_change = true;
  EXPECT_EQ(takes_part(), "[0,10)");
}

TEST_F(TakesPartTest, AKeyOfNobodyDoesNot) {
  core::RangeSet some;
  some.insert(0);
  for (const core::KeyRef nobody : {core::KeyRef{1, 1}, core::KeyRef{2, 0}, core::KeyRef{0, kNone}}) {
    EXPECT_EQ(state_.key(nobody), nullptr);
    EXPECT_EQ(std::as_const(state_).key(nobody), nullptr);
    EXPECT_FALSE(state_.takes_part(nobody, 0));
    EXPECT_FALSE(state_.any_takes_part(nobody, some));
  }
}

TEST(StateTest, AnOwnerReportsUntilItIsLostOrAway) {
  State state{LedgerOptions{}};
  EXPECT_TRUE(state.owner_reports(core::KeySpace::kLiteralBlock));
  state.blocks.resize(2);
  state.blocks[1].identity.source = {0, 1};
  EXPECT_FALSE(state.owner_reports(1)) << "nobody of that name";
  Source& source = state.sources[{0, 1}];
  EXPECT_TRUE(state.owner_reports(1));
  source.away = true;
  EXPECT_FALSE(state.owner_reports(1));
  source.away = false;
  source.lost = true;
  EXPECT_FALSE(state.owner_reports(1));
}

TEST(StateTest, AlarmsAreKeptUpToTheirLimitAndSayWhatIsKnown) {
  LedgerOptions options;
  options.limits.named_max = 3;
  State state{options};
  state.alarm(core::Code::kLost, {.sequence = 4, .partition = 1, .offset = 5, .group = 0});
  state.alarm(core::Code::kPhantom, {.sequence = 4, .partition = 1});
  state.alarm(core::Code::kPhantom, {.sequence = 4, .offset = 5});
  state.alarm(core::Code::kLost, {});
  ASSERT_EQ(state.alarms.size(), 3U);
  EXPECT_EQ(state.alarms[0].group, core::GroupIndex{0});
  EXPECT_EQ(state.alarms[0].position, (core::Position{core::PartitionId{1}, core::Offset{5}}));
  EXPECT_EQ(state.alarms[1].group, std::nullopt);
  EXPECT_EQ(state.alarms[1].position, std::nullopt);
  EXPECT_EQ(state.alarms[2].position, std::nullopt);
}

TEST(StateTest, ANamedListCountsAllAndNamesSome) {
  NamedList list;
  for (std::uint64_t s = 0; s < 5; ++s) list.add({.sequence = s}, 2);
  EXPECT_EQ(list.count, 5U);
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items.back().sequence, 1U);
}

TEST(StateTest, GroupsHaveABitEachUpTo32) {
  EXPECT_EQ(all_groups_of(0), 0U);
  EXPECT_EQ(all_groups_of(1), 1U);
  EXPECT_EQ(all_groups_of(31), 0x7FFFFFFFU);
  EXPECT_EQ(all_groups_of(32), ~0U);
  EXPECT_EQ(all_groups_of(33), ~0U);
}

TEST(PlacesTest, OfARecordAreSortedAndToldOnce) {
  Places places;
  places.add({1, 0}, 5, 1, 9);
  places.add({1, 0}, 6, 0, 1);
  places.add({1, 0}, 5, 0, 7);
  places.add({1, 0}, 5, 0, 7);
  places.add({1, 1}, 5, 0, 2);
  places.sort();
  EXPECT_EQ(places.size(), 4U);
  const auto found = places.of({1, 0}, 5);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].second, (core::Position{core::PartitionId{0}, core::Offset{7}}));
  EXPECT_EQ(found[1].second, (core::Position{core::PartitionId{1}, core::Offset{9}}));
  EXPECT_TRUE(places.of({1, 0}, 4).empty());
  EXPECT_TRUE(places.of({2, 0}, 0).empty());
}

}  // namespace
}  // namespace sp::track

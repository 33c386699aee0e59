#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "proof/proof.h"

namespace sp::proof {
namespace {

TEST(DivisionTest, RemaindersGoToTheFirstOneEach) {
  Proof proof;
  proof.workers = 2;
  proof.producers = 5;
  proof.consumers = 4;
  proof.keys = 7;
  proof.rate = 1000;
  const Division division = divide(proof);
  std::string picture;
  for (const auto& share : division.producers)
    picture += fmt::format("{}.{}:{} ", share.worker, share.producer, share.keys);
  EXPECT_EQ(picture, "0.0:2 0.1:2 0.2:1 1.0:1 1.1:1 ");
  EXPECT_EQ(division.producers[0].rate, 200.0);
  EXPECT_EQ(division.consumers.size(), 4U);
}

TEST(DivisionTest, ASlowProofHasNoSilentProducer) {
  Proof proof;
  proof.rate = 1;
  for (const auto& share : divide(proof).producers) EXPECT_EQ(share.rate, 0.25);
}

// True if no two counts differ by more than one.
template <typename Map>
bool even(const Map& counts) {
  const auto [least, most] =
      std::minmax_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->second - least->second <= 1;
}

RC_GTEST_PROP(DivisionProperty, SumsMatchAndSharesDifferByAtMostOne,
              (std::uint8_t workers, std::uint8_t producers, std::uint8_t consumers,
               std::uint8_t groups, std::uint16_t keys, std::uint16_t rate)) {
  Proof proof;
  proof.workers = workers % 7U + 1;
  proof.producers = proof.workers + producers % 40U;
  proof.groups = groups % 5U + 1;
  proof.consumers = std::max(proof.workers, proof.groups) + consumers % 40U;
  proof.keys = proof.producers + keys;
  proof.rate = rate + 1U;
  const Division division = divide(proof);

  std::map<std::uint32_t, std::uint32_t> producers_of;
  std::map<std::size_t, std::uint64_t> keys_of;
  double rates = 0;
  for (std::size_t i = 0; i < division.producers.size(); ++i) {
    const ProducerShare& share = division.producers[i];
    RC_ASSERT(share.producer == producers_of[share.worker]++);
    RC_ASSERT(share.keys > 0U);
    keys_of[i] = share.keys;
    rates += share.rate;
  }
  std::uint64_t keys_sum = 0;
  for (const auto& [producer, count] : keys_of) keys_sum += count;
  RC_ASSERT(division.producers.size() == proof.producers);
  RC_ASSERT(producers_of.size() == proof.workers);
  RC_ASSERT(keys_sum == proof.keys);
  RC_ASSERT(std::abs(rates - static_cast<double>(proof.rate)) <
            1e-6 * static_cast<double>(proof.rate));
  RC_ASSERT(even(producers_of));
  RC_ASSERT(even(keys_of));

  std::map<std::uint32_t, std::uint32_t> consumers_of;
  std::map<std::uint32_t, std::uint32_t> members_of;
  for (const ConsumerShare& share : division.consumers) {
    RC_ASSERT(share.consumer == consumers_of[share.worker]++);
    ++members_of[share.group.value()];
  }
  RC_ASSERT(division.consumers.size() == proof.consumers);
  RC_ASSERT(members_of.size() == proof.groups);
  RC_ASSERT(even(consumers_of));
  RC_ASSERT(even(members_of));
}

TEST(ContractOfProofTest, CarriesWhatTheProofPromises) {
  Proof proof;
  proof.at_least_once = true;
  proof.timeout = std::chrono::seconds{7};
  proof.order = core::Order::kPartition;
  proof.retention = true;
  proof.raw_read = core::RawReadScope::kFull;
  proof.thresholds.errors_max = 3;
  const core::Contract contract = proof.contract(true);
  EXPECT_TRUE(contract.at_least_once);
  EXPECT_FALSE(contract.ordering);
  EXPECT_FALSE(contract.exactly_once);
  EXPECT_TRUE(contract.idempotent);
  EXPECT_EQ(contract.timeout, std::chrono::seconds{7});
  EXPECT_EQ(contract.order, core::Order::kPartition);
  EXPECT_TRUE(contract.gaps_retention);
  EXPECT_FALSE(contract.gaps_compaction);
  EXPECT_EQ(contract.raw_read, core::RawReadScope::kFull);
  EXPECT_EQ(contract.thresholds.errors_max, 3U);
  EXPECT_TRUE(contract.topic_created);
}

TEST(ContractOfProofTest, AReusedTopicMayHoldRecordsOfOtherRuns) {
  Proof proof;
  proof.topic_exists = TopicExists::kReuse;
  EXPECT_FALSE(proof.contract(false).topic_created);
}

}  // namespace
}  // namespace sp::proof

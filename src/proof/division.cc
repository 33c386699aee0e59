#include "proof/proof.h"

namespace sp::proof {
namespace {

// The share of number `index` when `total` things are divided evenly by `parts`: the remainder goes
// to the first, one each.
std::uint64_t even_share(std::uint64_t total, std::uint64_t parts, std::uint64_t index) {
  return total / parts + (index < total % parts ? 1 : 0);
}

}  // namespace

Division divide(const Proof& proof) {
  Division division;
  std::uint64_t producer = 0;  // over all workers
  std::uint32_t consumer = 0;
  for (std::uint32_t worker = 0; worker < proof.workers; ++worker) {
    const std::uint64_t producers = even_share(proof.producers, proof.workers, worker);
    for (std::uint32_t index = 0; index < producers; ++index, ++producer) {
      division.producers.push_back(
          {.worker = worker,
           .producer = index,
           .keys = static_cast<std::uint32_t>(even_share(proof.keys, proof.producers, producer)),
           .rate = static_cast<double>(proof.rate) / proof.producers});
    }
    const std::uint64_t consumers = even_share(proof.consumers, proof.workers, worker);
    for (std::uint32_t index = 0; index < consumers; ++index, ++consumer) {
      division.consumers.push_back({.worker = worker,
                                    .consumer = index,
                                    .group = core::GroupIndex{consumer % proof.groups}});
    }
  }
  return division;
}

core::Contract Proof::contract(bool idempotent_client) const {
  core::Contract contract;
  contract.at_least_once = at_least_once;
  contract.ordering = ordering;
  contract.exactly_once = exactly_once;
  contract.order = order;
  contract.idempotent = idempotent_client;
  contract.gaps_compaction = compaction;
  contract.gaps_retention = retention;
  contract.topic_created = topic_exists != TopicExists::kReuse;
  contract.raw_read = raw_read;
  contract.timeout = timeout;
  contract.thresholds = thresholds;
  return contract;
}

}  // namespace sp::proof

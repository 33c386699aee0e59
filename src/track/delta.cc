#include "track/delta.h"

#include <utility>

namespace sp::track {

std::size_t Delta::bytes() const {
  std::size_t sum = sizeof(Delta) + rows.size() * sizeof(Row) + blocks.size() * sizeof(core::KeyBlock) +
                    opens.size() * sizeof(LineageOpen) + commits.size() * sizeof(CommitFact);
  for (const auto& literal : literals) sum += sizeof(std::string) + literal.size();
  return sum;
}

void Checkpoint::add(Delta delta) {
  const auto [place, is_new] = deltas_.try_emplace(std::pair{delta.source, delta.number});
  if (is_new) place->second = std::move(delta);
}

void Checkpoint::combine(const Checkpoint& other) {
  for (const auto& [id, delta] : other.deltas_) deltas_.try_emplace(id, delta);
}

}  // namespace sp::track

// A checkpoint is a set of numbered deltas: combine is associative, commutative and idempotent.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "track/delta.h"

namespace sp::property {
namespace {

track::Checkpoint made(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& numbers) {
  track::Checkpoint checkpoint;
  for (const auto& [worker, number] : numbers) {
    track::Delta delta;
    delta.source = {static_cast<std::uint32_t>(worker % 3), 1};
    delta.number = 1 + number % 8;
    delta.rows.resize(delta.number);  // what a delta holds is given by its source and number
    checkpoint.add(std::move(delta));
  }
  return checkpoint;
}

track::Checkpoint combined(const track::Checkpoint& a, const track::Checkpoint& b) {
  track::Checkpoint result = a;
  result.combine(b);
  return result;
}

std::vector<std::pair<std::pair<core::SourceId, std::uint64_t>, std::size_t>> content(
    const track::Checkpoint& checkpoint) {
  std::vector<std::pair<std::pair<core::SourceId, std::uint64_t>, std::size_t>> items;
  for (const auto& [name, delta] : checkpoint.deltas()) items.emplace_back(name, delta.rows.size());
  return items;
}

using Numbers = std::vector<std::pair<std::uint8_t, std::uint8_t>>;

RC_GTEST_PROP(CheckpointProperty, CombineIsAssociative,
              (const Numbers& a, const Numbers& b, const Numbers& c)) {
  RC_ASSERT(content(combined(combined(made(a), made(b)), made(c))) ==
            content(combined(made(a), combined(made(b), made(c)))));
}

RC_GTEST_PROP(CheckpointProperty, CombineIsCommutative, (const Numbers& a, const Numbers& b)) {
  RC_ASSERT(content(combined(made(a), made(b))) == content(combined(made(b), made(a))));
}

RC_GTEST_PROP(CheckpointProperty, CombineIsIdempotent, (const Numbers& a)) {
  RC_ASSERT(content(combined(made(a), made(a))) == content(made(a)));
}

RC_GTEST_PROP(CheckpointProperty, AddingIsCombiningWithOne,
              (const Numbers& a, const std::pair<std::uint8_t, std::uint8_t>& one)) {
  Numbers all = a;
  all.push_back(one);
  RC_ASSERT(content(made(all)) == content(combined(made(a), made({one}))));
}

}  // namespace
}  // namespace sp::property

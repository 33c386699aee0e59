// RangeSet against the obvious model, a set of 256 flags, over every method.
//
// links: core
#include <bitset>

#include "core/range_set.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kNumbers = 256;
using Model = std::bitset<kNumbers>;
using sp::core::RangeSet;

struct Span {
  std::size_t begin;
  std::size_t end;
};

std::size_t count(const Model& model, Span span) {
  std::size_t inside = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) inside += model[i] ? 1U : 0U;
  return inside;
}

void demand_equal(const RangeSet& subject, const Model& model) {
  std::uint64_t before = 0;
  for (const auto& range : subject.ranges()) {
    sp::fuzz::demand(range.begin < range.end, "no range is empty");
    sp::fuzz::demand(&range == subject.ranges().data() || range.begin > before, "ranges rise and do not touch");
    before = range.end;
  }
  for (std::size_t i = 0; i < kNumbers; ++i)
    sp::fuzz::demand(subject.contains(i) == model[i], "both hold the same numbers");
  sp::fuzz::demand(subject.size() == model.count(), "both have the same size");
}

void change(sp::fuzz::Bytes& bytes, RangeSet& subject, Model& model) {
  const std::size_t number = bytes.next();
  const Span span{number, std::min(kNumbers, number + bytes.below(40))};
  const std::size_t inside = count(model, span);
  switch (bytes.below(5)) {
    case 0:
      sp::fuzz::demand(subject.insert(number) == !model[number], "insert says what was new");
      model.set(number);
      break;
    case 1:
      sp::fuzz::demand(subject.erase(number) == model[number], "erase says what was there");
      model.reset(number);
      break;
    case 2:
      sp::fuzz::demand(subject.count_in(span.begin, span.end) == inside, "count_in counts");
      sp::fuzz::demand(subject.insert_range(span.begin, span.end) == span.end - span.begin - inside,
                       "insert_range says how many");
      for (std::size_t i = span.begin; i < span.end; ++i) model.set(i);
      break;
    case 3:
      sp::fuzz::demand(subject.erase_range(span.begin, span.end) == inside, "erase_range says how many");
      for (std::size_t i = span.begin; i < span.end; ++i) model.reset(i);
      break;
    default: {
      std::size_t end = number;
      while (end < kNumbers && model[end]) ++end;
      sp::fuzz::demand(subject.end_of_run(number) == end, "end_of_run ends where the run does");
      Model clipped;
      for (std::size_t i = span.begin; i < span.end; ++i) clipped[i] = model[i];
      demand_equal(subject.clip(span.begin, span.end), clipped);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sp::fuzz::Bytes bytes(data, size);
  RangeSet subjects[2];
  Model models[2];
  while (!bytes.empty()) {
    const std::uint32_t which = bytes.below(2);
    change(bytes, subjects[which], models[which]);
    demand_equal(subjects[which], models[which]);
  }
  demand_equal(subjects[0].intersect(subjects[1]), models[0] & models[1]);
  demand_equal(subjects[0].minus(subjects[1]), models[0] & ~models[1]);
  sp::fuzz::demand(subjects[0].count_shared(subjects[1]) == (models[0] & models[1]).count(), "count_shared counts");
  subjects[0].insert_all(subjects[1]);
  demand_equal(subjects[0], models[0] | models[1]);
  return 0;
}

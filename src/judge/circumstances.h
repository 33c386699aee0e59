// What a finding is told with besides what is wrong: when it was established, which faults were felt meanwhile, which lineages
// read the partition it is about, and who went past a record that was lost.
//
//     established   of what passed its deadline: the tick that found it so · of what was noticed on the way: the moment it
//                   was · of all else: the judgement
//     is about      from the last tick that did not know the ack (of a loss), from what the noticing says (of what was
//                   noticed), else from the begin of the load; up to the moment it was established
//     a fault       is felt from its begin until records flowed as before; without end if that was never seen
//
// Shape:    a range of records has the earliest of its moments, and the span from the earliest to the last.
// Cost:     O(log anomalies) a record that is named; O(lineages of its partition) a finding.
// Limits:   kLineagesMax lineages a finding.
// Errors:   none: what is not known is absent.   Threads: one owner.   Source: docs/reference/result.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "judge/judge.h"
#include "judge/rule.h"
#include "track/state.h"

namespace sp::judge {

class Circumstances {
 public:
  static constexpr std::size_t kLineagesMax = 5;

  // Both outlive this.
  Circumstances(const track::State& state, const RunFacts& facts);
  // Adds what is known to a finding that was made of `items`.
  void tell(std::span<const Collector::Item> items, Finding& finding);

 private:
  // What is known of the time of some records; nothing: `at` is absent.
  struct Span {
    std::optional<MonotonicTime> since;
    std::optional<MonotonicTime> at;
    MonotonicTime last{};
    void add(MonotonicTime from, MonotonicTime to);
  };
  [[nodiscard]] Span span_of(std::span<const Collector::Item> items) const;
  void look_overdue(const Collector::Item& item, Span& span) const;
  void look_waiting(const Collector::Item& item, Span& span) const;
  void look_noticed(const Collector::Item& item, Span& span) const;
  void tell_faults(MonotonicTime since, MonotonicTime until, Finding& finding) const;
  void tell_lineages(const Collector::Item& head, Finding& finding);
  [[nodiscard]] const std::vector<std::uint32_t>& ordered(std::uint32_t group, std::uint32_t partition);

  const track::State& state_;
  const RunFacts& facts_;
  std::vector<track::Overdue> overdue_;  // by group, key, sequence
  std::vector<Noticed> noticed_;         // by code, group, key, sequence, position
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> ordered_;  // lineages, by group and partition
};

}  // namespace sp::judge

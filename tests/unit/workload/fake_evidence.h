// A FAKE keeper of evidence: a list of what was observed, acknowledged by the test's hand.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workload/evidence.h"

namespace sp::fake {

class FakeEvidence final : public workload::Evidence {
 public:
  void observe(const core::Observation& observation) override {
    seen.push_back(observation);
    const auto place = std::pair(observation.process, observation.partition.value());
    if (observation.event == core::Event::kDeliver) handed_[place] = observation.offset.value() + 1;
    if (observation.event == core::Event::kRevoke) {
      handed_.erase(place);
      covered_.erase(place);
    }
  }
  [[nodiscard]] bool held_back() const override { return hold; }
  [[nodiscard]] std::uint64_t acknowledged() const override { return acknowledged_; }
  void hurry() override { ++hurries; }
  [[nodiscard]] bool all_covered(std::uint32_t /*consumer*/) override { return covered_ == handed_; }
  [[nodiscard]] std::vector<driver::CommitPoint> take_covered(std::uint32_t consumer) override {
    std::vector<driver::CommitPoint> points;
    for (const auto& [place, next] : covered_) {
      if (place.first != consumer || taken_[place] == next) continue;
      taken_[place] = next;
      points.push_back({core::PartitionId{place.second}, core::Offset{next}});
    }
    return points;
  }
  // All that was observed so far is durable.
  void acknowledge() {
    ++acknowledged_;
    covered_ = handed_;
  }

  [[nodiscard]] std::size_t count(core::Event event) const {
    std::size_t found = 0;
    for (const auto& observation : seen) found += observation.event == event ? 1U : 0U;
    return found;
  }
  // "0:0 1:0 0:1": key and sequence of each such event, in order.
  [[nodiscard]] std::string list(core::Event event) const {
    std::string text;
    for (const auto& observation : seen) {
      if (observation.event != event) continue;
      if (!text.empty()) text += ' ';
      text += std::to_string(observation.key.index) + ":" + std::to_string(observation.sequence.value());
    }
    return text;
  }

  std::vector<core::Observation> seen;  // views in them are not to be read
  bool hold = false;
  int hurries = 0;

 private:
  using Places = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;
  Places handed_;
  Places covered_;
  Places taken_;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace sp::fake

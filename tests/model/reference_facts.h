// What the reference judge reads out of a history before it judges: attempts, lineages with what
// they handed over, the log as seen.
//
// Errors: none.   Threads: a value.   Source: docs/reference/findings.md.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/history.h"

namespace sp::model {

using Record = std::pair<Key, std::uint64_t>;  // key and sequence
using Place = std::optional<core::Position>;

// When something was: `at` in the list, `since` = the last tick its source had answered before,
// `until` = the first that it answered afterwards.
struct Moment {
  core::SourceId source;
  std::uint64_t since = 0;
  std::uint64_t until = 0;
  std::size_t at = 0;
};
// The only order there is: within a source its own, across sources by ticks.
[[nodiscard]] bool before(const Moment& x, const Moment& y);

struct Attempt {
  bool ok = false;
  bool fail = false;
  std::set<core::Position> acked_at;
  std::optional<std::uint64_t> ack_known_at_tick;  // the first tick that knows the ack
};

struct HandOver {
  Moment moment;
  Record record;
  Place place;
  core::Content content = core::Content::kIntact;
  std::optional<core::PartitionId> asked;  // by its payload
};

struct CommitDone {
  std::uint64_t next = 0;
  std::optional<std::uint64_t> highest_at_invoke;
  Moment answered;
};

struct Possession {  // a lineage
  core::SourceId source;
  std::uint32_t consumer = 0;
  std::uint32_t group = 0;
  core::PartitionId partition;
  std::optional<std::uint64_t> generation;
  std::optional<std::uint64_t> start;
  bool classic = true;
  std::string member;
  std::string instance;
  Moment opened;
  std::optional<core::LineageClose> close;
  Moment closed;
  std::optional<std::uint64_t> left_generation;  // at the close
  std::vector<HandOver> handed;
  std::vector<CommitDone> commits;  // with outcome ok
  // The stated start, else its first hand-over.
  [[nodiscard]] std::optional<std::uint64_t> begin() const;
};
// True if `a` is certainly before `b`: by generation, then opening.
[[nodiscard]] bool earlier(const Possession& a, const Possession& b);

struct Facts {
  std::map<Record, Attempt> attempts;
  std::set<core::SourceId> lost;     // sources that never ended properly
  std::vector<Possession> lineages;  // by (generation, opening)
  std::vector<std::pair<std::uint64_t, MonotonicTime>> ticks;
  MonotonicTime closed{};  // when the consumers were closed
  std::uint64_t unchecked = 0;

  [[nodiscard]] bool acked(const Record& record) const;
  [[nodiscard]] bool failed(const Record& record) const;
  [[nodiscard]] bool unknown(const Record& record)
      const;  // issued, and neither; or above the last report of a lost source
  [[nodiscard]] bool phantom(const HandOver& hand) const;
  [[nodiscard]] bool phantom(const Record& record, core::Content content) const;
};

[[nodiscard]] Facts read_facts(const History& history);

}  // namespace sp::model

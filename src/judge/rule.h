// What a rule is given and where it puts its results.
//
// A rule is one function: it reads the state, counts in the unit of its code, and names what is not allowed. Rules run in the
// order of the table in rules.cc; a record counts under at most one of lost > skip > reordered-delivery, so each of these
// leaves its records in Context::lost and Context::skipped.
//
// Cost: O(keys + anomalies) each.   Limits: Collector::kRangesMax ranges a code are kept before the list is cut.
// Errors: none.   Threads: one.   Source: docs/reference/findings.md.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/range_set.h"
#include "judge/judge.h"
#include "track/state.h"

namespace sp::judge {

// Gathers named anomalies and makes maximal ranges of them.
class Collector {
 public:
  static constexpr std::size_t kRangesMax = 1'000'000;  // a code

  // `stream`: positions are one number line.
  explicit Collector(const track::State& state, bool stream = false) : state_(state), stream_(stream) {}

  struct Item {
    core::Code code = core::Code::kLost;
    core::Blame blame = core::Blame::kNone;
    std::uint32_t group = track::kNone;
    core::KeyRef key{core::KeySpace::kLiteralBlock, track::kNone};
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint32_t lineage = track::kNone;
    std::optional<core::Position> position;
    std::string_view note;  // what happened, in words: a literal, or one of Context::sentences
  };
  void add(const Item& item);
  void add(core::Code code, const track::Named& named, std::string_view note, core::Blame blame = core::Blame::kNone);
  void add_all(core::Code code, const track::NamedList& list, std::string_view note);
  // The ranges of a set of sequences of one key.
  void add_set(core::Code code, std::uint32_t group, core::KeyRef key, const core::RangeSet& sequences,
               std::string_view note);

  // By code, group, key, first; `left_out` grows by what findings_max a code cut off. `complete` adds the circumstances to each
  // finding that is kept.
  using Complete = std::function<void(std::span<const Item>, Finding&)>;
  [[nodiscard]] std::vector<Finding> take(std::size_t findings_max, std::uint64_t& left_out, const Complete& complete);

 private:
  [[nodiscard]] Finding finding(std::span<const Item> run) const;
  // Lineages by who opened them when: their numbers depend on whose evidence came first.
  [[nodiscard]] std::tuple<core::SourceId, std::uint64_t> lineage_rank(std::uint32_t number) const;

  const track::State& state_;
  bool stream_ = false;
  std::map<core::Code, std::vector<Item>> items_;
  std::uint64_t dropped_ = 0;
};

// "worker 0 incarnation 1 consumer 2".
[[nodiscard]] std::string consumer_text(const track::Lineage& lineage);

using GroupKeySets = std::map<std::pair<std::uint32_t, core::KeyRef>, core::RangeSet>;

struct Context {
  const track::State& state;
  const core::Contract& contract;
  const RunFacts& facts;
  Judgement& result;
  Collector& findings;
  std::deque<std::string> sentences;  // what Collector::Item::note may be a view of
  std::map<std::string, std::string> transactions;  // by such a sentence: the name of the one it is about
  GroupKeySets lost;
  GroupKeySets skipped;

  std::uint64_t& count(core::Code code) { return result.counts[code]; }
  std::uint64_t& allowed(core::Code code) { return result.allowed[code]; }
};

struct Rule {
  core::Code code;
  void (*apply)(Context&);
};

// All rules, in the order in which they run: one for each code that a proof can have.
[[nodiscard]] std::span<const Rule> rules();

// Calls `visit(ref, key_state)` for every key.
template <typename Visit>
void for_each_key(const track::State& state, const Visit& visit) {
  for (std::uint32_t block = 0; block < state.blocks.size(); ++block) {
    const auto& keys = state.blocks[block].keys;
    for (std::uint32_t index = 0; index < keys.size(); ++index) visit(core::KeyRef{block, index}, keys[index]);
  }
}

// Of one lineage, what was before it.
struct EarlierLineages {
  std::uint32_t number = 0;      // of the lineage
  std::uint64_t committed = 0;   // track::committed_before()
  core::RangeSet shared;         // what it handed over and one that stands before it in the order did too
  core::RangeSet again;          // what it handed over and one that certainly came before it did too
};
// Of every lineage of a partition and group, in their order; where nothing orders two of them it is any.
[[nodiscard]] std::vector<EarlierLineages> earlier_lineages(const track::State& state, const track::GroupPartition& partition);

void rule_lost(Context& context);
void rule_late(Context& context);
void rule_duplicate_write(Context& context);
void rule_duplicate_delivery(Context& context);
void rule_reordered_write(Context& context);
void rule_reordered_delivery(Context& context);
void rule_skip(Context& context);
void rule_rewind(Context& context);
void rule_commit_ahead(Context& context);
void rule_phantom(Context& context);
void rule_misplaced(Context& context);
void rule_corrupt(Context& context);
void rule_inconsistent_position(Context& context);
void rule_before_start(Context& context);
void rule_dual_owner(Context& context);
void rule_torn_transaction(Context& context);

}  // namespace sp::judge

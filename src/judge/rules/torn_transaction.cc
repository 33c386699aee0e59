// torn-transaction: committed, but at the end only part of it is visible; what is missing is lost.
#include <fmt/core.h>

#include "judge/rule.h"

namespace sp::judge {
namespace {

class Torn {
 public:
  explicit Torn(const Context& context)
      : state_(context.state),
        raw_(context.contract.raw_read == core::RawReadScope::kFull && context.facts.raw_read_available &&
             context.facts.raw_read_complete) {
    for (const auto& [of, sequences] : context.lost) lost_[of.second].insert_all(sequences);
  }

  // Which of these sequences are visible: in the log where all of it was read, else those that some group received.
  [[nodiscard]] core::RangeSet visible(core::KeyRef ref, const core::Range& sequences) const {
    core::RangeSet seen;
    if (raw_) {
      for (const auto* read : {&state_.raw_seen, &state_.raw_damaged}) {
        if (const auto* found = read->find(ref)) seen.insert_all(found->clip(sequences.begin, sequences.end));
      }
      return seen;
    }
    for (std::uint32_t group = 0; group < state_.groups.size(); ++group) {
      seen.insert_all(state_.received_set(state_.group_key(group, ref)).clip(sequences.begin, sequences.end));
    }
    return seen;
  }
  [[nodiscard]] core::RangeSet lost(core::KeyRef ref, const core::Range& sequences) const {
    const auto found = lost_.find(ref);
    return found == lost_.end() ? core::RangeSet{} : found->second.clip(sequences.begin, sequences.end);
  }
  [[nodiscard]] bool nothing_lost() const { return lost_.empty(); }

 private:
  const track::State& state_;
  bool raw_;
  std::map<core::KeyRef, core::RangeSet> lost_;
};

void look(Context& context, const Torn& torn, const track::Transaction& transaction) {
  std::uint64_t records = 0;
  std::uint64_t missing = 0;
  std::uint64_t visible = 0;
  std::optional<track::RecordId> first;
  for (const auto& [ref, sequences] : transaction.records) {
    records += sequences.size();
    const core::RangeSet seen = torn.visible(ref, sequences);
    const core::RangeSet gone = torn.lost(ref, sequences).minus(seen);
    visible += seen.size();
    missing += gone.size();
    if (!first && !gone.empty()) first = track::RecordId{ref, gone.first()};
  }
  if (visible == 0 || !first) return;
  ++context.count(core::Code::kTornTransaction);
  context.sentences.push_back(fmt::format("{} of the {} records of transaction {} are missing", missing, records, transaction.name));
  context.transactions[context.sentences.back()] = transaction.name;
  Collector::Item item;
  item.code = core::Code::kTornTransaction;
  item.key = first->key;
  item.first = first->sequence;
  item.last = first->sequence;
  item.note = context.sentences.back();
  context.findings.add(item);
}

}  // namespace

void rule_torn_transaction(Context& context) {
  if (context.state.transactions.empty()) return;
  const Torn torn(context);
  if (torn.nothing_lost()) return;
  for (const auto& transaction : context.state.transactions) look(context, torn, transaction);
}

}  // namespace sp::judge

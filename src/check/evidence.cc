#include "check/evidence.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace sp::check {
namespace {

using history::Function;
using history::Member;
using history::Operation;

bool tells_of_a_record(Function function) {
  return function == Function::kPublish || function == Function::kDeliver || function == Function::kRead;
}

// Which findings a line is evidence of.
class Wanted {
 public:
  explicit Wanted(const std::vector<judge::Finding>& findings) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const judge::Finding& finding = findings[i];
      if (!finding.key.empty() || finding.nameless) {
        by_record_[finding.key].emplace(finding.first, i);
      } else {
        for (const auto& position : finding.positions) {
          by_place_.emplace(std::pair(position.partition.value(), position.offset.value()), i);
        }
      }
    }
  }
  template <typename Do>
  void each(const Operation& operation, const history::Vocabulary& vocabulary, Do act) {
    if (operation.has(Member::kValue)) {
      const auto nameless = operation.has(Member::kKey) ? by_record_.end() : by_record_.find("");
      const Records* own = nameless == by_record_.end() ? nullptr : &nameless->second;
      if (const Records* records = operation.has(Member::kKey) ? records_of(operation.key, vocabulary) : own) {
        for (auto [at, end] = records->equal_range(operation.value); at != end; ++at) act(at->second);
      }
    }
    if (by_place_.empty() || !operation.has(Member::kPosition)) return;
    const std::pair place(operation.position.partition, operation.position.offset);
    for (auto [at, end] = by_place_.equal_range(place); at != end; ++at) act(at->second);
  }

 private:
  using Records = std::multimap<std::uint64_t, std::size_t>;  // first sequence to finding

  // Looked up by name once for each key.
  const Records* records_of(std::uint32_t key, const history::Vocabulary& vocabulary) {
    while (known_.size() <= key) {
      const auto found = by_record_.find(vocabulary.keys.text(static_cast<std::uint32_t>(known_.size())));
      known_.push_back(found == by_record_.end() ? nullptr : &found->second);
    }
    return known_[key];
  }

  std::map<std::string, Records, std::less<>> by_record_;
  std::multimap<std::pair<std::uint32_t, std::uint64_t>, std::size_t> by_place_;
  std::vector<const Records*> known_;  // by number of the key's name
};

}  // namespace

Result<void> add_evidence(const std::vector<std::filesystem::path>& files, const history::Merge::Options& options,
                          std::vector<judge::Finding>& findings) {
  if (findings.empty()) return {};
  history::Vocabulary vocabulary;
  auto merge = history::Merge::open(files, vocabulary, options);
  if (!merge) return tl::unexpected(std::move(merge).error());
  Wanted wanted(findings);
  while (true) {
    const auto run = (*merge)->next();
    if (!run) return tl::unexpected(run.error());
    if (run->operations.empty()) return {};
    const std::string file = std::filesystem::path((*merge)->sources()[run->source].file).filename().string();
    for (const Operation& operation : run->operations) {
      if (!tells_of_a_record(operation.function)) continue;
      wanted.each(operation, vocabulary, [&](std::size_t finding) {
        auto& evidence = findings[finding].evidence;
        if (evidence.size() < kEvidenceMax) evidence.push_back({file, operation.line});
      });
    }
  }
}

}  // namespace sp::check

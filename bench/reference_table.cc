// links: reference check
// The engine beside the reference judge, which was written apart, slow and obvious: random histories of proofs, whose evidence arrives
// in any order, and random files of a lab, read from their text.
#include <map>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "check/lab_check.h"
#include "codec/byte_source.h"
#include "property/agreement.h"
#include "property/generator.h"
#include "record.h"

namespace sp::bench {
namespace {

// Every third is honest: whatever happens in it is allowed to happen.
model::History history_of(std::uint64_t seed) { return property::make_history(seed, {.honest = seed % 3 == 0}); }

Result<judge::Judgement> checked(const std::string& text) {
  history::Vocabulary vocabulary;
  const auto reader = history::Reader::open(std::make_unique<codec::TextSource>(text), "random.jsonl", vocabulary, {.threads = false});
  if (!reader) return tl::unexpected(reader.error());
  auto report = check::check_lab(**reader, vocabulary, {});
  if (!report) return tl::unexpected(std::move(report).error());
  return std::move(report->judgement);
}

class Tally {
 public:
  explicit Tally(Record& record) : record_(record) {}

  void proof(std::uint64_t seed) {
    const model::History history = history_of(seed);
    note(seed, property::disagreements(history, property::way_of(seed)));
    ++verdicts_["of a proof"];
  }
  Result<void> lab(std::uint64_t seed) {
    const model::LabFile file = model::lab_of(history_of(seed), seed);
    const auto judgement = checked(file.text);
    if (!judgement) return fail_up(Result<void>(tl::unexpected(judgement.error())), fmt::format("seed {}", seed));
    note(seed, property::disagreements(file, *judgement));
    ++verdicts_[fmt::format("of a lab, {}", judge::status_name(judgement->status))];
    operations_ += file.lines.size();
    return {};
  }
  [[nodiscard]] std::uint64_t disagreed() const { return disagreed_; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  [[nodiscard]] Table table() const {
    Table table{{"histories", "number"}, {}};
    for (const auto& [what, number] : verdicts_) table.rows.push_back({what, std::to_string(number)});
    return table;
  }

 private:
  void note(std::uint64_t seed, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    ++disagreed_;
    record_.wrong(fmt::format("seed {}: {}", seed, lines.front()));
  }

  Record& record_;
  std::uint64_t disagreed_ = 0;
  std::uint64_t operations_ = 0;
  std::map<std::string, std::uint64_t> verdicts_;
};

Result<void> body(const Request& request, Record& record) {
  Tally tally(record);
  const std::uint64_t from = request.number("from");
  for (std::uint64_t seed = from; seed < from + request.number("proofs"); ++seed) tally.proof(seed);
  for (std::uint64_t seed = from; seed < from + request.number("labs"); ++seed) {
    if (auto judged = tally.lab(seed); !judged) return judged;
  }
  record.table(tally.table());
  record.figure("histories of proofs", static_cast<double>(request.number("proofs")), "");
  record.figure("files of labs", static_cast<double>(request.number("labs")), "");
  record.figure("operations in files", static_cast<double>(tally.operations()), "");
  record.figure("disagreements", static_cast<double>(tally.disagreed()), "", at_most(0));
  record.note(
      "Compared are the verdict, all counts, what is allowed of them, what is undecided, and the attempts by outcome; of proofs also who "
      "is "
      "blamed for a loss. Histories have partitions, groups, rebalances with zombies, unknown outcomes, late landings, retention and "
      "compaction; two of three have mutations.");
  return {};
}

}  // namespace
}  // namespace sp::bench

int main(int count, char** arguments) {
  return sp::bench::run_bench({"reference",
                               "The engine beside the reference judge",
                               {{"proofs", 100'000, 200, "random histories of proofs"},
                                {"labs", 100'000, 200, "random files of labs"},
                                {"from", 1, 1, "the first seed"}}},
                              count, arguments, sp::bench::body);
}

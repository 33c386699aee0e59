#include "report/words.h"

#include <fmt/core.h>

#include "base/text.h"

namespace sp::report {

std::vector<std::string> features(const proof::Proof& proof) {
  std::vector<std::string> names;
  if (proof.at_least_once) names.emplace_back("at_least_once");
  if (proof.ordering) names.emplace_back("ordering");
  if (proof.exactly_once) names.emplace_back("exactly_once");
  return names;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string position_text(const core::Position& position) {
  return fmt::format("partition {} offset {}", position.partition.value(), position.offset.value());
}

std::string nothing_wrong(const Report& report) {
  return fmt::format("all {} acknowledged records are accounted for",
                     grouped(report.judgement.coverage.acked));
}

std::vector<std::string> blind_spots(const Report& report) {
  std::vector<std::string> out;
  const auto& coverage = report.judgement.coverage;
  const auto& facts = report.facts;
  const auto add = [&](std::uint64_t number, std::string_view text) {
    if (number > 0) out.push_back(fmt::format("{} {}", grouped(number), text));
  };
  if (coverage.unknown > 0) {
    out.push_back(
        fmt::format("{} attempts have an unknown outcome; {} of them were seen, of the others "
                    "nothing is claimed",
                    grouped(coverage.unknown), grouped(coverage.landed)));
  }
  for (const auto& [what, count] : coverage.not_checked) {
    if (count > 0) out.push_back(fmt::format("not checked: {} ({})", what, grouped(count)));
  }
  add(report.judgement.undecided, "records are undecided: neither received nor proven lost");
  add(coverage.unverifiable,
      "positions were committed by a worker that died before it reported them");
  add(coverage.positions_absent, "acknowledgements came without a position");
  add(coverage.foreign, "records of others were found in the topic");
  add(coverage.expired, "records left the log by retention, which the contract allows");
  add(coverage.compacted, "records left the log by compaction, which the contract allows");
  add(coverage.pairs_not_judged, "pairs across a declared partition change were not compared");
  add(coverage.keys_silent,
      "keys were never exercised: fewer keys, a longer run or a higher rate reach them");
  add(coverage.partitions_silent, "partitions never held a record: more keys reach them");
  for (const auto& kind : facts.faults_without_effect)
    out.push_back(fmt::format("fault {}: none took effect", kind));
  if (!facts.raw_read_available) {
    out.emplace_back("this driver cannot read the log itself: no loss has a blame");
  } else if (!facts.raw_read_complete) {
    out.push_back(facts.raw_read_problem.empty()
                      ? "the log itself was not read"
                      : "the log was not read to its end: " + facts.raw_read_problem);
  } else if (report.proof.raw_read == core::RawReadScope::kHoles) {
    out.emplace_back(
        "the log was read only where something was missing (--raw-read full reads all of it)");
  }
  for (const auto& worker : facts.workers_lost) out.push_back("lost: " + worker);
  for (const auto& sentence : facts.missing) out.push_back(sentence);
  return out;
}

std::string what_to_do(const Report& report) {
  switch (report.judgement.status) {
    case judge::Status::kPassed:
    case judge::Status::kClean:
      return "";
    case judge::Status::kInvalid:
      return "What to do: the experiment is broken, so nothing it shows counts; mend what the reasons name and run it again.";
    case judge::Status::kFailed:
      return "What to do: start with the first finding; its blame says whether the log, a client "
             "or the pace is at fault.";
    case judge::Status::kInconclusive:
      return "What to do: nothing wrong is proven and nothing right either; remove what the "
             "reasons name and run again.";
    case judge::Status::kStopped:
      return report.facts.interrupted ? "What to do: it was interrupted, so what was outstanding "
                                        "is not judged; stop with one Ctrl-C to have it judged."
                                      : "What to do: nothing wrong was found up to the stop; let "
                                        "it run to its end for a verdict.";
    case judge::Status::kSlow:
      return "What to do: the guarantees held; look at the latencies, or widen the budget that was "
             "passed.";
  }
  return "";
}

}  // namespace sp::report

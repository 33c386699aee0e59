#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/check.h"
#include "judge/circumstances.h"
#include "judge/judge.h"
#include "judge/rule.h"

namespace sp::judge {
namespace {

using core::Code;

std::string plural(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// What a reader is told of a broken guarantee.
std::string sentence(Code code, std::uint64_t n) {
  switch (code) {
    case Code::kLost: return plural(n, "acknowledged record was", "acknowledged records were") + " never received";
    case Code::kLate: return plural(n, "record", "records") + " arrived after the deadline";
    case Code::kDuplicateWrite: return plural(n, "record was", "records were") + " stored more than once";
    case Code::kDuplicateDelivery: return plural(n, "delivery", "deliveries") + " repeated without a reason that is allowed";
    case Code::kReorderedWrite: return plural(n, "record stands", "records stand") + " in the log behind a later one of its key";
    case Code::kReorderedDelivery: return plural(n, "record was", "records were") + " handed over out of order";
    case Code::kSkip: return plural(n, "record was", "records were") + " jumped over by a consumer";
    case Code::kRewind: return plural(n, "record was", "records were") + " handed over again after a start below the committed position";
    case Code::kCommitAhead: return plural(n, "record was", "records were") + " committed before being handed over";
    case Code::kPhantom: return plural(n, "record appeared", "records appeared") + " that nobody wrote successfully";
    case Code::kMisplaced: return plural(n, "record stands", "records stand") + " in the wrong partition";
    case Code::kCorrupt: return plural(n, "record was", "records were") + " damaged";
    case Code::kInconsistentPosition: return plural(n, "position was", "positions were") + " seen with two different records";
    case Code::kBeforeStart: return plural(n, "record was", "records were") + " delivered from below the start position";
    case Code::kDualOwner: return plural(n, "partition had", "partitions had") + " two owners in one generation";
    case Code::kTornTransaction: return plural(n, "committed transaction is", "committed transactions are") + " visible in part only";
    case Code::kPrecommittedRead: return plural(n, "record was", "records were") + " handed over before the commit was requested";
    case Code::kG0: return plural(n, "set", "sets") + " of transactions wrote in each other's midst";
    case Code::kG1c: return plural(n, "set", "sets") + " of transactions saw each other in a circle";
    case Code::kGSingle: return plural(n, "set", "sets") + " of transactions form a circle in which one missed what the next wrote";
    case Code::kG2: return plural(n, "set", "sets") + " of transactions form a circle in which several missed what the next wrote";
    case Code::kStall: return plural(n, "consumer", "consumers") + " had not reached the end of what was acknowledged";
    case Code::kSubDeath: return plural(n, "subscription", "subscriptions") + " died while another of the same partition went on";
  }
  return {};
}

std::uint64_t not_allowed(const Judgement& result, Code code) {
  DCHECK(result.allowed[code] <= result.counts[code], "what is allowed was counted");
  return result.counts[code] - std::min(result.counts[code], result.allowed[code]);
}

void guarantees(const core::Contract& contract, Judgement& result, std::vector<std::string>& failed) {
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<Code>(i);
    const std::uint64_t n = not_allowed(result, code);
    if (n > 0 && contract.forbids(code)) failed.push_back(sentence(code, n));
  }
}

void thresholds(const track::Ledger& ledger, const core::Contract& contract, const RunFacts& facts,
                const Judgement& result, std::vector<std::string>& failed, std::vector<std::string>& inconclusive) {
  const core::Thresholds& limits = contract.thresholds;
  const track::Progress progress = ledger.progress();
  const auto stall = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(progress.stall_max).count());
  if (limits.stall_seconds_max && *limits.stall_seconds_max > 0 && stall > *limits.stall_seconds_max) {
    failed.push_back(fmt::format("Verification stalled for {}s, exceeding the configured limit of {}s.", stall,
                                 *limits.stall_seconds_max));
  }
  const std::uint64_t duplicates = not_allowed(result, Code::kDuplicateWrite) + not_allowed(result, Code::kDuplicateDelivery);
  if (limits.duplicates_max && duplicates > *limits.duplicates_max) {
    failed.push_back(fmt::format("{} duplicates, more than maxDuplicates {}", duplicates, *limits.duplicates_max));
  }
  const std::uint64_t errors = progress.failed + progress.unknown;
  if (limits.errors_max && errors > *limits.errors_max) {
    failed.push_back(fmt::format("{} attempts without success, more than maxErrors {}", errors, *limits.errors_max));
  }
  if (limits.timeouts_max && progress.timeouts > *limits.timeouts_max) {
    failed.push_back(fmt::format("{} ticks at which a record newly passed its deadline, more than maxTimeouts {}",
                                 progress.timeouts, *limits.timeouts_max));
  }
  if (limits.rate_min && facts.rate && *facts.rate < *limits.rate_min) {
    inconclusive.push_back(fmt::format("the load reached {:.1f} attempts a second, under minRate {:.1f}", *facts.rate, *limits.rate_min));
  }
}

void evidence(const track::State& state, const core::Contract& contract, const RunFacts& facts, const Judgement& result,
              std::vector<std::string>& inconclusive) {
  if (state.acked == 0) inconclusive.emplace_back("nothing was acknowledged, so nothing was proven");
  if (result.undecided > 0) {
    inconclusive.push_back(plural(result.undecided, "acknowledged record is", "acknowledged records are") +
                           " undecided: not received, and neither overdue nor shown to be lost");
  }
  if (result.coverage.unverifiable > 0) {
    inconclusive.push_back(plural(result.coverage.unverifiable, "record is", "records are") +
                           " unverifiable: committed by a consumer that died before it reported them");
  }
  for (const auto& worker : facts.workers_lost) inconclusive.push_back("worker lost with evidence: " + worker);
  for (const auto& missing : facts.missing) inconclusive.push_back(missing);
  const bool something_missing = result.counts[Code::kLost] + result.undecided > 0;
  const bool needed = contract.raw_read == core::RawReadScope::kFull ||
                      (contract.raw_read == core::RawReadScope::kHoles && something_missing);
  if (needed && facts.raw_read_available && !facts.raw_read_complete && !facts.interrupted) {
    inconclusive.push_back("the raw read is incomplete" +
                           (facts.raw_read_problem.empty() ? std::string() : ": " + facts.raw_read_problem));
  }
  for (const auto& kind : facts.faults_without_effect) {
    inconclusive.push_back("no fault of kind " + kind + " took effect, so nothing was tested by it");
  }
  const auto limits = [&](const std::map<std::string, std::uint64_t>& not_checked) {
    for (const auto& [name, n] : not_checked) {
      const auto code = core::find_code(name);
      if (code && !contract.forbids(*code)) continue;
      inconclusive.push_back(fmt::format("{} times {} could not be checked because a limit was reached", n, name));
    }
  };
  limits(state.not_checked);
  if (facts.lab) limits(facts.lab->not_checked);
}

void cover(const track::Ledger& ledger, const core::Contract& contract, Judgement& result) {
  const track::State& state = ledger.state();
  Coverage& coverage = result.coverage;
  const track::Progress progress = ledger.progress();
  coverage.attempts = progress.issued;
  coverage.acked = progress.acked - state.proven;
  coverage.failed = progress.failed;
  coverage.unknown = progress.unknown + state.proven;
  coverage.received = progress.received;
  coverage.foreign = state.foreign;
  coverage.positions_absent = state.unpositioned;
  coverage.pairs_not_judged = state.pairs_not_judged;
  for_each_key(state, [&](core::KeyRef /*ref*/, const track::KeyState& key) {
    if (const auto* detail = state.key_details.find(key.detail)) coverage.landed += detail->landed.size();
  });
  for (std::uint32_t block = 1; block < state.blocks.size(); ++block) {
    for (const auto& key : state.blocks[block].keys) coverage.keys_silent += key.issued_end == 0 ? 1 : 0;
  }
  for (std::uint32_t number = 0; number < state.partitions.size(); ++number) {
    const auto& partition = state.partitions[number];
    if (partition.log_begin && partition.log.head() == 0 && partition.acked_end == 0) ++coverage.partitions_silent;
  }
  for (const auto& [name, n] : state.not_checked) coverage.not_checked[name] += n;
  if (state.unchecked > 0) coverage.not_checked["corrupt"] += state.unchecked;
  if (contract.shared) {
    for (const Code code : {Code::kReorderedWrite, Code::kReorderedDelivery, Code::kSkip}) {
      coverage.not_checked[std::string(core::code_row(code).name)] += progress.received;
    }
  }
  // By position a skip is one of all keys; it is found within a key only.
  std::uint64_t keys = 0;
  for_each_key(state, [&](core::KeyRef /*ref*/, const track::KeyState& key) { keys += key.issued_end == 0 ? 0 : 1; });
  if (contract.order == core::Order::kPartition && keys > 1) coverage.not_checked["skip by position"] = progress.received;
  if (contract.raw_read != core::RawReadScope::kFull) coverage.not_checked["durability-after-delivery"] = progress.received;
}

void name(const Rest& one, Judgement& result) {
  Finding& finding = result.findings.emplace_back();
  finding.code = one.code;
  finding.group = one.group;
  finding.consumer = one.consumer;
  finding.records = 1;
  finding.positions = one.positions;
  finding.transactions = one.transactions;
  finding.says = one.says;
  finding.key = one.key;
  finding.nameless = one.nameless;
  finding.first = one.sequence;
  finding.last = one.sequence;
}

// What only the history of a lab shows: counted and named behind all else.
void rest(const LabFacts& lab, const JudgeOptions& options, Judgement& result) {
  for (const auto& [name, n] : lab.not_checked) result.coverage.not_checked[name] += n;
  if (lab.single_acks && options.rule_off != Code::kDuplicateDelivery) {
    const auto& forbidden = lab.single_acks->forbidden;
    const std::size_t named = std::min(forbidden.size(), options.findings_max);
    for (std::size_t at = 0; at < named; ++at) name(forbidden[at], result);
    result.findings_left_out += forbidden.size() - named;
  }
  for (const Rest& one : lab.rests) {
    if (options.rule_off == one.code) continue;
    if (++result.counts[one.code] > options.findings_max) {
      ++result.findings_left_out;
    } else {
      name(one, result);
    }
  }
}

struct Reasons {
  std::vector<std::string> failed;
  std::vector<std::string> inconclusive;
};

void conclude_proof(const RunFacts& facts, Reasons reasons, Judgement& result) {
  if (!reasons.failed.empty()) {
    result.status = Status::kFailed;
  } else if (!reasons.inconclusive.empty()) {
    result.status = Status::kInconclusive;
  } else if (facts.stopped || facts.interrupted) {
    result.status = Status::kStopped;
  } else {
    result.status = Status::kPassed;
  }
  result.reasons = std::move(reasons.failed);
  result.reasons.insert(result.reasons.end(), reasons.inconclusive.begin(), reasons.inconclusive.end());
  if (facts.stopped) result.reasons.emplace_back("The run was stopped manually.");
}

// A broken experiment must never look like a result: what makes it invalid comes before what it shows.
void conclude_lab(const LabFacts& lab, const Reasons& reasons, Judgement& result) {
  result.reasons = lab.invalid;
  for (const auto* more : {&reasons.inconclusive, &reasons.failed, &lab.slow}) {
    result.reasons.insert(result.reasons.end(), more->begin(), more->end());
  }
  const bool invalid = !lab.invalid.empty() || !reasons.inconclusive.empty();
  result.status = invalid                  ? Status::kInvalid
                  : !reasons.failed.empty() ? Status::kFailed
                  : !lab.slow.empty()       ? Status::kSlow
                                            : Status::kClean;
}

}  // namespace

std::string_view status_name(Status status) {
  constexpr std::array<std::string_view, 7> kNames = {"passed", "failed", "inconclusive", "stopped", "slow", "clean", "invalid"};
  return kNames[static_cast<std::size_t>(status)];
}

int exit_code(Status status) {
  constexpr std::array<int, 7> kCodes = {0, 1, 2, 2, 4, 0, 2};
  return kCodes[static_cast<std::size_t>(status)];
}

Judgement judge(const track::Ledger& ledger, const core::Contract& contract, const RunFacts& facts,
                const JudgeOptions& options) {
  const track::State& state = ledger.state();
  Judgement result;
  Collector findings(state, facts.lab && facts.lab->stream);
  Context context{.state = state, .contract = contract, .facts = facts, .result = result, .findings = findings,
                  .sentences = {}, .transactions = {}, .lost = {}, .skipped = {}};
  for (const Rule& rule : rules()) {
    if (options.rule_off != rule.code) rule.apply(context);
  }
  Circumstances circumstances(state, facts);
  result.findings = findings.take(options.findings_max, result.findings_left_out,
                                  [&](std::span<const Collector::Item> items, Finding& finding) {
                                    circumstances.tell(items, finding);
                                    const auto about = context.transactions.find(finding.says);
                                    if (about != context.transactions.end()) finding.transactions.push_back(about->second);
                                  });
  cover(ledger, contract, result);

  if (facts.lab) rest(*facts.lab, options, result);

  Reasons reasons;
  guarantees(contract, result, reasons.failed);
  thresholds(ledger, contract, facts, result, reasons.failed, reasons.inconclusive);
  evidence(state, contract, facts, result, reasons.inconclusive);
  if (facts.lab) {
    conclude_lab(*facts.lab, reasons, result);
  } else {
    conclude_proof(facts, std::move(reasons), result);
  }
  if (result.status == Status::kPassed || result.status == Status::kClean) {
    result.reasons.push_back(
        fmt::format("all {} acknowledged records were received, and nothing that is promised was broken", state.acked));
  }
  return result;
}

}  // namespace sp::judge

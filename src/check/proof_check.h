// The histories of a proof, judged again: what the coordinator did to its ledger is done to another one, in the order that its own file
// tells, with the evidence out of the workers' files.
//
//     worker-0.1 … worker-n.m ─► observations ─► Recorder ─► deltas ─┐
//     coordinator ─► ticks, stages, bounds, losses ──────────────────┴─► Ledger ─► judge ─► Report
//
// The verdict, its reasons, all counts and the findings are those of the run, to the digit. Times, faults of a finding and its wording
// may differ.
//
// Where the files lack what the coordinator had seen (one is missing, ends too early, says that it is incomplete) nothing is concluded: the
// verdict is inconclusive, no code is counted, each stands in not_checked.
//
// Cost:     200 ns an operation.   Limits: those of Merge and of the ledger; CheckOptions::keys_max.
// Errors:   those of Merge; kInvalid: files that are no proof, with what is missing; kParse: file, line and what is wrong there.
// Threads:  one owner; files are decompressed on threads of their own.   Source: the checking model, "Online = offline".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.h"
#include "history/merge.h"
#include "judge/judge.h"
#include "report/report.h"

namespace sp::check {

constexpr std::uint64_t kRowsInDelta = 16'384;                    // handed to the ledger at once
constexpr std::uint64_t kOperationsBetweenProgress = 1'000'000;

struct CheckOptions {
  history::Merge::Options merge;
  judge::JudgeOptions judging;
  std::uint64_t keys_max = 200'000'000;  // keys × groups, 64 bytes each
  std::function<void(std::uint64_t operations)> progress;  // now and then: how many were read
};

// Of files that are open; the vocabulary is theirs.
[[nodiscard]] Result<report::Report> check_proof(history::Merge& merge, const history::Vocabulary& vocabulary, const CheckOptions& options);
// The files in any order; one of them is the coordinator's.
[[nodiscard]] Result<report::Report> check_proof(const std::vector<std::filesystem::path>& files, const CheckOptions& options);

}  // namespace sp::check

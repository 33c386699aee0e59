// The history of a lab, judged: one scenario, one file, by the engine that judges proofs.
//
//     file ─► Retold ─► Recorder ─► Ledger ─┐
//       └───► LabWatch ─────────────────────┴─► judge ─► Report: clean, failed, slow or invalid
//
// The file's own contract says what is forbidden, or CheckOptions::contract. In one file the order of its lines is the order of what
// happened.
//
// Cost:     200 ns an operation of one key, 350 ns of many.   Limits: those of Retold and of the ledger; Ledger::kGroupsMax groups.
// Errors:   those of Reader, Retold and LabWatch; kFull: more groups or keys than can be judged.
// Threads:  one owner; a file is read on a thread of its own, and decompressed on another.
// Source:   docs/formats/history.md, "A file of a lab".
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "check/contract.h"
#include "check/proof_check.h"
#include "history/reader.h"
#include "report/report.h"

namespace sp::check {

struct LabOptions {
  std::optional<Promise> promise;        // absent: the file's own
  judge::JudgeOptions judging;
  bool salvage = false;                  // judge a file that is cut off up to there
  bool threads = true;                   // of a file: read it on threads of its own
  std::atomic<std::uint64_t>* bytes_read = nullptr;  // as the reader's
  std::function<void(std::uint64_t operations)> progress;  // now and then: how many were read
};

// Of a file that is open; the vocabulary is its own.
[[nodiscard]] Result<report::Report> check_lab(history::Reader& reader, const history::Vocabulary& vocabulary, const LabOptions& options);
[[nodiscard]] Result<report::Report> check_lab(const std::filesystem::path& file, const LabOptions& options);

}  // namespace sp::check

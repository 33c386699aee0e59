// The folder that --history names, and the files that check is given.
//
// Errors:   kInvalid, kNotFound, kIo: each with the remedy.
// Threads:  pure but for the file system.
// Source:   docs/formats/history.md, "Files".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/proof_history.h"
#include "report/report.h"

namespace sp::cli {

// Makes the folder; no history may be in it yet. "": none is kept, and the factory is empty.
[[nodiscard]] Result<control::HistoryFactory> history_factory(const std::string& folder);
// Folders stand for the histories in them, in the order of their names; "-", at most once, for standard input, which is kept
// as a file for as long as the program runs, because judging reads a history more than once.
[[nodiscard]] Result<std::vector<std::filesystem::path>> history_files(const std::vector<std::string>& names);

// How to ask why the first finding says what it says; "" if there is none, or no history was kept.
[[nodiscard]] std::string why_hint(const report::Report& report, const std::string& folder);

}  // namespace sp::cli

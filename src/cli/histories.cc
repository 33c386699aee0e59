#include "cli/histories.h"

#include <algorithm>
#include <system_error>

#include <fmt/core.h>

#include "history/convert.h"
#include "sys/files.h"
#include "sys/streams.h"

namespace sp::cli {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> histories_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (history::form_of(at->path())) found.push_back(at->path());
  }
  if (error) return fail(ErrorCode::kIo, fmt::format("cannot look into {}: {}", folder.string(), error.message()));
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<control::HistoryFactory> history_factory(const std::string& folder) {
  if (folder.empty()) return control::HistoryFactory();
  if (auto made = sys::make_folders(folder); !made) return fail_up(std::move(made), "--history");
  const auto there = histories_of(folder);
  if (!there) return fail_up(Result<void>(tl::unexpected(there.error())), "--history");
  if (!there->empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("--history {}: it holds the history of another run ({}): name a new folder",
                                                 folder, there->front().filename().string()));
  }
  return control::histories_in(folder);
}

Result<std::vector<fs::path>> history_files(const std::vector<std::string>& names) {
  std::vector<fs::path> files;
  if (std::ranges::count(names, "-") > 1) {
    return fail(ErrorCode::kInvalid, "- is named twice: standard input is one file; write the others to files and name these");
  }
  for (const auto& name : names) {
    std::error_code error;
    if (name == "-") {
      if (auto kept = sys::keep_standard_input(); !kept) return tl::unexpected(std::move(kept).error());
      files.emplace_back(sys::kStandardInputFile);
      continue;
    }
    if (!fs::is_directory(name, error)) {
      files.emplace_back(name);
      continue;
    }
    auto found = histories_of(name);
    if (!found) return found;
    if (found->empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{} holds no history (.jsonl, .jsonl.zst, .sph): was the run made with --history?", name));
    }
    files.insert(files.end(), found->begin(), found->end());
  }
  return files;
}

std::string why_hint(const report::Report& report, const std::string& folder) {
  if (folder.empty() || report.judgement.findings.empty()) return "";
  return fmt::format("why: streaming-proof check {} --explain 1", folder);
}

}  // namespace sp::cli

#include "cli/run_folder.h"

#include "sys/files.h"

namespace sp::cli {

RunFolder::RunFolder(core::RunId run, const std::string& out)
    : path_(out.empty() ? std::filesystem::path("runs") / core::run_text(run)
                        : std::filesystem::path(out)) {}

Result<void> RunFolder::open(const std::string& proof_yaml) const {
  auto made = sys::make_folders(path_);
  if (!made) return made;
  return sys::write_atomically(path_ / "proof.yaml", proof_yaml);
}

Result<void> RunFolder::write(const report::Report& report) const {
  Result<void> all = sys::make_folders(path_);
  const auto keep_first = [&](Result<void> one) {
    if (all && !one) all = std::move(one);
  };
  keep_first(sys::write_atomically(path_ / "report.txt", report::text_report(report)));
  keep_first(sys::write_atomically(path_ / "junit.xml", report::junit_report(report)));
  keep_first(sys::write_atomically(path_ / "result.json", report::json_report(report)));
  return all;
}

}  // namespace sp::cli

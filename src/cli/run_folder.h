// What a run leaves behind: one folder, each file written whole or not at all.
//
//     runs/<id>/ ─┬─ proof.yaml     the proof as it took effect, first
//                 ├─ result.json    docs/reference/result.md
//                 ├─ report.txt     what was printed
//                 ├─ junit.xml      for a build server
//                 └─ cluster/       logs of a local cluster, if there was one
//
// Errors:   kIo names the file and what the system said. A run goes on without its folder: the
//           report is printed all the same, and the exit code is 3.
// Threads:  one owner.
// Source:   docs/reference/result.md.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "core/ids.h"
#include "report/report.h"

namespace sp::cli {

class RunFolder {
 public:
  // `out`: the folder itself; empty: runs/<id> below the current one.
  RunFolder(core::RunId run, const std::string& out);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Makes it, with the proof in it.
  [[nodiscard]] Result<void> open(const std::string& proof_yaml) const;
  // The three renderings. What can be written is written; the first error is returned.
  [[nodiscard]] Result<void> write(const report::Report& report) const;

 private:
  std::filesystem::path path_;
};

}  // namespace sp::cli

// From a case file to a history and what is expected of its judgement.
//
// Errors:  what is not understood is named with file and line.   Threads: one.   Source:
// tests/cases/README.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cases/case_file.h"
#include "model/history.h"
#include "model/player.h"

namespace sp::cases {

struct ExpectedFinding {
  core::Code code = core::Code::kLost;
  std::string key;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::optional<std::string> blame;
  std::optional<std::string> group;
  std::vector<std::string> says;  // words of its sentence
};

struct Expectation {
  std::optional<std::string> verdict;
  std::optional<int> exit;
  std::map<core::Code, std::uint64_t> counts;
  std::map<core::Code, std::uint64_t> allowed;
  std::uint64_t undecided = 0;
  std::map<std::string, std::uint64_t> coverage;
  std::map<std::string, std::uint64_t> not_checked;
  std::vector<ExpectedFinding> findings;
  std::vector<std::string> reasons;  // each must be part of a reason
  bool no_alarms = false;
  std::optional<std::uint64_t> verified;
  std::optional<std::uint64_t> timeouts;
  std::optional<std::uint64_t> stall_seconds;
};

struct Scene {
  model::History history;
  Expectation expected;
  std::map<std::string, std::string> key_names;  // of the file to the run's
  bool stopped_after_end = false;
  bool reference = true;  // the reference judge knows these rules
};

[[nodiscard]] Result<Scene> make_scene(const CaseFile& file);

// What differs between expected and judged, a line each; nothing: empty.
[[nodiscard]] std::vector<std::string> differences(const Scene& scene, const model::Played& played);
[[nodiscard]] std::vector<std::string> reference_differences(const Scene& scene,
                                                             const model::Played& played);

}  // namespace sp::cases

// The story of one finding or one key, told from the histories in the order in which it happened: sent, acknowledged, handed over, passed,
// committed, read at the end, and the faults and errors meanwhile; each with its file and line.
//
//     tell(files, report, {finding 1}) ─► Story ─► story_text()
//
// Of a finding about several records the first is told. Times count from the begin of the run, by the clock of whoever wrote the line;
// clocks of several machines are not compared.
//
// Cost:     one more pass over the files.   Limits: StoryOptions::lines_max; what is left out is said.
// Errors:   those of Merge; kNotFound: no such finding, no such key.
// Threads:  one owner.   Source: docs/howto/read-a-report.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "history/merge.h"
#include "report/report.h"

namespace sp::check {

struct StoryLine {
  std::optional<Nanoseconds> time;  // since the run began
  std::string who;                  // "worker-0.1 consumer-2"
  std::string what;
  std::string where;                // "worker-0.1.jsonl.zst:812"
  std::uint64_t times = 1;          // the same again, right behind
};

struct Story {
  std::string title;                // "lost: r7f3.0.1.0.5 sequence 17"
  std::string says;                 // what the judge says of it; may be empty
  std::vector<StoryLine> lines;
  std::uint64_t left_out = 0;
};

struct StoryOptions {
  std::size_t finding = 0;          // of the report's findings, from 1; 0: the key's life
  std::string key;                  // for that
  std::size_t lines_max = 1'000;
  history::Merge::Options merge;
};

[[nodiscard]] Result<Story> tell(const std::vector<std::filesystem::path>& files, const report::Report& report,
                                 const StoryOptions& options);
[[nodiscard]] std::string story_text(const Story& story);

}  // namespace sp::check

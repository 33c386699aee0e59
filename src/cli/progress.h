// What a person sees while a run goes on: one line that is rewritten on a terminal, a plain line
// every few seconds elsewhere, messages above it as they come. All of it on stderr; the report
// alone is on stdout.
//
//     load 12 s, 48 s left · 60,000 sent · 59,990 acknowledged · 59,950 received · 40 on the way
//
// Cost:     a line at most every 200 ms (terminal) or 5 s.
// Limits:   a line on a terminal is cut to `columns`.
// Errors:   none; a stream that cannot be written is ignored.
// Threads:  one owner.
// Source:   –.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "coordinator/coordinator.h"

namespace sp::cli {

[[nodiscard]] std::string progress_line(const coordinator::Live& live);

struct ProgressOptions {
  std::FILE* stream = stderr;
  bool terminal = false;
  bool quiet = false;  // neither lines nor messages
  std::size_t columns = 120;
};

class ProgressView {
 public:
  explicit ProgressView(const ProgressOptions& options) : options_(options) {}
  ~ProgressView() { clear(); }
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;

  // Shows `live` if it is time to.
  void update(const coordinator::Live& live, MonotonicTime now);
  // A sentence that stays.
  void say(std::string_view sentence);
  // Takes the rewritten line away.
  void clear();

 private:
  ProgressOptions options_;
  std::optional<MonotonicTime> shown_;
  std::optional<coordinator::Stage> stage_;
  bool on_line_ = false;
};

}  // namespace sp::cli

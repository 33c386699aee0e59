#include "cli/progress.h"

#include <fmt/core.h>

#include "base/text.h"

namespace sp::cli {
namespace {

// The first `columns` characters (not bytes) of UTF-8 text.
std::string_view cut_to(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U;
    if (begins && seen++ == columns) return text.substr(0, i);
  }
  return text;
}

std::string whole_seconds(Nanoseconds duration) {
  return human_duration(std::chrono::duration_cast<std::chrono::seconds>(duration));
}

std::string stage_text(const coordinator::Live& live) {
  using coordinator::Stage;
  switch (live.stage) {
    case Stage::kPrepare:
      return "preparing";
    case Stage::kAssign:
      return fmt::format("waiting for partitions, {}", whole_seconds(live.in_stage));
    case Stage::kLoad:
      if (live.load_left)
        return fmt::format("load {}, {} left", whole_seconds(live.load),
                           whole_seconds(*live.load_left));
      return fmt::format("load {}, until stopped", whole_seconds(live.load));
    case Stage::kStopProducers:
      return "stopping producers";
    case Stage::kFinalWait:
      return fmt::format("final wait {}", whole_seconds(live.in_stage));
    case Stage::kStopConsumers:
      return "stopping consumers";
    case Stage::kRawRead:
      return fmt::format("reading the log {}", whole_seconds(live.in_stage));
    case Stage::kJudge:
      return "judging";
    case Stage::kCleanUp:
      return "cleaning up";
    case Stage::kDone:
      return "done";
  }
  return "";
}

}  // namespace

std::string progress_line(const coordinator::Live& live) {
  std::string line = stage_text(live);
  const auto& progress = live.progress;
  if (progress.issued == 0) return line;
  line += fmt::format(" · {} sent · {} acknowledged", grouped(progress.issued),
                      grouped(progress.acked));
  if (progress.failed > 0) line += fmt::format(" · {} failed", grouped(progress.failed));
  if (progress.unknown > 0) line += fmt::format(" · {} unknown", grouped(progress.unknown));
  line += fmt::format(" · {} received", grouped(progress.received));
  if (live.on_the_way > 0) line += fmt::format(" · {} on the way", grouped(live.on_the_way));
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (live.counts[code] > 0)
      line += fmt::format(" · {} {}", core::code_row(code).name, grouped(live.counts[code]));
  }
  return line;
}

void ProgressView::update(const coordinator::Live& live, MonotonicTime now) {
  if (options_.quiet) return;
  const Nanoseconds period = options_.terminal ? Nanoseconds(std::chrono::milliseconds{200})
                                               : Nanoseconds(std::chrono::seconds{5});
  // In a pipe the stages of the end pass too quickly to deserve a line each, unless one lasts.
  const bool passing = !options_.terminal && stage_ && live.stage > coordinator::Stage::kFinalWait;
  const bool new_stage = !passing && stage_ != live.stage;
  if (!new_stage && shown_ && now - *shown_ < period) return;
  shown_ = now;
  stage_ = live.stage;
  const std::string line = progress_line(live);
  if (options_.terminal) {
    fmt::print(options_.stream, "\r\033[K{}", cut_to(line, options_.columns - 1));
    on_line_ = true;
  } else {
    fmt::print(options_.stream, "{}\n", line);
  }
  std::fflush(options_.stream);
}

void ProgressView::say(std::string_view sentence) {
  if (options_.quiet) return;
  clear();
  fmt::print(options_.stream, "{}\n", sentence);
  std::fflush(options_.stream);
}

void ProgressView::clear() {
  if (!on_line_) return;
  fmt::print(options_.stream, "\r\033[K");
  std::fflush(options_.stream);
  on_line_ = false;
}

}  // namespace sp::cli

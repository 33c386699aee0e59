// The lines in which driftlab says what it found.
#include <array>

#include <fmt/core.h>

#include "base/text.h"
#include "check/driftlab.h"

namespace sp::check {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts = {"clean", "failed", "invalid"};
constexpr std::array<std::string_view, 6> kKinds = {"duplicate", "nonmonotonic-poll", "poll-skip", "stall", "lost-write", "phantom"};
constexpr std::array<std::string_view, kAnomalyGroups> kGroups = {"duplicate, nonmonotonic-poll and poll-skip", "stall", "lost-write",
                                                                  "phantom"};

// As driftlab's language writes them, rounded to a millisecond: 0s, 150ms, 1.25s, 2m0.5s, 1h0m0s.
std::string go_duration(Nanoseconds duration) {
  constexpr std::uint64_t kNanos = 1'000'000;
  const auto nanos = static_cast<std::uint64_t>(duration.count());  // not below 0
  const std::uint64_t millis = nanos / kNanos + (nanos % kNanos >= kNanos / 2 ? 1 : 0);
  if (millis == 0) return "0s";
  if (millis < 1'000) return fmt::format("{}ms", millis);
  std::string text = fmt::format("{}", millis / 1'000 % 60);
  if (millis % 1'000 != 0) {
    text += fmt::format(".{:03}", millis % 1'000);
    text.erase(text.find_last_not_of('0') + 1);
  }
  const std::uint64_t minutes = millis / 60'000;
  if (minutes == 0) return text + "s";
  if (minutes < 60) return fmt::format("{}m{}s", minutes, text);
  return fmt::format("{}h{}m{}s", minutes / 60, minutes % 60, text);
}

std::string skip_text(const DriftlabAnomaly& anomaly) {
  const std::uint64_t skipped = anomaly.sequence - anomaly.other;
  return fmt::format("expected sequence {}, received {}: {} skipped, {} delivered late, {} never delivered", anomaly.other,
                     anomaly.sequence, skipped, anomaly.late, skipped - anomaly.late);
}

std::string message(const DriftlabAnomaly& anomaly) {
  switch (anomaly.kind) {
    case Anomaly::kDuplicate: return fmt::format("sequence {} was delivered again", anomaly.sequence);
    case Anomaly::kNonmonotonicPoll: return fmt::format("sequence {} was delivered after {}", anomaly.sequence, anomaly.other);
    case Anomaly::kPollSkip: return skip_text(anomaly);
    case Anomaly::kStall:
      if (anomaly.sequence == 0) return fmt::format("received nothing before the final read; the stream ends at {}", anomaly.other);
      return fmt::format("reached {} of {} before the final read", anomaly.sequence, anomaly.other);
    case Anomaly::kLostWrite:
      return fmt::format("value {}, acknowledged at sequence {}, is not in the final read", anomaly.value, anomaly.sequence);
    case Anomaly::kPhantom: break;
  }
  return fmt::format("value {} {}", anomaly.value, anomaly.failed_publish ? "appeared although its publish failed" : "was never published");
}

std::string anomaly_line(const DriftlabAnomaly& anomaly, const history::Vocabulary& vocabulary) {
  std::string line = fmt::format("{} {} ops=[", kKinds[static_cast<std::size_t>(anomaly.kind)],
                                 printable(vocabulary.processes.text(anomaly.process)));
  std::string_view between;
  for (const std::uint64_t operation : anomaly.operations) {
    line += fmt::format("{}{}", between, operation);
    between = " ";
  }
  line += "]: " + message(anomaly);
  if (anomaly.operations_left_out != 0) line += fmt::format(" ({} more sightings are not listed)", anomaly.operations_left_out);
  return line;
}

std::size_t group_of(const DriftlabAnomaly& anomaly) {
  constexpr auto kFirst = static_cast<std::size_t>(Anomaly::kPollSkip);
  const auto kind = static_cast<std::size_t>(anomaly.kind);
  return kind <= kFirst ? 0 : kind - kFirst;
}

}  // namespace

void tell_driftlab(const DriftlabResult& result, const history::Vocabulary& vocabulary,
                   const std::function<void(std::string_view line)>& tell) {
  tell(fmt::format("verdict {}, {} of {} publishes unknown", kVerdicts[static_cast<std::size_t>(result.verdict)], result.unknown,
                   result.publishes));
  for (const std::string& reason : result.reasons) tell("invalid: " + reason);
  std::size_t at = 0;
  for (std::size_t group = 0; group < kAnomalyGroups; ++group) {
    for (; at < result.anomalies.size() && group_of(result.anomalies[at]) == group; ++at) {
      tell(anomaly_line(result.anomalies[at], vocabulary));
    }
    if (result.left_out[group] != 0) tell(fmt::format("not listed: {} more {}", result.left_out[group], kGroups[group]));
  }
  for (const DriftlabRecovery& recovery : result.recoveries) {
    const std::string process = printable(vocabulary.processes.text(recovery.process));
    tell(recovery.took ? fmt::format("recovery {}: caught up {} after the faults ended", process, go_duration(*recovery.took))
                       : fmt::format("recovery {}: never caught up after the faults ended", process));
  }
}

}  // namespace sp::check

// What is said about a run: the model, and its four renderings. Pure.
//
//     Report ─┬─ text_report()    ten lines to read first, the findings, what was *not* seen
//             ├─ json_report()    "The result, as JSON": what --json prints and result.json holds
//             ├─ junit_report()   one test case a guarantee, for a build server
//             └─ markdown_report()  tables for a page
//
// Shape:    members of the JSON stand in one fixed order and nothing in it comes from a clock that
//           the run did not own: the same simulated run gives the same bytes. A run that could not
//           start has `failure` and no verdict.
// Units:    *_ms are milliseconds, *_ns nanoseconds, `at_ms` counts from the begin of the load.
// Cost:     O(findings + samples).
// Limits:   as the judgement's; the text shows `TextOptions::findings_max` a code.
// Errors:   none.
// Threads:  values.
// Source:   docs/reference/result.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "core/code.h"
#include "core/contract.h"
#include "core/counters.h"
#include "core/ids.h"
#include "judge/judge.h"
#include "proof/proof.h"
#include "track/ledger.h"

namespace sp::report {

// One point of the time series: the run as a completed tick knew it.
struct Sample {
  Nanoseconds at{};  // since the load began
  track::Progress progress;
  core::PerCode<std::uint64_t> counts;
};

// How long a stage of the run took.
struct Timing {
  std::string stage;
  Nanoseconds took{};
};

// How fast the clients of a lab were; see check/lab_measures.h. An absent one was not there to be measured.
struct GroupMeasures {
  std::string group;
  Nanoseconds staleness{};
  Nanoseconds silence{};
  Nanoseconds silence_after_reconnect{};
  Nanoseconds overrun{};
  std::optional<Nanoseconds> recovery;               // from the end of the last fault
  std::optional<Nanoseconds> recovery_since_usable;  // from the probe that found the system usable
  bool never_recovered = false;
  std::optional<Nanoseconds> drain;
};
struct ProducerMeasures {
  std::string producer;
  Nanoseconds pause{};
  std::optional<Nanoseconds> resume;                 // from the end of the last fault
  std::optional<Nanoseconds> resume_since_usable;
};
struct LabMeasures {
  std::vector<GroupMeasures> groups;
  std::vector<ProducerMeasures> producers;
};

// The history of a lab: what stands where a report on a proof tells of the proof.
struct Lab {
  std::string file;
  std::string run;                   // may be empty
  std::string scenario;
  std::string api;
  std::string server;
  std::vector<std::string> faults;   // declared
  std::uint64_t operations = 0;
  std::size_t groups = 0;
  bool stream = false;               // positions are one number line: the offset of a position is its sequence
  core::Contract contract;
  std::string promise;               // the contract in words
  std::optional<LabMeasures> measures;  // absent: the file has no times
};

struct Report {
  core::RunId run;
  proof::Proof proof;
  std::string topic;
  bool topic_deleted = false;
  std::optional<WallTime> started;  // absent in a simulation
  std::string program;              // "streaming-proof 0.1.0"
  std::string driver;               // "kafka"
  std::string client;               // "librdkafka 2.16.0"
  bool idempotent = false;          // the effective settings promise idempotent producers
  std::string failure;              // why it could not run; empty: it ran
  judge::Judgement judgement;
  judge::RunFacts facts;
  std::vector<std::string> notes;     // settings that mean nothing here, and why
  std::vector<std::string> messages;  // what clients said on the way; capped
  std::uint64_t messages_left_out = 0;
  std::vector<Sample> samples;
  std::uint64_t alarms = 0;  // anomalies noticed on the way
  track::Progress progress;  // at the end
  std::uint64_t ticks = 0;   // complete ones
  std::optional<Nanoseconds> staleness;  // the longest time from an acknowledgement to its hand-over
  std::string no_staleness;              // why it is absent
  std::vector<Timing> timings;
  MonotonicTime load_begin{};
  Nanoseconds load{};  // how long producers produced
  core::Counters traffic;  // sums over all workers
  Histogram publish_latency;
  Histogram end_to_end_latency;
  std::optional<Lab> lab;  // absent: a proof
  std::string repeat;  // the command that makes this run again; may be empty
};

// The process's exit code: 3 when it could not run, else the verdict's.
[[nodiscard]] int exit_code(const Report& report);

struct TextOptions {
  bool colour = false;           // terminal escape sequences
  std::size_t findings_max = 5;  // shown a code; the JSON has them all
};
[[nodiscard]] std::string text_report(const Report& report, const TextOptions& options = {});
// One line without its end: "failed: 5 acknowledged records were never received".
[[nodiscard]] std::string one_line(const Report& report);

struct JsonOptions {
  bool time_series = true;
};
[[nodiscard]] std::string json_report(const Report& report, const JsonOptions& options = {});
[[nodiscard]] std::string junit_report(const Report& report);
// CommonMark with tables; whatever a history says stays text.
[[nodiscard]] std::string markdown_report(const Report& report);

}  // namespace sp::report

// From what was tracked to what is said: findings, counts, verdict. Pure.
//
//     judge(ledger state, contract, run facts) ─► Judgement
//
// One rule a file in judge/rules/; a rule reads the ledger's state and adds to counts, allowed, findings or undecided. The same
// rules serve the online coordinator and the offline check.
//
// Cost:    O(keys + anomalies).   Limits: JudgeOptions::findings_max a code in the list; counts are exact.
// Errors:  none: what is missing becomes a reason of the verdict.   Threads: a pure function.
// Source:  docs/reference/findings.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/code.h"
#include "core/contract.h"
#include "core/fault.h"
#include "core/ids.h"
#include "core/key_space.h"
#include "core/range_set.h"
#include "track/ledger.h"

namespace sp::judge {

// The last two are of the lab: it tells clean from invalid where a proof tells passed from inconclusive.
enum class Status : std::uint8_t { kPassed, kFailed, kInconclusive, kStopped, kSlow, kClean, kInvalid };
[[nodiscard]] std::string_view status_name(Status status);
// 0 passed or clean · 1 failed · 2 inconclusive, stopped or invalid · 4 slow
[[nodiscard]] int exit_code(Status status);

// One lineage as a finding names it.
struct LineageFact {
  std::string consumer;                    // "worker 0 incarnation 1 consumer 2"
  core::PartitionId partition;
  std::optional<core::Generation> generation;
  std::optional<core::Offset> start;       // where it said that it starts
  std::optional<core::Offset> first;       // its first hand-over
  std::optional<core::Offset> next;        // one above its highest hand-over
  std::optional<core::Offset> committed;   // next to read, by its highest commit that succeeded
  std::string_view closed;                 // "open", "revoked", "lost", "closed", "died": a literal
};

// A line of a history file.
struct EvidenceLine {
  std::string file;                      // its name, without folders
  std::uint64_t line = 0;                // from 1
  bool operator==(const EvidenceLine&) const = default;
};

// A maximal range of records of one key with the same anomaly.
struct Finding {
  core::Code code = core::Code::kLost;
  core::Blame blame = core::Blame::kNone;
  std::string group;                     // empty: not of a group
  bool nameless = false;                 // of records without a key: `key` is empty, `first` and `last` are theirs
  std::string key;                       // empty: no key (dual-owner, inconsistent-position without one)
  std::uint64_t first = 0;               // both inside
  std::uint64_t last = 0;
  std::uint64_t records = 0;             // in the unit of the code
  std::string producer;                  // "worker 0 incarnation 1 producer 3"; empty where there is none
  std::string consumer;
  std::vector<core::Position> positions; // the first few, lowest first
  std::string says;                      // one sentence
  std::vector<std::string> transactions; // that it is about, by name
  // The circumstances, where they are known; online and offline may differ in them.
  std::vector<LineageFact> lineages;     // that read the partition it is about, those nearest to its first position, in order
  std::optional<Nanoseconds> time;       // since the run began: when it was established
  std::optional<WallTime> wall;          // the same moment
  std::vector<EvidenceLine> evidence;    // offline only: the lines about `first`, the first few in the order of the merge
  std::vector<std::string> faults;       // kinds of faults that were felt, or may have been, during what it is about
  std::vector<std::uint64_t> fault_numbers;
};

// When what happened, by the clock of the process that judges.
struct RunTimes {
  MonotonicTime begin{};                 // of the run: the zero of Finding::time
  std::optional<WallTime> begin_wall;
  MonotonicTime load_begin{};
  MonotonicTime judged{};
};

// An anomaly that was noticed on the way, and the span of time in which what it is about happened.
struct Noticed {
  core::Code code = core::Code::kLost;
  std::optional<core::GroupIndex> group;
  core::KeyRef key;
  std::uint64_t sequence = 0;
  std::optional<core::Position> position;
  MonotonicTime since{};
  MonotonicTime at{};                    // noticed
};

// What only a history shows: a consumer that came to rest, or what transactions saw of each other.
struct Rest {
  core::Code code = core::Code::kStall;
  std::string group;
  std::string consumer;                  // "": the group had none that was told to read this partition
  std::vector<core::Position> positions; // the last that was handed over, or what it should have come to; of a cycle: of each step
  std::string says;
  std::string key;                       // of the record it is about, if it is about one
  bool nameless = false;                 // ... which has no key
  std::uint64_t sequence = 0;
  std::vector<std::string> transactions; // that it is about
};

// What individual acknowledgements allow of repeats.
struct SingleAckFacts {
  std::uint64_t allowed = 0;
  std::vector<Rest> forbidden;           // the others, as many as are named
};

// Sequences of a key when a group came: attempted, and of these with their outcome.
struct BeforeGroup {
  core::RangeSet attempted;
  core::RangeSet decided;
};

// The history of a lab: one scenario, judged afterwards.
struct LabFacts {
  bool stream = false;                   // positions are one number line: a sentence says "position 41 of the stream"
  std::vector<std::string> invalid;      // why nothing may be concluded from it, each a sentence
  std::vector<std::string> slow;         // budgets that were passed, each a sentence
  std::vector<Rest> rests;               // in the order of code, group, consumer or key
  std::optional<SingleAckFacts> single_acks;  // absent: acknowledgements are cumulative
  std::map<std::string, std::uint64_t> not_checked;  // codes, and how often a limit was reached
  // By group and key: what was there when the group came.
  std::map<std::pair<std::string, std::string>, BeforeGroup> before_group;
};

// What the ledger cannot know of the run. Made by the coordinator, or by a reader of histories.
struct RunFacts {
  bool stopped = false;                  // by hand, before the end
  bool interrupted = false;              // a second interrupt: the end procedure did not run
  bool raw_read_available = true;        // the driver can read the log
  bool raw_read_complete = false;        // every target was read to its end
  std::string raw_read_problem;
  // By partition: from that position on, read committed shows nothing while a transaction has no known outcome.
  std::map<std::uint32_t, std::uint64_t> held_back;
  bool raw_read_refused = false;         // the system refused it for want of a right
  std::map<std::string, std::string> refused;  // what it refused to the consumers of a group to the end, by group
  std::vector<std::string> workers_lost; // with unacknowledged evidence, and their keys
  std::vector<std::string> missing;      // other evidence that is missing, each a sentence
  std::optional<double> rate;            // attempts a second over the load
  std::vector<core::FaultRecord> faults;
  std::vector<std::string> faults_without_effect;  // kinds none of whose faults took effect
  std::map<std::string, std::string> settings;     // effective client settings
  std::vector<std::string> warnings;     // settings weaker than the claim: first lines of the report
  std::optional<RunTimes> times;         // absent: findings have no time
  std::vector<Noticed> noticed;          // in any order
  std::optional<LabFacts> lab;           // absent: a proof
};

struct Coverage {
  std::uint64_t attempts = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
  std::uint64_t landed = 0;              // unknown ones that were seen
  std::uint64_t received = 0;            // distinct records, all groups
  std::uint64_t foreign = 0;
  std::uint64_t expired = 0;             // retention, declared
  std::uint64_t compacted = 0;           // compaction, declared
  std::uint64_t unverifiable = 0;        // between acknowledged evidence and a commit of a worker that died
  std::uint64_t pairs_not_judged = 0;    // across a declared partition change
  std::uint64_t positions_absent = 0;    // acks without a position
  std::map<std::string, std::uint64_t> not_checked;
  std::uint64_t keys_silent = 0;         // never exercised
  std::uint64_t partitions_silent = 0;
};

struct Judgement {
  Status status = Status::kInconclusive;
  std::vector<std::string> reasons;
  core::PerCode<std::uint64_t> counts;
  core::PerCode<std::uint64_t> allowed;
  std::uint64_t undecided = 0;
  std::vector<Finding> findings;         // by code, group, key, first; capped
  std::uint64_t findings_left_out = 0;
  Coverage coverage;
};

struct JudgeOptions {
  std::size_t findings_max = 10'000;     // a code
  std::optional<core::Code> rule_off;    // for the test that switching a rule off makes exactly its row fail
};

[[nodiscard]] Judgement judge(const track::Ledger& ledger, const core::Contract& contract, const RunFacts& facts,
                              const JudgeOptions& options = {});

}  // namespace sp::judge

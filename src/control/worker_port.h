// The port between a coordinator and one worker. In one process it is a call; a later room puts gRPC behind it.
//
//     prepare ─► create_topic? ─► start_consumers ─► start_producers ─► poll … poll ─► stop_producers ─► poll …
//            ─► stop_consumers ─► poll … ─► raw_read ─► poll … ─► delete_topic? ─► remove
//
// Every call returns at once: what takes time is begun, and its end shows in the phases and the answer of poll().
// Evidence flows through poll(): the deltas that were not acknowledged. A delta may be handed out twice.
//
// Errors:   kUnavailable: the worker is away (its keys are unknown, never absent); others as they say.
// Threads:  one coordinator thread.   Source: ARCHITECTURE.md, "The five hand-overs".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "base/result.h"
#include "core/counters.h"
#include "core/ids.h"
#include "proof/proof.h"
#include "track/delta.h"

namespace sp::control {

struct WorkerPlan {
  core::RunId run;
  core::SourceId source;
  proof::Proof proof;
  std::string topic;
  std::string group_prefix;                       // group g is group_prefix + "-" + g
  std::vector<proof::ProducerShare> producers;    // of this worker
  std::vector<proof::ConsumerShare> consumers;
};

struct WorkerHello {
  std::string driver;
  std::string client;                             // "librdkafka 2.16.0"
  std::map<std::string, std::string> settings;    // effective
  std::vector<std::string> notes;
  bool positions = true;
  bool raw_read = true;
  bool idempotent = false;                        // the effective settings promise idempotent producers
};

// What a worker is doing. Producers and consumers go through their phases on their own.
enum class Phase : std::uint8_t { kIdle, kStarting, kRunning, kStopping, kStopped, kFailed };

struct WorkerPoll {
  std::uint64_t acknowledge = 0;                  // deltas up to this number are durable
  std::optional<std::uint64_t> tick;              // answer this tick in the deltas returned
  std::size_t rows_max = 2'000'000;               // stop adding deltas past this many rows
  bool counters = false;                          // fill counters and latencies
  bool operator==(const WorkerPoll&) const = default;
};

struct WorkerReport {
  std::vector<track::Delta> deltas;               // lowest number first
  bool more = false;                              // there are more deltas than rows_max let through
  Phase producers = Phase::kIdle;
  Phase consumers = Phase::kIdle;
  Phase raw_read = Phase::kIdle;
  std::uint32_t consumers_assigned = 0;           // consumers that hold a partition, or know that none is left for them
  std::vector<std::string> messages;              // new ones for a person: client errors, refusals
  std::string failure;                            // why a phase is kFailed
  // What the system refuses for good and nothing has shown otherwise since, as a sentence; empty: nothing.
  std::string producers_refused;
  std::map<core::GroupIndex, std::string> consumers_refused;  // by group; of those to whom something is refused
  bool raw_read_refused = false;                  // the raw read is kFailed for want of a right
  core::Counters counters;                        // since the start of the run
  Histogram publish_latency;                      // send to outcome, since the start; filled with `counters`
  Histogram end_to_end_latency;                   // publish time in the payload to hand-over
};

struct RawReadRequest {
  std::vector<std::pair<core::PartitionId, std::pair<core::Offset, core::Offset>>> targets;  // [first, second)
};
struct LogBounds {
  core::PartitionId partition;
  core::Offset begin;
  core::Offset end;
};

class WorkerPort {
 public:
  virtual ~WorkerPort() = default;
  virtual Result<WorkerHello> prepare(const WorkerPlan& plan) = 0;
  // By the policy of the proof: the partitions that the topic has.
  virtual Result<std::uint32_t> create_topic() = 0;
  virtual Result<void> delete_topic() = 0;
  virtual Result<void> start_consumers() = 0;
  virtual Result<void> start_producers() = 0;
  // An answer to this request will be wanted soon, by poll() with the same: a port to another process begins to fetch it, so that
  // a coordinator waits for all its workers at once. Without it poll() is only slower.
  virtual void ask(const WorkerPoll& /*request*/) {}
  virtual Result<WorkerReport> poll(const WorkerPoll& request) = 0;
  virtual Result<void> stop_producers() = 0;
  virtual Result<void> stop_consumers() = 0;
  virtual Result<std::vector<LogBounds>> log_bounds() = 0;
  virtual Result<void> start_raw_read(const RawReadRequest& request) = 0;
  virtual Result<void> remove() = 0;
};

}  // namespace sp::control

// What whoever serves a coordinator may ask of it: the proofs it keeps, its configuration, what happens.
//
//     api ─► Service ─► one thread a running proof ─► ProofRun ─► WorkerPort …
//
// Answers are values: taken at one moment between two steps of the proof, never while it is being changed. A running proof
// answers from what it last published, at most 200 ms old; details() and key() ask its thread and wait, kAnswerWait at most.
//
// Units:    durations are std::chrono, rates a second, `elapsed` counts from the start of the proof.
// Cost:     list() and find(): O(proofs). details() and checkpoints: O(keys).
// Limits:   ServiceLimits.
// Errors:   kNotFound: no such proof (or configuration). kInvalid with faults: Refusal. kFull: a limit.
//           kUnavailable: the proof's thread did not answer in time.
// Threads:  any, at once.   Source: docs/reference/rest.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "codec/document.h"
#include "coordinator/configs.h"
#include "core/code.h"
#include "core/counters.h"
#include "core/fault.h"
#include "core/ids.h"
#include "core/range_set.h"
#include "judge/judge.h"
#include "proof/fields.h"
#include "proof/proof.h"

namespace sp::coordinator {

constexpr Nanoseconds kAnswerWait = std::chrono::seconds(5);

enum class ProofStatus : std::uint8_t { kCreated, kRunning, kStopping, kPassed, kFailed, kStopped, kInconclusive };
// "created", "running", …
[[nodiscard]] std::string_view proof_status_name(ProofStatus status);

// Whom the end of a proof is told.
struct Webhook {
  std::string url;
  std::string type = "slack";  // "slack", "discord", anything else is generic
  bool enabled = true;
  bool on_first_violation = false;
  std::string secret;  // a reference or empty; never shown
  bool operator==(const Webhook&) const = default;
};

// Drivers by name where a proof has three.
struct DriverNames {
  std::string admin, producer, consumer;
  bool operator==(const DriverNames&) const = default;
};

// A proof as it was asked for.
struct Submission {
  proof::Proof proof;  // `driver` is the driver's type, `settings` are all that it was given
  std::string driver;  // name among the configured ones; may be empty with `drivers`
  std::optional<DriverNames> drivers;
  std::optional<Webhook> webhook;
  std::optional<std::string> pulsar_consumer;  // pulsar.consumerConfig: a JSON object
  std::vector<std::string> features;           // as given
};

// A request that cannot be carried out: everything that is wrong with it.
struct Refusal {
  Error error;                       // its code chooses the status
  std::vector<proof::Fault> faults;  // may be empty
};
template <typename T>
using Answer = tl::expected<T, Refusal>;

struct ProofHead {
  std::string id;
  Submission submission;
  std::string topic;
  std::optional<WallTime> started;  // "startTime"
  ProofStatus status = ProofStatus::kCreated;
  std::string reason;  // the reference's text where it has one, else ours
};

// 3.1 of the reference, corrected: all cumulative.
struct Summary {
  std::uint64_t verified = 0;
  std::uint64_t errors = 0;
  std::uint64_t out_of_orders = 0;
  std::uint64_t missed = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t write_duplicates = 0;
  std::uint64_t timeouts = 0;
  Nanoseconds stall{};
  Nanoseconds stall_max{};
  core::PerCode<std::uint64_t> counts;  // all of ours
};

// 3.3.
struct CheckpointSummary {
  std::uint64_t in_check_keys = 0, latest_producer_keys = 0, latest_consumer_keys = 0, verified_producer_keys = 0,
                verified_consumer_keys = 0, failed_producer_keys = 0, failed_consumer_keys = 0;
};

// Percentiles are off by the histogram's stated error; 0 where nothing was measured.
struct LatencySummary {
  std::uint64_t count = 0;
  Nanoseconds mean{}, p50{}, p95{}, p99{}, max{};
};

// 3.4.
struct Performance {
  std::chrono::seconds elapsed{0};
  core::Counters traffic;
  std::uint64_t verified = 0;
  LatencySummary publish_latency;
  LatencySummary end_to_end_latency;
};

// 3.5: rates and percentiles are of the time since the point before.
struct SeriesPoint {
  std::chrono::seconds elapsed{0};
  double publish_rate = 0, consume_rate = 0, publish_error_rate = 0, publish_bytes_rate = 0, consume_bytes_rate = 0;
  std::uint64_t backlog = 0;
  Nanoseconds publish_p95{}, publish_p99{}, end_to_end_p95{}, end_to_end_p99{};
  std::uint64_t verified = 0, published = 0, consumed = 0, errors = 0, timeouts = 0, missed = 0, duplicates = 0, out_of_orders = 0;
};

struct ClusterTarget {
  std::string role;                   // "default", "admin", "producer", "consumer"
  std::string driver;                 // its name
  std::string type;                   // empty: no such driver
  std::vector<JsonMember> endpoints;  // of its settings, those that say where it is
  std::optional<std::string> metadata;
};

// What one key has come to.
struct KeyView {
  std::string key;
  std::uint64_t issued = 0;             // sequences [0, issued) were attempted
  std::optional<core::Sequence> acked;  // the highest
  std::optional<core::Position> acked_at;
  core::RangeSet unknown, failed;
  struct Group {
    std::string name;
    core::RangeSet received;
    std::uint64_t watermark = 0;  // all below it were received
  };
  std::vector<Group> groups;
};

struct ProofDetails {
  ProofHead head;
  Summary summary;
  std::vector<KeyView> keys;  // in the order of producers and keys
  std::vector<judge::Finding> missed, out_of_order, write_duplicates;
};

struct ProofReport {
  ProofHead head;
  std::vector<ClusterTarget> targets;
  Summary summary;
  CheckpointSummary checkpoints;
  Performance performance;
  std::vector<SeriesPoint> series;
};

// One anomaly: at first as it was noticed; once there is a verdict, as it was established.
struct Violation {
  std::uint64_t number = 0;  // from 1, rising
  bool established = false;
  core::Code code = core::Code::kLost;
  std::string group, key;
  std::uint64_t first = 0, last = 0;  // sequences, both inside
  std::uint64_t records = 1;
  std::vector<core::Position> positions;
  Nanoseconds at{};  // since the start of the proof
  std::string says;
};
struct ViolationQuery {
  std::optional<core::Code> code;
  std::optional<std::string> key;
  std::optional<Nanoseconds> since, until;  // [since, until)
  std::uint64_t after = 0;                  // numbers above it
  std::size_t most = 100;
};
struct ViolationPage {
  std::vector<Violation> violations;
  std::optional<std::uint64_t> next;  // `after` of the next page; absent: that was all
  std::uint64_t total = 0;            // that the query matches, of the named ones
  std::uint64_t left_out = 0;         // counted but not named, of all codes
};

struct CoverageView {
  judge::Coverage coverage;  // of a running proof only what is known on the way
  bool final = false;
  std::vector<std::string> missing;
};

// What happened, for a stream: `number` rises by one, the same after a restart of the coordinator.
struct Event {
  std::uint64_t number = 0;
  std::string type;  // "status", "tick", "violation", "fault", "message"
  std::string json;  // one object on one line
};

struct WorkerState {
  std::string name;
  std::string url;
  std::uint32_t incarnation = 0;
  bool lost = false;
  std::string problem;                         // of the last call that failed
  Nanoseconds silent{};                        // since it last answered
  std::string producers, consumers, raw_read;  // phases
  std::uint64_t deltas = 0;                    // acknowledged
  core::Counters traffic;
};
struct Diagnostics {
  std::string stage;
  std::uint64_t ticks = 0;
  std::uint64_t inputs = 0;  // of its log
  std::vector<WorkerState> workers;
  std::vector<std::string> messages;  // the last ones
};

class Service {
 public:
  virtual ~Service() = default;

  // `body`: a Proof of the reference. `wait`: until it runs or has failed to. An Answer's Refusal with head.id set in its
  // message where the proof is registered although it could not start.
  virtual Answer<ProofHead> create(const codec::Node& body, bool wait) = 0;
  // By startTime falling, absent ones last, then by id.
  [[nodiscard]] virtual std::vector<ProofHead> list() const = 0;
  [[nodiscard]] virtual Result<ProofHead> find(std::string_view id) const = 0;
  [[nodiscard]] virtual Result<ProofDetails> details(std::string_view id, bool keys) const = 0;
  [[nodiscard]] virtual Result<ProofReport> report(std::string_view id) const = 0;
  // Our own report as JSON (docs/reference/result.md) once it is over, else kUnavailable.
  [[nodiscard]] virtual Result<std::string> result(std::string_view id) const = 0;
  // Waits for the end of the end procedure if `wait`. After the end it changes nothing.
  virtual Result<void> stop(std::string_view id, bool wait) = 0;
  // Stops it, deletes its topic, forgets it.
  virtual Result<void> remove(std::string_view id) = 0;

  [[nodiscard]] virtual Result<ViolationPage> violations(std::string_view id, const ViolationQuery& query) const = 0;
  [[nodiscard]] virtual Result<KeyView> key(std::string_view id, std::string_view key) const = 0;
  [[nodiscard]] virtual Result<CoverageView> coverage(std::string_view id) const = 0;
  [[nodiscard]] virtual Result<std::vector<core::FaultRecord>> faults(std::string_view id) const = 0;
  // Somebody outside broke something: `fault.number` 0 begins one, else it adds to that one. Times of it mean nothing; now counts.
  virtual Result<core::FaultRecord> mark_fault(std::string_view id, const core::FaultRecord& fault, bool effect, bool end) = 0;
  [[nodiscard]] virtual Result<Diagnostics> diagnostics(std::string_view id) const = 0;
  // Events after that number, at most `most`; waits up to `wait` for the first. Empty and over: there will be none.
  struct Events {
    std::vector<Event> events;
    bool over = false;
  };
  [[nodiscard]] virtual Result<Events> events(std::string_view id, std::uint64_t after, std::size_t most, Nanoseconds wait) const = 0;

  [[nodiscard]] virtual std::optional<Configs> configs() const = 0;  // absent: nothing was ever configured
  virtual Answer<void> put_configs(const codec::Node& body) = 0;
  virtual Answer<void> delete_configs(const codec::Node& body) = 0;

  // Why it cannot take proofs now; empty: it can.
  [[nodiscard]] virtual std::string not_ready() const = 0;
};

}  // namespace sp::coordinator

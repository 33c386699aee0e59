// The port to a system under test: what every driver can be asked, natively or through a child process.
//
//     Driver ─┬─ create_topic, delete_topic, bounds, cluster_state
//             ├─ open_producer ─► Producer   send … poll … close      outcomes into an ObservationSink
//             ├─ open_consumer ─► Consumer   poll … commit … release … close
//             └─ open_raw_reader ─► RawReader   step … step
//
// A driver turns what its library does into core::Observation and nothing else: it keeps no books and judges nothing.
// Outcomes follow "fail or info" of the checking model: kFail only if the record was certainly not stored. An outcome or a
// kClientError by which the system refuses for good says so (core::Refusal), with a sentence that names what is missing.
//
// Threads:  Driver from any thread; a Producer, Consumer or RawReader belongs to one thread at a time.
// Waiting:  only where a `wait` is passed, and never longer; a wait of 0 never blocks. Simulated drivers never block.
// Errors:   kDenied names the missing right; kUnavailable what does not answer; kInvalid the setting.
// Source:   docs/formats/driver.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/observation.h"
#include "core/payload.h"

namespace sp::driver {

using Settings = std::map<std::string, std::string>;

struct Capabilities {
  bool keys = false;
  bool partitions = false;
  bool positions = false;
  bool transactions = false;
  bool groups = false;
  bool shared = false;
  bool raw_read = false;
  bool replay = false;         // a consumer can start anywhere again
  bool commit = false;         // cumulative commits
  bool cluster_state = false;
};

struct TopicSpec {
  std::string name;
  std::uint32_t partitions = 1;
  std::uint32_t replication = 1;
  Settings config;             // passed through to the system
};

struct TopicInfo {
  std::uint32_t partitions = 0;
  std::uint32_t replication = 0;
};

enum class SendStatus : std::uint8_t {
  kAccepted,   // an attempt: exactly one outcome follows
  kQueueFull,  // not taken, nothing happened; send it again later
};

// A record, and the key that its outcome names. Views live until the call returns.
struct Outgoing {
  core::Envelope envelope;
  core::KeyRef key;
};

class Producer {
 public:
  virtual ~Producer() = default;
  // Hands one record to the library. `key` and the sequence come back in its outcome. An attempt that the library refuses
  // for good at once is kAccepted and its kFail comes with the next poll.
  virtual SendStatus send(const core::Envelope& envelope, core::KeyRef key) = 0;
  // The same for several, in their order: how many became attempts, from the first on. Those behind them were not taken, as
  // with kQueueFull; none of them overtakes one before it.
  virtual std::size_t send_all(std::span<const Outgoing> records) {
    std::size_t taken = 0;
    while (taken < records.size() && send(records[taken].envelope, records[taken].key) == SendStatus::kAccepted) ++taken;
    return taken;
  }
  // Waits up to `wait` for outcomes, then passes all there are: kOk, kFail, kInfo, kClientError. How many outcomes.
  virtual std::size_t poll(Nanoseconds wait, core::ObservationSink& sink) = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  // Waits up to `wait` for open attempts; what is then still open is passed as kInfo. Nothing may be called afterwards.
  virtual void close(Nanoseconds wait, core::ObservationSink& sink) = 0;
};

struct CommitPoint {
  core::PartitionId partition;
  core::Offset next;  // the next to read
};

class Consumer {
 public:
  virtual ~Consumer() = default;
  // Waits up to `wait`, then passes what there is, at most `records_max` deliveries: kAssign, kDeliver, kRevoke (of lost
  // partitions), kCommitOk / Fail / Info, kClientError, kDisconnect, kReconnect. How many deliveries.
  virtual std::size_t poll(std::size_t records_max, Nanoseconds wait, core::ObservationSink& sink) = 0;
  // The partitions that the group asks back. They stay this consumer's until release(); meanwhile poll() delivers nothing of them.
  [[nodiscard]] virtual std::vector<core::PartitionId> revoking() const = 0;
  // Gives them back: a kRevoke each.
  virtual void release(core::ObservationSink& sink) = 0;
  // Requests a commit; kCommitInvoke at once, its outcome in a later poll. Points of partitions it does not hold are dropped.
  virtual void commit(std::span<const CommitPoint> points, core::ObservationSink& sink) = 0;
  // How many commit requests have no outcome yet.
  [[nodiscard]] virtual std::size_t commits_open() const = 0;
  // Pauses or resumes deliveries, without a rebalance.
  virtual void pause(bool paused) = 0;
  // Leaves the group and closes: the outcomes of open commits (kCommitInfo after `wait`), a kRevoke of kind kClosed for each
  // partition. Nothing may be called afterwards.
  virtual void close(Nanoseconds wait, core::ObservationSink& sink) = 0;
};

struct ProducerSpec {
  std::uint32_t index = 0;     // `process` of its observations
  std::string name;            // client id
  std::string topic;
  Settings settings;
};

enum class StartAt : std::uint8_t { kEarliest, kLatest, kCommitted };

struct ConsumerSpec {
  std::uint32_t index = 0;     // `process` of its observations
  core::GroupIndex group;
  std::string name;            // client id
  std::string group_name;
  std::string topic;
  StartAt start = StartAt::kEarliest;
  bool commit_each = false;    // the library commits by itself after each hand-over (`auto`)
  core::RunId run;
  std::size_t payload_bytes = 0;  // what this run's records have
  Settings settings;
};

// The log of one partition: the lowest and one above the highest position that a reader can see.
struct PartitionBounds {
  core::PartitionId partition;
  core::Offset begin;
  core::Offset end;
};

// What a raw reader is to read: [begin, end) of a partition.
struct RawTarget {
  core::PartitionId partition;
  core::Offset begin;
  core::Offset end;
};

class RawReader {
 public:
  virtual ~RawReader() = default;
  // Waits up to `wait`, passes what there is: kRawBegin, kRaw, kRawEnd (with `reached`) for each target, in any order of targets
  // but each target's records by position. True when all targets are done. Error: gave up; open targets get kRawEnd, not reached.
  virtual Result<bool> step(Nanoseconds wait, core::ObservationSink& sink) = 0;
};

struct RawSpec {
  std::string topic;
  core::RunId run;
  std::size_t payload_bytes = 0;
  bool read_committed = false;
  std::vector<RawTarget> targets;
  Settings settings;
};

// What the system says about itself, read by a client that no fault injector shares.
struct PartitionState {
  core::PartitionId partition;
  std::optional<std::int32_t> leader;   // node id; absent: no leader
  std::vector<std::int32_t> replicas;
  std::vector<std::int32_t> in_sync;
};
struct ClusterState {
  std::optional<std::int32_t> controller;
  std::vector<std::int32_t> nodes;      // alive, as the metadata says
  std::vector<PartitionState> partitions;
};

class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // "librdkafka 2.16.0", read from the library itself.
  [[nodiscard]] virtual std::string client() const = 0;
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  // The settings as the library will use them, defaults of ours included, secrets as "***".
  [[nodiscard]] virtual Settings effective_settings() const = 0;
  // Names of settings that were accepted but mean nothing here, each with the reason.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;

  virtual Result<void> create_topic(const TopicSpec& spec) = 0;  // kExists if it is there
  virtual Result<void> delete_topic(const std::string& topic) = 0;
  virtual Result<TopicInfo> describe_topic(const std::string& topic) = 0;  // kNotFound if it is not there
  virtual Result<std::vector<PartitionBounds>> bounds(const std::string& topic) = 0;
  virtual Result<ClusterState> cluster_state(const std::string& topic) = 0;

  virtual Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec) = 0;
  virtual Result<std::unique_ptr<Consumer>> open_consumer(const ConsumerSpec& spec) = 0;
  virtual Result<std::unique_ptr<RawReader>> open_raw_reader(const RawSpec& spec) = 0;
};

}  // namespace sp::driver

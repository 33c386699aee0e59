// A proof: what is to be run and what it promises, complete, after names, defaults and validation (proof/fields.cc).
//
// Units:   durations are std::chrono; sizes are bytes; rates are attempts a second, in total.
// Cost:    a value.   Errors: none here; parse and validation are in proof/fields.h.   Threads: a value.
// Source:  docs/reference/proof.md (made from proof/fields.cc).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/contract.h"
#include "core/ids.h"

namespace sp::proof {

enum class CommitMode : std::uint8_t {
  kCheckpoint,  // only what acknowledged evidence covers
  kEach,        // after each hand-over, by the harness
  kAuto,        // by the client library itself
};
enum class TopicExists : std::uint8_t { kFail, kReuse, kRecreate };

struct Proof {
  std::string name;
  std::string description;
  std::string driver = "embedded";              // embedded, kafka
  std::map<std::string, std::string> settings;  // client settings, passed through
  bool at_least_once = false;
  bool ordering = false;
  bool exactly_once = false;
  std::string topic;                            // empty: "sp-" and the run
  std::uint32_t partitions = 10;
  std::uint32_t replication = 1;
  std::uint32_t producers = 4;
  std::uint32_t consumers = 4;
  std::uint32_t groups = 1;
  std::uint32_t workers = 1;
  std::uint64_t keys = 100;
  std::uint64_t rate = 1000;                    // msgRate
  std::uint64_t payload_bytes = 8;              // messageSize
  std::chrono::seconds check_point_interval{60};
  std::chrono::seconds timeout{180};
  std::chrono::seconds consume_delay{0};
  std::chrono::seconds duration{28800};         // 0: until stopped
  std::optional<std::chrono::seconds> final_wait;  // absent: 30 s
  std::chrono::seconds time_series_interval{0};
  CommitMode commit = CommitMode::kCheckpoint;
  core::RawReadScope raw_read = core::RawReadScope::kHoles;
  TopicExists topic_exists = TopicExists::kFail;
  bool keep_topic = false;
  std::map<std::string, std::string> topic_config;  // kafka.topicConfig
  core::Order order = core::Order::kKey;
  bool compaction = false;                      // the contract allows compaction / retention gaps
  bool retention = false;
  core::Thresholds thresholds;                  // stall_seconds_max is maxStallSeconds
  std::vector<std::string> chaos;               // as given: FAULT:at=,every=,…; parsed by scenario/fault
  std::vector<std::string> defects;             // as given: KIND:rate=|count=; parsed by driver/embedded
  std::uint64_t seed = 0;                       // of everything that is drawn

  bool operator==(const Proof&) const = default;
  [[nodiscard]] std::chrono::seconds final_wait_or_default() const { return final_wait.value_or(std::chrono::seconds{30}); }
  [[nodiscard]] core::Contract contract(bool idempotent_client) const;
};

// What one producer of the proof does.
struct ProducerShare {
  std::uint32_t worker = 0;
  std::uint32_t producer = 0;     // index within its worker
  std::uint32_t keys = 0;
  double rate = 0;                // attempts a second
};
struct ConsumerShare {
  std::uint32_t worker = 0;
  std::uint32_t consumer = 0;     // index within its worker
  core::GroupIndex group;
};
struct Division {
  std::vector<ProducerShare> producers;
  std::vector<ConsumerShare> consumers;
};
// Even division of producers, consumers, keys and rate over workers and producers; remainders go one each to the first.
[[nodiscard]] Division divide(const Proof& proof);

}  // namespace sp::proof

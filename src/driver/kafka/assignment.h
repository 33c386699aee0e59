// What a consumer and its client tell each other about the group: which partitions are held, who
// the member is, where the group had committed.
//
//     ask_committed() ─► an event on the queue ─► take_committed()
//
// Limits:  an answer about committed offsets, or an error instead, comes within kCommittedTimeout.
// Errors:  without an answer the offsets stay unset; change_assignment tells a refusal.
// Threads: the consumer's owner.
// Source:  librdkafka/rdkafka.h, "Rebalance callback", "Admin API - ListConsumerGroupOffsets".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/kafka/handle.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {

constexpr std::chrono::milliseconds kCommittedTimeout{5000};

// kRevoking: asked back by the group, not yet released.
enum class Hold : std::uint8_t { kNone, kHeld, kRevoking };

// The partitions of one topic that a consumer holds.
class Holdings {
 public:
  [[nodiscard]] Hold of(core::PartitionId partition) const {
    return partition.value() < holds_.size() ? holds_[partition.value()] : Hold::kNone;
  }
  void set(core::PartitionId partition, Hold hold);
  // All that are held, those asked back included.
  [[nodiscard]] PartitionList list(const std::string& topic) const;

 private:
  std::vector<Hold> holds_;  // by partition
};

struct GroupMetadata {
  std::optional<core::Generation> generation;
  std::string member;
};
[[nodiscard]] GroupMetadata group_metadata(rd_kafka_t* handle, const Library& library);

enum class Change : std::uint8_t { kAssign, kUnassign };
// Tells the client, by the group's rebalance protocol; what it refuses, if it does.
[[nodiscard]] std::optional<std::string> change_assignment(
    rd_kafka_t* handle, const rd_kafka_topic_partition_list_t& partitions, Change change);

struct CommittedQuestion {
  std::string group;
  bool stable = false;        // wait for offsets of open transactions
  std::uintptr_t number = 0;  // comes back with the event
};
// False if the client does not take the question: no event follows.
[[nodiscard]] bool ask_committed(rd_kafka_t* handle, const CommittedQuestion& question,
                                 const rd_kafka_topic_partition_list_t& partitions,
                                 rd_kafka_queue_t* queue);
// Sets the offset of each partition of the list that the answer has one for.
void take_committed(rd_kafka_event_t* event, rd_kafka_topic_partition_list_t& partitions);

}  // namespace sp::driver::kafka

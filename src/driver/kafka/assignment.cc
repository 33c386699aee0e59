#include "driver/kafka/assignment.h"

#include <array>
#include <cstring>
#include <memory>

#include <fmt/core.h>

namespace sp::driver::kafka {
namespace {

using CommittedRequest = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                         Destroyer<rd_kafka_ListConsumerGroupOffsets_destroy>>;
using CommittedOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
using ClientGroupMetadata = std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                                            Destroyer<rd_kafka_consumer_group_metadata_destroy>>;

}  // namespace

void Holdings::set(core::PartitionId partition, Hold hold) {
  const std::size_t index = partition.value();
  if (index >= holds_.size()) holds_.resize(index + 1, Hold::kNone);
  holds_[index] = hold;
}

PartitionList Holdings::list(const std::string& topic) const {
  auto list = make_list(holds_.size());
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    if (holds_[i] == Hold::kNone) continue;
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), static_cast<std::int32_t>(i));
  }
  return list;
}

GroupMetadata group_metadata(rd_kafka_t* handle, const Library& library) {
  GroupMetadata group;
  const ClientGroupMetadata metadata(rd_kafka_consumer_group_metadata(handle));
  if (metadata == nullptr) return group;
  const auto generation = library.generation_of()(metadata.get());
  if (generation >= 0) group.generation = core::Generation(static_cast<std::uint64_t>(generation));
  const char* member = library.member_of()(metadata.get());
  if (member != nullptr) group.member = member;
  return group;
}

std::optional<std::string> change_assignment(rd_kafka_t* handle,
                                             const rd_kafka_topic_partition_list_t& partitions,
                                             Change change) {
  const bool assign = change == Change::kAssign;
  const char* doing = assign ? "assign" : "unassign";
  if (std::strcmp(rd_kafka_rebalance_protocol(handle), "COOPERATIVE") != 0) {
    const auto code = rd_kafka_assign(handle, assign ? &partitions : nullptr);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    return fmt::format("{}: {}", doing, rd_kafka_err2str(code));
  }
  const ClientError error{assign ? rd_kafka_incremental_assign(handle, &partitions)
                                 : rd_kafka_incremental_unassign(handle, &partitions)};
  if (error == nullptr) return std::nullopt;
  return fmt::format("{}: {}", doing, rd_kafka_error_string(error.get()));
}

bool ask_committed(rd_kafka_t* handle, const CommittedQuestion& question,
                   const rd_kafka_topic_partition_list_t& partitions, rd_kafka_queue_t* queue) {
  const CommittedRequest request(
      rd_kafka_ListConsumerGroupOffsets_new(question.group.c_str(), &partitions));
  const CommittedOptions options(
      rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS));
  if (request == nullptr || options == nullptr) return false;
  std::array<char, 256> why{};
  rd_kafka_AdminOptions_set_request_timeout(options.get(), to_milliseconds(kCommittedTimeout),
                                            why.data(), why.size());
  const ClientError refused{
      rd_kafka_AdminOptions_set_require_stable_offsets(options.get(), question.stable ? 1 : 0)};
  rd_kafka_AdminOptions_set_opaque(options.get(), reinterpret_cast<void*>(question.number));
  rd_kafka_ListConsumerGroupOffsets_t* requests = request.get();
  rd_kafka_ListConsumerGroupOffsets(handle, &requests, 1, options.get(), queue);
  return true;
}

void take_committed(rd_kafka_event_t* event, rd_kafka_topic_partition_list_t& partitions) {
  if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const auto* result = rd_kafka_event_ListConsumerGroupOffsets_result(event);
  std::size_t groups = 0;
  const auto* const* answers = rd_kafka_ListConsumerGroupOffsets_result_groups(result, &groups);
  if (groups != 1) return;
  const auto* committed = rd_kafka_group_result_partitions(answers[0]);
  if (committed == nullptr) return;
  for (const auto& known : elements(*committed)) {
    if (known.err != RD_KAFKA_RESP_ERR_NO_ERROR || known.offset < 0) continue;
    auto* asked = rd_kafka_topic_partition_list_find(&partitions, known.topic, known.partition);
    if (asked != nullptr) asked->offset = known.offset;
  }
}

}  // namespace sp::driver::kafka

#include "driver/kafka/outcome.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace sp::driver::kafka {
namespace {

// A refusal of the record for what it is: it would have been refused at every try.
constexpr std::array kOfTheRecord = {
    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
    RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE,
    RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
    RD_KAFKA_RESP_ERR_INVALID_RECORD,
    RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
    RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS,
    RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
};

// A refusal that depends on the moment: an earlier try may have been taken.
constexpr std::array kOfTheMoment = {
    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
    RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
    RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
    RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
};

constexpr std::array kCommitRefusals = {
    RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION,         RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
    RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID,         RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
    RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,           RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE,
    RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE,
};

constexpr int kStaleMemberEpoch = 113;  // newer than the headers: KIP-848

template <typename Codes>
bool contains(const Codes& codes, rd_kafka_resp_err_t error) {
  return std::find(codes.begin(), codes.end(), error) != codes.end();
}

ErrorCode code_of(rd_kafka_resp_err_t error) {
  // Everything not named is the system's state of the moment.
  static constexpr std::array kInvalidRequests = {
      RD_KAFKA_RESP_ERR_INVALID_PARTITIONS,
      RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR,
      RD_KAFKA_RESP_ERR_INVALID_CONFIG,
      RD_KAFKA_RESP_ERR_INVALID_REQUEST,
      RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT,
      RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
      RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
      RD_KAFKA_RESP_ERR__INVALID_ARG,
  };
  static constexpr std::array kDenials = {
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR__AUTHENTICATION,
      RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
  };
  static constexpr std::array kAbsent = {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                                         RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
                                         RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION};
  if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return ErrorCode::kExists;
  if (contains(kAbsent, error)) return ErrorCode::kNotFound;
  if (contains(kDenials, error)) return ErrorCode::kDenied;
  if (contains(kInvalidRequests, error)) return ErrorCode::kInvalid;
  if (error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ||
      error == RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION) {
    return ErrorCode::kUnsupported;
  }
  return ErrorCode::kUnavailable;
}

}  // namespace

core::Event outcome_of(const DeliveryFacts& facts, Nanoseconds retry_pause) {
  if (facts.error == RD_KAFKA_RESP_ERR_NO_ERROR) return core::Event::kOk;
  if (facts.status != RD_KAFKA_MSG_STATUS_NOT_PERSISTED) return core::Event::kInfo;
  if (contains(kOfTheRecord, facts.error)) return core::Event::kFail;
  if (!contains(kOfTheMoment, facts.error)) return core::Event::kInfo;
  const bool first_try = facts.partition < 0 || (facts.life && *facts.life < retry_pause);
  return first_try ? core::Event::kFail : core::Event::kInfo;
}

std::size_t attempts_in(std::span<const rd_kafka_message_t> batch) {
  std::size_t count = batch.size();
  while (count > 0 && batch[count - 1].err == RD_KAFKA_RESP_ERR__QUEUE_FULL) --count;
  return count;
}

bool refuses_commit(rd_kafka_resp_err_t error) {
  return contains(kCommitRefusals, error) || static_cast<int>(error) == kStaleMemberEpoch;
}

Error to_error(rd_kafka_resp_err_t error, const Subject& subject, std::string_view detail) {
  std::string text(subject.doing);
  if (!subject.topic.empty()) text += fmt::format(" '{}'", subject.topic);
  if (const auto right = missing_right(error, subject); !right.empty())
    text += ": denied, needs " + right;
  text += ": ";
  text += rd_kafka_err2str(error);
  if (!detail.empty() && detail != rd_kafka_err2str(error)) text += fmt::format(" ({})", detail);
  if (const auto line = granting_line(error, subject); !line.empty()) text += "; grant it: " + line;
  return Error{code_of(error), std::move(text)};
}

}  // namespace sp::driver::kafka

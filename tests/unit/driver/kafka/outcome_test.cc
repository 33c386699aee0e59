#include "driver/kafka/outcome.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sp::driver::kafka {
namespace {

using std::chrono::milliseconds;

constexpr auto kNotPersisted = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
constexpr auto kMaybePersisted = RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED;
constexpr Nanoseconds kPause = milliseconds(50);

core::Event outcome(rd_kafka_resp_err_t error, rd_kafka_msg_status_t status,
                    std::int32_t partition = 3,
                    std::optional<Nanoseconds> life = milliseconds(500)) {
  return outcome_of({.error = error, .status = status, .partition = partition, .life = life},
                    kPause);
}

TEST(KafkaOutcomeTest, OfABatchWhatTheFullQueueRefusedAtItsEndIsNoAttempt) {
  const auto attempts = [](std::vector<rd_kafka_resp_err_t> errors) {
    std::vector<rd_kafka_message_t> batch(errors.size());
    for (std::size_t i = 0; i < errors.size(); ++i) batch[i].err = errors[i];
    return attempts_in(batch);
  };
  constexpr auto kTaken = RD_KAFKA_RESP_ERR_NO_ERROR;
  constexpr auto kFull = RD_KAFKA_RESP_ERR__QUEUE_FULL;
  EXPECT_EQ(attempts({}), 0U);
  EXPECT_EQ(attempts({kTaken, kTaken}), 2U);
  EXPECT_EQ(attempts({kTaken, kFull, kFull}), 1U);
  EXPECT_EQ(attempts({kFull, kFull}), 0U);
  EXPECT_EQ(attempts({RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, kFull}), 1U);
  EXPECT_EQ(attempts({kTaken, kFull, kTaken, kFull}), 3U) << "sent again, it would be overtaken";
}

TEST(KafkaOutcomeTest, SuccessIsOk) {
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_MSG_STATUS_PERSISTED), core::Event::kOk);
}

TEST(KafkaOutcomeTest, ARefusalOfTheRecordItselfIsFail) {
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, kNotPersisted), core::Event::kFail);
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_INVALID_RECORD, kNotPersisted), core::Event::kFail);
}

TEST(KafkaOutcomeTest, NothingThatMayBePersistedIsFail) {
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, kMaybePersisted), core::Event::kInfo);
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, kMaybePersisted, -1),
            core::Event::kInfo);
}

TEST(KafkaOutcomeTest, ATimeoutIsInfoEvenIfTheLibrarySaysNotPersisted) {
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, kNotPersisted), core::Event::kInfo);
  EXPECT_EQ(outcome(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, kNotPersisted, -1, milliseconds(1)),
            core::Event::kInfo);
}

TEST(KafkaOutcomeTest, AMovedLeaderALostConnectionAndAPurgeAreInfo) {
  for (const auto error :
       {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR__TRANSPORT,
        RD_KAFKA_RESP_ERR__PURGE_QUEUE, RD_KAFKA_RESP_ERR__FATAL,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR}) {
    EXPECT_EQ(outcome(error, kNotPersisted, 3, milliseconds(1)), core::Event::kInfo)
        << rd_kafka_err2name(error);
  }
}

TEST(KafkaOutcomeTest, AMissingRightIsFailOnlyIfNoEarlierTryCanHaveBeenTaken) {
  const auto denied = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  EXPECT_EQ(outcome(denied, kNotPersisted, -1), core::Event::kFail) << "never had a partition";
  EXPECT_EQ(outcome(denied, kNotPersisted, 3, milliseconds(49)), core::Event::kFail)
      << "too short for a second try";
  EXPECT_EQ(outcome(denied, kNotPersisted, 3, milliseconds(50)), core::Event::kInfo);
  EXPECT_EQ(outcome(denied, kNotPersisted, 3, std::nullopt), core::Event::kInfo);
}

TEST(KafkaOutcomeTest, AFencedCommitIsRefusedALostOneUnknown) {
  EXPECT_TRUE(refuses_commit(RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION));
  EXPECT_TRUE(refuses_commit(RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS));
  EXPECT_FALSE(refuses_commit(RD_KAFKA_RESP_ERR__TIMED_OUT));
  EXPECT_FALSE(refuses_commit(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT));
}

TEST(KafkaOutcomeTest, ADenialNamesTheMissingRight) {
  const auto created = to_error(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                                {.doing = "create topic", .topic = "x", .group = {}});
  EXPECT_EQ(created.code, ErrorCode::kDenied);
  EXPECT_EQ(created.message,
            "create topic 'x': denied, needs CREATE on topic 'x' or on the cluster: Broker: Topic "
            "authorization failed");
  EXPECT_EQ(missing_right(RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                          {.doing = "consume", .topic = "x", .group = "g"}),
            "READ on group 'g'");
  EXPECT_EQ(missing_right(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                          {.doing = "produce", .topic = "x", .group = {}}),
            "WRITE on topic 'x'");
  EXPECT_EQ(
      missing_right(RD_KAFKA_RESP_ERR__TRANSPORT, {.doing = "produce", .topic = "x", .group = {}}),
      "");
}

TEST(KafkaOutcomeTest, CodesOfTopicRequestsAreMapped) {
  const Subject subject{.doing = "create topic", .topic = "x", .group = {}};
  EXPECT_EQ(to_error(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, subject).code, ErrorCode::kExists);
  EXPECT_EQ(to_error(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, subject).code, ErrorCode::kNotFound);
  EXPECT_EQ(to_error(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR, subject, "1 node").code,
            ErrorCode::kInvalid);
  EXPECT_EQ(to_error(RD_KAFKA_RESP_ERR__TIMED_OUT, subject).code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace sp::driver::kafka

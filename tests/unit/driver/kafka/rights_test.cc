#include "driver/kafka/rights.h"

#include <gtest/gtest.h>

namespace sp::driver::kafka {
namespace {

constexpr auto kTopic = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
constexpr auto kGroup = RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED;
constexpr auto kCluster = RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;

const Account kProver{.user = "prover", .bootstrap = "b1:9092", .anonymous = false};

std::string line(rd_kafka_resp_err_t error, Subject subject, const Account& account = kProver) {
  subject.account = &account;
  return granting_line(error, subject);
}

TEST(KafkaRightsTest, TheRightThatIsMissingIsNamedByWhatWasDone) {
  EXPECT_EQ(missing_right(kTopic, {.doing = "consume", .topic = "x", .group = "g"}), "READ on topic 'x'");
  EXPECT_EQ(missing_right(kTopic, {.doing = "raw read", .topic = "x", .group = {}}), "READ on topic 'x'");
  EXPECT_EQ(missing_right(kTopic, {.doing = "produce", .topic = "x", .group = {}}), "WRITE on topic 'x'");
  EXPECT_EQ(missing_right(kTopic, {.doing = "describe topic", .topic = "x", .group = {}}), "DESCRIBE on topic 'x'");
  EXPECT_EQ(missing_right(kGroup, {.doing = "consume", .topic = "x", .group = "g"}), "READ on group 'g'");
  EXPECT_EQ(missing_right(RD_KAFKA_RESP_ERR__TRANSPORT, {.doing = "produce", .topic = "x", .group = {}}), "");
}

// Kafka asks an idempotent producer that may write nowhere for a right on the cluster.
TEST(KafkaRightsTest, AProducerThatMayNotWriteNeedsWriteWhateverKafkaAsksFor) {
  const auto right = missing_right(kCluster, {.doing = "produce", .topic = "x", .group = {}});
  EXPECT_EQ(right.find("WRITE on topic 'x'"), 0U) << right;
}

TEST(KafkaRightsTest, TheLineGrantsWhatIsMissingAndNoMore) {
  EXPECT_EQ(line(kTopic, {.doing = "consume", .topic = "orders", .group = "g"}),
            "kafka-acls.sh --bootstrap-server b1:9092 --add --allow-principal User:prover --operation Read --topic "
            "orders --command-config admin.properties");
  EXPECT_EQ(line(kGroup, {.doing = "consume", .topic = "orders", .group = "my group"}),
            "kafka-acls.sh --bootstrap-server b1:9092 --add --allow-principal User:prover --operation Read --group "
            "'my group' --command-config admin.properties");
  EXPECT_NE(line(kTopic, {.doing = "describe topic", .topic = "x", .group = {}})
                .find("--operation Read --operation Write --topic x "),
            std::string::npos);
  EXPECT_EQ(line(RD_KAFKA_RESP_ERR__TRANSPORT, {.doing = "consume", .topic = "x", .group = "g"}), "");
  EXPECT_EQ(granting_line(kTopic, {.doing = "consume", .topic = "x", .group = "g"}), "") << "nobody said who asks";
}

// The next run has another name: a grant for this one's would help nobody.
TEST(KafkaRightsTest, NamesThatARunMakesAreGrantedByTheirPrefix) {
  EXPECT_NE(line(kTopic, {.doing = "consume", .topic = "sp-r0123abcd", .group = {}})
                .find(" --topic sp- --resource-pattern-type prefixed"),
            std::string::npos);
  EXPECT_NE(line(kGroup, {.doing = "consume", .topic = {}, .group = "r0123abcd-0"})
                .find(" --group r --resource-pattern-type prefixed"),
            std::string::npos);
  EXPECT_EQ(line(kTopic, {.doing = "consume", .topic = "orders-r0123abcd", .group = {}}).find("prefixed"),
            std::string::npos);
  EXPECT_EQ(line(kGroup, {.doing = "consume", .topic = {}, .group = "returns"}).find("prefixed"), std::string::npos);
}

TEST(KafkaRightsTest, WhoAClientIsComesFromItsSettings) {
  const auto sasl = account_of({{"bootstrap.servers", "b1:9092"},
                                {"security.protocol", "SASL_SSL"},
                                {"sasl.mechanisms", "SCRAM-SHA-512"},
                                {"sasl.username", "prover"}});
  EXPECT_EQ(sasl.user, "prover");
  EXPECT_FALSE(sasl.anonymous);
  const auto open = account_of({{"metadata.broker.list", "b2:9092"}});
  EXPECT_EQ(open.user, "ANONYMOUS");
  EXPECT_EQ(open.bootstrap, "b2:9092");
  EXPECT_TRUE(open.anonymous);
  const auto certificate = account_of({{"bootstrap.servers", "b1:9092"}, {"security.protocol", "ssl"}});
  EXPECT_EQ(certificate.user, "") << "the broker makes a name of the certificate";
  EXPECT_NE(line(kTopic, {.doing = "consume", .topic = "x", .group = {}}, certificate).find(" User:NAME "),
            std::string::npos);
}

TEST(KafkaRightsTest, OnlyWhatWaitingDoesNotMendIsARefusal) {
  for (const auto error : {kTopic, kGroup, kCluster, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                           RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE, static_cast<rd_kafka_resp_err_t>(112)})
    EXPECT_EQ(refusal_of(error), core::Refusal::kRight) << rd_kafka_err2name(error);
  for (const auto error : {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC})
    EXPECT_EQ(refusal_of(error), core::Refusal::kName) << rd_kafka_err2name(error);
  for (const auto error :
       {RD_KAFKA_RESP_ERR_NO_ERROR, RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
        RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_GROUP_COORDINATOR_NOT_AVAILABLE,
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID})
    EXPECT_EQ(refusal_of(error), core::Refusal::kNone) << rd_kafka_err2name(error);
}

}  // namespace
}  // namespace sp::driver::kafka

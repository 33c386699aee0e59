#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proof/fields.h"

namespace sp::proof {
namespace {

struct ContradictionCase {
  std::string says;  // the part of the message that names it
  std::string file;  // its last line is to blame
  std::string mended;
};
class ContradictionTest : public testing::TestWithParam<ContradictionCase> {
 protected:
  static std::vector<Fault> faults(const std::string& rest) {
    return read_proof(
               {.file_name = "p.yaml", .file_text = "features: [at_least_once, ordering]\n" + rest})
        .faults;
  }
};

TEST_P(ContradictionTest, IsToldOnceAtTheFieldThatWasGivenAndCanBeMended) {
  const auto found = faults(GetParam().file);
  ASSERT_EQ(found.size(), 1U) << to_error(found).message;
  EXPECT_NE(found[0].message.find(GetParam().says), std::string::npos) << found[0].message;
  EXPECT_EQ(found[0].place.substr(0, 11), "p.yaml line") << found[0].place;
  EXPECT_FALSE(found[0].remedy.empty());
  EXPECT_TRUE(faults(GetParam().mended).empty()) << to_error(faults(GetParam().mended)).message;
}

INSTANTIATE_TEST_SUITE_P(
    All, ContradictionTest,
    testing::Values(
        ContradictionCase{"there is no driver 'kafak'", "driver: kafak", "driver: kafka"},
        ContradictionCase{"cannot plant defects", "driver: kafka\ndefect: 'lose:count=1'",
                          "defect: 'lose:count=1'"},
        ContradictionCase{"no cluster whose nodes", "chaos: kill-all",
                          "driver: kafka\nchaos: kill-all"},
        ContradictionCase{"3 keys are too few for 4 producers", "keys: 3", "keys: 4"},
        ContradictionCase{"4 consumers are too few for 5 groups", "groups: 5", "groups: 4"},
        ContradictionCase{"5 workers are too many", "workers: 5", "workers: 5\nconsumers: 5"},
        ContradictionCase{"consumeDelay 180 s is not below timeout 180 s", "consumeDelay: 180",
                          "consumeDelay: 179"},
        ContradictionCase{"orders nothing", "order: none", "order: partition"},
        ContradictionCase{"minRate 1000.5 is above msgRate 1000", "minRate: 1000.5",
                          "minRate: 1000"},
        ContradictionCase{"cannot be the name of a topic", "topic: 'a b'", "topic: a.b_c-D9"},
        ContradictionCase{"cannot be the name of a topic", "topic: '..'", "topic: '...'"},
        ContradictionCase{"no topic is named", "topicExists: reuse",
                          "topicExists: reuse\ntopic: t"},
        ContradictionCase{"would delete a topic", "topicExists: reuse\ntopic: t\nkeepTopic: false",
                          "topicExists: reuse\ntopic: t\nkeepTopic: true"},
        ContradictionCase{"no effect on a topic that is reused",
                          "topicExists: reuse\ntopic: t\nkafka: {topicConfig: {a: b}}",
                          "topicExists: recreate\ntopic: t\nkafka: {topicConfig: {a: b}}"},
        ContradictionCase{"cleanup.policy compact",
                          "kafka: {topicConfig: {cleanup.policy: 'delete,compact'}}",
                          "gaps: compaction\nkafka: {topicConfig: {cleanup.policy: compact}}"},
        ContradictionCase{"retention.ms 60000 is shorter",
                          "duration: 60\nkafka: {topicConfig: {retention.ms: 60000}}",
                          "duration: 60\nkafka: {topicConfig: {retention.ms: 600000}}"},
        ContradictionCase{"which has no end",
                          "duration: 0\nkafka: {topicConfig: {retention.ms: 600000}}",
                          "duration: 0\nkafka: {topicConfig: {retention.ms: -1}}"},
        ContradictionCase{"retention.bytes", "kafka: {topicConfig: {retention.bytes: 5}}",
                          "gaps: [retention]\nkafka: {topicConfig: {retention.bytes: 5}}"},
        ContradictionCase{"min.insync.replicas 2 is above replicationFactor 1",
                          "kafka: {topicConfig: {min.insync.replicas: 2}}",
                          "settings: {acks: 1}\nkafka: {topicConfig: {min.insync.replicas: 2}}"}));

TEST(ContradictionsTest, NoFeatureIsNothingToProve) {
  const auto reading = read_proof({.file_name = "p.yaml", .file_text = "keys: 5"});
  ASSERT_EQ(reading.faults.size(), 1U);
  EXPECT_EQ(reading.faults[0].place, "p.yaml");
  EXPECT_EQ(reading.faults[0].message, "no feature is named, so there is nothing to prove");
}

TEST(ContradictionsTest, ExactlyOnceNeedsADriverWithTransactions) {
  const std::vector<Flag> flags = {{"--features", "exactly_once"}, {"--driver", "one"}};
  const std::vector<DriverFacts> without = {{.name = "one"}};
  const std::vector<DriverFacts> with = {{.name = "one", .transactions = true}};
  const auto refused = read_proof({.flags = flags, .drivers = without});
  ASSERT_EQ(refused.faults.size(), 1U);
  EXPECT_EQ(refused.faults[0].text(),
            "--features: exactly_once needs the capability 'transactions', which driver 'one' does "
            "not have; take exactly_once away; no driver "
            "of this version has it");
  EXPECT_EQ(refused.faults[0].code, ErrorCode::kUnsupported);
  EXPECT_TRUE(read_proof({.flags = flags, .drivers = with}).faults.empty());
}

TEST(ContradictionsTest, WeakSettingsAreNotRefused) {
  const std::vector<Flag> flags = {
      {"--driver", "kafka"}, {"--settings", "acks=0"}, {"--settings", "enable.idempotence=false"}};
  EXPECT_TRUE(read_proof({.flags = flags}).faults.empty());
}

TEST(ContradictionsTest, AFieldThatCouldNotBeReadIsNotBlamedTwice) {
  const std::vector<Flag> flags = {{"--keys", "x"}, {"--producers", "500"}};
  EXPECT_EQ(read_proof({.flags = flags}).faults.size(), 1U);
}

}  // namespace
}  // namespace sp::proof

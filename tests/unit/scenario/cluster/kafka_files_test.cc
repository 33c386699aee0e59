#include "scenario/cluster/kafka_files.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sp::scenario::cluster {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal(const KafkaSpec& spec) {
  const auto checked = check_spec(spec);
  return checked ? "" : checked.error().message;
}

const std::vector<NodePorts> kThree = {{19112, 19113}, {19122, 19123}, {19132, 19133}};

TEST(KafkaFilesTest, EachNodeOfThreeKnowsItselfAndAllVoters) {
  KafkaSpec spec;
  spec.nodes = 3;
  ASSERT_TRUE(check_spec(spec).has_value());
  const std::string text = server_properties(spec, kThree, 2, "/c/node-2/data");
  EXPECT_THAT(text, HasSubstr("node.id=2\n"));
  EXPECT_THAT(text, HasSubstr("listeners=PLAINTEXT://127.0.0.1:19122,CONTROLLER://127.0.0.1:19123\n"));
  EXPECT_THAT(text, HasSubstr("advertised.listeners=PLAINTEXT://127.0.0.1:19122\n"));
  EXPECT_THAT(text,
              HasSubstr("controller.quorum.voters=1@127.0.0.1:19113,2@127.0.0.1:19123,3@127.0.0.1:19133\n"));
  EXPECT_THAT(text, HasSubstr("log.dirs=/c/node-2/data\n"));
  EXPECT_THAT(text, HasSubstr("default.replication.factor=3\n"));
  EXPECT_THAT(text, HasSubstr("\nmin.insync.replicas=2\n"));
  EXPECT_THAT(text, HasSubstr("transaction.state.log.min.isr=2\n"));
}

TEST(KafkaFilesTest, OneNodeReplicatesNothing) {
  const std::string text = server_properties(KafkaSpec{}, {{1, 2}}, 1, "/d");
  EXPECT_THAT(text, HasSubstr("default.replication.factor=1\n"));
  EXPECT_THAT(text, HasSubstr("\nmin.insync.replicas=1\n"));
  EXPECT_THAT(text, HasSubstr("offsets.topic.replication.factor=1\n"));
  EXPECT_THAT(text, HasSubstr("controller.quorum.voters=1@127.0.0.1:2\n"));
}

TEST(KafkaFilesTest, OwnPropertiesReplaceOursAndSurviveTheFormat) {
  KafkaSpec spec;
  spec.properties = {{"replica.lag.time.max.ms", "9000"}, {"log.dirs.note", " a\\b\nc"}};
  const std::string text = server_properties(spec, {{1, 2}}, 1, "/d");
  EXPECT_THAT(text, HasSubstr("replica.lag.time.max.ms=9000\n"));
  EXPECT_THAT(text, Not(HasSubstr("replica.lag.time.max.ms=2000")));
  EXPECT_THAT(text, HasSubstr("log.dirs.note=\\ a\\\\b\\nc\n"));
}

TEST(KafkaFilesTest, PropertiesThatMakeTheClusterAreRefusedByName) {
  for (const char* name : {"node.id", "listeners", "log.dirs", "controller.quorum.voters", "process.roles"}) {
    KafkaSpec spec;
    spec.properties[name] = "x";
    EXPECT_EQ(refusal(spec),
              std::string("server property '") + name + "' is chosen by the cluster itself: leave it out");
  }
  KafkaSpec spec;
  spec.properties["a=b"] = "x";
  EXPECT_THAT(refusal(spec), HasSubstr("'a=b' is no name"));
}

TEST(KafkaFilesTest, ImpossibleNumbersAreRefusedWithTheRange) {
  KafkaSpec two;
  two.nodes = 2;
  EXPECT_EQ(refusal(two), "a local Kafka cluster has 1 or 3 nodes, not 2");
  KafkaSpec wide;
  wide.replication = 3;
  EXPECT_EQ(refusal(wide), "a replication of 3 does not fit 1 node: use 1 to 1");
  KafkaSpec strict;
  strict.nodes = 3;
  strict.replication = 2;
  strict.min_in_sync = 3;
  EXPECT_EQ(refusal(strict), "min.insync.replicas 3 does not fit a replication of 2: use 1 to 2");
  KafkaSpec none;
  none.min_in_sync = 0;
  EXPECT_THAT(refusal(none), HasSubstr("min.insync.replicas 0"));
  KafkaSpec small;
  small.heap_megabytes = 64;
  EXPECT_THAT(refusal(small), HasSubstr("128 at least"));
}

TEST(KafkaFilesTest, PomNamesTheReleaseEverywhere) {
  EXPECT_THAT(kafka_pom(), HasSubstr("<artifactId>kafka_2.13</artifactId>\n      <version>4.4.0</version>"));
  EXPECT_THAT(kafka_pom(), Not(HasSubstr("@")));
}

TEST(KafkaFilesTest, IdsAreTwentyTwoCharactersOfSixteenBytesAndDifferent) {
  Prng chance(7);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = make_id(chance);
    ASSERT_EQ(id.size(), 22U);
    ASSERT_NE(id.front(), '-');
    ASSERT_NE(std::string("AQgw").find(id.back()), std::string::npos)
        << "the last character holds two bits only: " << id;
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace sp::scenario::cluster

// Runs by users who lack a right: the run ends early with that right named, never with a verdict
// that blames the system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/rights.h"
#include "process/program.h"
#include "process/result.h"

namespace sp::broker_test {
namespace {

using process_test::Outcome;
using process_test::Program;
using process_test::ResultJson;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

const Right kCreate{RD_KAFKA_ACL_OPERATION_CREATE, RD_KAFKA_RESOURCE_TOPIC, "sp-"};
const Right kWrite{RD_KAFKA_ACL_OPERATION_WRITE, RD_KAFKA_RESOURCE_TOPIC, "sp-"};
const Right kRead{RD_KAFKA_ACL_OPERATION_READ, RD_KAFKA_RESOURCE_TOPIC, "sp-"};
const Right kDelete{RD_KAFKA_ACL_OPERATION_DELETE, RD_KAFKA_RESOURCE_TOPIC, "sp-"};
const Right kJoin{RD_KAFKA_ACL_OPERATION_READ, RD_KAFKA_RESOURCE_GROUP, "r"};

// One server for all; each test has a user of its own.
class RightsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_.emplace(std::vector<std::string>{"reader", "writer", "joiner", "maker", "cut", "muted"});
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  static std::vector<std::string> command(const std::string& user, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"run",         "--bootstrap", cluster_->bootstrap(),
                                    "--msg-rate",  "300",         "--keys",
                                    "40",          "--out",       "r",
                                    "--consumers", "2",           "--producers",
                                    "2",           "--partitions", "4"};
    for (const auto& setting : GuardedCluster::login(user)) {
      all.emplace_back("-X");
      all.push_back(setting);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Outcome run(const std::string& user, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--duration", "4s"});
    return Program(command(user, more)).end(120s);
  }
  // Starts a run, takes the right away once records go through, and ends it once that is felt.
  static Outcome run_without(const std::string& user, const Right& right, Program& program) {
    EXPECT_TRUE(program.says_match("[1-9][0-9,]* received", 60s)) << program.err();
    cluster_->withdraw(user, {right});
    EXPECT_TRUE(program.says("; needs ", 60s)) << program.err();
    program.signal(SIGINT);
    return program.end(120s);
  }
  // What grants it, ready to be pasted.
  static std::string remedy(const std::string& user, const std::string& what) {
    return "kafka-acls.sh --bootstrap-server " + cluster_->bootstrap() + " --add --allow-principal User:" + user + " " +
           what + " --resource-pattern-type prefixed";
  }
  static inline std::optional<GuardedCluster> cluster_;
};

TEST_F(RightsTest, ReadOnTheTopicIsNamedInsteadOfAVerdictAndGrantingItIsEnough) {
  cluster_->allow("reader", {kCreate, kWrite, kDelete, kJoin});
  const auto refused = run("reader");
  EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
  EXPECT_THAT(refused.out, AllOf(StartsWith("COULD NOT RUN"), HasSubstr("needs READ on topic 'sp-r"),
                                 HasSubstr(remedy("reader", "--operation Read --topic sp-"))));
  EXPECT_THAT(refused.out, Not(HasSubstr("lost")));
  EXPECT_LT(refused.took, 25s);

  cluster_->allow("reader", {kRead});
  const auto granted = run("reader");
  EXPECT_EQ(granted.code, 0) << granted.out << granted.err;
}

TEST_F(RightsTest, WriteOnTheTopicIsNamedThoughKafkaAsksForAnotherRight) {
  cluster_->allow("writer", {kCreate, kRead, kDelete, kJoin});
  const auto refused = run("writer");
  EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
  EXPECT_THAT(refused.out, AllOf(StartsWith("COULD NOT RUN"), HasSubstr("needs WRITE on topic 'sp-r"),
                                 HasSubstr(remedy("writer", "--operation Write --topic sp-"))));
  EXPECT_LT(refused.took, 25s);
}

TEST_F(RightsTest, ReadOnTheGroupIsNamedAtOnceAndAlsoWhereNothingElseIsShown) {
  cluster_->allow("joiner", {kCreate, kWrite, kRead, kDelete});
  const auto refused = run("joiner", {"--quiet"});
  EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
  EXPECT_THAT(refused.out, AllOf(StartsWith("COULD NOT RUN"), HasSubstr("needs READ on group 'r"),
                                 HasSubstr(remedy("joiner", "--operation Read --group r"))));
  EXPECT_THAT(refused.err, IsEmpty());
  EXPECT_LT(refused.took, 25s);
}

TEST_F(RightsTest, ATopicThatMayBeMadeButNotSeenNamesWhatSeesIt) {
  cluster_->allow("maker", {kCreate});
  const auto refused = run("maker");
  EXPECT_EQ(refused.code, 3) << refused.out << refused.err;
  EXPECT_THAT(refused.out,
              AllOf(StartsWith("COULD NOT RUN"), HasSubstr("needs DESCRIBE on topic 'sp-r"),
                    HasSubstr(remedy("maker", "--operation Read --operation Write --topic sp-"))));
  EXPECT_LT(refused.took, 25s);
}

// A record that nobody was allowed to look for is not lost, however late it is.
TEST_F(RightsTest, ReadWithdrawnOnTheWayIsMissingEvidenceAndNoLoss) {
  cluster_->allow("cut", {kCreate, kWrite, kRead, kDelete, kJoin});
  Program program(command("cut", {"--duration", "60s", "--timeout", "1s", "--final-wait-seconds", "3",
                                  "--check-point-interval", "1s"}));
  const auto outcome = run_without("cut", kRead, program);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("INCONCLUSIVE"), HasSubstr("READ on topic 'sp-r")));
  const auto result = ResultJson::in(program.folder() / "r");
  EXPECT_EQ(result.count("lost"), 0U);
  EXPECT_GT(result.number("/undecided"), 0U);
  EXPECT_GT(result.number("/coverage/received"), 0U);
}

TEST_F(RightsTest, WriteWithdrawnOnTheWayIsMissingEvidence) {
  cluster_->allow("muted", {kCreate, kWrite, kRead, kDelete, kJoin});
  Program program(command("muted", {"--duration", "60s"}));
  const auto outcome = run_without("muted", kWrite, program);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("INCONCLUSIVE"), HasSubstr("WRITE on topic 'sp-r")));
  EXPECT_EQ(ResultJson::in(program.folder() / "r").count("lost"), 0U);
}

}  // namespace
}  // namespace sp::broker_test

#include "coordinator/submission.h"

#include <gtest/gtest.h>

namespace sp::coordinator {
namespace {

using namespace std::chrono_literals;

Configs world() {
  Configs configs;
  configs.workers = {{"w1", "http://a:8088"}, {"w2", "http://b:8088"}};
  configs.drivers = {{"k1", "kafka", {{"bootstrap.servers", "\"k:9092\""}, {"acks", "\"1\""}, {"retries", "3"}}, R"({"size":"big"})"},
                     {"e1", "embedded", {}, std::nullopt}};
  return configs;
}

SubmissionReading read(std::string_view text, const Configs& configs = world()) {
  auto root = codec::parse_document(text);
  EXPECT_TRUE(root) << root.error().message;
  return read_submission(*root, configs);
}

std::vector<std::string> messages(const SubmissionReading& reading) {
  std::vector<std::string> all;
  for (const auto& fault : reading.faults) all.push_back(fault.message);
  return all;
}

// The request of the reference's appendix D, its driver's settings beside it.
TEST(Submission, TheRequestOfTheReferenceIsAProof) {
  const auto got = read(R"({"name":"demo","driver":"k1","features":["at_least_once","ordering"],"partitions":6,"producers":5,"consumers":4,
    "msgRate":1001,"keys":7,"messageSize":256,"checkPointInterval":5,"timeout":60,"duration":600,"finalWaitSeconds":20,
    "maxStallSeconds":120,"kafka":{"topicConfig":{"retention.ms":"3600000"}},
    "webhookConfig":{"url":"http://hook.local/x","type":"generic","enabled":true}})");
  ASSERT_TRUE(got.faults.empty()) << got.faults.front().text();
  const proof::Proof& proof = got.submission.proof;
  EXPECT_EQ(got.submission.driver, "k1");
  EXPECT_EQ(proof.driver, "kafka");
  EXPECT_EQ(proof.name, "demo");
  EXPECT_TRUE(proof.at_least_once && proof.ordering && !proof.exactly_once);
  EXPECT_EQ(got.submission.features, (std::vector<std::string>{"at_least_once", "ordering"}));
  EXPECT_EQ(proof.workers, 2U);
  EXPECT_EQ(proof.rate, 1001U);
  EXPECT_EQ(proof.duration, 600s);
  EXPECT_EQ(proof.final_wait, 20s);
  EXPECT_EQ(proof.thresholds.stall_seconds_max, 120U);
  EXPECT_EQ(proof.topic_config.at("retention.ms"), "3600000");
  EXPECT_EQ(proof.settings, (std::map<std::string, std::string>{{"bootstrap.servers", "k:9092"}, {"acks", "1"}, {"retries", "3"}}));
  EXPECT_EQ(got.submission.webhook, (Webhook{"http://hook.local/x", "generic", true, false, ""}));
}

TEST(Submission, DefaultsAreThoseOfTheReference) {
  const auto got = read(R"({"driver":"k1","features":["ordering"]})");
  ASSERT_TRUE(got.faults.empty()) << got.faults.front().text();
  const proof::Proof& proof = got.submission.proof;
  EXPECT_EQ(proof.partitions, 10U);
  EXPECT_EQ(proof.producers, 4U);
  EXPECT_EQ(proof.consumers, 4U);
  EXPECT_EQ(proof.rate, 1000U);
  EXPECT_EQ(proof.keys, 100U);
  EXPECT_EQ(proof.payload_bytes, 8U);
  EXPECT_EQ(proof.check_point_interval, 60s);
  EXPECT_EQ(proof.timeout, 180s);
  EXPECT_EQ(proof.duration, 28'800s);
  EXPECT_FALSE(proof.final_wait);
  EXPECT_FALSE(proof.thresholds.stall_seconds_max);
  EXPECT_FALSE(got.submission.webhook);
}

TEST(Submission, WhatTheServerSaysIsNotTheClients) {
  const auto got = read(R"({"id":"mine1","startTime":"2020-01-01T00:00:00","workers":99,"driver":"e1","features":["ordering"]})");
  ASSERT_TRUE(got.faults.empty()) << got.faults.front().text();
  EXPECT_EQ(got.submission.proof.workers, 2U);
}

TEST(Submission, TheProofsOwnSettingsGoOverTheDrivers) {
  const auto got = read(R"({"driver":"k1","features":["ordering"],"settings":{"acks":"all","linger.ms":"5"}})");
  ASSERT_TRUE(got.faults.empty()) << got.faults.front().text();
  EXPECT_EQ(got.submission.proof.settings.at("acks"), "all");
  EXPECT_EQ(got.submission.proof.settings.at("linger.ms"), "5");
  EXPECT_EQ(got.submission.proof.settings.at("retries"), "3");
}

TEST(Submission, AllThatIsWrongIsToldAtOnce) {
  const auto got = read(R"({"driver":"nobody","features":["at_most_once"],"consumeDelay":200,"timeout":100,"messageSize":4,
    "mgsRate":5,"webhookConfig":{"url":"x","tpye":"slack"}})");
  const auto all = messages(got);
  const auto has = [&](std::string_view part) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& each) { return each.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("there is no driver 'nobody'"));
  EXPECT_TRUE(has("at_most_once"));
  EXPECT_TRUE(has("messageSize"));
  EXPECT_TRUE(has("unknown field 'mgsRate'"));
  EXPECT_TRUE(has("consumeDelay"));
  EXPECT_TRUE(has("webhookConfig.url"));
  EXPECT_TRUE(has("unknown field 'tpye' of webhookConfig"));
}

TEST(Submission, FeaturesAreMandatoryAndSoIsAWorker) {
  EXPECT_EQ(messages(read(R"({"driver":"e1"})")), (std::vector<std::string>{"no feature is named, so there is nothing to prove"}));
  EXPECT_EQ(messages(read(R"({"driver":"e1","features":null})")),
            (std::vector<std::string>{"no feature is named, so there is nothing to prove"}));
  Configs nobody = world();
  nobody.workers.clear();
  EXPECT_EQ(messages(read(R"({"driver":"e1","features":["ordering"]})", nobody)), (std::vector<std::string>{"no worker is configured"}));
  EXPECT_EQ(messages(read(R"({"driver":"e1","features":[]})")),
            (std::vector<std::string>{"no feature is named, so there is nothing to prove"}));
  EXPECT_EQ(messages(read("[]")), (std::vector<std::string>{"a proof is a JSON object"}));
}

TEST(Submission, ThreeDriversMustBeThere) {
  const auto got = read(R"({"drivers":{"admin":"k1","producer":"k1"},"features":["ordering"]})");
  EXPECT_EQ(messages(got), (std::vector<std::string>{"drivers has no consumer",
                                                     "separate systems for admin, producers and consumers are not supported yet"}));
  const auto same = read(R"({"driver":"e1","drivers":{"admin":"k1","producer":"k1","consumer":"k1"},"features":["ordering"]})");
  ASSERT_TRUE(same.faults.empty()) << same.faults.front().text();
  EXPECT_EQ(same.submission.proof.driver, "kafka");
  EXPECT_EQ(same.submission.driver, "e1");
}

TEST(Submission, SurvivesTheStateFile) {
  auto got = read(R"({"name":"ü \"x\"","driver":"k1","drivers":{"admin":"k1","producer":"k1","consumer":"k1"},
    "features":["exactly_once"],"pulsar":{"consumerConfig":{"subscriptionType":"Shared","n":1}},"settings":{"sasl.password":"s3cret"},
    "webhookConfig":{"url":"https://h","onFirstViolation":true,"secret":"env:X"}})");
  got.faults.clear();
  got.submission.proof.exactly_once = false;  // the drivers of this program cannot do it: read back it would be a fault
  got.submission.proof.ordering = true;
  const auto back = submission_of_json(submission_json(got.submission));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->proof, got.submission.proof);
  EXPECT_EQ(back->driver, "k1");
  EXPECT_EQ(back->drivers, got.submission.drivers);
  EXPECT_EQ(back->webhook, got.submission.webhook);
  EXPECT_EQ(back->pulsar_consumer, R"({"subscriptionType":"Shared","n":1})");
  EXPECT_EQ(back->features, (std::vector<std::string>{"exactly_once"}));
  EXPECT_EQ(back->proof.settings.at("sasl.password"), "s3cret");
  EXPECT_FALSE(submission_of_json("{}"));
}

TEST(Submission, ClusterTargetsShowWhereTheSystemsAreAndNoSecrets) {
  Submission submission;
  submission.driver = "k1";
  submission.drivers = DriverNames{"k1", "e1", "gone"};
  const auto targets = cluster_targets(submission, world());
  ASSERT_EQ(targets.size(), 4U);
  EXPECT_EQ(targets[0].role, "default");
  EXPECT_EQ(targets[0].endpoints, (std::vector<JsonMember>{{"bootstrap.servers", "\"k:9092\""}}));
  EXPECT_EQ(targets[0].metadata, R"({"size":"big"})");
  EXPECT_EQ(targets[2].type, "embedded");
  EXPECT_EQ(targets[3].type, "");
}

TEST(Submission, TheFinalWaitIsTheProofsElseTheReports) {
  Configs configs = world();
  proof::Proof proof;
  EXPECT_EQ(final_wait(proof, configs), 30s);
  configs.report = std::vector<JsonMember>{{"finalVerificationTimeoutSeconds", "7"}};
  EXPECT_EQ(final_wait(proof, configs), 7s);
  configs.report->push_back({"finalWaitSeconds", "\"9\""});
  EXPECT_EQ(final_wait(proof, configs), 9s);
  proof.final_wait = 0s;
  EXPECT_EQ(final_wait(proof, configs), 0s);
  EXPECT_EQ(series_points_max(configs), 481U);
}

}  // namespace
}  // namespace sp::coordinator

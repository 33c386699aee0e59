#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/prng.h"
#include "codec/document.h"
#include "proof/fields.h"
#include "proof/visit.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

TEST(PrintProofTest, YamlShowsEveryFieldThatHasAValueInTheOrderOfTheTable) {
  Proof proof = run_defaults();
  proof.name = "a: b";
  proof.driver = "kafka";
  proof.duration = seconds{28800};
  proof.settings = {{"acks", "all"}, {"bootstrap.servers", "localhost:9092"}};
  proof.topic_config = {{"retention.ms", "-1"}};
  proof.chaos = {"kill-leader:every=20s,down=8s"};
  EXPECT_EQ(to_yaml(proof),
            "name: \"a: b\"\n"
            "driver: kafka\n"
            "settings:\n  acks: all\n  bootstrap.servers: \"localhost:9092\"\n"
            "features: [at_least_once, ordering]\n"
            "topicExists: fail\n"
            "keepTopic: false\n"
            "partitions: 10\n"
            "replicationFactor: 1\n"
            "kafka:\n  topicConfig:\n    retention.ms: \"-1\"\n"
            "workers: 1\nproducers: 4\nconsumers: 4\ngroups: 1\nkeys: 100\nmsgRate: "
            "1000\nmessageSize: 100\n"
            "duration: 28800  # 8 h\n"
            "checkPointInterval: 5\ntimeout: 30\nconsumeDelay: 0\ntimeSeriesInterval: 0\n"
            "commit: checkpoint\nrawRead: holes\norder: key\n"
            "chaos:\n  - \"kill-leader:every=20s,down=8s\"\n"
            "seed: 0\n");
}

TEST(PrintProofTest, JsonHasNumbersAsNumbersAndNestsTheTopicConfig) {
  Proof proof = run_defaults();
  proof.topic_config = {{"a", "1"}};
  const std::string json = to_json(proof);
  EXPECT_NE(json.find("\"msgRate\": 1000"), std::string::npos) << json;
  EXPECT_NE(json.find("\"keepTopic\": false"), std::string::npos) << json;
  EXPECT_NE(json.find("\"kafka\": {\n    \"topicConfig\": {\n      \"a\": \"1\"\n    }\n  }"),
            std::string::npos)
      << json;
}

TEST(PrintProofTest, SecretsAreHiddenAndAHiddenOneIsNotReadAsAPassword) {
  Proof proof = run_defaults();
  proof.settings = {{"sasl.password", "hunter2"}, {"ssl.ca.location", "/ca.pem"}};
  EXPECT_EQ(to_yaml(proof).find("hunter2"), std::string::npos);
  EXPECT_EQ(to_json(proof).find("hunter2"), std::string::npos);
  EXPECT_NE(to_yaml(proof, {.secrets = true}).find("hunter2"), std::string::npos);
  const std::string text = to_yaml(proof);
  const auto reading = read_proof({.file_name = "p.yaml", .file_text = text});
  ASSERT_EQ(reading.faults.size(), 1U);
  EXPECT_EQ(reading.faults[0].message, "'sasl.password' was hidden when this proof was printed");
  EXPECT_EQ(reading.faults[0].remedy, "give it again: --settings sasl.password=…");
}

TEST(PrintProofTest, WhatIsSecretIsKnownByItsName) {
  for (const auto* name : {"sasl.password", "ssl.key.password", "ssl.key.pem", "sasl.jaas.config",
                           "sasl.oauthbearer.client.secret", "ssl.keystore.password",
                           "SASL.PASSWORD", "sasl.oauthbearer.config"}) {
    EXPECT_TRUE(is_secret(name)) << name;
  }
  for (const auto* name :
       {"acks", "sasl.username", "sasl.mechanism", "ssl.ca.location", "ssl.certificate.pem",
        "ssl.key.location", "sasl.oauthbearer.token.endpoint.url", "partitioner"}) {
    EXPECT_FALSE(is_secret(name)) << name;
  }
}

// Any text that a file can hold: pieces that YAML or JSON could take for something else.
std::string any_text(Prng& chance) {
  constexpr std::string_view kPieces[] = {"a",        "Z",
                                          "0",        "-",
                                          ":",        ": ",
                                          " ",        "#",
                                          "'",        "\"",
                                          "\\",       "\n",
                                          "\t",       "{",
                                          "]",        ",",
                                          "&",        "*",
                                          "!",        "|",
                                          ">",        "%",
                                          "@",        "`",
                                          "~",        "null",
                                          "yes",      "ä",
                                          "€",        "😀",
                                          "\x01",     "\x7f",
                                          "\xC2\x85", "\xE2\x80\xA8",
                                          "=",        "\r",
                                          "---",      "..."};
  std::string text;
  const std::uint64_t count = chance.between(1, 6);
  for (std::uint64_t i = 0; i < count; ++i) text += kPieces[chance.below(std::size(kPieces))];
  return text;
}

// Gives the field any value within its limits, without regard for the other fields.
void draw_field(const Field& field, Proof& proof, Prng& chance) {
  const auto number = [&] { return chance.between(field.first, field.last); };
  std::visit(Overloaded{
                 [&](std::string Proof::*member) { proof.*member = any_text(chance); },
                 [&](bool Proof::*member) { proof.*member = chance.chance(0.5); },
                 [&](std::uint32_t Proof::*member) {
                   proof.*member = static_cast<std::uint32_t>(number());
                 },
                 [&](std::uint64_t Proof::*member) { proof.*member = number(); },
                 [&](seconds Proof::*member) { proof.*member = seconds{number()}; },
                 [&](std::optional<seconds> Proof::*member) { proof.*member = seconds{number()}; },
                 [&](std::vector<std::string> Proof::*member) {
                   for (std::uint64_t i = chance.below(4); i-- > 0;)
                     (proof.*member).push_back(any_text(chance));
                 },
                 [&](std::map<std::string, std::string> Proof::*member) {
                   for (std::uint64_t i = chance.below(4); i-- > 0;)
                     (proof.*member)[any_text(chance)] = any_text(chance);
                 },
                 [&](std::optional<std::uint64_t> core::Thresholds::*member) {
                   proof.thresholds.*member = std::max<std::uint64_t>(1, number());
                 },
                 [&](std::optional<double> core::Thresholds::*member) {
                   proof.thresholds.*member = chance.unit() * static_cast<double>(field.last);
                 },
                 [&](std::span<const SetName> names) {
                   for (const SetName& row : names) proof.*row.member = chance.chance(0.5);
                 },
                 [&](const Choice& choice) {
                   set_choice(choice, proof, choice.names[chance.below(choice.names.size())].value);
                 },
             },
             field.member);
}

// What was read of the print, whatever contradictions the drawn values have.
std::optional<Proof> read_back(const std::string& text) {
  const auto reading = read_proof({.file_name = "p", .file_text = text});
  for (const Fault& fault : reading.faults) {
    if (fault.code == ErrorCode::kParse || fault.message.starts_with("unknown field") ||
        fault.message.find(" is out of range") != std::string::npos) {
      return std::nullopt;
    }
  }
  return reading.proof;
}

RC_GTEST_PROP(PrintProofProperty, YamlAndJsonReadBackToTheSameProof, (std::uint64_t seed)) {
  Prng chance(seed);
  Proof proof;
  for (const Field& field : fields()) {
    if (chance.chance(0.7)) draw_field(field, proof, chance);
  }
  const auto from_yaml = read_back(to_yaml(proof, {.secrets = true}));
  RC_ASSERT(from_yaml.has_value());
  RC_ASSERT(*from_yaml == proof);
  const auto from_json = read_back(to_json(proof, {.secrets = true}));
  RC_ASSERT(from_json.has_value());
  RC_ASSERT(*from_json == proof);
}

}  // namespace
}  // namespace sp::proof

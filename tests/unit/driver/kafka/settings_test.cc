#include "driver/kafka/settings.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "driver/kafka/java_names.h"
#include "driver/kafka/kafka.h"
#include "driver/kafka/library.h"

namespace sp::driver::kafka {
namespace {

class KafkaSettingsTest : public ::testing::Test {
 protected:
  static const Library& library() { return *Library::get(); }
  static Result<Plan> plan(Settings user) {
    user.emplace("bootstrap.servers", "127.0.0.1:1");
    return plan_settings(library(), user);
  }
  static std::string refusal(Settings user) {
    const auto planned = plan(std::move(user));
    return planned ? "accepted" : planned.error().message;
  }
  static std::string value(const Settings& settings, const std::string& name) {
    const auto* property = library().find(name);
    const auto found = settings.find(property == nullptr ? name : property->canonical);
    return found == settings.end() ? "absent" : found->second;
  }
  static bool noted(const Plan& plan, const std::string& part) {
    for (const auto& note : plan.notes) {
      if (note.find(part) != std::string::npos) return true;
    }
    return false;
  }
  static std::string file_with(const std::string& name, const std::string& content) {
    const auto path = ::testing::TempDir() + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(KafkaSettingsTest, AnUnknownNameIsRefusedWithTheNearestOne) {
  EXPECT_SAYS(refusal({{"fetch.min.byte", "1"}}),
              "no setting 'fetch.min.byte'; did you mean fetch.min.bytes?");
}

TEST_F(KafkaSettingsTest, ANameNearNothingIsRefusedWithoutAGuess) {
  const auto said = refusal({{"zzzzzzzz", "1"}});
  EXPECT_SAYS(said, "knows no setting 'zzzzzzzz'");
  EXPECT_EQ(said.find("did you mean"), std::string::npos);
}

TEST_F(KafkaSettingsTest, AllFaultsAreToldAtOnce) {
  const auto said =
      refusal({{"ack", "1"}, {"linger.ms", "often"}, {"sasl.jaas.config", "X required"}});
  EXPECT_SAYS(said, "'ack'");
  EXPECT_SAYS(said, "closing ';'");
  EXPECT_SAYS(refusal({{"linger.ms", "often"}}), "often");
}

TEST_F(KafkaSettingsTest, ServersMustBeNamed) {
  const auto planned = plan_settings(library(), {});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().code, ErrorCode::kInvalid);
  EXPECT_SAYS(planned.error().message, "bootstrap.servers is missing");
}

TEST_F(KafkaSettingsTest, DefaultsHoldWhereTheUserIsSilent) {
  const auto planned = plan({});
  ASSERT_TRUE(planned);
  EXPECT_EQ(value(planned->producer, "acks"), "all");
  EXPECT_EQ(value(planned->producer, "enable.idempotence"), "true");
  EXPECT_EQ(value(planned->producer, "partitioner"), "murmur2_random");
  EXPECT_EQ(value(planned->consumer, "auto.offset.reset"), "earliest");
  EXPECT_EQ(value(planned->consumer, "isolation.level"), "read_uncommitted");
  EXPECT_EQ(value(planned->consumer, "partition.assignment.strategy"), "cooperative-sticky");
}

TEST_F(KafkaSettingsTest, EachSideGetsOnlyWhatItKnows) {
  const auto planned =
      plan({{"linger.ms", "7"}, {"fetch.min.bytes", "9"}, {"socket.timeout.ms", "1234"}});
  ASSERT_TRUE(planned);
  EXPECT_EQ(value(planned->producer, "linger.ms"), "7");
  EXPECT_EQ(value(planned->producer, "fetch.min.bytes"), "absent");
  EXPECT_EQ(value(planned->consumer, "linger.ms"), "absent");
  EXPECT_EQ(value(planned->consumer, "fetch.min.bytes"), "9");
  EXPECT_EQ(value(planned->admin, "socket.timeout.ms"), "1234");
  EXPECT_EQ(value(planned->admin, "linger.ms"), "absent");
}

TEST_F(KafkaSettingsTest, AWeakerChoiceWithdrawsIdempotenceAndSaysSo) {
  for (const Settings& weak :
       {Settings{{"acks", "1"}}, Settings{{"max.in.flight", "6"}}, Settings{{"retries", "0"}}}) {
    const auto planned = plan(weak);
    ASSERT_TRUE(planned);
    EXPECT_EQ(value(planned->producer, "enable.idempotence"), "absent");
    EXPECT_TRUE(noted(*planned, "enable.idempotence: our default is not set"));
    EXPECT_TRUE(probe(library(), *planned));
  }
}

TEST_F(KafkaSettingsTest, AContradictionOfTheUsersOwnIsRefusedByTheLibrary) {
  const auto planned = plan({{"acks", "1"}, {"enable.idempotence", "true"}});
  ASSERT_TRUE(planned);
  const auto effective = probe(library(), *planned);
  ASSERT_FALSE(effective);
  EXPECT_SAYS(effective.error().message, "producer settings: ");
}

TEST_F(KafkaSettingsTest, TwoNamesOfOneSettingMayNotDiffer) {
  EXPECT_SAYS(refusal({{"acks", "1"}, {"request.required.acks", "-1"}}),
              "one setting with two values");
  EXPECT_TRUE(plan({{"acks", "1"}, {"request.required.acks", "1"}}));
}

TEST_F(KafkaSettingsTest, WhatWouldBlindTheDriverIsRefused) {
  EXPECT_SAYS(refusal({{"delivery.report.only.error", "true"}}),
              "every success would stay unknown");
  EXPECT_SAYS(refusal({{"transactional.id", "t"}}), "transactions are not driven yet");
  EXPECT_SAYS(refusal({{"dr_msg_cb", "x"}}), "by a program only");
}

TEST_F(KafkaSettingsTest, TheNewGroupProtocolKeepsItsAssignmentAtTheBroker) {
  const auto planned = plan({{"group.protocol", "consumer"}});
  ASSERT_TRUE(planned);
  EXPECT_EQ(value(planned->consumer, "partition.assignment.strategy"), "absent");
  EXPECT_TRUE(probe(library(), *planned)) << probe(library(), *planned).error().message;
}

TEST_F(KafkaSettingsTest, EffectiveValuesAreTheLibrarysAndSecretsAreMasked) {
  const auto planned =
      plan({{"sasl.username", "u"}, {"sasl.password", "hush"}, {"linger.ms", "7"}});
  ASSERT_TRUE(planned);
  const auto effective = probe(library(), *planned);
  ASSERT_TRUE(effective) << effective.error().message;
  EXPECT_EQ(effective->at("acks"), "all");
  EXPECT_EQ(effective->at("linger.ms"), "7");
  EXPECT_EQ(effective->at("enable.idempotence"), "true");
  EXPECT_EQ(effective->at("sasl.password"), "***");
  EXPECT_EQ(effective->at("bootstrap.servers"), "127.0.0.1:1");
  for (const auto& [name, text] : *effective)
    EXPECT_EQ(text.find("hush"), std::string::npos) << name;
}

TEST_F(KafkaSettingsTest, ABadSecretIsNotShown) {
  EXPECT_EQ(
      refusal({{"sasl.jaas.config", "a.PlainLoginModule required username=\"u\" password=\"hush"}})
          .find("hush"),
      std::string::npos);
}

TEST_F(KafkaSettingsTest, AJaasLineBecomesUserAndPassword) {
  const auto planned =
      plan({{"sasl.jaas.config",
             "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" "
             "password=\"p \\\"q\\\\;\";"}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(value(planned->producer, "sasl.username"), "u");
  EXPECT_EQ(value(planned->consumer, "sasl.password"), "p \"q\\;");
  EXPECT_EQ(value(planned->admin, "sasl.mechanism"), "PLAIN");
}

TEST_F(KafkaSettingsTest, ScramNeedsItsMechanismNamed) {
  const std::string line =
      "org.apache.kafka.common.security.scram.ScramLoginModule required username=u password=p;";
  EXPECT_SAYS(refusal({{"sasl.jaas.config", line}}), "sasl.mechanism=SCRAM-SHA-256");
  EXPECT_TRUE(plan({{"sasl.jaas.config", line}, {"sasl.mechanism", "SCRAM-SHA-512"}}));
}

TEST_F(KafkaSettingsTest, JavaNamesAreRenamedOrNoted) {
  const auto planned =
      plan({{"fetch.max.wait.ms", "77"},
            {"send.buffer.bytes", "4096"},
            {"max.request.size", "2000000"},
            {"buffer.memory", "33554432"},
            {"max.block.ms", "60000"},
            {"key.serializer", "org.apache.kafka.common.serialization.StringSerializer"}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(value(planned->consumer, "fetch.wait.max.ms"), "77");
  EXPECT_EQ(value(planned->admin, "socket.send.buffer.bytes"), "4096");
  EXPECT_EQ(value(planned->producer, "message.max.bytes"), "2000000");
  EXPECT_TRUE(noted(*planned, "buffer.memory: "));
  EXPECT_TRUE(noted(*planned, "max.block.ms: "));
  EXPECT_TRUE(noted(*planned, "key.serializer: "));
}

TEST_F(KafkaSettingsTest, JavaValuesAreTranslated) {
  const auto planned = plan({{"auto.offset.reset", "none"},
                             {"ssl.endpoint.identification.algorithm", ""},
                             {"partition.assignment.strategy",
                              "org.apache.kafka.clients.consumer.RangeAssignor,"
                              "org.apache.kafka.clients.consumer.RoundRobinAssignor"}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(value(planned->consumer, "auto.offset.reset"), "error");
  EXPECT_EQ(value(planned->consumer, "ssl.endpoint.identification.algorithm"), "none");
  EXPECT_EQ(value(planned->consumer, "partition.assignment.strategy"), "range,roundrobin");
  EXPECT_SAYS(refusal({{"partition.assignment.strategy",
                        "org.apache.kafka.clients.consumer.StickyAssignor"}}),
              "no eager sticky assignor");
}

TEST_F(KafkaSettingsTest, StoresAreToldApartByTheirContent) {
  const auto pem = file_with("ca.pem", "-----BEGIN CERTIFICATE-----\n");
  const auto jks = file_with("store.jks", "\xFE\xED\xFE\xED rest");
  const auto planned = plan({{"ssl.truststore.location", pem},
                             {"ssl.truststore.type", "PEM"},
                             {"ssl.keystore.location", pem}});
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(value(planned->admin, "ssl.ca.location"), pem);
  EXPECT_EQ(value(planned->admin, "ssl.certificate.location"), pem);
  EXPECT_EQ(value(planned->admin, "ssl.key.location"), pem);
  EXPECT_SAYS(refusal({{"ssl.truststore.location", jks}}), "is a JKS file, only PEM");
  EXPECT_SAYS(refusal({{"ssl.keystore.location", jks}}), "keytool -importkeystore");
  EXPECT_SAYS(refusal({{"ssl.truststore.location", "/no/such/file"}}),
              "cannot read '/no/such/file'");
  std::remove(pem.c_str());
  std::remove(jks.c_str());
}

TEST_F(KafkaSettingsTest, NoJavaRowHidesANameThatTheLibraryKnowsUnlessItsValueIsRead) {
  for (const auto& row : java_rows()) {
    if (row.action == JavaAction::kRename) {
      EXPECT_NE(library().find(row.target), nullptr)
          << row.name << " is renamed to an unknown " << row.target;
    } else if (row.action == JavaAction::kIgnore) {
      EXPECT_FALSE(row.why.empty()) << row.name;
    }
  }
}

TEST_F(KafkaSettingsTest, TheManualHasTheTableOfTheCode) {
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../../..";
  std::ifstream page(root / "docs/reference/kafka-settings.md");
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, java_table());
}

TEST_F(KafkaSettingsTest, OpeningADriverTriesEverySettingWithoutAServer) {
  SystemMonotonicClock clock;
  const auto refused = open({{"bootstrap.servers", "127.0.0.1:1"},
                             {"security.protocol", "ssl"},
                             {"ssl.ca.location", "/no/such.pem"}},
                            clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_SAYS(refused.error().message, "ssl.ca.location");
  const auto opened = open({{"bootstrap.servers", "127.0.0.1:1"}}, clock);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->client(), "librdkafka " + library_version());
}

TEST_F(KafkaSettingsTest, ALibraryWithoutTheGroupsGenerationIsRefusedWithItsVersion) {
  const auto refused = Library::load([](const char*) -> void* { return nullptr; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_SAYS(refused.error().message, "librdkafka " + library_version());
  EXPECT_SAYS(refused.error().message, "tools/fetch-librdkafka");
}

TEST_F(KafkaSettingsTest, ThePropertyTableIsReadByColumns) {
  const auto table = parse_property_table(
      "## Global\n\nProperty | C/P | Range | Default | Importance | Description\n---|---|---\n"
      "acks | P | -1 .. 1000 | -1 | high | Alias for `request.required.acks`: This field. "
      "<br>*Type: integer*\n"
      "a.b | C | | x|y | low | Text. <br>*Type: string*\n"
      "dr_cb | P | | | low | Callback <br>*Type: see dedicated API*\n");
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table.at("acks").canonical, "request.required.acks");
  EXPECT_EQ(table.at("acks").side, Side::kProducer);
  EXPECT_EQ(table.at("a.b").side, Side::kConsumer);
  EXPECT_FALSE(table.at("dr_cb").settable);
}

}  // namespace
}  // namespace sp::driver::kafka

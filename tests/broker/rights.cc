#include "broker/rights.h"

#include <array>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "scenario/cluster/artefacts.h"

namespace sp::broker_test {
namespace {

constexpr int kAnswerMilliseconds = 30'000;
constexpr const char* kAdmin = "admin";

std::string jaas(const std::vector<std::string>& users) {
  std::string text = fmt::format(
      "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"{0}\" "
      "password=\"{0}\" user_{0}=\"{0}\"",
      kAdmin);
  for (const auto& user : users) text += fmt::format(" user_{0}=\"{0}\"", user);
  return text + ";";
}

scenario::cluster::KafkaSpec guarded(const std::vector<std::string>& users) {
  scenario::cluster::KafkaSpec spec;
  spec.properties = {
      {"authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
      {"inter.broker.listener.name", "PLAINTEXT"},
      {"listener.name.plaintext.plain.sasl.jaas.config", jaas(users)},
      {"listener.security.protocol.map", "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"},
      {"sasl.enabled.mechanisms", "PLAIN"},
      {"sasl.mechanism.inter.broker.protocol", "PLAIN"},
      {"super.users", fmt::format("User:{};User:ANONYMOUS", kAdmin)},  // the controller's listener
  };
  return spec;
}

void set(rd_kafka_conf_t* conf, const char* name, const char* value) {
  std::array<char, 256> why{};
  EXPECT_EQ(rd_kafka_conf_set(conf, name, value, why.data(), why.size()), RD_KAFKA_CONF_OK)
      << why.data();
}

}  // namespace

GuardedCluster::GuardedCluster(const std::vector<std::string>& users)
    : folder_(sys::TemporaryFolder::make("sp-rights-test").value()) {
  const auto options = scenario::cluster::usual_fetch();
  EXPECT_TRUE(options.has_value());
  const auto kafka = scenario::cluster::fetch_kafka(*options, {});
  EXPECT_TRUE(kafka.has_value()) << (kafka ? "" : kafka.error().message);
  auto up = scenario::cluster::KafkaCluster::up(guarded(users), folder_.path() / "c", *kafka,
                                                clock_, {});
  EXPECT_TRUE(up.has_value()) << (up ? "" : up.error().message);
  if (!up) return;
  cluster_.emplace(std::move(*up));
  connect();
}

GuardedCluster::~GuardedCluster() {
  if (admin_ != nullptr) rd_kafka_destroy(admin_);
  if (!cluster_) return;
  EXPECT_TRUE(cluster_->down().has_value());
}

void GuardedCluster::connect() {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", bootstrap().c_str());
  for (const auto& setting : login(kAdmin)) {
    const auto at = setting.find('=');
    set(conf, setting.substr(0, at).c_str(), setting.substr(at + 1).c_str());
  }
  std::array<char, 256> why{};
  admin_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
  EXPECT_NE(admin_, nullptr) << why.data();
}

std::string GuardedCluster::bootstrap() const { return cluster_ ? cluster_->bootstrap() : ""; }

std::vector<std::string> GuardedCluster::login(const std::string& user) {
  return {"security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", "sasl.username=" + user,
          "sasl.password=" + user};
}

void GuardedCluster::allow(const std::string& user, const std::vector<Right>& rights) {
  change(user, rights, rd_kafka_AclBinding_new, rd_kafka_CreateAcls);
}

void GuardedCluster::withdraw(const std::string& user, const std::vector<Right>& rights) {
  change(user, rights, rd_kafka_AclBindingFilter_new, rd_kafka_DeleteAcls);
}

template <typename Make, typename Send>
void GuardedCluster::change(const std::string& user, const std::vector<Right>& rights, Make make,
                            Send send) {
  const std::string principal = "User:" + user;
  std::array<char, 256> why{};
  std::vector<rd_kafka_AclBinding_t*> bindings;
  for (const auto& right : rights) {
    bindings.push_back(make(right.kind, right.prefix.c_str(), RD_KAFKA_RESOURCE_PATTERN_PREFIXED,
                            principal.c_str(), "*", right.operation,
                            RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why.data(), why.size()));
    ASSERT_NE(bindings.back(), nullptr) << why.data();
  }
  rd_kafka_queue_t* answers = rd_kafka_queue_new(admin_);
  send(admin_, bindings.data(), bindings.size(), nullptr, answers);
  rd_kafka_event_t* answer = rd_kafka_queue_poll(answers, kAnswerMilliseconds);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(rd_kafka_event_error(answer), RD_KAFKA_RESP_ERR_NO_ERROR)
      << rd_kafka_event_error_string(answer);
  rd_kafka_event_destroy(answer);
  rd_kafka_queue_destroy(answers);
  rd_kafka_AclBinding_destroy_array(bindings.data(), bindings.size());
}

}  // namespace sp::broker_test

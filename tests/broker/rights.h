// One Kafka node that asks who you are (SASL PLAIN) and lets nobody do what no ACL allows; the
// rights of its users are given and withdrawn by the test.
//
//     GuardedCluster cluster({"prover", "reader"});      every password is the user's name
//     cluster.allow("prover", {{Right::kWrite, topics("sp-")}});      at once in effect
//
// Ended with the object, whatever happens to a test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "base/clock.h"
#include "scenario/cluster/cluster.h"
#include "sys/files.h"

namespace sp::broker_test {

// The right to do `operation` to everything of that kind whose name begins with `prefix`.
struct Right {
  rd_kafka_AclOperation_t operation = RD_KAFKA_ACL_OPERATION_READ;
  rd_kafka_ResourceType_t kind = RD_KAFKA_RESOURCE_TOPIC;
  std::string prefix;
};

class GuardedCluster {
 public:
  explicit GuardedCluster(const std::vector<std::string>& users);
  ~GuardedCluster();
  GuardedCluster(const GuardedCluster&) = delete;
  GuardedCluster& operator=(const GuardedCluster&) = delete;

  [[nodiscard]] std::string bootstrap() const;
  // The settings of a client of that user: name=value.
  [[nodiscard]] static std::vector<std::string> login(const std::string& user);
  void allow(const std::string& user, const std::vector<Right>& rights);
  void withdraw(const std::string& user, const std::vector<Right>& rights);

 private:
  void connect();
  template <typename Make, typename Send>
  void change(const std::string& user, const std::vector<Right>& rights, Make make, Send send);

  sys::TemporaryFolder folder_;
  SystemMonotonicClock clock_;
  std::optional<scenario::cluster::KafkaCluster> cluster_;
  rd_kafka_t* admin_ = nullptr;
};

}  // namespace sp::broker_test

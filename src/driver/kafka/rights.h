// What the system refuses for good: which right is missing, and the line that grants it.
//
//     TOPIC_AUTHORIZATION_FAILED while consuming 'sp-r0123abcd' as prover
//       ─►  READ on topic 'sp-r0123abcd'
//       ─►  kafka-acls.sh --bootstrap-server … --add --allow-principal User:prover --operation Read
//           --topic sp- --resource-pattern-type prefixed
//
// A topic or group that a run named after itself is granted by its prefix: the next run has another
// name.
//
// Errors:  none.
// Threads: functions of their arguments.
// Source:  docs/howto/own-cluster.md, "Rights".
#pragma once

#include <string>
#include <string_view>

#include <librdkafka/rdkafka.h>

#include "core/observation.h"
#include "driver/driver.h"

namespace sp::driver::kafka {

// Who a client is to the brokers, and where they are.
struct Account {
  std::string user;  // as in User:<user>; empty: the settings do not tell
  std::string bootstrap;
  bool anonymous = false;  // nobody asks who it is
};
[[nodiscard]] Account account_of(const Settings& settings);

// What was being done when an answer came.
struct Subject {
  std::string_view doing;  // "create topic"
  std::string_view topic;
  std::string_view group;
  const Account* account = nullptr;  // outlives this; null: no line that grants it is told
};

[[nodiscard]] core::Refusal refusal_of(rd_kafka_resp_err_t error);
// The right that an authorization error asks for while `doing`; empty for other errors.
[[nodiscard]] std::string missing_right(rd_kafka_resp_err_t error, const Subject& subject);
// The command that grants it; empty for other errors.
[[nodiscard]] std::string granting_line(rd_kafka_resp_err_t error, const Subject& subject);
// "; needs WRITE on topic 'x'; grant it: kafka-acls.sh …", or nothing if no right is missing.
[[nodiscard]] std::string what_is_missing(rd_kafka_resp_err_t error, const Subject& subject);

}  // namespace sp::driver::kafka

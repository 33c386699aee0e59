#include "driver/kafka/rights.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

#include "core/ids.h"
#include "driver/kafka/settings.h"

namespace sp::driver::kafka {
namespace {

constexpr std::array kUnknownNames = {
    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
    RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
    RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
};

constexpr std::array kRightsAndFeatures = {
    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    RD_KAFKA_RESP_ERR__AUTHENTICATION,
    RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION,
    RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT,
    RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE,
    RD_KAFKA_RESP_ERR_INVALID_GROUP_ID,
    RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL,
    RD_KAFKA_RESP_ERR_GROUP_MAX_SIZE_REACHED,
};
constexpr int kUnsupportedAssignor = 112;  // newer than the headers: KIP-848

template <typename Codes>
bool is_one_of(const Codes& codes, rd_kafka_resp_err_t error) {
  return std::find(codes.begin(), codes.end(), error) != codes.end();
}

// Which right each act needs, and what is granted for it.
struct RightRow {
  std::string_view doing;
  std::string_view right;
  std::string_view operations;
};
constexpr std::string_view kReadAndWrite = "--operation Read --operation Write";  // bring DESCRIBE
constexpr std::array kRights = {
    RightRow{"create topic", "CREATE", "--operation Create"},
    RightRow{"delete topic", "DELETE", "--operation Delete"},
    RightRow{"produce", "WRITE", "--operation Write"},
    RightRow{"consume", "READ", "--operation Read"},
    RightRow{"raw read", "READ", "--operation Read"},
};
constexpr RightRow kOtherwise{"", "DESCRIBE", kReadAndWrite};

const RightRow& row_of(std::string_view doing) {
  const auto* row = std::find_if(kRights.begin(), kRights.end(),
                                 [&](const RightRow& known) { return known.doing == doing; });
  return row == kRights.end() ? kOtherwise : *row;
}

// What a right is on.
enum class On : std::uint8_t { kNothing, kTopic, kGroup, kCluster };

On needed_on(rd_kafka_resp_err_t error, const Subject& subject) {
  if (error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return On::kGroup;
  if (error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) return On::kTopic;
  if (error != RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED) return On::kNothing;
  // Whoever may write somewhere may write idempotently: what is missing is the right to write.
  const bool of_topic = subject.doing == "produce" || subject.doing == "create topic";
  return of_topic ? On::kTopic : On::kCluster;
}

// A word as a shell takes it back unchanged.
std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "-_.,:/=@+%";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// What names that a run makes begin with: the next run has another name. Empty for other names.
std::string_view common_prefix(On on, std::string_view name) {
  constexpr std::string_view kTopic = "sp-";
  constexpr std::string_view kGroup = "r";
  if (on == On::kTopic) {
    return name.starts_with(kTopic) && core::is_run_text(name.substr(kTopic.size())) ? kTopic : "";
  }
  return core::is_run_text(name.substr(0, name.rfind('-'))) ? kGroup : "";
}

std::string resource(On on, std::string_view name) {
  const std::string_view flag = on == On::kTopic ? "--topic" : "--group";
  const auto prefix = common_prefix(on, name);
  if (prefix.empty()) return fmt::format("{} {}", flag, shell_word(name));
  return fmt::format("{} {} --resource-pattern-type prefixed", flag, prefix);
}

// By its own name or the one that people know it by.
std::string either(const Settings& settings, const char* name, const char* alias) {
  std::string value = setting(settings, name);
  return value.empty() ? setting(settings, alias) : value;
}

}  // namespace

Account account_of(const Settings& settings) {
  Account account;
  account.bootstrap = either(settings, "metadata.broker.list", "bootstrap.servers");
  std::string protocol = setting(settings, "security.protocol");
  std::transform(protocol.begin(), protocol.end(), protocol.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  account.anonymous = protocol.empty() || protocol == "plaintext";
  if (account.anonymous) account.user = "ANONYMOUS";
  const std::string mechanism = either(settings, "sasl.mechanisms", "sasl.mechanism");
  const bool by_name = mechanism == "PLAIN" || mechanism.starts_with("SCRAM-");
  if (protocol.starts_with("sasl") && by_name)
    account.user = setting(settings, "sasl.username");
  return account;
}

core::Refusal refusal_of(rd_kafka_resp_err_t error) {
  if (is_one_of(kUnknownNames, error)) return core::Refusal::kName;
  const bool refused =
      is_one_of(kRightsAndFeatures, error) || static_cast<int>(error) == kUnsupportedAssignor;
  return refused ? core::Refusal::kRight : core::Refusal::kNone;
}

std::string missing_right(rd_kafka_resp_err_t error, const Subject& subject) {
  const auto& row = row_of(subject.doing);
  switch (needed_on(error, subject)) {
    case On::kNothing:
      return {};
    case On::kGroup:
      return fmt::format("READ on group '{}'", subject.group);
    case On::kCluster:
      return fmt::format("{} on the cluster", row.right);
    case On::kTopic:
      break;
  }
  std::string text = fmt::format("{} on topic '{}'", row.right, subject.topic);
  if (subject.doing == "create topic") text += " or on the cluster";
  if (subject.doing == "produce" && error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED) {
    text +=
        " (before Kafka 2.8 also IDEMPOTENT_WRITE on the cluster, or enable.idempotence=false)";
  }
  return text;
}

std::string granting_line(rd_kafka_resp_err_t error, const Subject& subject) {
  const On on = needed_on(error, subject);
  if (on == On::kNothing || subject.account == nullptr) return {};
  const Account& account = *subject.account;
  const std::string user = account.user.empty() ? "NAME" : account.user;
  std::string what;
  if (on == On::kGroup) what = "--operation Read " + resource(on, subject.group);
  if (on == On::kCluster) what = fmt::format("{} --cluster", row_of(subject.doing).operations);
  if (on == On::kTopic) {
    what = fmt::format("{} {}", row_of(subject.doing).operations,
                       resource(on, subject.topic));
  }
  return fmt::format("kafka-acls.sh --bootstrap-server {} --add --allow-principal {} {}{}",
                     account.bootstrap, shell_word("User:" + user), what,
                     account.anonymous ? "" : " --command-config admin.properties");
}

std::string what_is_missing(rd_kafka_resp_err_t error, const Subject& subject) {
  std::string text;
  if (const auto right = missing_right(error, subject); !right.empty()) text += "; needs " + right;
  if (const auto line = granting_line(error, subject); !line.empty()) text += "; grant it: " + line;
  return text;
}

}  // namespace sp::driver::kafka

#include "proof/check.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::proof {
namespace {

using std::chrono::seconds;

struct Contradiction {
  std::string message;
  std::string remedy;
  ErrorCode code = ErrorCode::kInvalid;
};
using Found = std::optional<Contradiction>;

// The fault is placed at the first of `fields` that somebody said.
struct CheckRule {
  std::array<std::string_view, 3> fields;
  Found (*find)(const CheckInput& input);
};

const DriverFacts* driver_of(const CheckInput& input) {
  const auto found =
      std::find_if(input.drivers.begin(), input.drivers.end(),
                   [&](const DriverFacts& facts) { return facts.name == input.proof.driver; });
  return found == input.drivers.end() ? nullptr : &*found;
}

std::string drivers_that(const CheckInput& input, bool DriverFacts::*can) {
  std::string text;
  for (const DriverFacts& facts : input.drivers) {
    if (facts.*can) text += fmt::format("{}'{}'", text.empty() ? "" : " or ", facts.name);
  }
  return text.empty() ? "no driver of this version has it" : fmt::format("use driver {}", text);
}

const std::string* topic_setting(const CheckInput& input, const std::string& name) {
  const auto found = input.proof.topic_config.find(name);
  return found == input.proof.topic_config.end() ? nullptr : &found->second;
}

Found no_feature(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.at_least_once || proof.ordering || proof.exactly_once) return {};
  return Contradiction{"no feature is named, so there is nothing to prove",
                       "add features: at_least_once, ordering"};
}

Found unknown_driver(const CheckInput& input) {
  if (driver_of(input) != nullptr) return {};
  std::vector<std::string_view> names;
  std::string list;
  for (const DriverFacts& facts : input.drivers) {
    names.push_back(facts.name);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", facts.name);
  }
  const auto near = nearest(input.proof.driver, names);
  return Contradiction{
      fmt::format("there is no driver '{}'", printable(input.proof.driver, 60)),
      near ? fmt::format("did you mean '{}'?", *near) : fmt::format("choose one of: {}", list)};
}

Found no_transactions(const CheckInput& input) {
  const DriverFacts* const driver = driver_of(input);
  if (!input.proof.exactly_once || driver == nullptr || driver->transactions) return {};
  return Contradiction{
      fmt::format(
          "exactly_once needs the capability 'transactions', which driver '{}' does not have",
          driver->name),
      "take exactly_once away; " + drivers_that(input, &DriverFacts::transactions),
      ErrorCode::kUnsupported};
}

Found defects_elsewhere(const CheckInput& input) {
  const DriverFacts* const driver = driver_of(input);
  if (input.proof.defects.empty() || driver == nullptr || driver->planted_defects) return {};
  return Contradiction{fmt::format("driver '{}' cannot plant defects", driver->name),
                       drivers_that(input, &DriverFacts::planted_defects), ErrorCode::kUnsupported};
}

Found chaos_elsewhere(const CheckInput& input) {
  const DriverFacts* const driver = driver_of(input);
  if (input.proof.chaos.empty() || driver == nullptr || driver->chaos) return {};
  return Contradiction{
      fmt::format("driver '{}' has no cluster whose nodes could be hurt", driver->name),
      drivers_that(input, &DriverFacts::chaos), ErrorCode::kUnsupported};
}

Found too_few_keys(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.keys >= proof.producers) return {};
  return Contradiction{
      fmt::format("{} keys are too few for {} producers: each key belongs to one producer",
                  proof.keys, proof.producers),
      fmt::format("raise keys to {} or lower producers to {}", proof.producers, proof.keys)};
}

Found too_few_consumers(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.consumers >= proof.groups) return {};
  return Contradiction{
      fmt::format("{} consumers are too few for {} groups: a group would have none",
                  proof.consumers, proof.groups),
      fmt::format("raise consumers to {} or lower groups to {}", proof.groups, proof.consumers)};
}

Found idle_workers(const CheckInput& input) {
  const Proof& proof = input.proof;
  const std::uint32_t most = std::max(proof.producers, proof.consumers);
  if (proof.workers <= most) return {};
  return Contradiction{
      fmt::format("{} workers are too many: one would have neither producer nor consumer",
                  proof.workers),
      fmt::format("lower workers to {}", most)};
}

Found delay_past_timeout(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.consume_delay == seconds{0} || proof.consume_delay < proof.timeout) return {};
  return Contradiction{
      fmt::format("consumeDelay {} s is not below timeout {} s: every record would be late",
                  proof.consume_delay.count(), proof.timeout.count()),
      "raise timeout or lower consumeDelay"};
}

Found ordering_of_nothing(const CheckInput& input) {
  if (!input.proof.ordering || input.proof.order != core::Order::kNone) return {};
  return Contradiction{"feature ordering with order 'none' orders nothing",
                       "choose order: key, or take ordering away"};
}

Found rate_out_of_reach(const CheckInput& input) {
  const auto& least = input.proof.thresholds.rate_min;
  if (!least || *least <= static_cast<double>(input.proof.rate)) return {};
  return Contradiction{
      fmt::format("minRate {} is above msgRate {}: it cannot be reached", *least, input.proof.rate),
      "lower minRate or raise msgRate"};
}

Found bad_topic_name(const CheckInput& input) {
  constexpr std::size_t kTopicBytesMax = 249;
  const std::string& topic = input.proof.topic;
  const bool legal = std::all_of(topic.begin(), topic.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (legal && topic.size() <= kTopicBytesMax && topic != "." && topic != "..") return {};
  return Contradiction{fmt::format("'{}' cannot be the name of a topic", printable(topic, 60)),
                       "use 1 to 249 letters, digits, '.', '_' and '-'"};
}

Found policy_without_topic(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (!proof.topic.empty() || proof.topic_exists == TopicExists::kFail) return {};
  return Contradiction{
      "topicExists says what to do with a topic that is there, but no topic is named: a new one is "
      "made for each run",
      "name the topic, or take topicExists away"};
}

Found deleting_what_was_there(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.topic_exists != TopicExists::kReuse || proof.keep_topic || !input.given("keepTopic"))
    return {};
  return Contradiction{
      "keepTopic false with topicExists reuse would delete a topic that was there before the run",
      "take keepTopic away, or choose topicExists: recreate"};
}

Found config_of_what_was_there(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.topic_exists != TopicExists::kReuse || proof.topic_config.empty()) return {};
  return Contradiction{"kafka.topicConfig has no effect on a topic that is reused",
                       "take it away, or choose topicExists: recreate"};
}

Found undeclared_compaction(const CheckInput& input) {
  const std::string* const policy = topic_setting(input, "cleanup.policy");
  if (policy == nullptr || policy->find("compact") == std::string::npos || input.proof.compaction)
    return {};
  return Contradiction{"cleanup.policy compact removes records, which would count as lost",
                       "declare gaps: compaction"};
}

// Records that retention removes during the run would count as lost.
Found undeclared_retention(const CheckInput& input) {
  const Proof& proof = input.proof;
  if (proof.retention) return {};
  const std::string* const bytes = topic_setting(input, "retention.bytes");
  if (bytes != nullptr && !bytes->starts_with('-')) {
    return Contradiction{
        "retention.bytes may remove records during the run, which would count as lost",
        "declare gaps: retention"};
  }
  const std::string* const text = topic_setting(input, "retention.ms");
  const auto kept = text == nullptr ? Result<std::int64_t>{-1} : parse_signed(*text);
  if (!kept || *kept < 0)
    return {};  // the system itself says what is wrong with a value that is no number
  const auto run = proof.duration + proof.timeout + proof.final_wait_or_default();
  const bool endless = proof.duration == seconds{0};
  if (!endless && *kept / 1000 > run.count()) return {};
  return Contradiction{
      fmt::format("retention.ms {} is shorter than the run{}; what it removes would count as lost",
                  *kept, endless ? ", which has no end" : ""),
      "raise it, or declare gaps: retention"};
}

Found too_few_copies(const CheckInput& input) {
  const std::string* const text = topic_setting(input, "min.insync.replicas");
  const auto least = text == nullptr ? Result<std::uint64_t>{0} : parse_unsigned(*text);
  if (!least || *least <= input.proof.replication) return {};
  for (const auto* name : {"acks", "request.required.acks"}) {
    const auto acks = input.proof.settings.find(name);
    if (acks != input.proof.settings.end() && acks->second != "all" && acks->second != "-1")
      return {};
  }
  return Contradiction{
      fmt::format(
          "min.insync.replicas {} is above replicationFactor {}: nothing could be acknowledged",
          *least, input.proof.replication),
      "raise replicationFactor or lower min.insync.replicas"};
}

constexpr std::array kCheckRules = {
    CheckRule{{"features"}, no_feature},
    CheckRule{{"driver"}, unknown_driver},
    CheckRule{{"features", "driver"}, no_transactions},
    CheckRule{{"defect", "driver"}, defects_elsewhere},
    CheckRule{{"chaos", "driver"}, chaos_elsewhere},
    CheckRule{{"keys", "producers"}, too_few_keys},
    CheckRule{{"consumers", "groups"}, too_few_consumers},
    CheckRule{{"workers", "producers", "consumers"}, idle_workers},
    CheckRule{{"consumeDelay", "timeout"}, delay_past_timeout},
    CheckRule{{"order", "features"}, ordering_of_nothing},
    CheckRule{{"minRate", "msgRate"}, rate_out_of_reach},
    CheckRule{{"topic"}, bad_topic_name},
    CheckRule{{"topicExists", "topic"}, policy_without_topic},
    CheckRule{{"keepTopic", "topicExists"}, deleting_what_was_there},
    CheckRule{{"kafka.topicConfig", "topicExists"}, config_of_what_was_there},
    CheckRule{{"kafka.topicConfig", "gaps"}, undeclared_compaction},
    CheckRule{{"kafka.topicConfig", "gaps", "duration"}, undeclared_retention},
    CheckRule{{"kafka.topicConfig", "replicationFactor", "settings"}, too_few_copies},
};

}  // namespace

std::vector<Fault> find_contradictions(const CheckInput& input) {
  std::vector<Fault> faults;
  for (const CheckRule& rule : kCheckRules) {
    const bool unread =
        std::any_of(rule.fields.begin(), rule.fields.end(),
                    [&](std::string_view name) { return !name.empty() && input.wrong(name); });
    if (unread) continue;
    Found found = rule.find(input);
    if (!found) continue;
    std::string place = input.elsewhere;
    for (const std::string_view name : rule.fields) {
      const auto given = name.empty() ? std::nullopt : input.given(name);
      if (!given) continue;
      place = *given;
      break;
    }
    faults.push_back(
        {found->code, std::move(place), std::move(found->message), std::move(found->remedy)});
  }
  return faults;
}

}  // namespace sp::proof

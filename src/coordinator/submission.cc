#include "coordinator/submission.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "codec/json_writer.h"

namespace sp::coordinator {
namespace {

using codec::Node;

constexpr std::uint64_t kSeriesPoints = 481;
constexpr std::string_view kWhere = "proof";

// The settings of a driver that say where its system is.
constexpr std::array<std::string_view, 7> kEndpoints = {"pulsar.service.url", "pulsar.admin.url", "mqtt.service.url", "bootstrap.servers",
                                                        "serviceUrl",         "adminUrl",         "nats.url"};

class SubmissionReader {
 public:
  SubmissionReader(const Configs& configs, std::span<const proof::DriverFacts> drivers) : configs_(configs), facts_(drivers) {}

  void read(const Node& body);
  SubmissionReading take() { return std::move(reading_); }

 private:
  void fault(ErrorCode code, codec::Place at, std::string message, std::string remedy) {
    reading_.faults.push_back({code, codec::place_text(kWhere, at), std::move(message), std::move(remedy)});
  }
  // True if the member is one that the proof itself does not know.
  bool own(const codec::Member& member);
  void read_drivers(const codec::Member& member);
  void read_webhook(const codec::Member& member);
  void read_webhook_member(const codec::Member& member, Webhook& webhook);
  void read_pulsar(const codec::Member& member);
  void choose_system(const Node& body, Node& rest);
  void note_features(const Node& body);

  const Configs& configs_;
  std::span<const proof::DriverFacts> facts_;
  SubmissionReading reading_;
};

std::string text_of(const codec::Member& member) { return member.value.kind == Node::Kind::kScalar ? member.value.text : std::string(); }

bool SubmissionReader::own(const codec::Member& member) {
  Submission& into = reading_.submission;
  if (member.name == "driver") {
    into.driver = text_of(member);
  } else if (member.name == "drivers") {
    read_drivers(member);
  } else if (member.name == "webhookConfig") {
    read_webhook(member);
  } else if (member.name == "pulsar") {
    read_pulsar(member);
  } else {
    return member.name == "id" || member.name == "startTime" || member.name == "workers";  // they are not the client's to say
  }
  return true;
}

void SubmissionReader::read_drivers(const codec::Member& member) {
  if (member.value.kind == Node::Kind::kNothing) return;
  if (member.value.kind != Node::Kind::kMap) {
    return fault(ErrorCode::kInvalid, member.place, "'drivers' is a map", R"(write {"admin": …, "producer": …, "consumer": …})");
  }
  DriverNames names;
  for (const codec::Member& each : member.value.members) {
    std::string* const into = each.name == "admin"      ? &names.admin
                              : each.name == "producer" ? &names.producer
                              : each.name == "consumer" ? &names.consumer
                                                        : nullptr;
    if (into == nullptr) {
      fault(ErrorCode::kInvalid, each.place, fmt::format("unknown field '{}' of drivers", printable(each.name, 60)),
            "there are admin, producer and consumer");
    } else {
      *into = text_of(each);
    }
  }
  for (const auto& [role, name] : {std::pair("admin", &names.admin), {"producer", &names.producer}, {"consumer", &names.consumer}}) {
    if (!name->empty() && configs_.driver(*name) != nullptr) continue;
    fault(ErrorCode::kNotFound, member.place,
          name->empty() ? fmt::format("drivers has no {}", role) : fmt::format("there is no driver '{}'", printable(*name, 60)),
          "configure it first: PUT /configs");
  }
  reading_.submission.drivers = std::move(names);
}

void SubmissionReader::read_webhook_member(const codec::Member& member, Webhook& webhook) {
  if (member.name == "url") {
    webhook.url = text_of(member);
  } else if (member.name == "type") {
    webhook.type = lower(text_of(member));
  } else if (member.name == "secret") {
    webhook.secret = text_of(member);
  } else if (member.name == "enabled" || member.name == "onFirstViolation") {
    const auto yes = parse_bool(text_of(member));
    if (!yes) {
      fault(ErrorCode::kInvalid, member.place, fmt::format("webhookConfig.{}: {}", member.name, yes.error().message),
            "write true or false");
    } else {
      (member.name == "enabled" ? webhook.enabled : webhook.on_first_violation) = *yes;
    }
  } else {
    fault(ErrorCode::kInvalid, member.place, fmt::format("unknown field '{}' of webhookConfig", printable(member.name, 60)),
          "there are url, type, enabled, onFirstViolation and secret");
  }
}

void SubmissionReader::read_webhook(const codec::Member& member) {
  if (member.value.kind == Node::Kind::kNothing) return;
  if (member.value.kind != Node::Kind::kMap) {
    return fault(ErrorCode::kInvalid, member.place, "'webhookConfig' is a map", R"(write {"url": …, "type": "generic"})");
  }
  Webhook webhook;
  for (const codec::Member& each : member.value.members) {
    if (each.value.kind != Node::Kind::kNothing) read_webhook_member(each, webhook);
  }
  if (webhook.enabled && !webhook.url.starts_with("http://") && !webhook.url.starts_with("https://")) {
    fault(ErrorCode::kInvalid, member.place, "webhookConfig.url is no http or https URL", "write where to post to");
  }
  reading_.submission.webhook = std::move(webhook);
}

void SubmissionReader::read_pulsar(const codec::Member& member) {
  if (member.value.kind == Node::Kind::kNothing) return;
  const Node* const settings = member.value.find("consumerConfig");
  if (settings != nullptr && settings->kind == Node::Kind::kMap) reading_.submission.pulsar_consumer = json_of(*settings);
}

// The proof itself knows a system and its settings; which, the configured driver says.
void SubmissionReader::choose_system(const Node& body, Node& rest) {
  const auto& into = reading_.submission;
  const std::string name = into.drivers ? into.drivers->admin : into.driver;
  const Node* const said = body.find(into.drivers ? "drivers" : "driver");
  const codec::Place at = said == nullptr ? body.place : said->place;
  const NamedDriver* const driver = configs_.driver(name);
  if (driver == nullptr) {
    if (into.drivers) return;  // told already
    return fault(ErrorCode::kNotFound, at,
                 name.empty() ? std::string("there is no 'driver'") : fmt::format("there is no driver '{}'", printable(name, 60)),
                 "configure it first: PUT /configs; GET /configs lists those that are there");
  }
  if (into.drivers && (into.drivers->producer != name || into.drivers->consumer != name)) {
    return fault(ErrorCode::kUnsupported, at, "separate systems for admin, producers and consumers are not supported yet",
                 "name the same driver three times, or use 'driver'");
  }
  Node type;
  type.kind = Node::Kind::kScalar;
  type.text = driver->type;
  type.place = at;
  rest.members.push_back({"driver", at, std::move(type)});
  auto settings = std::find_if(rest.members.begin(), rest.members.end(), [](const auto& member) { return member.name == "settings"; });
  if (settings == rest.members.end()) {
    Node none;
    none.kind = Node::Kind::kMap;
    none.place = at;
    settings = rest.members.insert(rest.members.end(), {"settings", at, std::move(none)});
  }
  if (settings->value.kind != Node::Kind::kMap) return;  // the reader of the proof says so
  for (const JsonMember& setting : driver->settings) {
    if (settings->value.find(setting.name) != nullptr) continue;
    Node value;
    value.kind = Node::Kind::kScalar;
    value.quoted = true;
    value.text = setting_text(setting.json);
    value.place = at;
    settings->value.members.push_back({setting.name, at, std::move(value)});
  }
}

void SubmissionReader::note_features(const Node& body) {
  const Node* const features = body.find("features");
  if (features == nullptr) return;  // the reader of the proof says so
  for (const Node& item : features->items) reading_.submission.features.push_back(item.text);
}

void SubmissionReader::read(const Node& body) {
  if (body.kind != Node::Kind::kMap) {
    return fault(ErrorCode::kParse, body.place, "a proof is a JSON object", R"(write {"driver": …, "features": […], …})");
  }
  Node rest;
  rest.kind = Node::Kind::kMap;
  rest.place = body.place;
  for (const codec::Member& member : body.members) {
    if (!own(member)) rest.members.push_back(member);
  }
  choose_system(body, rest);
  note_features(body);
  if (configs_.workers.empty()) {
    fault(ErrorCode::kInvalid, body.place, "no worker is configured", "PUT /configs with workers first");
  }
  proof::ProofReading read = proof::read_proof(rest, kWhere, facts_);
  for (proof::Fault& found : read.faults) reading_.faults.push_back(std::move(found));
  reading_.submission.proof = std::move(read.proof);
  reading_.submission.proof.workers = static_cast<std::uint32_t>(std::max<std::size_t>(1, configs_.workers.size()));
}

std::optional<std::uint64_t> report_number(const Configs& configs, std::string_view name) {
  if (!configs.report) return std::nullopt;
  for (const JsonMember& member : *configs.report) {
    if (member.name != name) continue;
    const auto number = parse_unsigned(setting_text(member.json));
    if (number) return *number;
  }
  return std::nullopt;
}

void put_target(std::vector<ClusterTarget>& targets, std::string_view role, const std::string& name, const Configs& configs) {
  ClusterTarget target;
  target.role = role;
  target.driver = name;
  if (const NamedDriver* const driver = configs.driver(name)) {
    target.type = driver->type;
    target.metadata = driver->metadata;
    for (const JsonMember& setting : driver->settings) {
      if (std::find(kEndpoints.begin(), kEndpoints.end(), setting.name) != kEndpoints.end()) target.endpoints.push_back(setting);
    }
  }
  targets.push_back(std::move(target));
}

}  // namespace

SubmissionReading read_submission(const Node& body, const Configs& configs, std::span<const proof::DriverFacts> drivers) {
  SubmissionReader reader(configs, drivers);
  reader.read(body);
  return reader.take();
}

std::string submission_json(const Submission& submission) {
  codec::JsonWriter json;
  json.begin_object().key("proof").raw(proof::to_json(submission.proof, {.secrets = true, .one_line = true}));
  json.member("driver", submission.driver).key("features").begin_array();
  for (const std::string& feature : submission.features) json.value(feature);
  json.end_array();
  if (const auto& names = submission.drivers) {
    json.key("drivers").begin_object().member("admin", names->admin).member("producer", names->producer);
    json.member("consumer", names->consumer).end_object();
  }
  if (const auto& hook = submission.webhook) {
    json.key("webhook").begin_object().member("url", hook->url).member("type", hook->type).member("enabled", hook->enabled);
    json.member("onFirstViolation", hook->on_first_violation).member("secret", hook->secret).end_object();
  }
  if (submission.pulsar_consumer) json.key("pulsarConsumer").raw(*submission.pulsar_consumer);
  return json.end_object().take();
}

Result<Submission> submission_of_json(std::string_view json) {
  auto root = codec::parse_document(json, {.name = "submission", .bytes_max = std::size_t{16} << 20U, .nodes_max = 1'000'000});
  if (!root) return tl::unexpected(std::move(root).error());
  const Node* const proof = root->find("proof");
  if (proof == nullptr) return fail(ErrorCode::kParse, "submission: it has no proof");
  Submission submission;
  proof::ProofReading read = proof::read_proof(*proof, "submission");
  if (!read.faults.empty()) return tl::unexpected(proof::to_error(read.faults));
  submission.proof = std::move(read.proof);
  const auto text = [](const Node& of, std::string_view name) {
    const Node* const found = of.find(name);
    return found == nullptr ? std::string() : found->text;
  };
  submission.driver = text(*root, "driver");
  if (const Node* const features = root->find("features")) {
    for (const Node& item : features->items) submission.features.push_back(item.text);
  }
  if (const Node* const names = root->find("drivers")) {
    submission.drivers = DriverNames{text(*names, "admin"), text(*names, "producer"), text(*names, "consumer")};
  }
  if (const Node* const hook = root->find("webhook")) {
    submission.webhook = Webhook{text(*hook, "url"), text(*hook, "type"), text(*hook, "enabled") == "true",
                                 text(*hook, "onFirstViolation") == "true", text(*hook, "secret")};
  }
  if (const Node* const consumer = root->find("pulsarConsumer")) submission.pulsar_consumer = json_of(*consumer);
  return submission;
}

std::vector<ClusterTarget> cluster_targets(const Submission& submission, const Configs& configs) {
  std::vector<ClusterTarget> targets;
  if (!submission.driver.empty()) put_target(targets, "default", submission.driver, configs);
  if (const auto& names = submission.drivers) {
    put_target(targets, "admin", names->admin, configs);
    put_target(targets, "producer", names->producer, configs);
    put_target(targets, "consumer", names->consumer, configs);
  }
  return targets;
}

std::chrono::seconds final_wait(const proof::Proof& proof, const Configs& configs) {
  if (proof.final_wait) return *proof.final_wait;
  for (const std::string_view name : {"finalWaitSeconds", "finalVerificationTimeoutSeconds"}) {
    if (const auto seconds = report_number(configs, name)) return std::chrono::seconds{*seconds};
  }
  return proof.final_wait_or_default();
}

std::uint64_t series_points_max(const Configs& configs) {
  return std::max<std::uint64_t>(1, report_number(configs, "maxTimeSeriesPoints").value_or(kSeriesPoints));
}

}  // namespace sp::coordinator

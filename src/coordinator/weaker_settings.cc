#include <initializer_list>

#include <fmt/core.h>

#include "coordinator/coordinator.h"

namespace sp::coordinator {
namespace {

using SettingMap = std::map<std::string, std::string>;

// The value of the first of `names` that is set; "" if none is.
std::string setting(const SettingMap& settings, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = settings.find(name);
    if (found != settings.end()) return found->second;
  }
  return "";
}

bool is_off(const std::string& value) {
  return value == "false" || value == "0" || value == "no" || value == "off";
}

void check_acks(const proof::Proof& proof, const std::string& acks, std::vector<std::string>& out) {
  const bool claims = proof.at_least_once || proof.exactly_once;
  if (!claims || acks.empty() || acks == "all" || acks == "-1") return;
  if (acks == "0") {
    out.emplace_back(
        "acks=0 promises nothing: the broker never answers, every loss counts although it was to "
        "be expected");
  } else {
    out.emplace_back(
        fmt::format("acks={} is weaker than at_least_once: a leader that dies takes acknowledged "
                    "records with it",
                    acks));
  }
}

void check_order(const proof::Proof& proof, const SettingMap& settings,
                 std::vector<std::string>& out) {
  const std::string idempotence = setting(settings, {"enable.idempotence"});
  const std::string in_flight =
      setting(settings, {"max.in.flight.requests.per.connection", "max.in.flight"});
  if (!is_off(idempotence)) return;
  if (proof.exactly_once) {
    out.emplace_back(
        "enable.idempotence=false is weaker than exactly_once: a retry can be stored twice");
  }
  if (proof.ordering && in_flight != "1") {
    out.emplace_back(fmt::format(
        "enable.idempotence=false with {} is weaker than ordering: a retry can overtake",
        in_flight.empty() ? std::string("several requests in flight")
                          : "max.in.flight=" + in_flight));
  }
}

void check_topic(const proof::Proof& proof, const std::string& acks,
                 std::vector<std::string>& out) {
  if (proof.driver == "embedded" || !(proof.at_least_once || proof.exactly_once)) return;
  if (proof.replication == 1) {
    out.emplace_back(
        "replication 1 is weaker than at_least_once: one node's disk holds all there is");
    return;
  }
  const std::string in_sync = setting(proof.topic_config, {"min.insync.replicas"});
  if (in_sync == "1" && (acks.empty() || acks == "all" || acks == "-1")) {
    out.emplace_back(
        "min.insync.replicas=1 is weaker than acks=all suggests: the leader alone may acknowledge");
  }
  if (setting(proof.topic_config, {"unclean.leader.election.enable"}) == "true") {
    out.emplace_back(
        "unclean.leader.election.enable=true: a replica that lacks acknowledged records may become "
        "leader");
  }
}

}  // namespace

std::vector<std::string> weaker_settings(const proof::Proof& proof,
                                         const std::map<std::string, std::string>& settings) {
  std::vector<std::string> out;
  const std::string acks = setting(settings, {"acks", "request.required.acks"});
  check_acks(proof, acks, out);
  check_order(proof, settings, out);
  check_topic(proof, acks, out);
  const std::string retries = setting(settings, {"retries", "message.send.max.retries"});
  if (proof.at_least_once && retries == "0") {
    out.emplace_back("retries=0: every passing fault shows as a failed or unknown attempt");
  }
  if (proof.exactly_once && setting(settings, {"isolation.level"}) == "read_uncommitted") {
    out.emplace_back(
        "isolation.level=read_uncommitted is weaker than exactly_once: aborted records are "
        "visible");
  }
  if (proof.commit == proof::CommitMode::kAuto && (proof.at_least_once || proof.exactly_once)) {
    out.emplace_back(
        "commit auto is weaker than at_least_once: offsets may be committed for records not yet "
        "handled");
  }
  return out;
}

}  // namespace sp::coordinator

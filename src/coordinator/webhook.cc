#include "coordinator/webhook.h"

#include <fmt/core.h>

#include "base/text.h"
#include "codec/json_writer.h"

namespace sp::coordinator {
namespace {

std::string wrap(const Webhook& webhook, const std::string& text, const ProofHead& head, const Summary* summary, WallTime now) {
  codec::JsonWriter json;
  json.begin_object();
  if (webhook.type == "slack") {
    json.key("blocks").begin_array().begin_object().member("type", "section").key("text").begin_object();
    json.member("type", "mrkdwn").member("text", text).end_object().end_object().end_array();
  } else if (webhook.type == "discord") {
    json.member("content", text);
  } else {
    json.member("message", text).member("timestamp", to_iso8601(now)).member("id", head.id);
    json.member("status", proof_status_name(head.status)).member("reason", head.reason);
    if (summary != nullptr) {
      json.key("summary").begin_object().member("verified", summary->verified).member("missed", summary->missed);
      json.member("outOfOrders", summary->out_of_orders).member("duplicates", summary->duplicates).end_object();
    }
  }
  return json.end_object().take();
}

std::string head_lines(const ProofHead& head) {
  std::string text = fmt::format("Proof ID: {}\nName: {}\nDriver: {}\nTopic: {}\nDuration: {}\n", head.id, head.submission.proof.name,
                                 head.submission.driver, head.topic, human_duration(head.submission.proof.duration));
  if (head.started) text += fmt::format("Start Time: {}\n", to_iso8601(*head.started));
  return text;
}

}  // namespace

std::string verdict_body(const Webhook& webhook, const Archive& archive, WallTime now) {
  const ProofHead& head = archive.head;
  std::string text = "Streaming Proof Test Completed\n" + head_lines(head);
  const bool passed = head.status == ProofStatus::kPassed;
  text += fmt::format("Completion Time: {}\nStatus: {} {}\n{}\nVerified: {}\n", to_iso8601(now),
                      passed                                      ? "SUCCESS"
                      : head.status == ProofStatus::kFailed       ? "FAILED"
                      : head.status == ProofStatus::kInconclusive ? "INCONCLUSIVE"
                                                                  : "STOPPED",
                      passed ? "✅" : "❌", head.reason, archive.summary.verified);
  if (archive.summary.out_of_orders > 0) text += fmt::format("Out of Orders: {}\n", archive.summary.out_of_orders);
  if (archive.summary.missed > 0) text += fmt::format("Missed: {}\n", archive.summary.missed);
  return wrap(webhook, text, head, &archive.summary, now);
}

std::string violation_body(const Webhook& webhook, const ProofHead& head, const Violation& violation, WallTime now) {
  const std::string text = "Streaming Proof: first anomaly\n" + head_lines(head) + violation.says + "\n";
  return wrap(webhook, text, head, nullptr, now);
}

}  // namespace sp::coordinator

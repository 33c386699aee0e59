// The reference's members. What was added beside them is in views_added.cc.
#include "api/views.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "codec/json_writer.h"

namespace sp::api {
namespace {

using codec::JsonWriter;
using coordinator::ClusterTarget;
using coordinator::KeyView;
using coordinator::ProofDetails;
using coordinator::ProofHead;
using coordinator::ProofReport;
using coordinator::SeriesPoint;
using coordinator::Summary;

double millis(Nanoseconds duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
std::int64_t whole_seconds(Nanoseconds duration) { return std::chrono::duration_cast<std::chrono::seconds>(duration).count(); }

void text_or_null(JsonWriter& json, std::string_view name, std::string_view text) {
  json.key(name);
  if (text.empty())
    json.null();
  else
    json.value(text);
}

// Local date and time without a zone, as the reference has it; ours are of UTC.
std::string local_text(WallTime time) {
  std::string text = to_iso8601(time);
  if (text.ends_with('Z')) text.pop_back();
  return text;
}

// In a Slack or Discord URL the path is the secret.
std::string shown_url(const coordinator::Webhook& webhook) {
  if (webhook.type != "slack" && webhook.type != "discord") return webhook.url;
  const std::size_t host = webhook.url.find("://");
  const std::size_t path = host == std::string::npos ? host : webhook.url.find('/', host + 3);
  return path == std::string::npos ? webhook.url : fmt::format("{}/{}", webhook.url.substr(0, path), proof::kHidden);
}

void webhook(JsonWriter& json, const std::optional<coordinator::Webhook>& hook) {
  json.key("webhookConfig");
  if (!hook) {
    json.null();
    return;
  }
  json.begin_object().member("url", shown_url(*hook)).member("type", hook->type).member("enabled", hook->enabled);
  json.member("onFirstViolation", hook->on_first_violation).end_object();
}

void systems(JsonWriter& json, const ProofHead& head) {
  text_or_null(json, "driver", head.submission.driver);
  json.key("drivers");
  if (const auto& names = head.submission.drivers) {
    json.begin_object().member("admin", names->admin).member("producer", names->producer);
    json.member("consumer", names->consumer).end_object();
  } else {
    json.null();
  }
}

void special_settings(JsonWriter& json, const ProofHead& head) {
  json.key("pulsar");
  if (const auto& consumer = head.submission.pulsar_consumer)
    json.begin_object().key("consumerConfig").raw(*consumer).end_object();
  else
    json.null();
  json.key("kafka");
  if (head.submission.proof.topic_config.empty()) {
    json.null();
    return;
  }
  json.begin_object().key("topicConfig").begin_object();
  for (const auto& [name, value] : head.submission.proof.topic_config) json.member(name, value);
  json.end_object().end_object();
}

void proof_members(JsonWriter& json, const ProofHead& head) {
  const proof::Proof& proof = head.submission.proof;
  json.member("id", head.id);
  text_or_null(json, "name", proof.name);
  systems(json, head);
  json.key("features").begin_array();
  for (const std::string& feature : head.submission.features) json.value(feature);
  json.end_array();
  text_or_null(json, "description", proof.description);
  json.member("topic", head.topic.empty() ? proof.topic : head.topic).member("partitions", proof.partitions);
  json.member("producers", proof.producers).member("consumers", proof.consumers).member("msgRate", proof.rate);
  json.member("keys", proof.keys).member("messageSize", proof.payload_bytes);
  json.member("checkPointInterval", proof.check_point_interval.count()).member("timeout", proof.timeout.count());
  json.member("consumeDelay", proof.consume_delay.count()).member("duration", proof.duration.count());
  json.key("finalWaitSeconds");
  if (proof.final_wait)
    json.value(proof.final_wait->count());
  else
    json.null();
  text_or_null(json, "startTime", head.started ? local_text(*head.started) : "");
  json.member("timeSeriesInterval", proof.time_series_interval.count());
  json.member("maxStallSeconds", proof.thresholds.stall_seconds_max.value_or(0));
  webhook(json, head.submission.webhook);
  special_settings(json, head);
  json.key("effective").raw(proof::to_json(proof, {.secrets = false, .one_line = true}));
}

void proof_object(JsonWriter& json, const ProofHead& head, bool with_status) {
  json.begin_object();
  proof_members(json, head);
  if (with_status) json.member("status", coordinator::proof_status_name(head.status));
  json.end_object();
}

void summary_object(JsonWriter& json, const Summary& summary) {
  json.begin_object().member("verified", summary.verified).member("errors", summary.errors);
  json.member("outOfOrders", summary.out_of_orders).member("missed", summary.missed).member("duplicates", summary.duplicates);
  json.member("writeDuplicates", summary.write_duplicates).member("timeouts", summary.timeouts);
  json.member("verifiedStallSeconds", whole_seconds(summary.stall));
  json.member("maxVerifiedStallSeconds", whole_seconds(summary.stall_max));
  json.key("counts").begin_object();
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (!core::code_row(code).lab) json.member(core::code_row(code).name, summary.counts[code]);
  }
  json.end_object().end_object();
}

// ---- checkpoints ----

// A sequence, and where its record is if that is known. No number is −1, as in the reference.
void long_seq(JsonWriter& json, std::int64_t seq, const std::optional<core::Position>& at) {
  json.begin_object().member("seq", seq).key("metadata");
  if (at) {
    json.begin_object().member("offset", at->offset.value()).member("partition", at->partition.value());
    json.member("originalOffset", -1).member("publishTimestampMillis", -1).end_object();
  } else {
    json.begin_object().member("offset", -1).member("ledgerId", -1).member("entryId", -1);
    json.member("originalOffset", -1).member("publishTimestampMillis", -1).end_object();
  }
  json.end_object();
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

std::int64_t acked_of(const KeyView& key) { return key.acked ? signed_of(key.acked->value()) : -1; }

// The end of what every group has received without a gap.
std::int64_t verified_of(const KeyView& key) {
  std::uint64_t end = key.groups.empty() ? 0 : UINT64_MAX;
  for (const auto& group : key.groups) end = std::min(end, group.watermark);
  return signed_of(end) - 1;
}

bool is_behind(const KeyView& key) { return verified_of(key) < acked_of(key); }

// Of the keys that `chosen` picks; to each the sequence that `of` says.
template <typename Chosen, typename Of>
void producer_checkpoint(JsonWriter& json, std::string_view name, std::span<const KeyView> keys, Chosen chosen, Of of) {
  json.key(name).begin_object().key("published").begin_object();
  for (const KeyView& key : keys) {
    if (!chosen(key)) continue;
    const std::int64_t seq = of(key);
    long_seq(json.key(key.key), seq, seq == acked_of(key) && seq >= 0 ? key.acked_at : std::nullopt);
  }
  json.end_object().key("errorDetails").begin_object().end_object().end_object();
}

core::RangeSet received_by_all(const KeyView& key) {
  if (key.groups.empty()) return {};
  core::RangeSet all = key.groups.front().received;
  for (const auto& group : key.groups) all = all.intersect(group.received);
  return all;
}

void seq_range(JsonWriter& json, std::int64_t start, std::int64_t end) {
  json.begin_object().key("start");
  json.begin_object().member("seq", start).key("metadata").null().end_object().key("end");
  json.begin_object().member("seq", end).key("metadata").null().end_object().member("duplicated", 0).end_object();
}

using ByKey = std::map<std::string, std::vector<const judge::Finding*>>;
ByKey by_key(const std::vector<judge::Finding>& findings) {
  ByKey sorted;
  for (const judge::Finding& finding : findings) sorted[finding.key].push_back(&finding);
  return sorted;
}

// Exclusive ends: the neighbours of what is missing.
void missed_map(JsonWriter& json, const ProofDetails& details) {
  json.key("missedSeqs").begin_object();
  for (const auto& [key, findings] : by_key(details.missed)) {
    json.key(key).begin_array();
    for (const auto* finding : findings) seq_range(json, signed_of(finding->first) - 1, signed_of(finding->last) + 1);
    json.end_array();
  }
  json.end_object();
}

void write_duplicates_map(JsonWriter& json, const ProofDetails& details) {
  json.key("writeDuplicatesSeqs").begin_object();
  for (const auto& [key, findings] : by_key(details.write_duplicates)) {
    json.key(key).begin_array();
    for (const auto* finding : findings) seq_range(json, signed_of(finding->first), signed_of(finding->last));
    json.end_array();
  }
  json.end_object();
}

// Pairs: an object with one member.
void out_of_order_map(JsonWriter& json, const ProofDetails& details) {
  json.key("outOfOrderSeqs").begin_object();
  for (const auto& [key, findings] : by_key(details.out_of_order)) {
    json.key(key).begin_array();
    for (const auto* finding : findings)
      json.begin_object().member(std::to_string(finding->first), finding->last).end_object();
    json.end_array();
  }
  json.end_object();
}

// The name of a range is what the reference sorts by, the time at which it was opened; here the ranges are numbered.
std::string range_name(const ProofHead& head, std::size_t number) {
  const WallTime began = head.started.value_or(WallTime{});
  return local_text(began + std::chrono::microseconds(number));
}

template <typename Chosen, typename Below>
void consumer_checkpoint(JsonWriter& json, std::string_view name, const ProofDetails& details, std::span<const KeyView> keys,
                         Chosen chosen, Below below) {
  json.key(name).begin_object().key("consumed").begin_object();
  for (const KeyView& key : keys) {
    if (!chosen(key)) continue;
    const core::RangeSet received = received_by_all(key).clip(0, below(key));
    if (received.empty()) continue;
    json.key(key.key).begin_object();
    std::size_t number = 0;
    for (const core::Range& range : received.ranges())
      seq_range(json.key(range_name(details.head, number++)), signed_of(range.begin), signed_of(range.end) - 1);
    json.end_object();
  }
  json.end_object().key("writeDupsOrOutOrder").begin_object().end_object();
  missed_map(json, details);
  json.key("duplicatedCount").begin_object().end_object();
  out_of_order_map(json, details);
  write_duplicates_map(json, details);
  json.end_object();
}

void checkpoints(JsonWriter& json, const ProofDetails& details, std::span<const KeyView> keys) {
  const bool late = details.summary.timeouts > 0;
  const auto all = [](const KeyView&) { return true; };
  const auto failed = [late](const KeyView& key) { return late && is_behind(key); };
  const auto everything = [](const KeyView&) { return UINT64_MAX; };
  const auto verified = [](const KeyView& key) { return static_cast<std::uint64_t>(verified_of(key) + 1); };
  json.key("checkpoints").begin_object();
  producer_checkpoint(json, "inCheck", keys, all, acked_of);
  producer_checkpoint(json, "latestProducer", keys, all, acked_of);
  producer_checkpoint(json, "verifiedProducer", keys, all, verified_of);
  producer_checkpoint(json, "failedProducer", keys, failed, acked_of);
  consumer_checkpoint(json, "latestConsumer", details, keys, all, everything);
  consumer_checkpoint(json, "verifiedConsumer", details, keys, all, verified);
  consumer_checkpoint(json, "failedConsumer", details, keys, failed, everything);
  json.end_object();
}

void failed_keys(JsonWriter& json, const ProofDetails& details, std::span<const KeyView> keys) {
  json.key("failedKeys").begin_object();
  for (const KeyView& key : keys) {
    if (details.summary.timeouts == 0 || !is_behind(key)) continue;
    json.key(key.key).begin_array();
    long_seq(json, acked_of(key), key.acked_at);
    long_seq(json, verified_of(key), std::nullopt);
    json.end_array();
  }
  json.end_object();
}

// ---- report ----

void targets_array(JsonWriter& json, const std::vector<ClusterTarget>& targets) {
  json.key("clusterTargets").begin_array();
  for (const ClusterTarget& target : targets) {
    json.begin_object().member("role", target.role).member("driverName", target.driver);
    if (!target.type.empty()) json.member("driverType", target.type);
    json.key("endpoints").begin_object();
    for (const auto& endpoint : target.endpoints) json.key(endpoint.name).raw(endpoint.json);
    json.end_object();
    if (target.metadata) json.key("metadata").raw(*target.metadata);
    json.end_object();
  }
  json.end_array();
}

void checkpoint_summary(JsonWriter& json, const coordinator::CheckpointSummary& of) {
  json.key("checkpointSummary").begin_object().member("inCheckKeys", of.in_check_keys);
  json.member("latestProducerKeys", of.latest_producer_keys).member("latestConsumerKeys", of.latest_consumer_keys);
  json.member("verifiedProducerKeys", of.verified_producer_keys).member("verifiedConsumerKeys", of.verified_consumer_keys);
  json.member("failedProducerKeys", of.failed_producer_keys).member("failedConsumerKeys", of.failed_consumer_keys).end_object();
}

void latency(JsonWriter& json, std::string_view name, const coordinator::LatencySummary& of) {
  json.key(name).begin_object().member("count", of.count).member("avg", millis(of.mean)).member("p50", millis(of.p50));
  json.member("p95", millis(of.p95)).member("p99", millis(of.p99)).member("max", millis(of.max)).end_object();
}

std::uint64_t backlog_of(const core::Counters& traffic) {
  return traffic.acked > traffic.received ? traffic.acked - traffic.received : 0;
}
std::uint64_t errors_in(const core::Counters& traffic) { return traffic.failed + traffic.unknown; }

void performance(JsonWriter& json, const ProofReport& report) {
  const auto& of = report.performance;
  const core::Counters& traffic = of.traffic;
  const std::int64_t elapsed = std::max<std::int64_t>(0, of.elapsed.count());
  const std::int64_t planned = std::max<std::int64_t>(0, report.head.submission.proof.duration.count());
  const auto over = static_cast<double>(std::max<std::int64_t>(1, elapsed));
  const auto rate = [over](std::uint64_t number) { return static_cast<double>(number) / over; };
  const double percent = planned > 0 ? std::min(100.0, 100.0 * over / static_cast<double>(planned)) : 0.0;
  json.key("performanceSummary").begin_object().member("elapsedSeconds", elapsed).member("plannedDurationSeconds", planned);
  json.member("remainingSeconds", std::max<std::int64_t>(0, planned - elapsed)).member("progressPercent", percent);
  json.member("targetMsgRate", report.head.submission.proof.rate).member("publishedMessages", traffic.acked);
  json.member("publishErrors", errors_in(traffic)).member("publishAttempts", traffic.attempts);
  json.member("consumedMessages", traffic.received).member("backlogMessages", backlog_of(traffic));
  json.member("verifiedMessages", report.summary.verified).member("publishRate", rate(traffic.acked));
  json.member("consumeRate", rate(traffic.received)).member("publishErrorRate", rate(errors_in(traffic)));
  json.member("verifyRate", rate(report.summary.verified)).member("publishBytesRate", rate(traffic.bytes_acked));
  json.member("consumeBytesRate", rate(traffic.bytes_received));
  latency(json, "publishLatency", of.publish_latency);
  latency(json, "endToEndLatency", of.end_to_end_latency);
  json.end_object();
}

void point(JsonWriter& json, const SeriesPoint& of) {
  json.begin_object().member("elapsedSeconds", of.elapsed.count()).member("publishRate", of.publish_rate);
  json.member("consumeRate", of.consume_rate).member("backlogMessages", of.backlog);
  json.member("publishErrorRate", of.publish_error_rate).member("publishLatencyP95", millis(of.publish_p95));
  json.member("publishLatencyP99", millis(of.publish_p99)).member("endToEndLatencyP95", millis(of.end_to_end_p95));
  json.member("endToEndLatencyP99", millis(of.end_to_end_p99)).member("publishBytesRate", of.publish_bytes_rate);
  json.member("consumeBytesRate", of.consume_bytes_rate).member("verifiedMessages", of.verified);
  json.member("publishedMessages", of.published).member("consumedMessages", of.consumed).member("errors", of.errors);
  json.member("timeouts", of.timeouts).member("missed", of.missed).member("duplicates", of.duplicates);
  json.member("outOfOrders", of.out_of_orders).end_object();
}

// The counters of now at the end of a series whose last point is older; its rates and latencies are that point's.
std::optional<SeriesPoint> last_point(const ProofReport& report) {
  if (report.series.empty() || report.series.back().elapsed == report.performance.elapsed) return std::nullopt;
  SeriesPoint now = report.series.back();
  const core::Counters& traffic = report.performance.traffic;
  now.elapsed = report.performance.elapsed;
  now.backlog = backlog_of(traffic);
  now.verified = report.summary.verified;
  now.published = traffic.acked;
  now.consumed = traffic.received;
  now.errors = report.summary.errors;
  now.timeouts = report.summary.timeouts;
  now.missed = report.summary.missed;
  now.duplicates = report.summary.duplicates;
  now.out_of_orders = report.summary.out_of_orders;
  return now;
}

}  // namespace

std::string proof_json(const ProofHead& head) {
  JsonWriter json;
  proof_object(json, head, false);
  return json.take();
}

std::string proofs_json(const std::vector<ProofHead>& heads) {
  JsonWriter json;
  json.begin_array();
  for (const ProofHead& head : heads) proof_object(json, head, true);
  return json.end_array().take();
}

std::string details_json(const ProofDetails& details, DetailsView view) {
  const std::span<const KeyView> keys = std::span(details.keys).first(std::min(details.keys.size(), kKeysShownMax));
  JsonWriter json;
  json.begin_object().key("proof");
  proof_object(json, details.head, false);
  summary_object(json.key("summary"), details.summary);
  checkpoints(json, details, keys);
  if (view == DetailsView::kAll) {
    failed_keys(json, details, keys);
    missed_map(json, details);
    out_of_order_map(json, details);
    write_duplicates_map(json, details);
  }
  json.member("keysLeftOut", details.keys.size() - keys.size());
  return json.end_object().take();
}

std::string report_json(const ProofReport& report) {
  JsonWriter json;
  json.begin_object().key("proof");
  proof_object(json, report.head, false);
  json.member("status", coordinator::proof_status_name(report.head.status)).member("resultReason", report.head.reason);
  targets_array(json, report.targets);
  summary_object(json.key("summary"), report.summary);
  checkpoint_summary(json, report.checkpoints);
  performance(json, report);
  json.key("timeSeries").begin_array();
  for (const SeriesPoint& of : report.series) point(json, of);
  if (const auto now = last_point(report)) point(json, *now);
  return json.end_array().end_object().take();
}

}  // namespace sp::api

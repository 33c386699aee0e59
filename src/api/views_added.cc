// The members of the answers that the reference does not have.
#include "api/views.h"

#include "codec/json_writer.h"

namespace sp::api {
namespace {

std::int64_t to_millis(Nanoseconds duration) { return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count(); }

void texts(codec::JsonWriter& json, std::string_view name, const std::vector<std::string>& all) {
  json.key(name).begin_array();
  for (const std::string& text : all) json.value(text);
  json.end_array();
}

void position(codec::JsonWriter& json, const core::Position& at) {
  json.begin_object().member("partition", at.partition.value()).member("offset", at.offset.value()).end_object();
}

// [[0,41],[43,50]]: both ends inside.
void ranges(codec::JsonWriter& json, std::string_view name, const core::RangeSet& set) {
  json.key(name).begin_array();
  for (const core::Range& range : set.ranges()) json.begin_array().value(range.begin).value(range.end - 1).end_array();
  json.end_array();
}

void violation(codec::JsonWriter& json, const coordinator::Violation& of) {
  json.begin_object().member("number", of.number).member("code", core::code_row(of.code).name);
  json.member("established", of.established).member("group", of.group).member("key", of.key).member("first", of.first);
  json.member("last", of.last).member("records", of.records).key("positions").begin_array();
  for (const core::Position& at : of.positions) position(json, at);
  json.end_array().member("atMillis", to_millis(of.at)).member("says", of.says).end_object();
}

std::optional<std::int64_t> since_start(const std::optional<MonotonicTime>& time) {
  if (!time) return std::nullopt;
  return to_millis(time->time_since_epoch());
}

void fault(codec::JsonWriter& json, const core::FaultRecord& of) {
  json.begin_object().member(fault_members::kNumber, of.number).member(fault_members::kName, of.name);
  json.member(fault_members::kTarget, of.target).member(fault_members::kEffect, of.effect);
  json.member("beginMillis", to_millis(of.begin.time_since_epoch())).member("effectMillis", since_start(of.effect_seen));
  json.member("releasedMillis", since_start(of.released)).member("endMillis", since_start(of.end));
  json.member("recoveredMillis", since_start(of.recovered)).member("noRecovery", of.no_recovery).end_object();
}

void traffic(codec::JsonWriter& json, const core::Counters& of) {
  json.key("traffic").begin_object().member("attempts", of.attempts).member("acked", of.acked).member("failed", of.failed);
  json.member("unknown", of.unknown).member("received", of.received).member("bytesAcked", of.bytes_acked);
  json.member("bytesReceived", of.bytes_received).member("clientErrors", of.client_errors).end_object();
}

void worker(codec::JsonWriter& json, const coordinator::WorkerState& of) {
  json.begin_object().member("name", of.name).member("url", of.url).member("incarnation", of.incarnation);
  json.member("lost", of.lost).member("problem", of.problem).member("silentMillis", to_millis(of.silent));
  json.member("producers", of.producers).member("consumers", of.consumers).member("rawRead", of.raw_read);
  json.member("deltas", of.deltas);
  traffic(json, of.traffic);
  json.end_object();
}

}  // namespace

std::string violations_json(const coordinator::ViolationPage& page) {
  codec::JsonWriter json;
  json.begin_object().key("violations").begin_array();
  for (const coordinator::Violation& of : page.violations) violation(json, of);
  json.end_array().member("next", page.next).member("total", page.total).member("leftOut", page.left_out);
  return json.end_object().take();
}

std::string key_json(const coordinator::KeyView& key) {
  codec::JsonWriter json;
  json.begin_object().member("key", key.key).member("issued", key.issued).key("acked");
  if (key.acked)
    json.value(key.acked->value());
  else
    json.null();
  json.key("ackedAt");
  if (key.acked_at)
    position(json, *key.acked_at);
  else
    json.null();
  ranges(json, "unknown", key.unknown);
  ranges(json, "failed", key.failed);
  json.key("groups").begin_array();
  for (const auto& group : key.groups) {
    json.begin_object().member("name", group.name);
    ranges(json, "received", group.received);
    json.member("watermark", group.watermark).end_object();
  }
  return json.end_array().end_object().take();
}

std::string coverage_json(const coordinator::CoverageView& view) {
  const judge::Coverage& of = view.coverage;
  codec::JsonWriter json;
  json.begin_object().member("final", view.final).member("attempts", of.attempts).member("acked", of.acked);
  json.member("failed", of.failed).member("unknown", of.unknown).member("landed", of.landed).member("received", of.received);
  json.member("foreign", of.foreign).member("expired", of.expired).member("compacted", of.compacted);
  json.member("unverifiable", of.unverifiable).member("pairsNotJudged", of.pairs_not_judged);
  json.member("positionsAbsent", of.positions_absent).member("keysSilent", of.keys_silent);
  json.member("partitionsSilent", of.partitions_silent).key("notChecked").begin_object();
  for (const auto& [name, number] : of.not_checked) json.member(name, number);
  json.end_object();
  texts(json, "missing", view.missing);
  return json.end_object().take();
}

std::string fault_json(const core::FaultRecord& of) {
  codec::JsonWriter json;
  fault(json, of);
  return json.take();
}

std::string faults_json(const std::vector<core::FaultRecord>& faults) {
  codec::JsonWriter json;
  json.begin_object().key("faults").begin_array();
  for (const core::FaultRecord& of : faults) fault(json, of);
  return json.end_array().end_object().take();
}

std::string diagnostics_json(const coordinator::Diagnostics& diagnostics) {
  codec::JsonWriter json;
  json.begin_object().member("stage", diagnostics.stage).member("ticks", diagnostics.ticks);
  json.member("inputs", diagnostics.inputs).key("workers").begin_array();
  for (const coordinator::WorkerState& of : diagnostics.workers) worker(json, of);
  json.end_array();
  texts(json, "messages", diagnostics.messages);
  return json.end_object().take();
}

std::string version_json(std::string_view name, std::string_view version) {
  codec::JsonWriter json;
  return json.begin_object().member("name", name).member("version", version).end_object().take();
}

std::string ready_json(std::string_view not_ready) {
  codec::JsonWriter json;
  return json.begin_object().member("ready", not_ready.empty()).member("reason", not_ready).end_object().take();
}

std::string error_json(ErrorCode code, std::string_view message, std::span<const proof::Fault> faults) {
  codec::JsonWriter json;
  json.begin_object().key("error").begin_object().member("code", error_row(code).name).member("message", message);
  json.key("faults").begin_array();
  for (const proof::Fault& of : faults) {
    json.begin_object().member("place", of.place).member("message", of.message).member("remedy", of.remedy).end_object();
  }
  return json.end_array().end_object().end_object().take();
}

}  // namespace sp::api

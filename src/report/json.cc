// "The result, as JSON": the shape of docs/reference/result.md. Members may be added, never
// renamed; their order is fixed.
#include <array>

#include <fmt/core.h>

#include "codec/json_writer.h"
#include "report/report.h"
#include "report/words.h"

namespace sp::report {
namespace {

using codec::JsonWriter;

std::int64_t to_ms(Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}
double to_exact_ms(Nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const auto& text : texts) json.value(text);
  json.end_array();
}

void string_map(JsonWriter& json, std::string_view name,
                const std::map<std::string, std::string>& texts) {
  json.key(name).begin_object();
  for (const auto& [key, text] : texts) json.member(key, text);
  json.end_object();
}

void string_or_null(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  if (text.empty()) {
    json.null();
  } else {
    json.value(text);
  }
}

// Every code that was checked, zero included; one of which nothing could be checked stands in
// not_checked only.
void counts(JsonWriter& json, const judge::Judgement& judgement, bool lab) {
  json.key("counts").begin_object();
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const std::string name(core::code_row(code).name);
    if (core::code_row(code).lab && !lab) continue;
    if (judgement.counts[code] == 0 && judgement.coverage.not_checked.count(name) > 0) continue;
    json.member(name, judgement.counts[code]);
  }
  json.end_object();
  json.key("allowed").begin_object();
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (judgement.allowed[code] > 0)
      json.member(core::code_row(code).name, judgement.allowed[code]);
  }
  json.end_object();
}

template <typename Number>
void number_or_null(JsonWriter& json, std::string_view name, const std::optional<Number>& number) {
  json.key(name).value(number ? std::optional(number->value()) : std::nullopt);
}

void lineage(JsonWriter& json, const judge::LineageFact& fact) {
  json.begin_object().member("consumer", fact.consumer).member("partition", fact.partition.value());
  number_or_null(json, "generation", fact.generation);
  json.member("opened", "assign").member("closed", fact.closed);
  number_or_null(json, "start", fact.start);
  number_or_null(json, "first", fact.first);
  number_or_null(json, "next", fact.next);
  number_or_null(json, "committed", fact.committed);
  json.end_object();
}

void finding(JsonWriter& json, const judge::Finding& one, bool stream) {
  json.begin_object().member("code", core::code_row(one.code).name);
  string_or_null(json, "blame",
                 one.blame == core::Blame::kNone ? "" : std::string(core::blame_name(one.blame)));
  string_or_null(json, "group", one.group);
  if (one.nameless) {
    json.member("key", "");
  } else {
    string_or_null(json, "key", one.key);
  }
  if (one.key.empty() && !one.nameless) {
    json.key("first").null().key("last").null();
  } else {
    json.member("first", one.first).member("last", one.last);
  }
  json.member("records", one.records);
  string_or_null(json, "producer", one.producer);
  string_or_null(json, "consumer", one.consumer);
  json.key("positions").begin_array();
  for (const auto& position : one.positions) {
    if (stream) {
      json.begin_object().member("seq", position.offset.value()).end_object();
      continue;
    }
    json.begin_object()
        .member("partition", position.partition.value())
        .member("offset", position.offset.value());
    json.end_object();
  }
  json.end_array();
  json.key("lineages").begin_array();
  for (const auto& fact : one.lineages) lineage(json, fact);
  json.end_array();
  json.key("time_ns").value(one.time ? std::optional(one.time->count()) : std::nullopt);
  json.key("wall").value(one.wall ? std::optional(to_iso8601(*one.wall)) : std::nullopt);
  strings(json, "faults", one.faults);
  if (!one.transactions.empty()) strings(json, "transactions", one.transactions);
  json.key("fault_numbers").begin_array();
  for (const std::uint64_t number : one.fault_numbers) json.value(number);
  json.end_array();
  json.key("evidence").begin_array();
  for (const auto& line : one.evidence) json.begin_object().member("file", line.file).member("line", line.line).end_object();
  json.end_array();
  json.member("says", one.says).end_object();
}

void optional_ms(JsonWriter& json, std::string_view name, const std::optional<MonotonicTime>& time,
                 MonotonicTime begin) {
  json.key(name);
  if (time) {
    json.value(to_ms(*time - begin));
  } else {
    json.null();
  }
}

void faults(JsonWriter& json, const Report& report) {
  json.key("faults").begin_array();
  for (const auto& fault : report.facts.faults) {
    json.begin_object()
        .member("name", fault.name)
        .member("effect", fault.took_effect())
        .member("number", fault.number);
    json.member("target", fault.target).member("seen", fault.effect);
    json.member("begin_ms", to_ms(fault.begin - report.load_begin));
    optional_ms(json, "effect_ms", fault.effect_seen, report.load_begin);
    optional_ms(json, "released_ms", fault.released, report.load_begin);
    optional_ms(json, "end_ms", fault.end, report.load_begin);
    optional_ms(json, "recovered_ms", fault.recovered, report.load_begin);
    string_or_null(json, "no_recovery", fault.no_recovery);
    json.end_object();
  }
  json.end_array();
  strings(json, "faults_without_effect", report.facts.faults_without_effect);
}

void coverage(JsonWriter& json, const Report& report) {
  const auto& seen = report.judgement.coverage;
  json.key("coverage").begin_object();
  json.member("attempts", seen.attempts).member("acked", seen.acked).member("failed", seen.failed);
  json.member("unknown", seen.unknown)
      .member("landed", seen.landed)
      .member("received", seen.received);
  json.member("foreign", seen.foreign);
  json.key("not_checked").begin_object();
  for (const auto& [what, count] : seen.not_checked) json.member(what, count);
  json.end_object();
  json.member("keys_silent", seen.keys_silent).member("partitions_silent", seen.partitions_silent);
  json.member("expired", seen.expired)
      .member("compacted", seen.compacted)
      .member("unverifiable", seen.unverifiable);
  json.member("pairs_not_judged", seen.pairs_not_judged)
      .member("positions_absent", seen.positions_absent);
  string_map(json, "settings", report.facts.settings);
  faults(json, report);
  json.member("raw_read", report.facts.raw_read_complete);
  string_or_null(json, "raw_read_problem", report.facts.raw_read_problem);
  strings(json, "workers_lost", report.facts.workers_lost);
  strings(json, "missing", report.facts.missing);
  strings(json, "warnings", report.facts.warnings);
  strings(json, "notes", report.notes);
  json.end_object();
}

void latency(JsonWriter& json, std::string_view name, const Histogram& histogram) {
  json.key(name).begin_object().member("count", histogram.count());
  const auto if_any = [&](Nanoseconds value) {
    return histogram.empty() ? std::nullopt : std::optional(to_exact_ms(value));
  };
  constexpr std::array<std::pair<const char*, double>, 4> kShares = {
      {{"p50_ms", 0.5}, {"p95_ms", 0.95}, {"p99_ms", 0.99}, {"p999_ms", 0.999}}};
  for (const auto& [label, share] : kShares)
    json.key(label).value(if_any(histogram.percentile(share)));
  json.key("max_ms").value(if_any(histogram.max())).end_object();
}

// What is null or left out of a list, and why.
void not_measured(JsonWriter& json, const Report& report) {
  json.key("not_measured").begin_object();
  std::string recovery;
  for (const auto& fault : report.facts.faults) {
    if (fault.recovered) continue;
    recovery += fmt::format("{}fault {}: {}", recovery.empty() ? "" : "; ", fault.number, fault.no_recovery);
  }
  if (!recovery.empty()) json.member("recovery_ms", recovery);
  if (!report.staleness) {
    json.member("staleness_ms", report.no_staleness.empty() ? "nothing was produced" : report.no_staleness);
  }
  if (report.ticks == 0) {
    for (const char* name : {"stall_max_ms", "timeouts"}) json.member(name, "no tick was complete");
  }
  if (!report.facts.rate) json.member("rate", "there was no load");
  if (report.publish_latency.empty()) json.member("publish", "nothing was acknowledged");
  if (report.end_to_end_latency.empty()) {
    json.member("end_to_end", "nothing was received that tells when it was published");
  }
  json.end_object();
}

void lab_measures(JsonWriter& json, const LabMeasures& measures) {
  const auto ms = [&](std::string_view name, const std::optional<Nanoseconds>& value) {
    json.key(name).value(value ? std::optional(to_exact_ms(*value)) : std::nullopt);
  };
  json.key("groups").begin_array();
  for (const auto& group : measures.groups) {
    json.begin_object().member("group", group.group);
    ms("recovery_ms", group.recovery);
    ms("recovery_since_usable_ms", group.recovery_since_usable);
    json.member("never_recovered", group.never_recovered);
    ms("staleness_ms", group.staleness);
    ms("silence_ms", group.silence);
    ms("silence_after_reconnect_ms", group.silence_after_reconnect);
    ms("deadline_overrun_ms", group.overrun);
    ms("drain_ms", group.drain);
    json.end_object();
  }
  json.end_array().key("producers").begin_array();
  for (const auto& producer : measures.producers) {
    json.begin_object().member("producer", producer.producer);
    ms("pause_ms", producer.pause);
    ms("resume_ms", producer.resume);
    ms("resume_since_usable_ms", producer.resume_since_usable);
    json.end_object();
  }
  json.end_array();
}

void measures(JsonWriter& json, const Report& report) {
  const auto if_ticked = [&](auto value) { return report.ticks > 0 ? std::optional(value) : std::nullopt; };
  json.key("measures").begin_object();
  json.key("recovery_ms").begin_array();
  for (const auto& fault : report.facts.faults) {
    if (fault.recovered && fault.over()) json.value(to_ms(*fault.recovered - *fault.over()));
  }
  json.end_array();
  json.key("staleness_ms").value(report.staleness ? std::optional(to_ms(*report.staleness)) : std::nullopt);
  if (!report.lab) not_measured(json, report);  // a lab has measures of its own
  json.key("stall_max_ms").value(if_ticked(to_ms(report.progress.stall_max)));
  json.key("timeouts").value(if_ticked(report.progress.timeouts));
  json.key("rate").value(report.facts.rate);
  json.key("load_begin_ms").value(report.facts.times ? std::optional(to_ms(report.load_begin - report.facts.times->begin))
                                                     : std::nullopt);
  json.member("load_ms", to_ms(report.load));
  latency(json, "publish", report.publish_latency);
  latency(json, "end_to_end", report.end_to_end_latency);
  json.member("bytes_acked", report.traffic.bytes_acked)
      .member("bytes_received", report.traffic.bytes_received);
  json.member("queue_full", report.traffic.queue_full)
      .member("slots_dropped", report.traffic.slots_dropped);
  json.member("client_errors", report.traffic.client_errors).member("alarms", report.alarms);
  if (report.lab && report.lab->measures) lab_measures(json, *report.lab->measures);
  json.end_object();
}

void lab(JsonWriter& json, const Lab& lab) {
  string_or_null(json, "run", lab.run);
  json.member("kind", "lab").member("file", lab.file).member("operations", lab.operations);
  json.member("scenario", lab.scenario);
  string_or_null(json, "api", lab.api);
  string_or_null(json, "server", lab.server);
  strings(json, "declared_faults", lab.faults);
  json.member("promise", lab.promise);
}

void about(JsonWriter& json, const Report& report) {
  if (report.lab) {
    lab(json, *report.lab);
  } else {
    json.member("run", core::run_text(report.run)).member("kind", "proof");
  }
  string_or_null(json, "name", report.proof.name);
  json.key("started").value(report.started ? std::optional(to_iso8601(*report.started))
                                           : std::nullopt);
  json.member("program", report.program)
      .member("driver", report.driver)
      .member("client", report.client);
  json.member("topic", report.topic).member("topic_deleted", report.topic_deleted);
  json.member("stopped", report.facts.stopped).member("interrupted", report.facts.interrupted);
  string_or_null(json, "repeat", report.repeat);
  strings(json, "messages", report.messages);
  json.member("messages_left_out", report.messages_left_out);
  json.key("stages").begin_array();
  for (const auto& timing : report.timings) {
    json.begin_object().member("stage", timing.stage).member("ms", to_ms(timing.took)).end_object();
  }
  json.end_array();
}

void time_series(JsonWriter& json, const Report& report) {
  json.key("time_series").begin_array();
  for (const auto& sample : report.samples) {
    json.begin_object().member("at_ms", to_ms(sample.at)).member("issued", sample.progress.issued);
    json.member("acked", sample.progress.acked).member("failed", sample.progress.failed);
    json.member("unknown", sample.progress.unknown).member("received", sample.progress.received);
    json.member("verified", sample.progress.verified)
        .member("outstanding", sample.progress.outstanding);
    json.member("timeouts", sample.progress.timeouts)
        .member("stall_ms", to_ms(sample.progress.stall));
    json.key("counts").begin_object();
    for (std::size_t i = 0; i < core::kCodeCount; ++i) {
      const auto code = static_cast<core::Code>(i);
      if (sample.counts[code] > 0) json.member(core::code_row(code).name, sample.counts[code]);
    }
    json.end_object().end_object();
  }
  json.end_array();
}

}  // namespace

std::string json_report(const Report& report, const JsonOptions& options) {
  JsonWriter json({.indent = 2});
  json.begin_object();
  if (report.failure.empty()) {
    json.member("verdict", judge::status_name(report.judgement.status));
  } else {
    json.key("verdict").null().member("failure", report.failure);
  }
  strings(json, "reasons", report.judgement.reasons);
  strings(json, "features", features(report.proof));
  counts(json, report.judgement, report.lab.has_value());
  json.member("undecided", report.judgement.undecided);
  json.key("findings").begin_array();
  for (const auto& one : report.judgement.findings) finding(json, one, report.lab && report.lab->stream);
  json.end_array();
  json.member("findings_left_out", report.judgement.findings_left_out);
  coverage(json, report);
  measures(json, report);
  about(json, report);
  if (options.time_series) time_series(json, report);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace sp::report

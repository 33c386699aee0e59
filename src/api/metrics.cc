#include "api/metrics.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "base/metrics.h"

namespace sp::api {
namespace {

using coordinator::ProofReport;

constexpr double kNanosecondsASecond = 1e9;

double seconds(Nanoseconds span) { return static_cast<double>(span.count()) / kNanosecondsASecond; }
double number(std::uint64_t count) { return static_cast<double>(count); }

// A number of one proof.
struct ProofRow {
  std::string_view name;
  MetricKind kind;
  std::string_view help;
  double (*value)(const ProofReport& report);
};

constexpr std::array kProofRows = {
    ProofRow{"sp_proof_published_records_total", MetricKind::kCounter, "Records that the system acknowledged.",
             [](const ProofReport& report) { return number(report.performance.traffic.acked); }},
    ProofRow{"sp_proof_consumed_records_total", MetricKind::kCounter, "Hand-overs to consumers, repeats included.",
             [](const ProofReport& report) { return number(report.performance.traffic.received); }},
    ProofRow{"sp_proof_verified_records_total", MetricKind::kCounter, "Records settled below their key's watermark.",
             [](const ProofReport& report) { return number(report.summary.verified); }},
    ProofRow{"sp_proof_errors_total", MetricKind::kCounter, "Attempts that failed or whose outcome is unknown.",
             [](const ProofReport& report) { return number(report.summary.errors); }},
    ProofRow{"sp_proof_missed_records", MetricKind::kGauge, "Records past their deadline; once there is a verdict, lost ones.",
             [](const ProofReport& report) { return number(report.summary.missed); }},
    ProofRow{"sp_proof_duplicate_records", MetricKind::kGauge, "Records handed over or written again, allowed ones included.",
             [](const ProofReport& report) { return number(report.summary.duplicates); }},
    ProofRow{"sp_proof_out_of_order_records", MetricKind::kGauge, "Records written or handed over out of their key's order.",
             [](const ProofReport& report) { return number(report.summary.out_of_orders); }},
    ProofRow{"sp_proof_timeouts_total", MetricKind::kCounter, "Ticks at which a record newly passed its deadline.",
             [](const ProofReport& report) { return number(report.summary.timeouts); }},
    ProofRow{"sp_proof_stall_seconds", MetricKind::kGauge, "Since verification last made progress while records were outstanding.",
             [](const ProofReport& report) { return seconds(report.summary.stall); }},
    ProofRow{"sp_proof_publish_latency_p99_seconds", MetricKind::kGauge,
             "From a record's slot to its acknowledgement, 99th percentile so far.",
             [](const ProofReport& report) { return seconds(report.performance.publish_latency.p99); }},
    ProofRow{"sp_proof_end_to_end_latency_p99_seconds", MetricKind::kGauge,
             "From a record's publish time to its hand-over, 99th percentile so far.",
             [](const ProofReport& report) { return seconds(report.performance.end_to_end_latency.p99); }},
};

struct OtherRow {
  std::string_view name;
  MetricKind kind;
  std::string_view labels;
  std::string_view help;
};
constexpr OtherRow kProofs{"sp_proofs", MetricKind::kGauge, "status", "Proofs that the coordinator keeps, by status."};
constexpr OtherRow kAnomalies{"sp_proof_anomalies", MetricKind::kGauge, "proof, code",
                              "Anomalies by code; once there is a verdict, those that no allowance covers."};
constexpr OtherRow kWorkerUp{"sp_worker_up", MetricKind::kGauge, "proof, worker", "1 while the worker of a running proof answers, else 0."};

MetricFamily family(const OtherRow& row) { return {std::string(row.name), row.kind, std::string(row.help), {}}; }

}  // namespace

std::string service_metrics(const coordinator::Service& service) {
  const auto heads = service.list();
  MetricFamily by_status = family(kProofs);
  MetricFamily anomalies = family(kAnomalies);
  MetricFamily workers = family(kWorkerUp);
  std::map<std::string_view, std::uint64_t> statuses;
  for (const auto& head : heads) ++statuses[coordinator::proof_status_name(head.status)];
  for (const auto& [status, count] : statuses) by_status.series.push_back({{{"status", std::string(status)}}, number(count)});
  std::vector<MetricFamily> families;
  for (const ProofRow& row : kProofRows) families.push_back({std::string(row.name), row.kind, std::string(row.help), {}});
  for (std::size_t i = 0; i < std::min(heads.size(), kProofsShown); ++i) {
    const auto report = service.report(heads[i].id);
    if (!report) continue;  // removed meanwhile
    for (std::size_t row = 0; row < kProofRows.size(); ++row) {
      families[row].series.push_back({{{"proof", heads[i].id}}, kProofRows[row].value(*report)});
    }
    for (std::size_t code = 0; code < core::kCodeCount; ++code) {
      const auto& about = core::code_row(static_cast<core::Code>(code));
      if (about.lab) continue;
      anomalies.series.push_back({{{"proof", heads[i].id}, {"code", std::string(about.name)}}, number(report->summary.counts[about.code])});
    }
    const bool running = heads[i].status == coordinator::ProofStatus::kRunning || heads[i].status == coordinator::ProofStatus::kStopping;
    const auto diagnostics = running ? service.diagnostics(heads[i].id) : Result<coordinator::Diagnostics>();
    for (const auto& worker : diagnostics->workers) {
      workers.series.push_back({{{"proof", heads[i].id}, {"worker", worker.name}}, worker.problem.empty() ? 1.0 : 0.0});
    }
  }
  families.insert(families.begin(), std::move(by_status));
  families.push_back(std::move(anomalies));
  families.push_back(std::move(workers));
  return metrics_text(families);
}

std::string prometheus_markdown() {
  std::string out =
      "# Metrics\n\nWhat `GET /metrics` of a coordinator tells Prometheus. Made by `streaming-proof manual prometheus` from "
      "`src/api/metrics.cc`.\n\n| name | type | labels | meaning |\n|---|---|---|---|\n";
  const auto line = [&](std::string_view name, MetricKind kind, std::string_view labels, std::string_view help) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", name, kind == MetricKind::kCounter ? "counter" : "gauge", labels, help);
  };
  line(kProofs.name, kProofs.kind, kProofs.labels, kProofs.help);
  for (const ProofRow& row : kProofRows) line(row.name, row.kind, "proof", row.help);
  line(kAnomalies.name, kAnomalies.kind, kAnomalies.labels, kAnomalies.help);
  line(kWorkerUp.name, kWorkerUp.kind, kWorkerUp.labels, kWorkerUp.help);
  out += fmt::format("\nOf the latest {} proofs. Counters of a proof begin with it and end with it.\n", kProofsShown);
  return out;
}

}  // namespace sp::api

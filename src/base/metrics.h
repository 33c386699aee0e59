// Numbers for a monitoring system: families of one meaning, each with series by label, as Prometheus' text.
//
//     Family{"sp_proof_verified_records_total", counter, "…", {{{{"proof", "aB3dE"}}, 4100}}}
//       ─►  # HELP … # TYPE … counter      sp_proof_verified_records_total{proof="aB3dE"} 4100
//
// Cost:     some 200 ns a series.   Limits: –.
// Errors:   none; whatever a label holds is escaped.   Threads: pure functions.   Source: Prometheus' text format 0.0.4.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sp {

enum class MetricKind : std::uint8_t { kCounter, kGauge };

struct MetricSeries {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

struct MetricFamily {
  std::string name;
  MetricKind kind = MetricKind::kGauge;
  std::string help;
  std::vector<MetricSeries> series;
};

[[nodiscard]] std::string metrics_text(const std::vector<MetricFamily>& families);

}  // namespace sp

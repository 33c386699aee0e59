#include "base/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace sp {

std::string metrics_text(const std::vector<MetricFamily>& families) {
  std::vector<prometheus::MetricFamily> all;
  for (const MetricFamily& family : families) {
    prometheus::MetricFamily into;
    into.name = family.name;
    into.help = family.help;
    into.type = family.kind == MetricKind::kCounter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
    for (const MetricSeries& series : family.series) {
      prometheus::ClientMetric metric;
      for (const auto& [name, value] : series.labels) metric.label.push_back({name, value});
      (family.kind == MetricKind::kCounter ? metric.counter.value : metric.gauge.value) = series.value;
      into.metric.push_back(std::move(metric));
    }
    all.push_back(std::move(into));
  }
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace sp

#include "base/metrics.h"

#include <gtest/gtest.h>

namespace sp {
namespace {

TEST(MetricsTextTest, IsPrometheusTextWithWhatLabelsHoldEscaped) {
  const std::string text = metrics_text({{"sp_a_total", MetricKind::kCounter, "What a is.", {{{{"name", "x\"\\\n"}}, 3}, {{}, 0.5}}},
                                         {"sp_b", MetricKind::kGauge, "What b is.", {}}});
  EXPECT_EQ(text,
            "# HELP sp_a_total What a is.\n# TYPE sp_a_total counter\nsp_a_total{name=\"x\\\"\\\\\\n\"} 3\nsp_a_total 0.5\n"
            "# HELP sp_b What b is.\n# TYPE sp_b gauge\n");
}

}  // namespace
}  // namespace sp

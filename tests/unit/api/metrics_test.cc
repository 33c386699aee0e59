#include "api/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/api/fake_service.h"

namespace sp::api {
namespace {

using testing::HasSubstr;

TEST(ServiceMetricsTest, EveryProofHasItsNumbersAndEveryFamilyItsType) {
  const FakeService service;
  const std::string text = service_metrics(service);
  EXPECT_THAT(text, HasSubstr("# TYPE sp_proof_verified_records_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE sp_proof_missed_records gauge\n"));
  EXPECT_THAT(text, HasSubstr("sp_proofs{status=\"running\"} 1\n"));
  const auto report = service.report(kFull);
  EXPECT_THAT(text, HasSubstr(fmt::format("sp_proof_verified_records_total{{proof=\"{}\"}} {}\n", kFull, report->summary.verified)));
  EXPECT_THAT(text, HasSubstr(fmt::format("sp_proof_anomalies{{proof=\"{}\",code=\"lost\"}} {}\n", kFull,
                                          report->summary.counts[core::Code::kLost])));
  EXPECT_THAT(text, HasSubstr(fmt::format("sp_worker_up{{proof=\"{}\",worker=\"", kFull)));
  EXPECT_THAT(text, HasSubstr(fmt::format("sp_proof_stall_seconds{{proof=\"{}\"}}", kPlain)));
}

TEST(ServiceMetricsTest, EveryNameOfTheTextIsInTheManual) {
  const std::string manual = prometheus_markdown();
  const std::string text = service_metrics(FakeService());
  std::size_t names = 0;
  for (std::size_t at = text.find("# TYPE "); at != std::string::npos; at = text.find("# TYPE ", at + 1), ++names) {
    const std::string name = text.substr(at + 7, text.find(' ', at + 7) - at - 7);
    EXPECT_THAT(manual, HasSubstr("`" + name + "`"));
  }
  EXPECT_EQ(names, 14U);
}

}  // namespace
}  // namespace sp::api

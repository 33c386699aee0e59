#include "report/report.h"

#include <fmt/core.h>

#include "report/words.h"

namespace sp::report {

int exit_code(const Report& report) {
  constexpr int kCouldNotRun = 3;
  return report.failure.empty() ? judge::exit_code(report.judgement.status) : kCouldNotRun;
}

std::string one_line(const Report& report) {
  if (!report.failure.empty()) return "could not run: " + report.failure;
  const auto& judgement = report.judgement;
  const std::string reason = !judgement.reasons.empty() ? judgement.reasons.front()
                             : judgement.status == judge::Status::kPassed ? nothing_wrong(report)
                                                                          : "";
  const std::string name(judge::status_name(judgement.status));
  return reason.empty() ? name : name + ": " + reason;
}

}  // namespace sp::report

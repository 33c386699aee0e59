// JUnit XML: one suite, one case a guarantee and one for the evidence, so that a build server shows
// which promise broke.
#include <fmt/core.h>

#include "report/report.h"
#include "report/words.h"

namespace sp::report {
namespace {

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        // Other control characters cannot stand in XML 1.0 at all.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') out += c;
    }
  }
  return out;
}

// What a guarantee forbids, and how often it happened beyond what is allowed.
std::string broken(const Report& report, const core::Contract& contract) {
  std::string text;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (!contract.forbids(code)) continue;
    const std::uint64_t bad = report.judgement.counts[code] - report.judgement.allowed[code];
    if (bad > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", core::code_row(code).name, bad);
  }
  return text;
}

struct Suite {
  std::string cases;
  int tests = 0;
  int failures = 0;
  int errors = 0;
  double seconds = 0;

  void add(std::string_view name, std::string_view kind, std::string_view message,
           std::string_view detail) {
    ++tests;
    cases += fmt::format("    <testcase classname=\"streaming-proof\" name=\"{}\" time=\"{:.3f}\"",
                         xml_text(name), seconds);
    if (kind.empty()) {
      cases += "/>\n";
      return;
    }
    (kind == "failure" ? failures : errors) += 1;
    cases += fmt::format(">\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", kind,
                         xml_text(message), xml_text(detail), kind);
  }
};

std::string details(const Report& report, const core::Contract& contract) {
  constexpr int kShown = 20;
  std::string text;
  int shown = 0;
  for (const auto& finding : report.judgement.findings) {
    if (!contract.forbids(finding.code) || shown == kShown) continue;
    text += fmt::format("{} {} {}..{}: {}\n", core::code_row(finding.code).name, finding.key,
                        finding.first, finding.last, finding.says);
    ++shown;
  }
  return text;
}

void guarantee(Suite& suite, const Report& report, std::string_view name,
               const core::Contract& contract) {
  const std::string found = broken(report, contract);
  suite.add(name, found.empty() ? "" : "failure", found,
            found.empty() ? "" : details(report, contract));
}

void cases(Suite& suite, const Report& report) {
  if (!report.failure.empty()) {
    suite.add("run", "error", report.failure, "");
    return;
  }
  guarantee(suite, report, "integrity", core::Contract{});
  core::Contract contract;
  if (report.proof.at_least_once) {
    contract.at_least_once = true;
    guarantee(suite, report, "at_least_once", contract);
    contract.at_least_once = false;
  }
  if (report.proof.ordering) {
    contract.ordering = true;
    guarantee(suite, report, "ordering", contract);
    contract.ordering = false;
  }
  if (report.proof.exactly_once) {
    contract.exactly_once = true;
    guarantee(suite, report, "exactly_once", contract);
  }
  if (report.lab && (report.lab->contract.at_most_once || report.lab->contract.redelivery != core::Redelivery::kAny)) {
    core::Contract again;
    again.at_most_once = report.lab->contract.at_most_once;
    again.redelivery = report.lab->contract.redelivery;
    guarantee(suite, report, "redelivery", again);
  }
  const auto status = report.judgement.status;
  const bool failed_otherwise = status == judge::Status::kFailed && suite.failures == 0;
  const bool unclear = status != judge::Status::kPassed && status != judge::Status::kClean && status != judge::Status::kFailed;
  std::string reasons;
  for (const auto& reason : report.judgement.reasons)
    reasons += (reasons.empty() ? "" : "; ") + reason;
  if (failed_otherwise) {
    suite.add("thresholds", "failure", reasons, "");
  } else {
    suite.add("evidence", unclear ? "error" : "",
              fmt::format("{}: {}", judge::status_name(status), reasons), "");
  }
}

}  // namespace

std::string junit_report(const Report& report) {
  Suite suite;
  suite.seconds = std::chrono::duration<double>(report.load).count();
  cases(suite, report);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  out += fmt::format(
      "  <testsuite name=\"streaming-proof {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "time=\"{:.3f}\"",
      report.lab ? xml_text(report.lab->scenario) : core::run_text(report.run), suite.tests, suite.failures, suite.errors, suite.seconds);
  if (report.started) out += fmt::format(" timestamp=\"{}\"", to_iso8601(*report.started));
  out += ">\n" + suite.cases;
  out += fmt::format("    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
                     xml_text(one_line(report)));
  return out;
}

}  // namespace sp::report

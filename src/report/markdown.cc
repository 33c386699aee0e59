// The report for a page or a pull request: verdict, counts and findings as tables.
#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "report/report.h"
#include "report/words.h"

namespace sp::report {
namespace {

constexpr std::size_t kFindingsShown = 50;

// Text that cannot leave its cell nor become markup.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : printable(text, 1'000)) {
    if (std::string_view("|\\`*_{}[]<>#!~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string about(const Report& report) {
  if (!report.lab) {
    return fmt::format("Run {} · {} · promised: {}", core::run_text(report.run), cell(report.client), [&] {
      std::string names;
      for (const auto& name : features(report.proof)) names += fmt::format("{}{}", names.empty() ? "" : ", ", cell(name));
      return names.empty() ? std::string("nothing") : names;
    }());
  }
  std::string text = fmt::format("Scenario {} · {}", cell(report.lab->scenario), cell(report.client));
  if (!report.lab->server.empty()) text += " · " + cell(report.lab->server);
  return text + " · promised: " + cell(report.lab->promise);
}

std::string counts(const judge::Judgement& judgement) {
  std::string rows;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    if (judgement.counts[code] == 0) continue;
    rows += fmt::format("| {} | {} | {} | {} |\n", core::code_row(code).name, grouped(judgement.counts[code]),
                        grouped(judgement.allowed[code]), core::code_row(code).meaning);
  }
  return rows.empty() ? "" : "\n| found | times | of them allowed | what it is |\n|---|---:|---:|---|\n" + rows;
}

std::string record(const judge::Finding& finding) {
  if (finding.key.empty() && !finding.nameless) return finding.consumer.empty() ? "" : cell(finding.consumer);
  const std::string range =
      finding.first == finding.last ? std::to_string(finding.first) : fmt::format("{} to {}", finding.first, finding.last);
  return finding.nameless ? "value " + range : fmt::format("{} {}", cell(finding.key), range);
}

std::string evidence(const judge::Finding& finding) {
  std::string text;
  for (const auto& line : finding.evidence) text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", cell(line.file), line.line);
  return text;
}

std::string findings(const judge::Judgement& judgement) {
  if (judgement.findings.empty()) return "";
  std::string text = "\n| finding | code | record | group | blame | says | lines |\n|---:|---|---|---|---|---|---|\n";
  const std::size_t shown = std::min(judgement.findings.size(), kFindingsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& finding = judgement.findings[i];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", i + 1, core::code_row(finding.code).name, record(finding),
                        cell(finding.group), finding.blame == core::Blame::kNone ? "" : core::blame_name(finding.blame),
                        cell(finding.says), evidence(finding));
  }
  const std::uint64_t more = judgement.findings.size() - shown + judgement.findings_left_out;
  if (more > 0) text += fmt::format("\n{} more are not shown.\n", grouped(more));
  return text;
}

}  // namespace

std::string markdown_report(const Report& report) {
  if (!report.failure.empty()) return fmt::format("## COULD NOT RUN\n\n{}\n", cell(report.failure));
  const judge::Judgement& judgement = report.judgement;
  std::string text = fmt::format("## {}\n\n", upper(judge::status_name(judgement.status)));
  for (const auto& reason : judgement.reasons) text += fmt::format("* {}\n", cell(reason));
  text += fmt::format("\n{}\n\n", about(report));
  text += fmt::format("{} attempts, {} acknowledged, {} failed, {} unknown; {} records received.\n", grouped(judgement.coverage.attempts),
                      grouped(judgement.coverage.acked), grouped(judgement.coverage.failed), grouped(judgement.coverage.unknown),
                      grouped(judgement.coverage.received));
  text += counts(judgement) + findings(judgement);
  const auto blind = blind_spots(report);
  if (blind.empty()) return text;
  text += "\nNot seen:\n\n";
  for (const auto& sentence : blind) text += fmt::format("* {}\n", cell(sentence));
  return text;
}

}  // namespace sp::report

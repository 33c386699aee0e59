#include <algorithm>

#include <fmt/core.h>

#include "cases/runner.h"
#include "model/reference_judge.h"

namespace sp::cases {
namespace {

std::uint64_t coverage_item(const judge::Coverage& coverage, const std::string& name) {
  const std::map<std::string, std::uint64_t> items = {
      {"attempts", coverage.attempts},
      {"acked", coverage.acked},
      {"failed", coverage.failed},
      {"unknown", coverage.unknown},
      {"landed", coverage.landed},
      {"received", coverage.received},
      {"foreign", coverage.foreign},
      {"expired", coverage.expired},
      {"compacted", coverage.compacted},
      {"unverifiable", coverage.unverifiable},
      {"pairs-not-judged", coverage.pairs_not_judged},
      {"positions-absent", coverage.positions_absent},
      {"keys-silent", coverage.keys_silent},
      {"partitions-silent", coverage.partitions_silent}};
  const auto found = items.find(name);
  return found == items.end() ? ~std::uint64_t{0} : found->second;
}

std::string finding_text(const judge::Finding& finding) {
  return fmt::format("{} {} {}..{} records {} blame {} group '{}' says '{}'",
                     core::code_row(finding.code).name, finding.key, finding.first, finding.last,
                     finding.records, core::blame_name(finding.blame), finding.group, finding.says);
}

class Differ {
 public:
  Differ(const Scene& scene, const model::Played& played) : scene_(scene), played_(played) {}

  std::vector<std::string> run() {
    const Expectation& expected = scene_.expected;
    const judge::Judgement& judged = played_.judgement;
    if (expected.verdict)
      check_text("verdict", *expected.verdict, std::string(judge::status_name(judged.status)));
    if (expected.exit)
      check("exit", static_cast<std::uint64_t>(*expected.exit),
            static_cast<std::uint64_t>(judge::exit_code(judged.status)));
    for (std::size_t i = 0; i < core::kCodeCount; ++i) {
      const auto code = static_cast<core::Code>(i);
      check(std::string(core::code_row(code).name), value_or_zero(expected.counts, code),
            judged.counts[code]);
      check(std::string(core::code_row(code).name) + " allowed",
            value_or_zero(expected.allowed, code), judged.allowed[code]);
    }
    check("undecided", expected.undecided, judged.undecided);
    for (const auto& [name, value] : expected.coverage)
      check("coverage " + name, value, coverage_item(judged.coverage, name));
    for (const auto& [name, value] : expected.not_checked) {
      const auto found = judged.coverage.not_checked.find(name);
      check("not-checked " + name, value,
            found == judged.coverage.not_checked.end() ? 0 : found->second);
    }
    if (expected.verified) check("verified", *expected.verified, played_.progress.verified);
    if (expected.timeouts) check("timeouts", *expected.timeouts, played_.progress.timeouts);
    if (expected.stall_seconds) {
      check("stall", *expected.stall_seconds,
            static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::seconds>(played_.progress.stall_max)
                    .count()));
    }
    if (expected.no_alarms) check("alarms", 0, played_.alarms.size());
    for (const auto& finding : expected.findings) find(finding);
    for (const auto& reason : expected.reasons) find_reason(reason);
    if (!found_.empty()) describe();
    return std::move(found_);
  }

 private:
  static std::uint64_t value_or_zero(const std::map<core::Code, std::uint64_t>& values,
                                     core::Code code) {
    const auto found = values.find(code);
    return found == values.end() ? 0 : found->second;
  }
  void check(const std::string& what, std::uint64_t expected, std::uint64_t got) {
    if (expected != got)
      found_.push_back(fmt::format("{}: expected {}, got {}", what, expected, got));
  }
  void check_text(const std::string& what, const std::string& expected, const std::string& got) {
    if (expected != got)
      found_.push_back(fmt::format("{}: expected {}, got {}", what, expected, got));
  }
  void find(const ExpectedFinding& wanted) {
    const auto name = scene_.key_names.find(wanted.key);
    const auto matches = [&](const judge::Finding& finding) {
      if (finding.code != wanted.code) return false;
      if (wanted.key != "-" && (finding.first != wanted.first || finding.last != wanted.last))
        return false;
      if (wanted.key != "-" && name != scene_.key_names.end() && finding.key != name->second)
        return false;
      if (wanted.blame && core::blame_name(finding.blame) != *wanted.blame) return false;
      if (wanted.group && finding.group != *wanted.group) return false;
      return std::all_of(wanted.says.begin(), wanted.says.end(), [&](const std::string& words) {
        return finding.says.find(words) != std::string::npos;
      });
    };
    const auto count = std::count_if(played_.judgement.findings.begin(),
                                     played_.judgement.findings.end(), matches);
    if (count != 1) {
      found_.push_back(fmt::format(
          "finding {} {} {}..{} blame {} says '{}': expected once, found {} times",
          core::code_row(wanted.code).name, wanted.key, wanted.first, wanted.last,
          wanted.blame.value_or("any"), wanted.says.empty() ? "" : wanted.says.front(), count));
    }
  }
  void find_reason(const std::string& words) {
    const auto& reasons = played_.judgement.reasons;
    const bool there = std::any_of(reasons.begin(), reasons.end(), [&](const std::string& reason) {
      return reason.find(words) != std::string::npos;
    });
    if (!there) found_.push_back(fmt::format("no reason says '{}'", words));
  }
  void describe() {
    for (const auto& reason : played_.judgement.reasons) found_.push_back("  reason: " + reason);
    for (const auto& finding : played_.judgement.findings)
      found_.push_back("  finding: " + finding_text(finding));
    for (const auto& [name, count] : played_.judgement.coverage.not_checked) {
      found_.push_back(fmt::format("  not checked: {} {}", name, count));
    }
  }

  const Scene& scene_;  // outlive this
  const model::Played& played_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> differences(const Scene& scene, const model::Played& played) {
  return Differ(scene, played).run();
}

std::vector<std::string> reference_differences(const Scene& scene, const model::Played& played) {
  std::vector<std::string> found;
  const auto reference = model::reference_judge(scene.history, played.raw);
  const auto check = [&](std::string_view what, std::uint64_t expected, std::uint64_t got) {
    if (expected != got)
      found.push_back(
          fmt::format("reference {}: the case says {}, the reference {}", what, expected, got));
  };
  const auto of = [](const std::map<core::Code, std::uint64_t>& values, core::Code code) {
    const auto at = values.find(code);
    return at == values.end() ? 0 : at->second;
  };
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    check(core::code_row(code).name, of(scene.expected.counts, code), reference.counts[code]);
    check(fmt::format("{} allowed", core::code_row(code).name), of(scene.expected.allowed, code),
          reference.allowed[code]);
  }
  check("undecided", scene.expected.undecided, reference.undecided);
  const std::map<std::string, std::uint64_t> items = {
      {"acked", reference.acked},        {"failed", reference.failed},
      {"unknown", reference.unknown},    {"landed", reference.landed},
      {"foreign", reference.foreign},    {"expired", reference.expired},
      {"compacted", reference.compacted}};
  for (const auto& [name, value] : scene.expected.coverage) {
    const auto item = items.find(name);
    if (item != items.end()) check("coverage " + name, value, item->second);
  }
  if (scene.expected.verdict && *scene.expected.verdict != judge::status_name(reference.status)) {
    found.push_back(fmt::format("reference verdict: the case says {}, the reference {}",
                                *scene.expected.verdict, judge::status_name(reference.status)));
  }
  return found;
}

}  // namespace sp::cases

#include "simulation/same_judgement.h"

#include <fmt/core.h>

namespace sp::simulation {

std::string comparable(const report::Report& report) {
  const judge::Judgement& judged = report.judgement;
  std::string text = fmt::format("failure {}\nverdict {}\n", report.failure, judge::status_name(judged.status));
  for (const auto& reason : judged.reasons) text += "reason " + reason + "\n";
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    text += fmt::format("{} {} allowed {}\n", core::code_row(code).name, judged.counts[code], judged.allowed[code]);
  }
  const auto& seen = judged.coverage;
  text += fmt::format("undecided {}\nattempts {} acked {} failed {} unknown {} landed {} received {} foreign {}\n", judged.undecided,
                      seen.attempts, seen.acked, seen.failed, seen.unknown, seen.landed, seen.received, seen.foreign);
  text += fmt::format("expired {} compacted {} unverifiable {} pairs {} positions {} keys {} partitions {}\n", seen.expired,
                      seen.compacted, seen.unverifiable, seen.pairs_not_judged, seen.positions_absent, seen.keys_silent,
                      seen.partitions_silent);
  for (const auto& [what, count] : seen.not_checked) text += fmt::format("not checked {} {}\n", what, count);
  for (const auto& one : judged.findings) {
    text += fmt::format("{} {} {} {} {}-{} x{}", core::code_row(one.code).name, core::blame_name(one.blame), one.group, one.key,
                        one.first, one.last, one.records);
    for (const auto& position : one.positions) text += fmt::format(" {}:{}", position.partition.value(), position.offset.value());
    text += '\n';
  }
  return text + fmt::format("left out {}\n", judged.findings_left_out);
}

}  // namespace sp::simulation

#include "property/agreement.h"

#include <cstdlib>
#include <map>

#include <fmt/core.h>

#include "model/reference_judge.h"

namespace sp::property {
namespace {

void compare(std::vector<std::string>& lines, std::string_view what, std::uint64_t engine,
             std::uint64_t reference) {
  const char* known =
      std::getenv("SP_PROPERTY_IGNORE");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (known != nullptr && what == known) return;
  if (engine != reference)
    lines.push_back(fmt::format("{}: engine {}, reference {}", what, engine, reference));
}

}  // namespace

model::PlayOptions way_of(std::uint64_t seed) {
  model::PlayOptions options;
  options.cut_each = seed % 2 == 0;
  options.shuffle = seed % 3 == 0;
  options.repeat = seed % 5 == 0;
  options.seed = seed;
  return options;
}

std::vector<std::string> disagreements(const model::History& history,
                                       const model::PlayOptions& options) {
  std::vector<std::string> lines;
  const model::Played played = model::play(history, options);
  const judge::Judgement& engine = played.judgement;
  const model::ReferenceVerdict reference = model::reference_judge(history, played.raw);
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const auto name = core::code_row(code).name;
    compare(lines, name, engine.counts[code], reference.counts[code]);
    compare(lines, fmt::format("{} allowed", name), engine.allowed[code], reference.allowed[code]);
  }
  compare(lines, "undecided", engine.undecided, reference.undecided);
  compare(lines, "acked", engine.coverage.acked, reference.acked);
  compare(lines, "failed", engine.coverage.failed, reference.failed);
  compare(lines, "unknown", engine.coverage.unknown, reference.unknown);
  compare(lines, "landed", engine.coverage.landed, reference.landed);
  compare(lines, "expired", engine.coverage.expired, reference.expired);
  compare(lines, "compacted", engine.coverage.compacted, reference.compacted);
  std::map<core::Blame, std::uint64_t> lost_by;
  for (const auto& finding : engine.findings) {
    if (finding.code == core::Code::kLost) lost_by[finding.blame] += finding.records;
  }
  for (const auto blame :
       {core::Blame::kLog, core::Blame::kClient, core::Blame::kBehind, core::Blame::kUnknown}) {
    const auto at = reference.lost_by.find(blame);
    compare(lines, fmt::format("lost blame {}", core::blame_name(blame)), lost_by[blame],
            at == reference.lost_by.end() ? 0 : at->second);
  }
  if (engine.status != reference.status) {
    lines.push_back(fmt::format("verdict: engine {}, reference {}",
                                judge::status_name(engine.status),
                                judge::status_name(reference.status)));
  }
  return lines;
}

std::vector<std::string> disagreements(const model::LabFile& file, const judge::Judgement& checked) {
  const model::LabVerdict reference = model::lab_judge(file);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    compare(lines, core::code_row(code).name, checked.counts[code], reference.counts[code]);
    compare(lines, fmt::format("{} allowed", core::code_row(code).name), checked.allowed[code], reference.allowed[code]);
  }
  compare(lines, "undecided", checked.undecided, reference.undecided);
  compare(lines, "acked", checked.coverage.acked, reference.acked);
  compare(lines, "unknown", checked.coverage.unknown, reference.unknown);
  if (judge::status_name(checked.status) != reference.status) {
    lines.push_back(fmt::format("verdict: check {}, reference {}", judge::status_name(checked.status), reference.status));
  }
  return lines;
}

}  // namespace sp::property

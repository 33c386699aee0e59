// The text a person reads: the verdict and ten lines, the findings, what was not seen.
#include "base/text.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "report/report.h"
#include "report/words.h"

namespace sp::report {
namespace {

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options)
      : report_(report), options_(options) {}

  std::string write() {
    headline();
    if (!report_.failure.empty()) {
      line("run", run_line());
      return out_;
    }
    summary();
    findings();
    not_seen();
    what_next();
    return out_;
  }

 private:
  void line(std::string_view name, std::string_view text) {
    out_ += fmt::format("  {:<11}{}\n", name, text);
  }
  void title(std::string_view text) { out_ += fmt::format("\n{}\n", text); }
  std::string coloured(std::string_view text, std::string_view code) const {
    return options_.colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }

  void headline();
  std::string run_line() const;
  void summary();
  std::string proof_line() const;
  void proof();
  void lab(const Lab& lab);
  void measures(const LabMeasures& measures);
  void traffic();
  void counts_line();
  void findings();
  void finding(const judge::Finding& finding);
  void not_seen();
  void faults();
  void settings();
  void what_next();

  const Report& report_;
  const TextOptions& options_;
  std::string out_;
};

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : std::string(separator)) + word;
  return out;
}

// Settings on which a guarantee, an order or a finding hangs.
bool is_telling(std::string_view name) {
  constexpr std::array<std::string_view, 18> kTelling = {"acks",
                                                         "auto.offset.reset",
                                                         "bootstrap.servers",
                                                         "client.id",
                                                         "compression.type",
                                                         "delivery.timeout.ms",
                                                         "enable.auto.commit",
                                                         "enable.auto.offset.store",
                                                         "enable.idempotence",
                                                         "group.protocol",
                                                         "isolation.level",
                                                         "linger.ms",
                                                         "max.in.flight.requests.per.connection",
                                                         "partition.assignment.strategy",
                                                         "partitioner",
                                                         "retries",
                                                         "security.protocol",
                                                         "session.timeout.ms"};
  return std::find(kTelling.begin(), kTelling.end(), name) != kTelling.end();
}

void TextReport::headline() {
  if (!report_.failure.empty()) {
    out_ += fmt::format("{}  {}\n\n", coloured("COULD NOT RUN", "1;31"), report_.failure);
    return;
  }
  const auto status = report_.judgement.status;
  const bool good = status == judge::Status::kPassed || status == judge::Status::kClean;
  const std::string word = upper(judge::status_name(status));
  out_ += coloured(word, good ? "1;32" : status == judge::Status::kFailed ? "1;31" : "1;33");
  const auto& reasons = report_.judgement.reasons;
  if (reasons.empty()) {
    out_ += good ? fmt::format("  {}\n", nothing_wrong(report_)) : std::string("\n");
  } else {
    out_ += fmt::format("  {}\n", reasons.front());
    for (std::size_t i = 1; i < reasons.size(); ++i) out_ += fmt::format("  and {}\n", reasons[i]);
  }
  out_ += '\n';
}

std::string TextReport::run_line() const {
  std::string text = core::run_text(report_.run);
  if (report_.started) text += "  " + to_iso8601(*report_.started);
  const std::string_view between = report_.program.empty() || report_.client.empty() ? "" : ", ";
  text += fmt::format("  {}{}{}", report_.program, between, report_.client);
  return text;
}

std::string TextReport::proof_line() const {
  const auto& proof = report_.proof;
  std::string text = proof.name.empty() ? "" : proof.name + ": ";
  text += joined(features(proof), ", ");
  text += fmt::format(" · {} producers, {} consumers · {} keys · {} partitions", proof.producers,
                      proof.consumers, grouped(proof.keys), proof.partitions);
  if (proof.driver != "embedded") text += fmt::format(" × {}", proof.replication);
  text += fmt::format(" · {}/s of {}", grouped(proof.rate), human_bytes(proof.payload_bytes));
  return text;
}

void TextReport::traffic() {
  const auto& coverage = report_.judgement.coverage;
  std::string text = fmt::format("{} attempts · {} acknowledged · {} failed · {} unknown",
                                 grouped(coverage.attempts), grouped(coverage.acked),
                                 grouped(coverage.failed), grouped(coverage.unknown));
  if (coverage.unknown > 0) text += fmt::format(" ({} landed)", grouped(coverage.landed));
  line("sent", text);
  line("received",
       fmt::format(
           "{} records{}", grouped(coverage.received),
           report_.proof.groups > 1 ? fmt::format(" by {} groups", report_.proof.groups) : ""));
  if (report_.load.count() > 0) {
    const double seconds = std::chrono::duration<double>(report_.load).count();
    text = fmt::format("{}/s over {}",
                       grouped(static_cast<std::uint64_t>(report_.facts.rate.value_or(0) + 0.5)),
                       human_duration(report_.load));
    if (report_.traffic.bytes_acked > 0) {
      text +=
          fmt::format(", {}/s", human_bytes(static_cast<std::uint64_t>(
                                    static_cast<double>(report_.traffic.bytes_acked) / seconds)));
    }
    line("rate", text);
  }
  const auto latency = [](const Histogram& histogram) {
    return fmt::format("p50 {} · p99 {} · max {}", human_duration(histogram.percentile(0.5)),
                       human_duration(histogram.percentile(0.99)), human_duration(histogram.max()));
  };
  if (!report_.publish_latency.empty()) line("publish", latency(report_.publish_latency));
  if (!report_.end_to_end_latency.empty()) line("end to end", latency(report_.end_to_end_latency));
}

void TextReport::counts_line() {
  std::string text;
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const std::uint64_t count = report_.judgement.counts[code];
    const std::uint64_t allowed = report_.judgement.allowed[code];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", core::code_row(code).name,
                        grouped(count));
    if (allowed == count) text += " (allowed)";
    if (allowed > 0 && allowed < count) text += fmt::format(" ({} allowed)", grouped(allowed));
  }
  if (report_.judgement.undecided > 0) {
    text += fmt::format("{}undecided {}", text.empty() ? "" : " · ",
                        grouped(report_.judgement.undecided));
  }
  line("found", text.empty() ? "nothing wrong" : text);
}

void TextReport::summary() {
  for (const auto& warning : report_.facts.warnings) line("warning", coloured(warning, "33"));
  if (report_.lab) {
    lab(*report_.lab);
  } else {
    proof();
  }
  traffic();
  if (report_.lab && report_.lab->measures) measures(*report_.lab->measures);
  if (!report_.facts.faults.empty() || !report_.proof.chaos.empty()) {
    const auto& all = report_.facts.faults;
    const auto effective = std::count_if(all.begin(), all.end(),
                                         [](const auto& fault) { return fault.took_effect(); });
    line("faults", fmt::format("{} made, {} took effect", all.size(), effective));
  }
  counts_line();
}

void TextReport::lab(const Lab& lab) {
  line("history", fmt::format("{}, {} operations{}", lab.file, grouped(lab.operations), lab.run.empty() ? "" : ", run " + lab.run));
  std::string text = lab.scenario + " · " + report_.client;
  if (!lab.api.empty()) text += fmt::format(" ({})", lab.api);
  if (!lab.server.empty()) text += " · " + lab.server;
  line("scenario", text);
  line("promise", lab.promise);
}

void TextReport::measures(const LabMeasures& measures) {
  for (const auto& group : measures.groups) {
    std::string text =
        fmt::format("{}: stalest {} · longest silence {}", group.group, human_duration(group.staleness), human_duration(group.silence));
    if (group.silence_after_reconnect.count() > 0)
      text += fmt::format(" ({} after a reconnect)", human_duration(group.silence_after_reconnect));
    if (group.never_recovered) text += " · never caught up after the faults";
    if (group.recovery) text += fmt::format(" · caught up {} after the faults", human_duration(*group.recovery));
    line("consumer", text);
  }
}

void TextReport::proof() {
  line("run", run_line());
  line("proof", proof_line());
  std::string topic = report_.topic;
  topic += report_.topic_deleted                ? " (deleted)"
           : report_.proof.driver == "embedded" ? ""
                                                : " (kept)";
  line("topic", topic);
}

// ── findings ──

void TextReport::finding(const judge::Finding& finding) {
  std::string text;
  if (finding.nameless) {
    text = finding.first == finding.last ? fmt::format("value {}", finding.first)
                                         : fmt::format("values {} to {}", finding.first, finding.last);
  } else if (!finding.key.empty()) {
    text = finding.first == finding.last
               ? fmt::format("{} sequence {}", finding.key, finding.first)
               : fmt::format("{} sequences {} to {}", finding.key, finding.first, finding.last);
  } else if (!finding.consumer.empty()) {
    text = finding.consumer;
  } else if (!finding.positions.empty()) {
    text = position_text(finding.positions.front());
  }
  if (report_.proof.groups > 1 && !finding.group.empty())
    text += fmt::format(" (group {})", finding.group);
  if (finding.blame != core::Blame::kNone)
    text += fmt::format(", blame {}", core::blame_name(finding.blame));
  if (!finding.says.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", finding.says);
  for (std::size_t i = 0; i < finding.evidence.size(); ++i) {
    text += fmt::format("{}{}:{}", i == 0 ? " [" : ", ", finding.evidence[i].file, finding.evidence[i].line);
  }
  if (!finding.evidence.empty()) text += "]";
  out_ += fmt::format("    {}\n", text);
}

void TextReport::findings() {
  const auto& all = report_.judgement.findings;
  if (all.empty()) return;
  title("Findings");
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    const auto& row = core::code_row(code);
    const auto mine =
        std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.code == code; });
    if (mine == 0) continue;
    const std::uint64_t allowed = report_.judgement.allowed[code];
    out_ += fmt::format(
        "  {} {}{}: {}\n", coloured(row.name, "1"), grouped(report_.judgement.counts[code]),
        allowed > 0 ? fmt::format(", {} of them allowed", grouped(allowed)) : "", row.meaning);
    std::size_t shown = 0;
    for (const auto& one : all) {
      if (one.code != code || shown == options_.findings_max) continue;
      finding(one);
      ++shown;
    }
    if (static_cast<std::size_t>(mine) > shown) {
      out_ += fmt::format("    … and {} more in result.json\n",
                          grouped(static_cast<std::uint64_t>(mine) - shown));
    }
    out_ += fmt::format("    {}\n", row.look_at);
  }
  if (report_.judgement.findings_left_out > 0) {
    out_ += fmt::format("  {} more are counted but not listed\n",
                        grouped(report_.judgement.findings_left_out));
  }
}

// ── what was not seen ──

void TextReport::not_seen() {
  title("Not seen");
  std::size_t before = out_.size();
  for (const auto& sentence : blind_spots(report_)) out_ += fmt::format("  {}\n", sentence);
  if (out_.size() == before)
    out_ += "  nothing: every record, key and partition was exercised and checked\n";
  faults();
  settings();
}

void TextReport::faults() {
  if (report_.facts.faults.empty()) return;
  title("Faults, from the begin of the load");
  for (const auto& fault : report_.facts.faults) {
    std::string text = fmt::format("{:>3} {} {} at {}", fault.number, fault.name, fault.target,
                                   human_duration(fault.begin - report_.load_begin));
    if (fault.end)
      text += fmt::format(" until {}", human_duration(*fault.end - report_.load_begin));
    text += fault.took_effect() ? ": " + fault.effect : ": " + coloured("no effect", "33");
    if (fault.recovered && fault.over()) {
      text += fmt::format("; records flowed again {} after its release",
                          human_duration(*fault.recovered - *fault.over()));
    } else if (fault.took_effect() && !fault.no_recovery.empty()) {
      text += "; recovery not seen: " + fault.no_recovery;
    }
    out_ += fmt::format("  {}\n", text);
  }
}

// Those that were set by hand and those on which a guarantee hangs; the JSON has all.
void TextReport::settings() {
  if (report_.facts.settings.empty() && report_.notes.empty()) return;
  title("Effective client settings");
  constexpr std::size_t kWidth = 116;
  std::string row;
  std::size_t shown = 0;
  for (const auto& [name, value] : report_.facts.settings) {
    if (report_.proof.settings.count(name) == 0 && !is_telling(name)) continue;
    ++shown;
    const std::string word = fmt::format("{}={}", name, value);
    if (!row.empty() && row.size() + word.size() + 2 > kWidth) {
      out_ += fmt::format("  {}\n", row);
      row.clear();
    }
    row += (row.empty() ? "" : "  ") + word;
  }
  if (!row.empty()) out_ += fmt::format("  {}\n", row);
  if (shown < report_.facts.settings.size()) {
    out_ += fmt::format("  all {} of them are in result.json\n", report_.facts.settings.size());
  }
  for (const auto& note : report_.notes) out_ += fmt::format("  note: {}\n", note);
}

void TextReport::what_next() {
  const std::string advice = what_to_do(report_);
  if (!advice.empty()) out_ += fmt::format("\n{}\n", advice);
  if (!report_.repeat.empty()) out_ += fmt::format("Again: {}\n", report_.repeat);
}

}  // namespace

std::string text_report(const Report& report, const TextOptions& options) {
  return TextReport(report, options).write();
}

}  // namespace sp::report

// streaming-proof check DIR: judges the histories of a run again.
#include <array>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "check/driftlab.h"
#include "check/evidence.h"
#include "check/lab_check.h"
#include "check/proof_check.h"
#include "check/story.h"
#include "cli/check_progress.h"
#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "cli/histories.h"
#include "sys/files.h"

namespace sp::cli {
namespace {

constexpr std::size_t kContractBytesMax = std::size_t{1} << 16U;

struct CheckFlags {
  CheckFlags(CLI::App& command, Session& session) : reader(command, session) {}
  std::vector<std::string> names;
  bool json = false;
  bool junit = false;
  bool markdown = false;
  bool salvage = false;
  bool all_evidence = false;
  bool quiet = false;
  std::optional<std::uint64_t> explain;
  std::string key;
  std::string contract;
  std::string format = "auto";
  FlagReader reader;
};

constexpr std::size_t kPrintBytes = std::size_t{1} << 16U;

// Told now and then on a terminal.
class Progress {
 public:
  Progress(const CheckFlags& flags, const std::vector<std::filesystem::path>& files, const Terminal& terminal) {
    if (!terminal.err_is_terminal || flags.quiet) return;
    told_.emplace(bytes_of(files), clock_, [&terminal](const std::string& line) { terminal.complain(line); });
  }
  [[nodiscard]] std::function<void(std::uint64_t)> teller() {
    if (!told_) return nullptr;
    return [this](std::uint64_t operations) { told_->told(operations); };
  }
  [[nodiscard]] std::atomic<std::uint64_t>* bytes_read() { return told_ ? told_->bytes_read() : nullptr; }

 private:
  SystemMonotonicClock clock_;
  std::optional<CheckProgress> told_;
};

// What does not go with --format, and what its own value lacks.
void check_format(const CheckFlags& flags, std::vector<proof::Fault>& faults) {
  if (flags.format != "auto" && flags.format != "driftlab") {
    faults.push_back({ErrorCode::kInvalid, "--format", fmt::format("unknown format '{}'", printable(flags.format, 60)),
                      "there are auto, which the file says itself, and driftlab"});
  }
  if (flags.format != "driftlab") return;
  const std::string own_lines = "driftlab's verdict has lines of its own and nothing else; take the flag away";
  const std::array<std::pair<std::string_view, bool>, 7> others = {{{"--json", flags.json},
                                                                    {"--junit", flags.junit},
                                                                    {"--markdown", flags.markdown},
                                                                    {"--contract", !flags.contract.empty()},
                                                                    {"--explain", flags.explain.has_value()},
                                                                    {"--key", !flags.key.empty()},
                                                                    {"--all-evidence", flags.all_evidence}}};
  for (const auto& [flag, given] : others) {
    if (given) faults.push_back({ErrorCode::kInvalid, std::string(flag), "it does not go with --format driftlab", own_lines});
  }
  if (flags.names.size() > 1) {
    faults.push_back({ErrorCode::kInvalid, "--format driftlab", fmt::format("{} files are named", flags.names.size()),
                      "a run of driftlab is one file; check one after the other"});
  }
}

Result<report::Report> judge_proof(const CheckFlags& flags, const std::vector<std::filesystem::path>& files, const Terminal& terminal) {
  if (!flags.contract.empty()) {
    return fail(ErrorCode::kInvalid, "--contract: these are histories of a proof, which says itself what it promises; leave the flag out");
  }
  check::CheckOptions options;
  options.merge.salvage = flags.salvage;
  options.merge.all_evidence = flags.all_evidence;
  Progress progress(flags, files, terminal);
  options.progress = progress.teller();
  options.merge.bytes_read = progress.bytes_read();
  return check::check_proof(files, options);
}

Result<report::Report> judge_lab(const CheckFlags& flags, const std::filesystem::path& file, const Terminal& terminal) {
  check::LabOptions options;
  options.salvage = flags.salvage;
  Progress progress(flags, {file}, terminal);
  options.progress = progress.teller();
  options.bytes_read = progress.bytes_read();
  if (!flags.contract.empty()) {
    const auto text = sys::read_file(flags.contract, kContractBytesMax);
    if (!text) return tl::unexpected(text.error());
    const auto promise = check::read_promise(*text, flags.contract);
    if (!promise) return tl::unexpected(promise.error());
    options.promise = *promise;
  }
  return check::check_lab(file, options);
}

// One file of a lab is judged alone; all else are the files of a proof.
Result<report::Report> judge_files(const CheckFlags& flags, const std::vector<std::filesystem::path>& files, const Terminal& terminal) {
  if (files.size() == 1) {
    history::Vocabulary vocabulary;
    const auto reader = history::Reader::open(files.front(), vocabulary, {.accept_torn = flags.salvage, .threads = false});
    if (!reader) return tl::unexpected(reader.error());
    if ((*reader)->meta().kind == history::Meta::Kind::kLab) return judge_lab(flags, files.front(), terminal);
  }
  return judge_proof(flags, files, terminal);
}

int check_driftlab(const CheckFlags& flags, const std::vector<std::filesystem::path>& files, const Terminal& terminal) {
  if (files.size() != 1) {
    terminal.complain(fmt::format("{} holds {} histories: a run of driftlab is one file; name it", flags.names.front(), files.size()));
    return kExitCouldNotRun;
  }
  if (std::error_code ignored; std::filesystem::is_fifo(files.front(), ignored) && flags.names.front() != "-") {
    terminal.complain(fmt::format("{0}: it can be read only once, and check may have to read twice: write check --format driftlab - < {0}",
                                  files.front().string()));
    return kExitCouldNotRun;
  }
  history::Vocabulary vocabulary;
  check::DriftlabOptions options;
  Progress progress(flags, files, terminal);
  options.progress = progress.teller();
  const auto open = [&] {
    return history::Reader::open(files.front(), vocabulary, {.accept_torn = flags.salvage, .bytes_read = progress.bytes_read()});
  };
  const auto result = check::check_driftlab(open, vocabulary, options);
  if (!result) {
    terminal.complain(result.error().message);
    return kExitCouldNotRun;
  }
  std::string lines;
  check::tell_driftlab(*result, vocabulary, [&](std::string_view line) {
    lines.append(line) += '\n';
    if (lines.size() < kPrintBytes) return;
    terminal.print(lines);
    lines.clear();
  });
  terminal.print(lines);
  return static_cast<int>(result->verdict);
}

// The story of a finding or of a key; the exit code is that of the verdict all the same.
int explain(const CheckFlags& flags, const std::vector<std::filesystem::path>& files, const report::Report& report,
            const Terminal& terminal) {
  check::StoryOptions options;
  options.finding = flags.explain.value_or(0);
  options.key = flags.key;
  options.merge.salvage = flags.salvage;
  options.merge.all_evidence = flags.all_evidence;
  const auto story = check::tell(files, report, options);
  if (!story) {
    terminal.complain(story.error().message);
    return kExitCouldNotRun;
  }
  terminal.print(check::story_text(*story));
  return report::exit_code(report);
}

int check(CheckFlags& flags, const Session& session) {
  const Terminal& terminal = session.terminal;
  auto faults = flags.reader.read();
  check_format(flags, faults);
  if (!faults.empty()) return flags.reader.refuse(proof::to_error(faults));
  const auto files = history_files(flags.names);
  if (!files) {
    terminal.complain(files.error().message);
    return kExitCouldNotRun;
  }
  if (flags.format == "driftlab") return check_driftlab(flags, *files, terminal);
  auto report = judge_files(flags, *files, terminal);
  if (!report) {
    terminal.complain(report.error().message);
    return kExitCouldNotRun;
  }
  if (flags.explain || !flags.key.empty()) return explain(flags, *files, *report, terminal);
  if (auto added = check::add_evidence(*files, {.salvage = flags.salvage, .all_evidence = flags.all_evidence}, report->judgement.findings);
      !added) {
    terminal.complain(added.error().message);
    return kExitCouldNotRun;
  }
  report::TextOptions text;
  text.colour = terminal.colour;
  terminal.print(flags.json       ? report::json_report(*report)
                 : flags.junit    ? report::junit_report(*report)
                 : flags.markdown ? report::markdown_report(*report)
                                  : report::text_report(*report, text));
  return report::exit_code(*report);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("check", "Judges the histories of a run again; the exit code is that of the verdict");
  command->footer(
      "Examples:\n"
      "  streaming-proof run --duration 20s --history h && streaming-proof check h\n"
      "  streaming-proof check h --explain 1                    (why does the first finding say that?)\n"
      "  streaming-proof check h/coordinator.jsonl.zst h/worker-0.1.jsonl.zst --json\n"
      "  streaming-proof check net-cut.jsonl --contract nats-ordered.yaml        (one history of a lab)\n"

      "  driver | streaming-proof check --format driftlab -");
  auto flags = std::make_shared<CheckFlags>(*command, session);  // shared with the callback, which outlives this call
  flags->reader.words("DIR|FILE", flags->names, "the folder that run --history wrote, or all files of one run; - is standard input");
  flags->reader.text("--format", flags->format,
                     "auto, or driftlab: one file of driftlab, judged by its rules: exit code 0 clean, 1 failed, 2 invalid");
  flags->reader.yes("--json", flags->json, "the result as JSON");
  flags->reader.yes("--junit", flags->junit, "as JUnit XML, not JSON");
  flags->reader.yes("--markdown", flags->markdown, "as Markdown, with tables");
  flags->reader.not_both("--junit", "--json");
  flags->reader.not_both("--markdown", "--json");
  flags->reader.not_both("--markdown", "--junit");
  flags->reader.number("--explain", flags->explain, {1, 1'000'000'000},
                       "tell the story of that finding, numbered from 1 as in the JSON result");
  flags->reader.text("--key", flags->key, "tell all that happened to the records of that key");
  flags->reader.not_both("--explain", "--key");
  flags->reader.yes("--salvage", flags->salvage, "judge also a file that is cut off, up to there, and say so");
  flags->reader.yes("--all-evidence", flags->all_evidence, "use also what the coordinator never saw of a worker that died, and say so");
  flags->reader.text("--contract", flags->contract,
                     "of a lab: what is promised, from that file (YAML or JSON) instead of from the history");
  flags->reader.yes("--quiet", flags->quiet, "no progress on stderr");
  command->callback([flags, &session] { session.exit_code = check(*flags, session); });
}

}  // namespace sp::cli

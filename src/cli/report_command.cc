// streaming-proof report DIR: shows again what a run left.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "judge/judge.h"
#include "sys/files.h"

namespace sp::cli {
namespace {

constexpr std::size_t kReportBytesMax = std::size_t{256} << 20U;

struct ReportFlags {
  ReportFlags(CLI::App& command, Session& session) : reader(command, session) {}
  std::string folder;
  bool json = false;
  bool junit = false;
  FlagReader reader;
};

// The exit code that the run had. The verdict is the first member of result.json, always.
int code_of_run(std::string_view json) {
  constexpr std::string_view kBefore = "\"verdict\": \"";
  const auto begin = json.substr(0, 64).find(kBefore);
  if (begin == std::string_view::npos) return kExitCouldNotRun;
  const auto rest = json.substr(begin + kBefore.size());
  const auto name = rest.substr(0, rest.find('"'));
  for (const auto status :
       {judge::Status::kPassed, judge::Status::kFailed, judge::Status::kInconclusive,
        judge::Status::kStopped, judge::Status::kSlow}) {
    if (judge::status_name(status) == name) return judge::exit_code(status);
  }
  return kExitCouldNotRun;
}

int show(ReportFlags& flags, const Session& session) {
  const Terminal& terminal = session.terminal;
  const auto faults = flags.reader.read();
  if (!faults.empty()) return flags.reader.refuse(proof::to_error(faults));
  const std::filesystem::path folder(flags.folder);
  const auto result = sys::read_file(folder / "result.json", kReportBytesMax);
  if (!result) {
    terminal.complain(
        fmt::format("{} holds no finished run: {}", flags.folder, result.error().message));
    return kExitCouldNotRun;
  }
  const char* name = flags.json ? "result.json" : flags.junit ? "junit.xml" : "report.txt";
  const auto text = sys::read_file(folder / name, kReportBytesMax);
  if (!text) {
    terminal.complain(text.error().message);
    return kExitCouldNotRun;
  }
  terminal.print(*text);
  return code_of_run(*result);
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "report", "Shows the report of a run again; the exit code is that of the run");
  command->footer("Example: streaming-proof report runs/r0k3v9q2m");
  auto flags = std::make_shared<ReportFlags>(*command, session);  // shared with the callback, which outlives this call
  flags->reader.word("DIR", flags->folder, {.required = true, .spare = "one run at a time: there is another word before it"},
                     "the run's folder");
  flags->reader.yes("--json", flags->json, "as JSON");
  flags->reader.yes("--junit", flags->junit, "as JUnit XML, not JSON");
  flags->reader.not_both("--junit", "--json");
  command->callback([flags, &session] { session.exit_code = show(*flags, session); });
}

}  // namespace sp::cli

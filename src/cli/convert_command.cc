// streaming-proof convert IN OUT: a history in another form; with --from KIND, what others wrote as a history.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "history/convert.h"
#include "history/foreign/foreign.h"

namespace sp::cli {
namespace {

constexpr std::uint64_t kBetweenTold = 10'000'000;

struct ConvertFlags {
  ConvertFlags(CLI::App& command, Session& session) : reader(command, session) {}
  std::vector<std::string> names;
  std::string from;
  bool salvage = false;
  bool quiet = false;
  FlagReader reader;
};

std::vector<proof::Fault> faults_of(ConvertFlags& flags) {
  auto faults = flags.reader.read();
  if (!faults.empty()) return faults;
  if (flags.from.empty() && flags.names.size() != 2) {
    faults.push_back({ErrorCode::kInvalid, "", fmt::format("{} names are given", flags.names.size()),
                      "write the history and the new file: convert run.jsonl.zst run.sph"});
  }
  if (!flags.from.empty() && !history::find_foreign(flags.from)) {
    faults.push_back({ErrorCode::kInvalid, "--from", fmt::format("unknown kind '{}'", printable(flags.from)),
                      fmt::format("kinds are {}", history::foreign_names())});
  }
  if (!flags.from.empty() && flags.names.size() < 2) {
    faults.push_back({ErrorCode::kInvalid, "", fmt::format("{} names are given", flags.names.size()),
                      "write the foreign files and, last, the new one: convert --from jepsen history.edn run.jsonl"});
  }
  return faults;
}

int convert_from(const ConvertFlags& flags, const Terminal& terminal) {
  const std::vector<std::filesystem::path> from(flags.names.begin(), flags.names.end() - 1);
  const auto converted = history::convert_foreign(*history::find_foreign(flags.from), from, flags.names.back(),
                                                  {.salvage = flags.salvage});
  if (!converted) {
    terminal.complain(converted.error().message);
    return kExitCouldNotRun;
  }
  for (const std::string& note : converted->notes) terminal.complain(note);
  if (!flags.quiet) terminal.print(fmt::format("{}: {} operations\n", flags.names.back(), grouped(converted->operations)));
  return kExitGood;
}

int convert(ConvertFlags& flags, const Session& session) {
  const Terminal& terminal = session.terminal;
  if (const auto faults = faults_of(flags); !faults.empty()) return flags.reader.refuse(proof::to_error(faults));
  if (!flags.from.empty()) return convert_from(flags, terminal);
  history::ConvertOptions options;
  options.salvage = flags.salvage;
  std::uint64_t told = 0;
  if (terminal.err_is_terminal && !flags.quiet) {
    options.progress = [&](std::uint64_t operations) {
      if (operations - told < kBetweenTold) return;
      told = operations;
      terminal.complain(fmt::format("{} operations", grouped(operations)));
    };
  }
  const auto converted = history::convert(flags.names[0], flags.names[1], options);
  if (!converted) {
    terminal.complain(converted.error().message);
    return kExitCouldNotRun;
  }
  if (converted->torn_line != 0) {
    terminal.complain(fmt::format("{}: line {} is cut off and left out", flags.names[0], converted->torn_line));
  }
  if (!flags.quiet) terminal.print(fmt::format("{}: {} operations\n", flags.names[1], grouped(converted->operations)));
  return kExitGood;
}

}  // namespace

void add_convert(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("convert", "Writes a history in another form, without loss: .jsonl, .jsonl.zst or .sph");
  command->footer(
      "Examples:\n"
      "  streaming-proof convert h/worker-0.1.jsonl.zst worker.jsonl\n"
      "  streaming-proof convert --from verifiable producer.log consumer.log run.jsonl      (of kafka-verifiable-producer.sh …)\n"
      "  streaming-proof convert --from jepsen store/latest/history.edn run.jsonl");
  auto flags = std::make_shared<ConvertFlags>(*command, session);  // shared with the callback, which outlives this call
  flags->reader.words("IN... OUT", flags->names,
                      "a history (- is standard input), or with --from foreign files; and the new file, whose name says the form");
  flags->reader.text("--from", flags->from,
                     "what IN is: verifiable (output of Kafka's verifiable tools, a file for each process) or jepsen (history.edn)");
  flags->reader.yes("--salvage", flags->salvage, "convert also a file that is cut off, up to there");
  flags->reader.yes("--quiet", flags->quiet, "say nothing when all is well");
  command->callback([flags, &session] { session.exit_code = convert(*flags, session); });
}

}  // namespace sp::cli

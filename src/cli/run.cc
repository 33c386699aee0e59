// streaming-proof run: the flags, made from the table of the proof's fields, and where they lead.
#include <memory>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "cli/run_live.h"
#include "cli/run_request.h"
#include "cli/run_simulated.h"

namespace sp::cli {
namespace {

// What the command line fills.
struct RunInput {
  RunInput(CLI::App& command, Session& session) : reader(command, session) {}
  RunFlags flags;
  std::vector<std::vector<std::string>> values;  // by field
  FlagReader reader;
};

std::string option_names(const proof::Field& field) {
  std::string names = "--" + proof::flag_name(field);
  if (field.name == "replicationFactor") names += ",--replication";
  return names;
}

std::string field_help(const proof::Field& field) {
  static const proof::Proof defaults = proof::run_defaults();
  std::string help(field.meaning);
  if (!field.unit.empty()) help += fmt::format(" [{}]", field.unit);
  const std::string value = proof::value_text(field, defaults);
  if (!value.empty()) {
    help += fmt::format(" (default {})", value);
  } else if (!field.absent.empty()) {
    help += fmt::format(" (default: {})", field.absent);
  }
  return help;
}

void add_fields(RunInput& input) {
  const auto fields = proof::fields();
  input.values.resize(fields.size());
  input.reader.group("The proof (fields of PROOF.yaml)");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    FlagReader::Raw raw;
    raw.type = proof::type_name(fields[i]);
    raw.takes_value = !std::holds_alternative<bool proof::Proof::*>(fields[i].member);
    raw.repeatable = proof::repeatable(fields[i]);
    input.reader.raw(option_names(fields[i]), input.values[i], raw, field_help(fields[i]));
  }
}

void add_others(RunInput& input) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  RunFlags& flags = input.flags;
  FlagReader& reader = input.reader;
  reader.group("The system");
  reader.text("--bootstrap", flags.bootstrap, "a Kafka cluster that is there: host:port[,host:port]");
  reader.texts("-X", flags.settings, "a setting of the client: name=value; repeatable");
  reader.text("--client-config", flags.client_config, "a file of settings, a line each: name=value");
  reader.text("--cluster", flags.cluster, "start a cluster of its own for this run: kafka");
  reader.number("--nodes", flags.nodes, {1, 3}, "how many nodes that has: 1 or 3 (default 3)");
  reader.group("Simulation");
  reader.yes("--simulate", flags.simulate, "one thread, virtual clock, embedded broker; the seed decides everything");
  reader.number("--runs", flags.runs, {1, kMost}, "so many runs, with the seeds that follow (default 1)");
  reader.group("Output");
  reader.text("--out", flags.out, "the run's folder (default runs/<id>)");
  reader.text("--history", flags.history, "write down all that happens, a file for each process, into this new folder; see check");
  reader.yes("--json", flags.json, "print the result as JSON");
  reader.yes("--dry-run", flags.dry_run, "print the proof as it would take effect, and stop");
  reader.yes("--quiet", flags.quiet, "no progress on stderr");
}

int start(RunInput& input, const Session& session) {
  RunFlags& flags = input.flags;
  const Terminal& terminal = session.terminal;
  flags.faults = input.reader.read();
  const auto fields = proof::fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const auto& value : input.values[i])
      flags.fields.push_back({"--" + proof::flag_name(fields[i]), value});
  }
  auto request = read_request(flags);
  if (!request) return input.reader.refuse(request.error());
  if (flags.dry_run) {
    terminal.print(flags.json ? proof::to_json(request->proof) : proof::to_yaml(request->proof));
    return kExitGood;
  }
  return flags.simulate ? run_simulated(flags, *request, terminal)
                        : run_live(flags, *request, terminal);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Runs one proof and judges it; without PROOF.yaml and flags: 60 s against the "
      "embedded broker");
  command->footer(
      "Examples:\n"
      "  streaming-proof run --duration 20s\n"
      "  streaming-proof run --defect lose:count=5 --duration 20s          (fails, naming 5 "
      "records)\n"
      "  streaming-proof run --cluster kafka --nodes 3 --replication 3 --chaos "
      "kill-leader:every=20s,down=8s\n"
      "  streaming-proof run proof.yaml --bootstrap broker:9093 --client-config client.properties\n"
      "  streaming-proof run --simulate --seed 7 --runs 100");
  auto input = std::make_shared<RunInput>(*command, session);  // shared with the callback, which outlives this call
  input->reader.word("PROOF.yaml", input->flags.file,
                     {.required = false, .spare = "one proof at a time: there is another word before it"},
                     "the proof; flags take the place of what it says");
  add_fields(*input);
  add_others(*input);
  command->callback([input, &session] { session.exit_code = start(*input, session); });
}

}  // namespace sp::cli

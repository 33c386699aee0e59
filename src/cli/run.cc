// streaming-proof run: the flags, made from the table of the proof's fields, and where they lead.
#include <memory>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/run_live.h"
#include "cli/run_request.h"
#include "cli/run_simulated.h"

namespace sp::cli {
namespace {

// What the command line fills before it becomes RunFlags: a list for each field.
struct RunInput {
  RunFlags flags;
  std::vector<std::vector<std::string>> values;  // by field
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

void add_fields(CLI::App& command, RunInput& input) {
  const auto fields = proof::fields();
  input.values.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto* values = &input.values[i];
    const std::string names = option_names(fields[i]);
    if (std::holds_alternative<bool proof::Proof::*>(fields[i].member)) {
      command
          .add_flag_callback(
              names, [values] { values->emplace_back("true"); }, field_help(fields[i]))
          ->group("The proof (fields of PROOF.yaml)");
      continue;
    }
    command.add_option(names, *values, field_help(fields[i]))
        ->type_name(fmt::format("{}", proof::type_name(fields[i])))
        ->type_size(1)
        ->allow_extra_args(false)
        ->group("The proof (fields of PROOF.yaml)");
  }
}

void add_others(CLI::App& command, RunInput& input) {
  RunFlags& flags = input.flags;
  const std::string system = "The system";
  command
      .add_option("--bootstrap", flags.bootstrap,
                  "a Kafka cluster that is there: host:port[,host:port]")
      ->group(system);
  command.add_option("-X", flags.settings, "a setting of the client: name=value; repeatable")
      ->type_size(1)
      ->allow_extra_args(false)
      ->group(system);
  command
      .add_option("--client-config", flags.client_config,
                  "a file of settings, a line each: name=value")
      ->group(system);
  command.add_option("--cluster", flags.cluster, "start a cluster of its own for this run: kafka")
      ->group(system);
  command.add_option("--nodes", flags.nodes, "how many nodes that has: 1 or 3 (default 3)")
      ->group(system);
  const std::string simulation = "Simulation";
  command
      .add_flag("--simulate", flags.simulate,
                "one thread, virtual clock, embedded broker; the seed decides everything")
      ->group(simulation);
  command.add_option("--runs", flags.runs, "so many runs, with the seeds that follow (default 1)")
      ->group(simulation);
  const std::string output = "Output";
  command.add_option("--out", flags.out, "the run's folder (default runs/<id>)")->group(output);
  command.add_flag("--json", flags.json, "print the result as JSON")->group(output);
  command.add_flag("--dry-run", flags.dry_run, "print the proof as it would take effect, and stop")
      ->group(output);
  command.add_flag("--quiet", flags.quiet, "no progress on stderr")->group(output);
}

// Flags that nobody knows, and words that stand where none is expected.
void take_unknown(const CLI::App& command, RunFlags& flags) {
  for (const auto& word : command.remaining()) {
    if (word.size() > 1 && word.front() == '-')
      flags.unknown.push_back(word.substr(0, word.find('=')));
  }
}

int start(RunInput& input, const CLI::App& command, const Terminal& terminal) {
  RunFlags& flags = input.flags;
  take_unknown(command, flags);
  if (flags.unknown.empty() && command.remaining_size() > 0) {
    terminal.complain(
        fmt::format("'{}': one proof at a time; the first is '{}'\nSee: streaming-proof run --help",
                    command.remaining().front(), flags.file));
    return kExitCouldNotRun;
  }
  const auto fields = proof::fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const auto& value : input.values[i])
      flags.fields.push_back({"--" + proof::flag_name(fields[i]), value});
  }
  auto request = read_request(flags);
  if (!request) {
    terminal.complain(request.error().message + "\nSee: streaming-proof run --help");
    return kExitCouldNotRun;
  }
  if (flags.dry_run) {
    terminal.print(flags.json ? proof::to_json(request->proof) : proof::to_yaml(request->proof));
    return kExitGood;
  }
  return flags.simulate ? run_simulated(flags, *request, terminal)
                        : run_live(flags, *request, terminal);
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto input = std::make_shared<RunInput>();  // shared with the callback, which outlives this call
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
  command->add_option("PROOF.yaml", input->flags.file,
                      "the proof; flags take the place of what it says");
  add_fields(*command, *input);
  add_others(*command, *input);
  command->allow_extras();  // so that all unknown flags are told together with all else
  command->callback([input, command, &session] {
    session.exit_code = start(*input, *command, session.terminal);
  });
}

}  // namespace sp::cli

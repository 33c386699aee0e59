#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "cli/wiring.h"

namespace sp::cli {

std::string program_version() { return "streaming-proof " SP_VERSION; }

int run_program(const std::vector<std::string>& arguments, const Terminal& terminal) {
  Session session{terminal, kExitGood, {}, {}};
  CLI::App app{
      "Proves what a streaming system does with every single record: produces a known load, "
      "follows each record,\n"
      "breaks the system on purpose if asked to, and says whether the guarantees held.",
      "streaming-proof"};
  app.footer(
      "Exit codes: 0 passed, 1 failed, 2 inconclusive or stopped, 3 could not run, 4 slow.\n\n"
      "Example: streaming-proof run --duration 20s\n"
      "         streaming-proof run --cluster kafka --nodes 3 --replication 3 --chaos "
      "kill-leader:every=20s,down=8s");
  bool version = false;
  app.add_flag("--version", version,
               "print the versions of this program and of its client libraries");
  app.require_subcommand(0, 1);
  add_run(app, session);
  add_check(app, session);
  add_convert(app, session);
  add_cluster(app, session);
  add_report(app, session);
  add_coordinator(app, session);
  add_worker(app, session);
  add_broker(app, session);
  add_client(app, session);
  add_manual(app, session);
  const std::vector<std::string> words = split_words(app, arguments, session.faults);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // the library takes them from the back
  try {
    app.parse(reversed);
  } catch (const CLI::Success&) {  // --help
    const CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    terminal.print(asked->help());
    return kExitGood;
  } catch (const CLI::ParseError& error) {
    const CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    const auto reader = session.readers.find(asked);  // what is required is missing: whatever else is wrong is told with it
    if (reader != session.readers.end()) {
      const auto faults = reader->second->read();
      if (!faults.empty()) return reader->second->refuse(proof::to_error(faults));
    }
    terminal.complain(fmt::format("{}\nSee: {} --help", error.what(), command_name(*asked)));
    return kExitCouldNotRun;
  }
  if (version) {
    terminal.print(fmt::format("{}\n{}\n", program_version(), client_versions()));
    return kExitGood;
  }
  if (app.get_subcommands().empty()) {
    terminal.print(app.help());
    return arguments.empty() ? kExitGood : kExitCouldNotRun;
  }
  return session.exit_code;
}

}  // namespace sp::cli

// The commands: each adds itself to the application, with its flags, its help and an example, and
// runs when it was named.
//
//     run_program ─► run · check · convert · cluster · report · coordinator · worker · broker · proofs · configs · workers
//                  streaming-proof COMMAND --help
//
// Errors:   what a person typed wrong is told on stderr with the remedy; exit code 3.
// Threads:  the main one.
// Source:   docs/reference/commands.md (made from --help).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "proof/fields.h"

namespace CLI {
class App;
}  // namespace CLI

namespace sp::cli {

class FlagReader;

struct Session {
  Terminal terminal;
  int exit_code = kExitGood;
  std::vector<proof::Fault> faults;  // flags without their value
  std::map<const CLI::App*, FlagReader*> readers;
};

void add_run(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_convert(CLI::App& app, Session& session);
void add_cluster(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_coordinator(CLI::App& app, Session& session);
void add_worker(CLI::App& app, Session& session);
void add_broker(CLI::App& app, Session& session);
void add_client(CLI::App& app, Session& session);   // proofs, configs, workers
void add_manual(CLI::App& app, Session& session);  // not listed by --help

// The whole program: its arguments (without its name), its exit code.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments, const Terminal& terminal);
// "streaming-proof 0.1.0".
[[nodiscard]] std::string program_version();

}  // namespace sp::cli

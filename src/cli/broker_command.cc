// streaming-proof broker: the embedded broker as a process of its own, shared by workers.
#include "driver/embedded/broker.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/drawn.h"
#include "cli/flag_reader.h"
#include "rpc/broker/broker_server.h"
#include "sys/files.h"
#include "sys/signals.h"
#include "sys/sockets.h"

namespace sp::cli {
namespace {

constexpr std::uint64_t kNumberMax = ~std::uint64_t{0};
constexpr Nanoseconds kTruthEvery = std::chrono::seconds(1);
constexpr std::uint64_t kSessionSeconds = 10;
constexpr std::uint64_t kSessionSecondsMax = 3'600;

struct BrokerFlags {
  BrokerFlags(CLI::App& command, Session& session) : reader(command, session) {}
  std::string listen = "127.0.0.1";
  bool insecure = false;
  std::optional<std::uint64_t> port, seed, records, keys, groups, session_seconds;
  std::vector<std::string> defects;
  std::string truth;
  FlagReader reader;
};

// A client that fell silent is dropped after its lease, and its partitions move a session later: half of the time each.
Nanoseconds half_session(const BrokerFlags& flags) {
  return std::chrono::milliseconds(500 * flags.session_seconds.value_or(kSessionSeconds));
}

// A copy of the truth in a file, whole at every moment, written when there is something new.
class TruthFile {
 public:
  explicit TruthFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] Result<void> write(driver::embedded::Broker& broker) {
    if (path_.empty()) return {};
    std::string text = driver::embedded::truth_text(broker.truth());
    if (written_ && *written_ == text) return {};
    if (auto done = sys::write_atomically(path_, text); !done) return fail_up(std::move(done), "--truth");
    written_ = std::move(text);
    return {};
  }

 private:
  std::string path_;
  std::optional<std::string> written_;
};

Result<driver::embedded::BrokerOptions> options_of(const BrokerFlags& flags, const WallClock& wall) {
  auto defects = driver::embedded::parse_defects(flags.defects);
  if (!defects) return fail_up(std::move(defects), "--defect");
  driver::embedded::BrokerOptions options;
  options.seed = flags.seed ? *flags.seed : drawn_now(wall);
  options.defects = std::move(*defects);
  options.expected.records = flags.records.value_or(0);
  options.expected.keys = flags.keys.value_or(0);
  options.expected.groups = flags.groups.value_or(1);
  options.session_timeout = half_session(flags);
  for (const auto& defect : options.defects) {
    if (defect.count == 0 || options.expected.records > 0) continue;
    return fail(ErrorCode::kInvalid, "--defect with a count is spread over the run: say how long it is with --expected-records, or give "
                                     "a rate");
  }
  return options;
}

int serve(const BrokerFlags& flags, const Session& session) {
  static_cast<void>(log_open({.lowest = LogLevel::kInfo, .file = {}}));
  if (!sys::is_loopback(flags.listen) && !flags.insecure) {
    return session.terminal.could_not_run({ErrorCode::kInvalid, fmt::format("--listen {}: others than this machine could come, and nobody "
                                                                            "is asked who he is; say --insecure if that is meant",
                                                                            flags.listen)});
  }
  SystemMonotonicClock clock;
  const SystemWallClock wall;
  const sys::StopSignals stops;
  auto options = options_of(flags, wall);
  if (!options) return session.terminal.could_not_run(options.error());
  driver::embedded::Broker broker(clock, wall, *options);
  TruthFile truth(flags.truth);
  if (auto written = truth.write(broker); !written) return session.terminal.could_not_run(written.error());
  rpc::broker::BrokerServerOptions server_options;
  server_options.address = flags.listen;
  server_options.port = static_cast<std::uint16_t>(flags.port.value_or(0));
  server_options.lease = half_session(flags);
  auto server = rpc::broker::BrokerServer::start(broker, clock, wall, server_options);
  if (!server) return session.terminal.could_not_run(server.error());
  session.terminal.print(fmt::format("broker on {}, seed {}\n", (*server)->address(), options->seed));
  while (stops.count() == 0) {
    static_cast<void>(stops.wait(0, kTruthEvery));
    // A disk that is full now may have room again: the last one counts.
    if (auto written = truth.write(broker); !written) session.terminal.complain(written.error().message);
  }
  server->reset();
  const auto written = truth.write(broker);
  return written ? kExitGood : session.terminal.could_not_run(written.error());
}

}  // namespace

void add_broker(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("broker", "Serves the embedded broker to workers, until it is stopped.");
  command->footer("A proof that names it with the setting broker.address=HOST:PORT runs on it, with as many workers as it likes.\n"
                  "What was planted is in the file of --truth, at most a second old; it is exact once the proof is over. One that plants\n"
                  "defects serves one proof: its truth does not tell topics apart.\n\n"
                  "Exit codes: 0 stopped, 3 could not run.\n\n"
                  "Example: streaming-proof broker --port 9192 --defect lose:count=3 --expected-records 100000");
  auto flags = std::make_shared<BrokerFlags>(*command, session);  // shared: the library copies what it calls
  flags->reader.group("Where it listens");
  flags->reader.number("-p,--port", flags->port, {0, 65'535}, "port for workers; 0: a free one (default: 0)");
  flags->reader.text("--listen", flags->listen, "address to listen on (default: 127.0.0.1)");
  flags->reader.yes("--insecure", flags->insecure, "listen beyond this machine, for anybody");
  flags->reader.group("What it does wrong");
  flags->reader.number("--seed", flags->seed, {0, kNumberMax}, "of all chance in it (default: drawn, and printed)");
  flags->reader.texts("--defect", flags->defects, "plant this: KIND:rate=P or KIND:count=N, as in docs/reference/defects.md");
  flags->reader.number("--expected-records", flags->records, {1, kNumberMax}, "records of the whole run, over which a count spreads");
  flags->reader.number("--expected-keys", flags->keys, {1, kNumberMax}, "keys of the whole run");
  flags->reader.number("--expected-groups", flags->groups, {1, kNumberMax}, "consumer groups of the run (default: 1)");
  flags->reader.number("--session-timeout", flags->session_seconds, {1, kSessionSecondsMax},
                       "seconds after which a member that is not heard of has left its group (default: 10)");
  flags->reader.text("--truth", flags->truth, "file for what was planted, a line each (default: none)");
  command->callback([flags, &session] {
    const auto faults = flags->reader.read();
    session.exit_code = faults.empty() ? serve(*flags, session) : flags->reader.refuse(proof::to_error(faults));
  });
}

}  // namespace sp::cli

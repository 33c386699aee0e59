// streaming-proof worker: takes part in the proofs of coordinators.
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/drawn.h"
#include "cli/flag_reader.h"
#include "cli/listening.h"
#include "cli/wiring.h"
#include "codec/json_writer.h"
#include "http/server.h"
#include "rpc/worker_server.h"
#include "sys/signals.h"
#include "worker/host.h"

namespace sp::cli {
namespace {

constexpr std::uint16_t kUsualPort = 8088;
constexpr std::uint64_t kPortMax = 65'535;

struct WorkerFlags {
  WorkerFlags(CLI::App& command, Session& session) : reader(command, session) {}
  ListenFlags listen;
  std::optional<std::uint64_t> rpc_port;
  std::string zone;
  std::string name = "worker";
  FlagReader reader;
};

std::string info_json(const control::WorkerInfo& info, std::uint16_t rpc_port) {
  codec::JsonWriter json;
  json.begin_object().member("name", info.name).member("version", info.version);
  json.member("incarnation", fmt::format("{:016x}", info.incarnation)).member("zone", info.zone);
  return json.member("grpcPort", rpc_port).end_object().take();
}

http::Response json_response(std::string body) {
  http::Response response;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

std::string zone_of(const WorkerFlags& flags) {
  if (!flags.zone.empty()) return flags.zone;
  const char* const zone = std::getenv("ZONE_ID");  // NOLINT(concurrency-mt-unsafe): before any thread
  return zone == nullptr ? std::string() : std::string(zone);
}

// The REST port plus one, so that a worker that is started again is found where it was; a free one beside a free one.
std::uint16_t rpc_port_of(const WorkerFlags& flags, std::uint16_t port) {
  if (flags.rpc_port) return static_cast<std::uint16_t>(*flags.rpc_port);
  return port == 0 || port == kPortMax ? std::uint16_t{0} : static_cast<std::uint16_t>(port + 1);
}

int serve(WorkerFlags& flags, const Session& session) {
  static_cast<void>(log_open({.lowest = LogLevel::kInfo, .file = {}}));
  auto listening = read_listening(flags.listen, kUsualPort);
  if (!listening) return session.terminal.could_not_run(listening.error());
  SystemMonotonicClock clock;
  const SystemWallClock wall;
  const sys::StopSignals stops;
  WorkerSystems systems(clock, wall, zone_of(flags));
  worker::HostOptions host_options;
  host_options.info = {flags.name, SP_VERSION, drawn_now(wall), zone_of(flags), 0};
  worker::Host host(clock, wall, systems.factory(), host_options);
  rpc::ServerOptions rpc_options;
  rpc_options.address = listening->address;
  rpc_options.port = rpc_port_of(flags, listening->port);
  if (listening->tls) {
    rpc_options.credentials.certificate = listening->tls->certificate;
    rpc_options.credentials.key = listening->tls->key;
    rpc_options.credentials.ca = listening->tls->ca;
  }
  rpc_options.credentials.token = token_to_send(listening->tokens);
  auto rpc_server = rpc::WorkerServer::start(host, rpc_options);
  if (!rpc_server) return session.terminal.could_not_run(std::move(rpc_server).error().in("gRPC"));
  http::Routes routes;
  const std::string info = info_json(host.info(), (*rpc_server)->port());
  routes.add({"GET", "/info", [info](const http::Request&) { return json_response(info); }});
  routes.add({"GET", "/healthz", [](const http::Request&) { return json_response("{\"status\":\"ok\"}"); }});
  http::ServerOptions http_options;
  http_options.address = listening->address;
  http_options.port = listening->port;
  http_options.tls = listening->tls;
  auto server = http::Server::start(http_options, std::move(routes), clock);
  if (!server) return session.terminal.could_not_run(std::move(server).error().in("REST"));
  session.terminal.print(fmt::format("worker {} on {}://{}:{}, gRPC on port {}\n", flags.name, listening->tls ? "https" : "http",
                                     listening->address, (*server)->port(), (*rpc_server)->port()));
  while (stops.count() == 0) static_cast<void>(stops.wait(0, std::chrono::hours(1)));
  (*server)->stop();
  return kExitGood;
}

}  // namespace

void add_worker(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("worker", "Takes part in the proofs of coordinators: produces, consumes, reports what it saw.");
  command->footer(
      "A coordinator is told of it with PUT /configs. It keeps what it saw until that was acknowledged; when its coordinator is\n"
      "silent for 30 s it holds its load back, and goes on when the coordinator is there again.\n\n"
      "Exit codes: 0 stopped, 3 could not run.\n\nExample: streaming-proof worker -p 8088 --zone eu-1a");
  auto flags = std::make_shared<WorkerFlags>(*command, session);  // shared: the library copies what it calls
  flags->listen.add_to(flags->reader, "it", "port of its REST interface; 0: a free one (default: 8088)");
  flags->reader.number("--rpc-port", flags->rpc_port, {0, kPortMax}, "port for coordinators; 0: a free one (default: the one above)");
  flags->reader.group("Who it is");
  flags->reader.text("--name", flags->name, "its name, for people (default: worker)");
  flags->reader.text("--zone", flags->zone, "what {zone.id} in a client.id stands for (default: the environment's ZONE_ID)");
  command->callback([flags, &session] {
    const auto faults = flags->reader.read();
    session.exit_code = faults.empty() ? serve(*flags, session) : flags->reader.refuse(proof::to_error(faults));
  });
}

}  // namespace sp::cli

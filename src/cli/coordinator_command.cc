// streaming-proof coordinator: keeps proofs, drives workers, serves the REST interface.
#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "api/api.h"
#include "api/metrics.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/drawn.h"
#include "cli/flag_reader.h"
#include "cli/listening.h"
#include "cli/notifier.h"
#include "codec/document.h"
#include "coordinator/registry.h"
#include "http/client.h"
#include "http/server.h"
#include "rpc/logged_worker.h"
#include "store/state.h"
#include "sys/signals.h"

namespace sp::cli {
namespace {

constexpr std::uint16_t kUsualPort = 8080;
constexpr Nanoseconds kFolderPeriod = std::chrono::seconds(1);

struct CoordinatorFlags {
  CoordinatorFlags(CLI::App& command, Session& session) : reader(command, session) {}
  ListenFlags listen;
  std::string config = "/mnt/streaming-proof/configs";
  std::string state = "streaming-proof-state";
  std::string worker_ca, worker_token_file;
  bool private_webhooks = false;
  FlagReader reader;
};

// Where a worker's gRPC is, by what it says of itself.
rpc::AddressFinder finder_of(std::string url, const http::Client& client) {
  return [url = std::move(url), &client]() -> Result<std::string> {
    http::Call call;
    call.url = url + "/info";
    call.wait = std::chrono::milliseconds(500);  // the proof waits with it
    auto answer = client.call(call);
    if (!answer) return tl::unexpected(Error{ErrorCode::kUnavailable, answer.error().message});
    auto root = answer->status == 200 ? codec::parse_document(answer->body) : Result<codec::Node>(codec::Node{});
    const codec::Node* const port = root ? root->find("grpcPort") : nullptr;
    auto parsed = http::parse_url(url);
    if (port == nullptr || !parsed) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{} does not answer /info as a worker does (status {}): is it the URL of a worker?", url, answer->status));
    }
    return fmt::format("{}:{}", parsed->host.find(':') == std::string::npos ? parsed->host : "[" + parsed->host + "]", port->text);
  };
}

// Reads the configuration folder again when it changed.
class ConfigFolder {
 public:
  ConfigFolder(std::filesystem::path folder, coordinator::Registry& registry) : folder_(std::move(folder)), registry_(registry) {}
  void look() {
    std::string mark = coordinator::config_folder_mark(folder_);
    if (mark == mark_) return;
    mark_ = std::move(mark);
    coordinator::FolderReading read = coordinator::read_config_folder(folder_);
    for (const std::string& problem : read.problems) log_error("{}: {}", folder_.string(), problem);
    registry_.set_folder(mark_.empty() ? std::nullopt : std::optional(std::move(read.configs)));
    if (!mark_.empty()) log_info("configuration read from {}", folder_.string());
  }

 private:
  std::filesystem::path folder_;
  coordinator::Registry& registry_;
  std::string mark_;
};

class CoordinatorProcess {
 public:
  CoordinatorProcess(const CoordinatorFlags& flags, const Session& session) : flags_(flags), session_(session) {}
  int run();

 private:
  Result<void> open();
  Result<std::unique_ptr<http::Server>> listen(const api::Api& api);
  [[nodiscard]] std::unique_ptr<rpc::DialedWorker> dial(const coordinator::NamedWorker& named);

  const CoordinatorFlags& flags_;
  const Session& session_;
  SystemMonotonicClock clock_;
  SystemWallClock wall_;
  Listening listening_;
  api::Tokens tokens_;
  rpc::RemoteOptions remote_;
  std::unique_ptr<http::Client> to_workers_;
  std::unique_ptr<Notifier> notifier_;
  std::unique_ptr<store::State> state_;
  std::unique_ptr<coordinator::Registry> registry_;  // last: it uses the others
};

std::unique_ptr<rpc::DialedWorker> CoordinatorProcess::dial(const coordinator::NamedWorker& named) {
  return std::make_unique<rpc::DialedWorker>(finder_of(named.url, *to_workers_), clock_, remote_);
}

Result<void> CoordinatorProcess::open() {
  auto listening = read_listening(flags_.listen, kUsualPort);
  if (!listening) return tl::unexpected(std::move(listening).error());
  listening_ = std::move(*listening);
  if (!listening_.tokens.empty()) {
    auto tokens = api::Tokens::parse(listening_.tokens);
    if (!tokens) return fail_up(std::move(tokens), "--token-file");
    tokens_ = std::move(*tokens);
  }
  auto ca = read_flag_file(flags_.worker_ca, "--worker-ca");
  auto token = read_flag_file(flags_.worker_token_file, "--worker-token-file");
  if (!ca) return tl::unexpected(std::move(ca).error());
  if (!token) return tl::unexpected(std::move(token).error());
  remote_.credentials.ca = *ca;
  remote_.credentials.token = token_to_send(*token);
  http::ClientOptions client;
  client.tls.ca = *ca;
  to_workers_ = std::make_unique<http::Client>(client, clock_);
  const auto say = [](std::string_view text) { log_info("{}", text); };
  notifier_ = std::make_unique<Notifier>(clock_, NotifierOptions{.private_addresses = flags_.private_webhooks, .say = say});
  auto state = store::State::open(flags_.state);
  if (!state) return tl::unexpected(std::move(state).error());
  state_ = std::move(*state);
  coordinator::RegistryOptions options;
  options.program = program_version();
  options.entropy = drawn_now(wall_);
  options.ports = [this](std::uint32_t worker, const coordinator::NamedWorker& named, control::LoggedRun& log) {
    return std::make_unique<rpc::LoggedWorker>(worker, dial(named), log);
  };
  options.bare_port = [this](const coordinator::NamedWorker& named) { return dial(named); };
  options.notify = [this](const coordinator::Webhook& webhook, std::string body) { notifier_->post(webhook, std::move(body)); };
  options.say = say;
  auto registry = coordinator::Registry::open(std::move(options), *state_, clock_, wall_);
  if (!registry) return tl::unexpected(std::move(registry).error());
  registry_ = std::move(*registry);
  return {};
}

Result<std::unique_ptr<http::Server>> CoordinatorProcess::listen(const api::Api& api) {
  http::ServerOptions options;
  options.address = listening_.address;
  options.port = listening_.port;
  options.tls = listening_.tls;
  options.error_page = api::error_page;
  return http::Server::start(std::move(options), api.routes(), clock_);
}

int CoordinatorProcess::run() {
  const sys::StopSignals stops;
  static_cast<void>(log_open({.lowest = LogLevel::kInfo, .file = {}}));
  if (auto opened = open(); !opened) return session_.terminal.could_not_run(opened.error());
  ConfigFolder folder(flags_.config, *registry_);
  folder.look();
  api::ApiOptions options;
  options.tokens = tokens_;
  options.metrics = [this] { return api::service_metrics(*registry_); };
  const api::Api api(*registry_, options);
  auto server = listen(api);
  if (!server) return session_.terminal.could_not_run(server.error());
  session_.terminal.print(fmt::format("coordinator on {}://{}:{}, state in {}\n", listening_.tls ? "https" : "http", listening_.address,
                                      (*server)->port(), flags_.state));
  while (stops.count() == 0) {
    folder.look();
    static_cast<void>(stops.wait(0, kFolderPeriod));
  }
  registry_->release();  // a request that waits for a verdict would keep the server
  (*server)->stop();
  registry_.reset();
  log_info("stopped; proofs that run are gone on with when a coordinator with this state is started");
  return kExitGood;
}

}  // namespace

void add_coordinator(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("coordinator", "Keeps proofs and drives workers for hours; others speak to it over REST.");
  command->footer(
      "Everything survives its death: start it again with the same --state and running proofs go on.\n\n"
      "Exit codes: 0 stopped, 3 could not run.\n\nExample: streaming-proof coordinator -p 8080 -c configs --state state");
  auto flags = std::make_shared<CoordinatorFlags>(*command, session);  // shared: the library copies what it calls
  flags->listen.add_to(flags->reader, "it", "port of the REST interface; 0: a free one (default: 8080)");
  flags->reader.group("What it knows");
  flags->reader.text("-c,--config", flags->config,
                     "folder of *.yaml files with workers and drivers; watched (default: /mnt/streaming-proof/configs)");
  flags->reader.text("--state", flags->state, "folder of what must survive (default: streaming-proof-state)");
  flags->reader.group("How it speaks to others");
  flags->reader.text("--worker-ca", flags->worker_ca,
                     "PEM file: whose certificates of workers are believed; workers are then spoken to with TLS");
  flags->reader.text("--worker-token-file", flags->worker_token_file, "file of tokens as the workers have it; one that may write is sent");
  flags->reader.yes("--private-webhooks", flags->private_webhooks, "webhooks may go to this machine and to private networks");
  command->callback([flags, &session] {
    const auto faults = flags->reader.read();
    session.exit_code = faults.empty() ? CoordinatorProcess(*flags, session).run() : flags->reader.refuse(proof::to_error(faults));
  });
}

}  // namespace sp::cli

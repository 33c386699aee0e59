// streaming-proof proofs | configs | workers: a person at a coordinator's REST interface.
#include <functional>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/flag_reader.h"
#include "cli/listening.h"
#include "codec/document.h"
#include "coordinator/configs.h"
#include "http/client.h"
#include "judge/judge.h"
#include "sys/files.h"
#include "sys/paths.h"

namespace sp::cli {
namespace {

using codec::Node;

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20U;
constexpr std::string_view kUsualCoordinator = "http://127.0.0.1:8080";

struct ClientFlags {
  ClientFlags(CLI::App& command, Session& session) : reader(command, session) {}
  std::string coordinator, token_file, ca;
  std::string word;  // an id or a file
  bool json = false;
  bool no_wait = false;
  FlagReader reader;
};

std::string text_in(const Node& node, std::initializer_list<std::string_view> names) {
  const Node* at = &node;
  for (const std::string_view name : names) {
    at = at == nullptr ? nullptr : at->find(name);
  }
  return at == nullptr ? std::string() : at->text;
}

// What a script goes by: the same codes as `run`.
int code_of_status(std::string_view status) {
  if (status == "passed") return kExitGood;
  if (status == "failed") return judge::exit_code(judge::Status::kFailed);
  if (status == "inconclusive" || status == "stopped") return judge::exit_code(judge::Status::kInconclusive);
  return kExitCouldNotRun;
}

class Client {
 public:
  Client(const ClientFlags& flags, const Terminal& terminal) : flags_(flags), terminal_(terminal) {}

  [[nodiscard]] Result<void> open() {
    const auto named = sys::environment("STREAMING_PROOF_COORDINATOR");
    url_ = !flags_.coordinator.empty() ? flags_.coordinator : named.value_or(std::string(kUsualCoordinator));
    while (url_.ends_with('/')) url_.pop_back();
    auto tokens = read_flag_file(flags_.token_file, "--token-file");
    if (!tokens) return tl::unexpected(std::move(tokens).error());
    auto ca = read_flag_file(flags_.ca, "--ca");
    if (!ca) return tl::unexpected(std::move(ca).error());
    http::ClientOptions options;
    options.tls.ca = *ca;
    if (const std::string token = token_to_send(*tokens); !token.empty()) options.headers["authorization"] = "Bearer " + token;
    client_ = std::make_unique<http::Client>(options, clock_);
    return {};
  }

  // The body of a 200; every other answer is an error with what the coordinator said.
  [[nodiscard]] Result<std::string> ask(const std::string& method, const std::string& path, std::string body = {}) const {
    http::Call call;
    call.method = method;
    call.url = url_ + path;
    call.body = std::move(body);
    call.wait = std::chrono::hours(2);  // a stop answers at the end of the end procedure
    auto answer = client_->call(call);
    if (!answer) return tl::unexpected(std::move(answer).error());
    if (answer->status == 200) return std::move(answer->body);
    return fail(answer->status == 404 ? ErrorCode::kNotFound : ErrorCode::kInvalid, said(*answer));
  }
  [[nodiscard]] Result<Node> get(const std::string& path) const {
    auto body = ask("GET", path);
    if (!body) return tl::unexpected(std::move(body).error());
    return tree(*body);
  }
  [[nodiscard]] static Result<Node> tree(std::string_view text) {
    return codec::parse_document(text, {.name = "answer", .bytes_max = std::size_t{64} << 20U, .nodes_max = 10'000'000});
  }
  Result<http::Answer> follow(const std::string& path, const std::function<bool(const http::Event&)>& each) const {
    http::Call call;
    call.url = url_ + path;
    call.wait = std::chrono::seconds(60);
    return client_->follow(call, each);
  }
  // Whole, as it came.
  int print(const std::string& method, const std::string& path, std::string body = {}) const {
    auto answer = ask(method, path, std::move(body));
    if (!answer) return complain(answer.error());
    if (!answer->empty()) terminal_.print(*answer + "\n");
    return kExitGood;
  }
  int complain(const Error& error) const { return terminal_.could_not_run(error); }
  [[nodiscard]] const Terminal& terminal() const { return terminal_; }
  [[nodiscard]] const ClientFlags& flags() const { return flags_; }

 private:
  [[nodiscard]] static std::string said(const http::Answer& answer) {
    auto root = tree(answer.body);
    const Node* const faults = root && root->find("error") != nullptr ? root->find("error")->find("faults") : nullptr;
    if (faults == nullptr || faults->items.empty()) {
      const std::string message = root ? text_in(*root, {"error", "message"}) : std::string();
      return message.empty() ? fmt::format("status {}: {}", answer.status, printable(answer.body)) : message;
    }
    std::string lines;
    for (const Node& fault : faults->items) {
      lines += fmt::format("{}{}: {}; {}", lines.empty() ? "" : "\n", text_in(fault, {"place"}), text_in(fault, {"message"}),
                           text_in(fault, {"remedy"}));
    }
    return lines;
  }

  const ClientFlags& flags_;
  const Terminal& terminal_;
  SystemMonotonicClock clock_;
  std::string url_;
  std::unique_ptr<http::Client> client_;
};

// A YAML or JSON file as the JSON that is sent; "-" is no file here.
Result<std::string> read_body(const std::string& file) {
  auto text = sys::read_file(file, kFileBytesMax);
  if (!text) return tl::unexpected(std::move(text).error());
  auto root = codec::parse_document(*text, {.name = file, .bytes_max = kFileBytesMax, .nodes_max = 1'000'000});
  if (!root) return tl::unexpected(std::move(root).error());
  return coordinator::json_of(*root);
}

std::string path_of(const Client& client, std::string_view rest = "") {
  return fmt::format("/proofs/{}{}", http::escape(client.flags().word), rest);
}

int list(Client& client) {
  if (client.flags().json) return client.print("GET", "/proofs");
  auto proofs = client.get("/proofs");
  if (!proofs) return client.complain(proofs.error());
  client.terminal().print(fmt::format("{:<7} {:<13} {:<20} {:<12} {}\n", "id", "status", "started", "driver", "name"));
  for (const Node& proof : proofs->items) {
    client.terminal().print(fmt::format("{:<7} {:<13} {:<20} {:<12} {}\n", text_in(proof, {"id"}), text_in(proof, {"status"}),
                                        text_in(proof, {"startTime"}).substr(0, 19), text_in(proof, {"driver"}), text_in(proof, {"name"})));
  }
  return kExitGood;
}

int create(Client& client) {
  auto body = read_body(client.flags().word);
  if (!body) return client.complain(body.error());
  auto made = client.ask("POST", client.flags().no_wait ? "/proofs?wait=false" : "/proofs", *body);
  if (!made) return client.complain(made.error());
  auto root = Client::tree(*made);
  if (client.flags().json || !root) {
    client.terminal().print(*made + "\n");
  } else {
    client.terminal().print(text_in(*root, {"id"}) + "\n");
  }
  return kExitGood;
}

// The first few, and where the others are.
void name_violations(const Client& client) {
  auto page = client.get(path_of(client, "/violations?limit=5"));
  const Node* const violations = page ? page->find("violations") : nullptr;
  if (violations == nullptr || violations->items.empty()) return;
  client.terminal().print("\n");
  for (const Node& each : violations->items) {
    client.terminal().print(fmt::format("  {}: {} sequence {} to {}: {}\n", text_in(each, {"code"}), text_in(each, {"key"}),
                                        text_in(each, {"first"}), text_in(each, {"last"}), text_in(each, {"says"})));
  }
  client.terminal().print(fmt::format("\n  {} in all: GET {}\n  what each means and what to look at: docs/reference/findings.md\n",
                                      text_in(*page, {"total"}), path_of(client, "/violations")));
}

// What a person reads first; the exit code is the verdict's.
int report(Client& client) {
  auto body = client.ask("GET", path_of(client, "/report"));
  if (!body) return client.complain(body.error());
  auto root = Client::tree(*body);
  if (!root) return client.complain(root.error());
  const std::string status = text_in(*root, {"status"});
  if (client.flags().json) {
    client.terminal().print(*body + "\n");
    return code_of_status(status);
  }
  client.terminal().print(fmt::format("{}  {}\n\n", status, text_in(*root, {"resultReason"})));
  for (const auto& [group, name] : {std::pair("summary", "verified"),
                                    {"summary", "missed"},
                                    {"summary", "outOfOrders"},
                                    {"summary", "duplicates"},
                                    {"summary", "writeDuplicates"},
                                    {"summary", "errors"},
                                    {"summary", "timeouts"},
                                    {"summary", "maxVerifiedStallSeconds"},
                                    {"performanceSummary", "publishedMessages"},
                                    {"performanceSummary", "consumedMessages"},
                                    {"performanceSummary", "elapsedSeconds"}}) {
    client.terminal().print(fmt::format("  {:<24} {}\n", name, text_in(*root, {group, name})));
  }
  if (status == "failed") name_violations(client);
  return code_of_status(status);
}

int watch(Client& client) {
  const auto each = [&](const http::Event& event) {
    auto root = Client::tree(event.data);
    if (!root) return true;
    if (event.type == "tick") {
      client.terminal().complain(fmt::format("{} s: {} verified", text_in(*root, {"elapsedSeconds"}), text_in(*root, {"verified"})));
    } else if (event.type == "status") {
      client.terminal().complain(fmt::format("{}: {}", text_in(*root, {"status"}), text_in(*root, {"reason"})));
    } else if (event.type == "violation") {
      client.terminal().complain(
          fmt::format("{}: {} sequence {}", text_in(*root, {"code"}), text_in(*root, {"key"}), text_in(*root, {"sequence"})));
    } else if (event.type == "message") {
      client.terminal().complain(text_in(*root, {"text"}));
    }
    return true;
  };
  auto followed = client.follow(path_of(client, "/events"), each);
  if (!followed) return client.complain(followed.error());
  if (followed->status != 200) return client.complain({ErrorCode::kNotFound, printable(followed->body)});
  return report(client);
}

int workers(Client& client) {
  auto configs = client.get("/configs");
  if (!configs) return client.complain(configs.error());
  const Node* const named = configs->find("workers");
  if (client.flags().json) {
    client.terminal().print(named == nullptr ? "{}\n" : coordinator::json_of(*named) + "\n");
    return kExitGood;
  }
  for (std::size_t i = 0; named != nullptr && i < named->members.size(); ++i) {
    client.terminal().print(fmt::format("{:<16} {}\n", named->members[i].name, named->members[i].value.text));
  }
  return kExitGood;
}

int with_file(Client& client, const char* method) {
  auto body = read_body(client.flags().word);
  if (!body) return client.complain(body.error());
  return client.print(method, "/configs", *body);
}

// One command: its flags, its word, what it does.
struct ClientRow {
  const char* name;
  const char* help;
  const char* word;  // nullptr: none
  const char* word_help;
  int (*run)(Client& client);
};

constexpr ClientRow kProofs[] = {
    {"create", "Begins a proof; prints its id once its load has begun.", "FILE", "the proof, YAML or JSON", create},
    {"list", "The proofs that the coordinator keeps, the latest first.", nullptr, nullptr, list},
    {"show", "A proof, its summary and its checkpoints, as JSON.", "ID", "of the proof",
     [](Client& client) { return client.print("GET", path_of(client)); }},
    {"report", "The verdict, or how it stands; the exit code is the verdict's.", "ID", "of the proof", report},
    {"watch", "Follows a proof to its end; the exit code is the verdict's.", "ID", "of the proof", watch},
    {"stop", "Ends the load and judges; answers when there is a verdict.", "ID", "of the proof",
     [](Client& client) { return client.print("PUT", path_of(client, "/stop")); }},
    {"delete", "Stops a proof, deletes its topic and forgets it.", "ID", "of the proof",
     [](Client& client) { return client.print("DELETE", path_of(client)); }},
};
constexpr ClientRow kConfigs[] = {
    {"get", "Workers, drivers and settings of reports, as JSON; secrets are hidden.", nullptr, nullptr,
     [](Client& client) { return client.print("GET", "/configs"); }},
    {"put", "Adds what the file names, or replaces it.", "FILE", "YAML or JSON", [](Client& client) { return with_file(client, "PUT"); }},
    {"delete", "Takes away what the file names.", "FILE", "YAML or JSON", [](Client& client) { return with_file(client, "DELETE"); }},
};

void add_row(CLI::App& parent, Session& session, const ClientRow& row, const std::string& example) {
  CLI::App* command = parent.add_subcommand(row.name, row.help);
  command->footer(example);
  auto flags = std::make_shared<ClientFlags>(*command, session);  // shared: the library copies what it calls
  if (row.word != nullptr) flags->reader.word(row.word, flags->word, {.required = true, .spare = "one is enough"}, row.word_help);
  flags->reader.yes("--json", flags->json, "print what the coordinator said, as it came");
  if (row.run == create) flags->reader.yes("--no-wait", flags->no_wait, "answer at once, before it runs");
  flags->reader.group("Which coordinator");
  flags->reader.text("--coordinator", flags->coordinator,
                     "its URL (default: the environment's STREAMING_PROOF_COORDINATOR, else http://127.0.0.1:8080)");
  flags->reader.text("--token-file", flags->token_file, "file of tokens; the first that may write is sent");
  flags->reader.text("--ca", flags->ca, "PEM file: whose certificates are believed");
  command->callback([flags, &session, run = row.run] {
    if (const auto faults = flags->reader.read(); !faults.empty()) {
      session.exit_code = flags->reader.refuse(proof::to_error(faults));
      return;
    }
    Client client(*flags, session.terminal);
    auto opened = client.open();
    session.exit_code = opened ? run(client) : client.complain(opened.error());
  });
}

}  // namespace

void add_client(CLI::App& app, Session& session) {
  CLI::App* proofs = app.add_subcommand("proofs", "Proofs of a coordinator: begins, lists, follows, stops them.");
  proofs->require_subcommand(1);
  for (const ClientRow& row : kProofs) {
    add_row(*proofs, session, row,
            fmt::format("Example: streaming-proof proofs {}{}", row.name,
                        row.word == nullptr ? ""
                        : row.run == create ? " proof.yaml"
                                            : " aB3dE"));
  }
  CLI::App* configs = app.add_subcommand("configs", "What a coordinator knows of workers and systems.");
  configs->require_subcommand(1);
  for (const ClientRow& row : kConfigs) {
    add_row(*configs, session, row,
            fmt::format("Example: streaming-proof configs {}{}", row.name, row.word == nullptr ? "" : " configs.yaml"));
  }
  constexpr ClientRow kWorkers{"workers", "The workers that a coordinator knows, and where they are.", nullptr, nullptr, workers};
  add_row(app, session, kWorkers, "Example: streaming-proof workers");
}

}  // namespace sp::cli

#include "cli/run_request.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/wiring.h"
#include "sys/files.h"

namespace sp::cli {
namespace {

constexpr std::size_t kConfigBytesMax = std::size_t{1} << 20U;
constexpr std::uint32_t kNodesDefault = 3;

bool has_flag(const std::vector<proof::Flag>& flags, std::string_view name) {
  return std::any_of(flags.begin(), flags.end(), [&](const proof::Flag& flag) {
    const proof::Field* field = proof::find_flag(flag.name);
    return field != nullptr && field->name == name;
  });
}

// What stands beside the fields becomes fields: settings of the client and the driver's name.
std::vector<proof::Flag> all_flags(const RunFlags& flags, std::vector<proof::Flag> config) {
  std::vector<proof::Flag> all = std::move(config);
  all.insert(all.end(), flags.fields.begin(), flags.fields.end());
  for (const auto& setting : flags.settings) all.push_back({"settings", setting});
  if (!flags.bootstrap.empty()) all.push_back({"settings", "bootstrap.servers=" + flags.bootstrap});
  const bool kafka =
      !flags.cluster.empty() || !flags.bootstrap.empty() || !flags.client_config.empty();
  if (kafka && !has_flag(flags.fields, "driver")) all.push_back({"driver", "kafka"});
  return all;
}

// What `flags` and the proof contradict each other in, beyond what the proof's own check finds.
class FlagCheck {
 public:
  FlagCheck(const RunFlags& flags, const RunRequest& request) : flags_(flags), request_(request) {}

  // `whole`: the proof is all that was asked for; else what only its absence contradicts is not told.
  std::vector<proof::Fault> run(bool whole) {
    nodes();
    if (!flags_.simulate && flags_.runs.value_or(1) != 1) fault("--runs", "it is for simulations", "add --simulate");
    if (flags_.runs.value_or(1) != 1 && !flags_.history.empty()) {
      fault("--history", "it holds one run, and --runs asks for several", "take one of them away");
    }
    if (whole) {
      cluster();
      if (flags_.simulate) simulation();
    }
    for (auto& fault : faults_of_plans(request_)) faults_.push_back(std::move(fault));
    return std::move(faults_);
  }

 private:
  void fault(std::string place, std::string message, std::string remedy) {
    faults_.push_back(
        {ErrorCode::kInvalid, std::move(place), std::move(message), std::move(remedy)});
  }
  void nodes();
  void cluster();
  void simulation();

  const RunFlags& flags_;
  const RunRequest& request_;
  std::vector<proof::Fault> faults_;
};

void FlagCheck::nodes() {
  const bool local = request_.local_cluster;
  if (local && flags_.cluster != "kafka")
    fault("--cluster", fmt::format("'{}' cannot be started here", printable(flags_.cluster, 60)),
          "only kafka can");
  if (flags_.nodes && !local)
    fault("--nodes", "there is no cluster to start", "add --cluster kafka");
  if (flags_.nodes && *flags_.nodes != 1 && *flags_.nodes != 3)
    fault("--nodes", fmt::format("{} nodes are not possible", *flags_.nodes), "choose 1 or 3");
}

void FlagCheck::cluster() {
  const auto& proof = request_.proof;
  const bool local = request_.local_cluster;
  const bool has_bootstrap = proof.settings.count("bootstrap.servers") > 0 ||
                             proof.settings.count("metadata.broker.list") > 0;
  if (local && has_bootstrap) {
    fault("--cluster", "it starts a cluster of its own, --bootstrap names one that is there",
          "use one of them");
  }
  if (proof.driver == "kafka" && !local && !has_bootstrap) {
    fault("driver", "which Kafka?",
          "name it with --bootstrap host:port, or start one with --cluster kafka");
  }
  if (!proof.chaos.empty() && !local)
    fault("--chaos", "it breaks the local cluster only", "add --cluster kafka");
  if (local && proof.replication > request_.nodes) {
    fault("--replication-factor",
          fmt::format("{} copies need as many nodes, there are {}", proof.replication,
                      request_.nodes),
          proof.replication <= kNodesDefault ? fmt::format("add --nodes {}", kNodesDefault)
                                             : fmt::format("{} is the most", kNodesDefault));
  }
}

void FlagCheck::simulation() {
  const auto& proof = request_.proof;
  if (proof.driver != "embedded") {
    fault("--simulate", fmt::format("it runs the embedded broker only, not {}", proof.driver),
          "take one of them away");
  }
  if (proof.duration.count() == 0)
    fault("--simulate", "a run without end never gives a result", "give --duration above 0");
}

// What the proof is read from, and whether that is all of it.
struct Sources {
  std::vector<proof::Flag> flags;
  std::optional<std::string> file;
  std::optional<proof::Fault> file_fault;
  std::vector<proof::Fault> faults;
};

Sources read_sources(const RunFlags& flags) {
  Sources sources;
  sources.faults = flags.faults;
  std::vector<proof::Flag> config;
  if (!flags.client_config.empty()) {
    auto read = read_client_config(flags.client_config);
    if (read) config = std::move(*read);
    if (!read) sources.faults.push_back({read.error().code, "--client-config", read.error().message, ""});
  }
  sources.flags = all_flags(flags, std::move(config));
  // With a fault among the flags a word that names no file may be what one of them lacks.
  if (flags.file.empty() || (!flags.faults.empty() && !std::filesystem::exists(flags.file))) return sources;
  auto read = sys::read_file(flags.file, kConfigBytesMax);
  if (read) sources.file = std::move(*read);
  if (!read) sources.file_fault = proof::Fault{read.error().code, "PROOF.yaml", read.error().message, ""};
  return sources;
}

}  // namespace

Result<std::vector<proof::Flag>> read_client_config(const std::string& path) {
  auto text = sys::read_file(path, kConfigBytesMax);
  if (!text) return tl::unexpected(std::move(text).error());
  std::vector<proof::Flag> settings;
  std::size_t number = 0;
  for (const auto raw : split(*text, {.separator = '\n'})) {
    ++number;
    const auto line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fail(ErrorCode::kParse, fmt::format("{} line {}: expected name=value", path, number));
    }
    settings.push_back({"settings", fmt::format("{}={}", trim(line.substr(0, equals)),
                                                trim(line.substr(equals + 1)))});
  }
  return settings;
}

Result<RunRequest> read_request(const RunFlags& flags) {
  Sources sources = read_sources(flags);
  proof::ProofSource source;
  if (sources.file) {
    source.file_name = flags.file;
    source.file_text = *sources.file;
  }
  source.file_fault = sources.file_fault;
  source.flags = sources.flags;
  auto reading = proof::read_proof(source);
  RunRequest request;
  request.proof = std::move(reading.proof);
  request.local_cluster = !flags.cluster.empty();
  request.nodes = static_cast<std::uint32_t>(flags.nodes.value_or(kNodesDefault));
  std::vector<proof::Fault> faults = std::move(sources.faults);
  const bool whole = faults.empty() && !sources.file_fault;
  std::move(reading.faults.begin(), reading.faults.end(), std::back_inserter(faults));
  auto more = FlagCheck(flags, request).run(whole);
  std::erase_if(
      more, [&](const proof::Fault& fault) {  // what could not even be read is told already
        return std::any_of(faults.begin(), faults.end(),
                           [&](const proof::Fault& one) { return one.place == fault.place; });
      });
  std::move(more.begin(), more.end(), std::back_inserter(faults));
  if (!faults.empty()) return tl::unexpected(proof::to_error(faults));
  return request;
}

}  // namespace sp::cli

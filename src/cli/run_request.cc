#include "cli/run_request.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
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
Result<std::vector<proof::Flag>> all_flags(const RunFlags& flags) {
  std::vector<proof::Flag> all;
  if (!flags.client_config.empty()) {
    auto config = read_client_config(flags.client_config);
    if (!config) return tl::unexpected(std::move(config).error());
    all = std::move(*config);
  }
  all.insert(all.end(), flags.fields.begin(), flags.fields.end());
  for (const auto& setting : flags.settings) all.push_back({"settings", setting});
  if (!flags.bootstrap.empty()) all.push_back({"settings", "bootstrap.servers=" + flags.bootstrap});
  const bool kafka =
      !flags.cluster.empty() || !flags.bootstrap.empty() || !flags.client_config.empty();
  if (kafka && !has_flag(flags.fields, "driver")) all.push_back({"driver", "kafka"});
  return all;
}

Result<void> check(const RunFlags& flags, const RunRequest& request) {
  const auto& proof = request.proof;
  const bool has_bootstrap = proof.settings.count("bootstrap.servers") > 0 ||
                             proof.settings.count("metadata.broker.list") > 0;
  if (!flags.cluster.empty() && flags.cluster != "kafka") {
    return fail(ErrorCode::kInvalid,
                fmt::format("--cluster {}: only kafka can be started here", flags.cluster));
  }
  if (request.local_cluster && has_bootstrap) {
    return fail(ErrorCode::kInvalid,
                "--cluster starts a cluster of its own, --bootstrap names one that is there: use "
                "one of them");
  }
  if (flags.nodes && !request.local_cluster) {
    return fail(ErrorCode::kInvalid, "--nodes is for --cluster kafka");
  }
  if (proof.driver == "kafka" && !request.local_cluster && !has_bootstrap) {
    return fail(
        ErrorCode::kInvalid,
        "which Kafka? Name it with --bootstrap host:port, or start one with --cluster kafka");
  }
  if (!proof.chaos.empty() && !request.local_cluster) {
    return fail(ErrorCode::kInvalid, "--chaos breaks the local cluster only: add --cluster kafka");
  }
  if (request.local_cluster && proof.replication > request.nodes) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--replication-factor {} needs as many nodes: add --nodes {}",
                            proof.replication, proof.replication));
  }
  if (flags.simulate && proof.driver != "embedded") {
    return fail(ErrorCode::kInvalid,
                fmt::format("--simulate runs the embedded broker only, not {}", proof.driver));
  }
  if (flags.simulate && proof.duration.count() == 0) {
    return fail(ErrorCode::kInvalid, "--simulate needs an end: --duration above 0");
  }
  if (!flags.simulate && flags.runs != 1)
    return fail(ErrorCode::kInvalid, "--runs is for --simulate");
  return {};
}

}  // namespace

Result<std::vector<proof::Flag>> read_client_config(const std::string& path) {
  auto text = sys::read_file(path, kConfigBytesMax);
  if (!text) return fail_up(std::move(text), "--client-config");
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
  auto all = all_flags(flags);
  if (!all) return tl::unexpected(std::move(all).error());
  proof::ProofSource source;
  std::string text;
  if (!flags.file.empty()) {
    auto read = sys::read_file(flags.file, kConfigBytesMax);
    if (!read) return tl::unexpected(std::move(read).error());
    text = std::move(*read);
    source.file_name = flags.file;
    source.file_text = text;
  }
  source.flags = *all;
  auto reading = proof::read_proof(source);
  if (!reading.faults.empty()) return tl::unexpected(proof::to_error(reading.faults));
  RunRequest request;
  request.proof = std::move(reading.proof);
  request.local_cluster = !flags.cluster.empty();
  request.nodes = flags.nodes.value_or(kNodesDefault);
  if (auto good = check(flags, request); !good) return tl::unexpected(std::move(good).error());
  return request;
}

}  // namespace sp::cli

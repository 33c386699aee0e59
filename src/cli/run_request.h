// What `run` was asked for: the proof, from a file and flags, and how to run it.
//
//     PROOF.yaml ─┐
//     flags ──────┼─► read_proof ─► RunRequest, or every fault at once
//     -X, --client-config, --bootstrap, --cluster ─┘   become settings and the driver's name
//
// Errors:   every fault on a line of its own, with place and remedy; the code is the first one's: kInvalid, kParse, or of a
//           file kIo, kNotFound.
// Threads:  values.
// Source:   docs/reference/commands.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "proof/fields.h"

namespace sp::cli {

// As typed.
struct RunFlags {
  std::string file;
  std::vector<proof::Flag> fields;    // in the order of the table
  std::vector<std::string> settings;  // -X
  std::string client_config;
  std::string bootstrap;
  std::string cluster;
  std::optional<std::uint64_t> nodes;
  bool simulate = false;
  std::optional<std::uint64_t> runs;
  std::string out;
  std::string history;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;
  std::vector<proof::Fault> faults;  // what could not even be read of all this
};

struct RunRequest {
  proof::Proof proof;
  bool local_cluster = false;
  std::uint32_t nodes = 1;
};

[[nodiscard]] Result<RunRequest> read_request(const RunFlags& flags);
// Lines "name=value" with '#' before comments, as kcat and Java clients have them.
[[nodiscard]] Result<std::vector<proof::Flag>> read_client_config(const std::string& path);

}  // namespace sp::cli

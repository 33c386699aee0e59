// The state file of a coordinator: what must survive its death.
//
//     configs   layer ─► JSON             what the interface was told, what the folder said last
//     proofs    id ─► submission, run …   running ones with their log of inputs, finished ones with their archive
//     inputs    proof, number ─► input    control/input_log.h; gone once the proof's archive is there
//
// Shape:    texts and bytes; what they mean is the coordinator's. Each call that changes something is durable when it returns.
// Cost:     a transaction each: one wait for the disk.
// Limits:   those of SQLite.
// Errors:   those of store/database.h. A file of a newer version than kStateVersion: kUnsupported, nothing is changed.
// Threads:  any; a lock serialises. An InputLog has one owner.   Source: docs/formats/state.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/input_log.h"
#include "store/database.h"

namespace sp::store {

constexpr std::int64_t kStateVersion = 1;

struct ProofRow {
  std::string id;
  std::uint64_t run = 0;
  std::string submission;              // JSON
  std::string program;                 // name and version that made its inputs
  std::string world;                   // JSON: workers and their URLs as they were, and what else the proof began with
  std::int64_t created = 0;            // nanoseconds since 1970
  std::optional<std::string> archive;  // JSON: there once it is over
};

class State {
 public:
  // Opens or makes `folder`/state.db, brought to this version.
  [[nodiscard]] static Result<std::unique_ptr<State>> open(const std::filesystem::path& folder);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Result<std::optional<std::string>> configs(std::string_view layer);
  Result<void> put_configs(std::string_view layer, std::string_view json);

  // In the order in which they were added.
  [[nodiscard]] Result<std::vector<ProofRow>> proofs();
  // kExists: there is one of that id.
  Result<void> add_proof(const ProofRow& proof);
  // It is over: the archive takes the place of its inputs.
  Result<void> archive_proof(std::string_view id, std::string_view archive);
  Result<void> remove_proof(std::string_view id);

  // The log of that proof, read from the front. The state outlives it.
  [[nodiscard]] std::unique_ptr<control::InputLog> inputs(std::string_view id);

 private:
  class Inputs;
  explicit State(Database database) : database_(std::move(database)) {}

  [[nodiscard]] Result<void> migrate();
  [[nodiscard]] Result<void> run(std::string_view sql, std::string_view first, std::string_view second);
  Result<void> commit_inputs(std::string_view id, std::uint64_t first, const std::vector<control::Input>& inputs);
  Result<std::vector<control::Input>> read_inputs(std::string_view id, std::uint64_t after, std::size_t most);

  std::mutex mutex_;  // guards the database
  Database database_;
};

}  // namespace sp::store

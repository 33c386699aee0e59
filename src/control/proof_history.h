// The history files of a proof: what they are called and what their meta records say.
//
//     DIR ─┬─ coordinator.jsonl.zst     ticks, stages, faults, and what only it knows
//          ├─ worker-0.1.jsonl.zst      worker 0, its first incarnation: what it saw
//          └─ worker-0.2.jsonl.zst      … and its second
//
// Cost:     –.   Limits: –.
// Errors:   kInvalid: a name that is none of these.
// Threads:  pure functions.   Source: docs/formats/history.md, "Several files".
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "core/ids.h"
#include "history/schema.h"
#include "history/writer.h"
#include "proof/proof.h"

namespace sp::control {

// What of a meta record differs from file to file of one run.
struct HistoryFacts {
  core::RunId run;
  std::string client;                  // "librdkafka 2.16.0"
  bool raw_read = true;
  std::optional<WallTime> started;
};

// "worker-3".
[[nodiscard]] std::string worker_name(std::uint32_t worker);
// The way back; nullopt for another name.
[[nodiscard]] std::optional<std::uint32_t> worker_number(std::string_view name);
[[nodiscard]] history::Meta worker_meta(const proof::Proof& proof, const HistoryFacts& facts, core::SourceId source);
// Holds the whole proof, but for settings that must not be shown.
[[nodiscard]] history::Meta coordinator_meta(const proof::Proof& proof, const HistoryFacts& facts);

// Opens the file for that meta record.
using HistoryFactory = std::function<Result<std::unique_ptr<history::Writer>>(const history::Meta&)>;
[[nodiscard]] HistoryFactory histories_in(const std::filesystem::path& folder, const history::Writer::Options& options = {});

}  // namespace sp::control

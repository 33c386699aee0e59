// A run as a list of steps in the order of the world: what each worker saw, its answers to ticks,
// the end. Judged by the engine (player.h) and by the reference (reference_judge.h).
//
//     join w0 … observe … answer(w0, 1) answer(w1, 1) complete(1, now) observe … close-load …
//     close-consumers(now)   then the log
//
// Shape:   steps of one source are in that source's order; `complete n` stands after the answers n
// of all live sources. Errors:  none.   Threads: a value.   Source: docs/algebra.md 3.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/contract.h"
#include "core/ids.h"
#include "core/key_space.h"
#include "core/observation.h"
#include "judge/judge.h"

namespace sp::model {

// A key by what its name says; `foreign` is the whole name of a key that this run did not make.
struct Key {
  core::KeyBlock block;
  std::uint32_t index = 0;
  std::string foreign;
  auto operator<=>(const Key&) const = default;
};
[[nodiscard]] std::string key_text(core::RunId run, const Key& key);

// One observation; key, member and instance are here, not in the views of `value`.
struct Seen {
  core::Observation value;
  Key key;
  std::string member;
  std::string instance;
};

enum class StepKind : std::uint8_t {
  kJoin,            // evidence of `source` is expected from now on
  kObserve,         // `source` saw `seen`
  kAnswer,          // `source` answers tick `number`
  kComplete,        // tick `number` is complete at `now`
  kHold,            // evidence of `source` does not reach the coordinator from now on
  kRelease,         // … and now it all does, and goes on
  kDie,             // `source` is gone for good; evidence held back dies with it
  kAway,            // the coordinator gives up waiting for `source`, which may come back
  kCloseLoad,       // step 1 of the end
  kCloseConsumers,  // step 3 of the end, at `now`
};

struct Step {
  StepKind kind = StepKind::kObserve;
  core::SourceId source;
  Seen seen;
  std::uint64_t number = 0;
  MonotonicTime now{};
};

// A record of the log at the time of the raw read.
struct LogRecord {
  core::Position position;
  Key key;
  std::uint64_t sequence = 0;
  core::Content content = core::Content::kIntact;
  std::optional<std::uint32_t> asked;  // the partition its payload asks for
};

enum class RawOutcome : std::uint8_t { kComplete, kFails, kUnavailable };

struct Log {
  std::vector<track::RawRange> bounds;
  std::vector<LogRecord> records;  // by position
  RawOutcome outcome = RawOutcome::kComplete;
};

struct History {
  core::RunId run{77};
  core::Contract contract;
  std::vector<std::string> groups = {"g"};
  std::map<core::KeyBlock, std::uint32_t> key_counts;
  std::optional<Key> homeless;  // records without a key: they belong to no partition
  std::vector<Step> steps;
  core::SourceId reader;  // who does the raw read; alive to the end
  Log log;
  judge::RunFacts facts;  // raw_read_* are filled by the player
};

// What the raw read was asked for and found.
struct RawRead {
  struct Part {
    track::RawRange range;
    bool reached = false;
  };
  std::vector<Part> parts;
  std::vector<LogRecord> records;
};

}  // namespace sp::model

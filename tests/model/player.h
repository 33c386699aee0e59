// Plays a history through the engine: a recorder for each source, deltas cut and applied as asked,
// ticks, the end, the judge.
//
// Cost:   the engine's.   Errors: none.   Threads: one.   Source: docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "model/history.h"
#include "track/ledger.h"

namespace sp::model {

struct PlayOptions {
  bool cut_each = false;  // a delta for each observation; else one at each answer to a tick
  bool shuffle =
      false;  // deltas arrive in any order, just before the tick they belong to is complete
  bool repeat = false;     // some deltas arrive twice
  std::uint64_t seed = 1;  // of the two above
  bool quiet_paths = true;  // of the ledger
  std::size_t slots_first = 1024;  // of the ledger
  std::size_t slots_max = 65'536;  // of the ledger
  std::size_t named_max = 100'000;  // of the ledger
  std::size_t outstanding_max = 20'000'000;  // of the ledger
  judge::JudgeOptions judge;
};

struct Played {
  judge::Judgement judgement;
  RawRead raw;
  std::vector<track::Alarm> alarms;
  std::size_t alarms_at_ticks = 0;  // raised before the end began
  track::Progress progress;         // when the consumers were closed
  core::PerCode<std::uint64_t> live;  // what the ledger had counted at the end
};

[[nodiscard]] Played play(const History& history, const PlayOptions& options = {});

}  // namespace sp::model

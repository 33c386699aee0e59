// What happens at a tick: deadlines pass, watermarks rise, stalls are measured, quiet keys give back what they do not need.
//
// Cost:     O(keys); a key that is behind costs O(its ranges).   Limits, errors: none.   Threads: one owner.
// Source:   docs/algebra.md 6.
#pragma once

#include "track/state.h"

namespace sp::track {

// Evaluates all keys at `now`. `last`: at step 3 of the end, when a passed deadline counts but is no timeout of its own.
void pass_deadlines(State& state, MonotonicTime now, bool last);

// Where acked records stand that some group has not been handed, as far as their positions are remembered.
[[nodiscard]] Places outstanding_positions(const State& state);

// True if the group went past that position and will not come back: the latest lineage of its partition handed over or
// committed a higher position, or opened above it.
[[nodiscard]] bool passed(const State& state, std::uint32_t group, const core::Position& position);

}  // namespace sp::track

// Small histories from a seed: a world with a log, producers, consumers of several groups,
// rebalances with zombies, unknown outcomes, and on some seeds every kind of mutation. The same
// seed gives the same history.
//
// Cost:    some 100 steps.   Errors: none.   Threads: a pure function.   Source: docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <string>

#include "model/history.h"

namespace sp::property {

struct WorldOptions {
  bool honest = false;  // no mutation: whatever happens is allowed to happen
  bool dense = false;   // few keys, mutations everywhere, refusals of what was stored and read
  bool owners = false;  // members of all kinds: of one generation or none, static, in a later life, of the new protocol
};

[[nodiscard]] model::History make_history(std::uint64_t seed, const WorldOptions& options = {});

// A line for each step, for people.
[[nodiscard]] std::string describe(const model::History& history);

}  // namespace sp::property

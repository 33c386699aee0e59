// A number that no other process of this machine draws, whatever its clock does: ids of runs and processes are made of it. Not a secret.
//
// Cost: –.   Errors: none.   Threads: any.   Source: base/prng.h.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace sp::cli {

[[nodiscard]] std::uint64_t drawn_now(const WallClock& wall);

}  // namespace sp::cli

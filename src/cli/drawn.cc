#include "cli/drawn.h"

#include <unistd.h>

#include "base/prng.h"

namespace sp::cli {

std::uint64_t drawn_now(const WallClock& wall) {
  const auto time = static_cast<std::uint64_t>(wall.now().time_since_epoch().count());
  return mix64(time ^ mix64(static_cast<std::uint64_t>(getpid())));
}

}  // namespace sp::cli

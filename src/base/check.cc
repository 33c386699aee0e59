#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace sp {

void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "streaming-proof: this is a bug of streaming-proof: %s:%d: %s (%s)\n", file, line,
               why, condition);
  std::abort();
}

}  // namespace sp

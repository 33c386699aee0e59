// A Result that nobody looks at, for clang-tidy to find (tests/tidy/CMakeLists.txt).
#include "base/result.h"

namespace {

sp::Result<int> number() { return 1; }

}  // namespace

int main() {
#ifdef LAWFUL
  const auto result = number();
  return result ? 0 : 1;
#else
  number();
  return 0;
#endif
}

// A target that must crash: it proves that the rig finds what there is to find, and that a crash is seen.
//
// links: base
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size >= 3 && data[0] == 's' && data[1] == 'i' && data[2] == 'n') {
    std::fputs("the canary sang\n", stderr);
    std::abort();
  }
  return 0;
}

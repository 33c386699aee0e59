#include "codec/xxh64.h"

#include <xxhash.h>

namespace sp::codec {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace sp::codec

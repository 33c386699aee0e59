// XXH64, the hash of key names in payloads.
//
//     xxh64("") == 0xEF46DB3751D8E999
//
// Cost: 5 ns for a key.   Errors: none.   Threads: a pure function.   Source: the XXH64 specification; libxxhash.
#pragma once

#include <cstdint>
#include <string_view>

namespace sp::codec {

[[nodiscard]] std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace sp::codec

// UTF-8: is it, and where is it not.
//
// Cost: 1 ns a byte.   Errors: none.   Threads: pure functions.   Source: Unicode 15, table 3-7.
#pragma once

#include <cstddef>
#include <string_view>

namespace sp::codec {

// How many bytes the code point at the front of `text` has; 0 if there is no valid one. `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
// The place of the first byte that is not part of valid UTF-8; npos if all is.
[[nodiscard]] std::size_t utf8_find_invalid(std::string_view text);

}  // namespace sp::codec

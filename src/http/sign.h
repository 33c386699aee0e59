// HMAC-SHA-256 of a text, as lower-case hexadecimal: by which the receiver of a webhook knows who sent it.
//
// Cost:     some ns a byte.   Limits: –.   Errors: none.   Threads: a pure function.   Source: RFC 2104, FIPS 180-4.
#pragma once

#include <string>
#include <string_view>

namespace sp::http {

[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace sp::http

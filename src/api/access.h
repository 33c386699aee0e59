// Whether a request may go on: its token and the role that it needs.
//
// Cost:     that of Tokens::check.   Errors: as a Response with 401 or 403 and WWW-Authenticate.
// Threads:  a pure function.   Source: RFC 6750, 3.
#pragma once

#include <optional>

#include "api/tokens.h"
#include "http/message.h"

namespace sp::api {

// Nothing: it may.
[[nodiscard]] std::optional<http::Response> refused(const Tokens& tokens, const http::Request& request, Role needed);

}  // namespace sp::api

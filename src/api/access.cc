#include "api/access.h"

#include <fmt/core.h>

#include "api/answers.h"
#include "api/views.h"

namespace sp::api {

std::optional<http::Response> refused(const Tokens& tokens, const http::Request& request, Role needed) {
  const auto verdict = tokens.check(request.header("authorization"), needed);
  if (verdict == Tokens::Verdict::kAllowed) return std::nullopt;
  std::string challenge = R"(Bearer realm="streaming-proof")";
  Error error{ErrorCode::kDenied, ""};
  int status = 401;
  switch (verdict) {
    case Tokens::Verdict::kAllowed:
    case Tokens::Verdict::kMissing:
      error.message = fmt::format("this needs a token with the role {}: send the header Authorization: Bearer TOKEN", role_name(needed));
      break;
    case Tokens::Verdict::kUnknown:
      challenge += R"(, error="invalid_token")";
      error.message = "the token is not known here";
      break;
    case Tokens::Verdict::kRoleTooLow:
      challenge += fmt::format(R"(, error="insufficient_scope", scope="{}")", role_name(needed));
      error.message = fmt::format("this needs a token with the role {}", role_name(needed));
      status = 403;
      break;
  }
  http::Response response = json_answer(error_json(error.code, error.message), status);
  response.headers["WWW-Authenticate"] = challenge;
  return response;
}

}  // namespace sp::api

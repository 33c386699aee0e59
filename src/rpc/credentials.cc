#include "rpc/credentials.h"

#include <algorithm>

#include <fmt/core.h>

namespace sp::rpc {
namespace {

Result<void> check_token(std::string_view token) {
  // The library ends the program when a header holds anything else.
  const bool visible = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
  if (visible && token.size() <= kTokenBytesMax) return {};
  return fail(ErrorCode::kInvalid, fmt::format("the token must be of visible ASCII characters, {} at most: look for a line end or a "
                                               "space in its file", kTokenBytesMax));
}

Result<void> check_pair(const std::string& certificate, const std::string& key) {
  if (certificate.empty() == key.empty()) return {};
  return fail(ErrorCode::kInvalid, certificate.empty() ? "a TLS key without its certificate: give both or neither"
                                                       : "a TLS certificate without its key: give both or neither");
}

}  // namespace

Result<void> check(const ClientCredentials& credentials) {
  if (auto pair = check_pair(credentials.certificate, credentials.key); !pair) return pair;
  if (credentials.ca.empty() && !(credentials.certificate.empty() && credentials.server_name.empty())) {
    return fail(ErrorCode::kInvalid, "TLS without a CA: give the certificate of whoever signs the workers' certificates");
  }
  return check_token(credentials.token);
}

Result<void> check(const ServerCredentials& credentials) {
  if (auto pair = check_pair(credentials.certificate, credentials.key); !pair) return pair;
  if (credentials.certificate.empty() && !credentials.ca.empty()) {
    return fail(ErrorCode::kInvalid, "a CA for clients without TLS: give this server a certificate and its key too");
  }
  return check_token(credentials.token);
}

}  // namespace sp::rpc

// How a coordinator and a worker process know each other. The contents of PEM files, not their names.
//
//     nothing                      plain text, anybody: for one machine or a network of one's own
//     token                        plain text, whoever knows the token; who listens on the line learns it
//     certificate, key on the server; ca at the client       TLS: the client knows the server
//     and ca on the server; certificate, key at the client   mutual TLS: each knows the other
//
// Limits:   a token is 1 to `kTokenBytesMax` visible ASCII characters.
// Errors:   check(): kInvalid, what contradicts itself.
// Threads:  values.   Source: RFC 6750 (bearer tokens), RFC 8446 (TLS).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sp::rpc {

inline constexpr std::size_t kTokenBytesMax = 4'096;

struct ClientCredentials {
  std::string ca{};           // who signs servers; empty: no TLS
  std::string certificate{};  // of this client, with `key`; empty: none
  std::string key{};
  std::string server_name{};  // the name in the server's certificate, where the address is another; empty: the address
  std::string token{};        // sent with every call; empty: none
};

struct ServerCredentials {
  std::string certificate{};  // of this server, with `key`; empty: no TLS
  std::string key{};
  std::string ca{};           // who signs clients, who then must have a certificate; empty: clients need none
  std::string token{};        // every call must have it; empty: none is asked for
};

[[nodiscard]] Result<void> check(const ClientCredentials& credentials);
[[nodiscard]] Result<void> check(const ServerCredentials& credentials);

}  // namespace sp::rpc

// Who may do what: bearer tokens with a role.
//
//     file   =  { line LF }       line  =  "" | "#" … | role SPACE secret [SPACE name]       role  =  "read" | "write"
//
//     read  3f9c0d51c2a84be7  grafana
//     write b7aa60f4e1d95c02  ci           may also read
//
// Shape:    without any token everybody may do everything; whoever starts a server decides whether that is allowed.
// Cost:     each check looks at all tokens, whatever it is given, and takes the same time for any secret of one length.
// Limits:   kTokenBytesMin to kTokenBytesMax bytes a secret, kTokensMax tokens.
// Errors:   kParse with the line; never the secret.
// Threads:  const calls from any.   Source: RFC 6750.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sp::api {

enum class Role : std::uint8_t { kOpen, kRead, kWrite };  // kOpen: needs no token
[[nodiscard]] std::string_view role_name(Role role);

constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 512;
constexpr std::size_t kTokensMax = 1'000;

struct Token {
  Role role = Role::kRead;
  std::string secret;
  std::string name;
};

class Tokens {
 public:
  Tokens() = default;
  explicit Tokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  [[nodiscard]] static Result<Tokens> parse(std::string_view text);

  enum class Verdict : std::uint8_t { kAllowed, kMissing, kUnknown, kRoleTooLow };
  // `authorization`: the header of that name, "" if there is none.
  [[nodiscard]] Verdict check(std::string_view authorization, Role needed) const;
  [[nodiscard]] bool empty() const { return tokens_.empty(); }

 private:
  std::vector<Token> tokens_;
};

}  // namespace sp::api

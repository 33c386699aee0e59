#include "api/tokens.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace sp::api {
namespace {

bool is_token(std::string_view text) {  // what a header carries without quotes
  return text.size() >= kTokenBytesMin && text.size() <= kTokenBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F && c != '"' && c != ','; });
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!(line = trim(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

}  // namespace

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kOpen:
      return "open";
    case Role::kRead:
      return "read";
    case Role::kWrite:
      return "write";
  }
  return "";
}

Result<Tokens> Tokens::parse(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t number = 0;
  for (const std::string_view line : split(text, {.separator = '\n'})) {
    ++number;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    const auto bad = [&](std::string_view why) {
      return fail(ErrorCode::kParse, fmt::format("tokens line {}: {}; write ROLE SECRET [NAME], ROLE is read or write", number, why));
    };
    if (words.front() != "read" && words.front() != "write") return bad("it does not begin with a role");
    if (words.size() < 2 || words.size() > 3) return bad("it has not two or three words");
    if (!is_token(words[1]))
      return bad(fmt::format("its secret does not have {} to {} letters, digits and signs", kTokenBytesMin, kTokenBytesMax));
    if (tokens.size() == kTokensMax) return bad(fmt::format("there are more than {} tokens", kTokensMax));
    tokens.push_back({words.front() == "read" ? Role::kRead : Role::kWrite, std::string(words[1]),
                      std::string(words.size() == 3 ? words[2] : std::string_view{})});
  }
  if (tokens.empty()) return fail(ErrorCode::kParse, "tokens: there is none; write ROLE SECRET [NAME] on a line");
  return Tokens(std::move(tokens));
}

Tokens::Verdict Tokens::check(std::string_view authorization, Role needed) const {
  if (tokens_.empty() || needed == Role::kOpen) return Verdict::kAllowed;
  const std::string_view header = trim(authorization);
  constexpr std::string_view kScheme = "bearer ";
  if (lower(header.substr(0, kScheme.size())) != kScheme) return Verdict::kMissing;
  const std::string_view given = trim(header.substr(kScheme.size()));
  Role found = Role::kOpen;
  for (const Token& token : tokens_) {  // all of them: where it stands must not show in the time
    if (same_secret(given, token.secret)) found = std::max(found, token.role);
  }
  if (found == Role::kOpen) return Verdict::kUnknown;
  return found >= needed ? Verdict::kAllowed : Verdict::kRoleTooLow;
}

}  // namespace sp::api

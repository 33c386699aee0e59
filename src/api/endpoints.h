// The table of all endpoints: what each is, what it needs, and who answers it.
//
//     routes ◄── endpoints() ──► OpenAPI document, docs/reference/rest.md, contract test
//
// Shape:    of two patterns that fit a path the first row counts.
// Cost:     a table.   Errors: none.   Threads: constants.   Source: section 1.2 of the reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/contract.h"
#include "api/tokens.h"
#include "http/message.h"
#include "http/routes.h"

namespace sp::api {

class Handlers;

struct QueryRow {
  std::string_view name;
  std::string_view type;  // "string", "integer", "boolean", "duration", "code"
  std::string_view meaning;
  std::uint64_t first = 0;  // of an integer
  std::uint64_t last = UINT64_MAX;
};

struct Endpoint {
  std::string_view method;
  std::string_view pattern;  // as http::Routes has it
  Role role = Role::kRead;
  http::Response (Handlers::*answer)(const http::Request&) const = nullptr;
  std::string_view summary;
  std::string_view response = "";  // a type of contract.h; "": nothing; "text", "events", "redirect", "file"
  std::string_view body = "";      // what is read: "Proof", "Configs", "ConfigNames", "FaultMark"; "": nothing
  std::span<const QueryRow> queries = {};
  http::Lane lane = http::Lane::kQuick;
  Standing standing = Standing::kAdded;
  std::string_view note = "";
};
[[nodiscard]] std::span<const Endpoint> endpoints();

}  // namespace sp::api

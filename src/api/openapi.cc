// What is made from the two tables: the OpenAPI document and the page of the manual.
#include <array>
#include <map>
#include <set>

#include <fmt/core.h>

#include "api/api.h"
#include "api/contract.h"
#include "api/endpoints.h"
#include "base/text.h"
#include "codec/json_writer.h"
#include "core/code.h"

namespace sp::api {
namespace {

using codec::JsonWriter;

// "/ui/{path*}" is "/ui/{path}" there.
std::string openapi_path(std::string_view pattern) {
  std::string path(pattern);
  if (const std::size_t star = path.find("*}"); star != std::string::npos) path.erase(star, 1);
  return path;
}

std::vector<std::string> parameters_of(std::string_view pattern) {
  std::vector<std::string> names;
  for (const std::string_view segment : split(pattern, {.separator = '/'})) {
    if (!segment.starts_with('{')) continue;
    const std::size_t end = segment.ends_with("*}") ? segment.size() - 3 : segment.size() - 2;
    names.emplace_back(segment.substr(1, end));
  }
  return names;
}

std::string query_schema(const QueryRow& query) {
  JsonWriter json;
  if (query.type == "duration") {
    json.begin_object().member("type", "string").member("pattern", R"(^[0-9]{1,5}(\.[0-9]{1,3})?(ns|us|ms|s|m|h|d)?$)").end_object();
  } else if (query.type == "code") {
    json.begin_object().member("type", "string").key("enum").begin_array();
    for (std::size_t i = 0; i < core::kCodeCount; ++i) json.value(core::code_row(static_cast<core::Code>(i)).name);
    json.end_array().end_object();
  } else if (query.type == "integer") {
    json.begin_object().member("type", "integer").member("minimum", query.first);
    if (query.last != UINT64_MAX) json.member("maximum", query.last);
    json.end_object();
  } else {
    json.raw(schema_json(query.type));
  }
  return json.take();
}

// What is read, as far as it can be said in a schema; faults say the rest.
std::string_view body_schema(std::string_view body) {
  if (body == "Configs") {
    return R"({"type":"object","properties":{)"
           R"("workers":{"type":["object","null"],"additionalProperties":{"type":"string","pattern":"^https?://[a-z0-9.]+$"}},)"
           R"("drivers":{"type":["object","null"],"additionalProperties":{"type":"object","required":["driverType"],"properties":{)"
           R"("driverType":{"type":"string","minLength":1},"driverConfigs":{"type":["object","null"]},)"
           R"("metadata":{"type":["object","null"]}},)"
           R"("additionalProperties":false}},"report":{"type":["object","null"]}},"additionalProperties":false})";
  }
  if (body == "ConfigNames") {  // values mean nothing
    return R"({"type":"object","properties":{"workers":{"type":["object","null"]},"drivers":{"type":["object","null"]},)"
           R"("report":{"type":["object","null"]}},"additionalProperties":false})";
  }
  if (body == "Proof") {
    return R"({"type":"object","required":["features"],"anyOf":[{"required":["driver"]},{"required":["drivers"]}]})";
  }
  if (body == "FaultMark") {
    return R"({"type":"object","properties":{"number":{"type":"integer","minimum":1},)"
           R"("name":{"type":"string","minLength":1,"maxLength":100},"target":{"type":["string","null"],"maxLength":100},)"
           R"("effect":{"type":["string","null"],"maxLength":100},"end":{"type":["boolean","null"]}},)"
           R"("anyOf":[{"required":["number"]},{"required":["name"]}],"additionalProperties":false})";
  }
  return R"({"type":"object"})";
}

void parameters(JsonWriter& json, const Endpoint& endpoint) {
  json.key("parameters").begin_array();
  for (const std::string& name : parameters_of(endpoint.pattern)) {
    json.begin_object().member("name", name).member("in", "path").member("required", true);
    json.key("schema").raw(schema_json("string")).end_object();
  }
  for (const QueryRow& query : endpoint.queries) {
    json.begin_object().member("name", query.name).member("in", "query").member("description", query.meaning);
    json.key("schema").raw(query_schema(query)).end_object();
  }
  json.end_array();
}

void content(JsonWriter& json, std::string_view media, std::string_view schema) {
  json.key("content").begin_object().key(media).begin_object().key("schema").raw(schema).end_object().end_object();
}

void success(JsonWriter& json, const Endpoint& endpoint) {
  const bool redirects = endpoint.response == "redirect";
  json.key(redirects ? "302" : "200").begin_object().member("description", endpoint.summary);
  if (endpoint.response == "text") {
    content(json, "text/plain", schema_json("string"));
  } else if (endpoint.response == "events") {
    content(json, "text/event-stream", schema_json("string"));
  } else if (endpoint.response == "file") {
    content(json, "*/*", "{}");
  } else if (!endpoint.response.empty() && !redirects) {
    content(json, "application/json", schema_json(endpoint.response));
  }
  json.end_object();
}

void failure(JsonWriter& json, std::string_view status, std::string_view description) {
  json.key(status).begin_object().member("description", description);
  content(json, "application/json", schema_json("Failure"));
  json.end_object();
}

void responses(JsonWriter& json, const Endpoint& endpoint) {
  json.key("responses").begin_object();
  success(json, endpoint);
  const bool about_a_proof = endpoint.pattern.starts_with("/proofs/{id}");
  if (about_a_proof || endpoint.pattern == "/configs") {
    json.key("404").begin_object().member("description", "there is none");
    json.key("content").begin_object().key("text/plain").begin_object().key("schema").raw(schema_json("string")).end_object();
    json.key("application/json").begin_object().key("schema").raw(schema_json("Failure")).end_object().end_object().end_object();
  }
  if (endpoint.pattern == "/readyz") {
    json.key("503").begin_object().member("description", "it cannot");
    content(json, "application/json", schema_json("Ready"));
    json.end_object();
  }
  if (endpoint.role != Role::kOpen) {
    failure(json, "401", "no token, or an unknown one");
    failure(json, "403", "a token of another role");
  }
  failure(json, "4XX", "all that is wrong with the request");
  failure(json, "5XX", "it could not be done");
  json.end_object();
}

void operation(JsonWriter& json, const Endpoint& endpoint, bool tokens) {
  json.key(lower(endpoint.method)).begin_object().member("summary", endpoint.summary);
  parameters(json, endpoint);
  if (!endpoint.body.empty()) {
    json.key("requestBody").begin_object().member("required", true);
    content(json, "application/json", body_schema(endpoint.body));
    json.end_object();
  }
  responses(json, endpoint);
  json.key("security").begin_array();
  if (tokens && endpoint.role != Role::kOpen) json.begin_object().key("token").begin_array().end_array().end_object();
  json.end_array().end_object();
}

void object_schema(JsonWriter& json, std::string_view object, bool extends_proof) {
  json.begin_object().member("type", "object").key("properties").begin_object();
  if (extends_proof) {
    for (const FieldRow& row : fields_of("Proof")) json.key(row.name).raw(schema_json(row.type));
  }
  for (const FieldRow& row : fields_of(object)) json.key(row.name).raw(schema_json(row.type));
  json.end_object().key("required").begin_array();
  if (extends_proof) {
    for (const FieldRow& row : fields_of("Proof")) json.value(row.name);
  }
  for (const FieldRow& row : fields_of(object)) {
    if (!row.optional) json.value(row.name);
  }
  json.end_array().member("additionalProperties", false).end_object();
}

std::vector<std::string_view> objects() {
  std::vector<std::string_view> names;
  for (const FieldRow& row : field_rows()) {
    if (names.empty() || names.back() != row.object) names.push_back(row.object);
  }
  return names;
}

std::string code(std::string_view text) { return text.empty() ? "–" : fmt::format("`{}`", text); }

std::string response_text(std::string_view response) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {{{"", "empty"},
                                                                                     {"text", "text"},
                                                                                     {"events", "event stream"},
                                                                                     {"redirect", "302 to `/ui/index.html`"},
                                                                                     {"file", "a file"}}};
  for (const auto& [name, words] : kWords) {
    if (name == response) return std::string(words);
  }
  return code(response);
}

std::string endpoint_table() {
  std::string text =
      "| method and path | needs | body | answer | to the reference | what it is |\n"
      "|---|---|---|---|---|---|\n";
  for (const Endpoint& row : endpoints()) {
    std::string standing(standing_name(row.standing));
    if (!row.note.empty()) standing += fmt::format(": {}", row.note);
    text += fmt::format("| `{} {}` | {} | {} | {} | {} | {} |\n", row.method, row.pattern,
                        row.role == Role::kOpen ? std::string_view("–") : role_name(row.role), code(row.body),
                        response_text(row.response), standing, row.summary);
  }
  return text;
}

std::string query_table() {
  std::string text = "| endpoint | parameter | type | meaning |\n|---|---|---|---|\n";
  for (const Endpoint& row : endpoints()) {
    for (const QueryRow& query : row.queries)
      text += fmt::format("| `{} {}` | `{}` | {} | {} |\n", row.method, row.pattern, query.name, query.type, query.meaning);
  }
  return text;
}

std::string member_tables() {
  std::string text;
  for (const std::string_view object : objects()) {
    text += fmt::format("\n### {}\n\n| member | type | to the reference | |\n|---|---|---|---|\n", object);
    for (const FieldRow& row : fields_of(object)) {
      text += fmt::format("| `{}`{} | `{}` | {} | {} |\n", row.name, row.optional ? ", may be absent" : "", row.type,
                          standing_name(row.standing), row.note);
    }
  }
  return text;
}

}  // namespace

std::string openapi_json(const OpenApiOptions& options) {
  JsonWriter json;
  json.begin_object().member("openapi", "3.1.0").key("info").begin_object().member("title", "streaming-proof");
  json.member("version", options.version).end_object().key("paths").begin_object();
  std::set<std::string_view> told;
  for (const Endpoint& first : endpoints()) {
    if (!told.insert(first.pattern).second) continue;
    json.key(openapi_path(first.pattern)).begin_object();
    for (const Endpoint& endpoint : endpoints()) {
      if (endpoint.pattern == first.pattern) operation(json, endpoint, options.tokens);
    }
    json.end_object();
  }
  json.end_object().key("components").begin_object().key("securitySchemes").begin_object();
  json.key("token").begin_object().member("type", "http").member("scheme", "bearer").end_object().end_object();
  json.key("schemas").begin_object();
  for (const std::string_view object : objects()) object_schema(json.key(object), object, object == "ListedProof");
  return json.end_object().end_object().end_object().take();
}

std::string rest_markdown() {
  std::string text =
      "# REST\n\n"
      "The coordinator's interface. It is that of the original streaming-proof, with what was wrong there corrected and with more.\n"
      "*same*: as there; *corrected*: the same place, another value, and why; *added*: not there. Made from the tables of the code,\n"
      "which a test compares with every answer.\n\n"
      "* A body is JSON (or YAML), whatever its content type says; up to 1,000,000 bytes, larger ones are a 413. Answers are JSON on\n"
      "  one line.\n"
      "* Success is 200, with an empty body where there is nothing to say.\n"
      "* What is wrong with a request is a 4xx with `Failure`, all of it at once. A proof that is not there is a 404 with the text\n"
      "  `Proof test not found: <id>`.\n"
      "* With tokens, each request but the open ones needs `Authorization: Bearer TOKEN`: 401 without a known one, 403 with one of too\n"
      "  low a role. A token with the role write may read.\n"
      "* `/proofs/{id}/events` are Server-Sent Events; `Last-Event-ID` goes on behind an event. Past the limit of open streams it is\n"
      "  a 503.\n\n"
      "## Endpoints\n\n";
  text += endpoint_table();
  text += "\n## Query parameters\n\n" + query_table();
  text +=
      "\n## Members\n\n"
      "`T?` may be null, `[T]` is an array, `{T}` a map whose names are data, `any` is passed through.\n";
  return text + member_tables();
}

}  // namespace sp::api

#include "api/answers.h"

#include <fmt/core.h>

#include "api/json_body.h"
#include "api/views.h"
#include "base/text.h"

namespace sp::api {

http::Response json_answer(std::string json, int status) {
  http::Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::move(json);
  response.headers["Cache-Control"] = "no-store";
  return response;
}

http::Response text_answer(std::string text, int status) {
  http::Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

http::Response empty_answer() { return {}; }

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kParse:
    case ErrorCode::kInvalid:
    case ErrorCode::kUnsupported:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kExists:
      return 409;
    case ErrorCode::kDenied:
      return 403;
    case ErrorCode::kFull:
      return 429;
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kTimeout:
      return 504;
    case ErrorCode::kIo:
    case ErrorCode::kMissingTool:
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

http::Response error_answer(const Error& error, std::span<const proof::Fault> faults) {
  return json_answer(error_json(error.code, error.message, faults), status_of(error.code));
}

http::Response refusal_answer(const coordinator::Refusal& refusal) {
  // With faults the request is at fault: that something it names is not there does not mean that its own path is not.
  if (refusal.faults.empty()) return error_answer(refusal.error);
  return json_answer(error_json(refusal.error.code, refusal.error.message, refusal.faults), 400);
}

http::Response faults_answer(const std::vector<proof::Fault>& faults) {
  return refusal_answer({proof::to_error(faults), faults});
}

coordinator::Answer<codec::Node> read_body(const http::Request& request) {
  auto node = codec::parse_document(request.body, {.name = "body"});
  if (!node && node.error().code == ErrorCode::kParse) {
    if (auto json = node_of_json(request.body)) node = *std::move(json);
  }
  if (node && node->kind == codec::Node::Kind::kNothing) node = fail(ErrorCode::kInvalid, "the request has no body");
  if (node) return *std::move(node);
  const Error error = std::move(node).error();
  proof::Fault fault{error.code, "body", error.message, "send JSON, or YAML"};
  return tl::unexpected(coordinator::Refusal{error, {std::move(fault)}});
}

std::optional<std::string> QueryReader::text(std::string_view name) const {
  const auto found = request_.query.find(std::string(name));
  if (found == request_.query.end()) return std::nullopt;
  return found->second;
}

void QueryReader::fault(std::string_view name, std::string message, std::string remedy) {
  faults_.push_back({ErrorCode::kInvalid, fmt::format("query parameter '{}'", name), std::move(message), std::move(remedy)});
}

std::optional<std::uint64_t> QueryReader::integer(std::string_view name, Bounds bounds) {
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto number = parse_unsigned(*given);
  if (number && *number >= bounds.first && *number <= bounds.last) return *number;
  fault(name, fmt::format("'{}' is not possible", printable(*given, 60)),
        bounds.last == UINT64_MAX ? "write a whole number" : fmt::format("write a whole number from {} to {}", bounds.first, bounds.last));
  return std::nullopt;
}

std::optional<bool> QueryReader::boolean(std::string_view name) {
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto yes = parse_bool(*given);
  if (yes) return *yes;
  fault(name, fmt::format("'{}' is neither true nor false", printable(*given, 60)), "write true or false");
  return std::nullopt;
}

std::optional<Nanoseconds> QueryReader::duration(std::string_view name) {
  const auto given = text(name);
  if (!given) return std::nullopt;
  auto span = parse_duration(*given);
  if (span) return *span;
  fault(name, span.error().message, "write a time such as 90, 90s or 1.5m");
  return std::nullopt;
}

std::optional<core::Code> QueryReader::code(std::string_view name) {
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto found = core::find_code(*given);
  if (!found) fault(name, fmt::format("there is no code '{}'", printable(*given, 60)), "docs/reference/findings.md lists them");
  return found;
}

}  // namespace sp::api

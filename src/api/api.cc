#include "api/api.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "api/access.h"
#include "api/answers.h"
#include "api/endpoints.h"
#include "api/handlers.h"
#include "api/views.h"
#include "base/text.h"

namespace sp::api {
namespace {

using http::Request;
using http::Response;

// Parameters of the query that the endpoint does not have. Those of the reference ignore them, as it does.
std::vector<proof::Fault> unknown_parameters(const Endpoint& endpoint, const Request& request) {
  std::vector<proof::Fault> faults;
  if (endpoint.standing != Standing::kAdded) return faults;
  std::vector<std::string_view> known;
  for (const QueryRow& row : endpoint.queries) known.push_back(row.name);
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = nearest(name, known);
    faults.push_back({ErrorCode::kInvalid, "query", fmt::format("unknown parameter '{}'", printable(name, 60)),
                      meant ? fmt::format("did you mean '{}'?", *meant) : "leave it out"});
  }
  return faults;
}

ErrorCode code_of_status(int status) {
  switch (status) {
    case 404:
      return ErrorCode::kNotFound;
    case 405:
      return ErrorCode::kUnsupported;
    case 408:
      return ErrorCode::kTimeout;
    case 413:
    case 414:
    case 431:
    case 503:
      return ErrorCode::kFull;
    case 500:
      return ErrorCode::kInternal;
    default:
      return ErrorCode::kInvalid;
  }
}

}  // namespace

struct Api::Impl {
  ApiOptions options;
  Handlers handlers;

  Impl(coordinator::Service& service, ApiOptions given) : options(std::move(given)), handlers(service, options) {}

  [[nodiscard]] Response answer(const Endpoint& endpoint, const Request& request) const {
    if (auto refusal = refused(options.tokens, request, endpoint.role)) return *std::move(refusal);
    if (const auto faults = unknown_parameters(endpoint, request); !faults.empty()) return faults_answer(faults);
    return (handlers.*endpoint.answer)(request);
  }
};

Api::Api(coordinator::Service& service, ApiOptions options) : impl_(std::make_unique<Impl>(service, std::move(options))) {}
Api::~Api() = default;

http::Routes Api::routes() const {
  http::Routes routes;
  for (const Endpoint& endpoint : endpoints()) {
    routes.add({std::string(endpoint.method), std::string(endpoint.pattern),
                [impl = impl_.get(), &endpoint](const Request& request) { return impl->answer(endpoint, request); }, endpoint.lane});
  }
  return routes;
}

Response error_page(int status, const std::string& message) {
  return json_answer(error_json(code_of_status(status), message), status);
}

}  // namespace sp::api

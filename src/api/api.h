// The coordinator over HTTP: routes for an http::Server, and the pages that are made from the same tables.
//
//     Api api(service, {.tokens = …});
//     http::Server::start({.address = …, .error_page = error_page}, api.routes(), clock)
//
// Shape:    every endpoint of the reference, and those of endpoints.cc that were added.
// Cost:     see coordinator/service.h.
// Limits:   those of the server.
// Errors:   in answers: error_json(). 401 and 403 say what is needed by WWW-Authenticate.
// Threads:  routes() by one owner before the server starts; their handlers from any. The Api outlives the server.
// Source:   docs/reference/rest.md; section 1 of the reference.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/tokens.h"
#include "coordinator/service.h"
#include "http/message.h"
#include "http/routes.h"

namespace sp::api {

struct Asset {
  std::string content_type;
  std::string content;
};

struct ApiOptions {
  Tokens tokens = {};                            // none: everybody may do everything
  std::string name = "streaming-proof";          // GET /version
  std::string version = SP_VERSION;
  std::function<std::string()> metrics = {};     // the text of GET /metrics; absent: empty
  // A file of the user interface by its path below /ui/; absent or nothing: 404.
  std::function<std::optional<Asset>(std::string_view path)> assets = {};
};

class Api {
 public:
  // `service` outlives it.
  Api(coordinator::Service& service, ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  [[nodiscard]] http::Routes routes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What is answered where no handler is: for http::ServerOptions::error_page.
[[nodiscard]] http::Response error_page(int status, const std::string& message);

// GET /openapi.json: OpenAPI 3.1.
struct OpenApiOptions {
  std::string_view version = SP_VERSION;
  bool tokens = true;  // false: nobody needs one
};
[[nodiscard]] std::string openapi_json(const OpenApiOptions& options = {});
// docs/reference/rest.md: each endpoint and each member with same, corrected or added.
[[nodiscard]] std::string rest_markdown();

}  // namespace sp::api

// One member function an endpoint: reads the request, asks the service, shows what it says.
//
// Cost:     that of the service.
// Limits:   bodies as codec::DocumentOptions; pages of at most kViolationsMax.
// Errors:   a Response with status 4xx or 5xx and error_json(), or the reference's text.
// Threads:  any, at once, as the service.   Source: docs/reference/rest.md.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/api.h"
#include "coordinator/service.h"
#include "http/message.h"

namespace sp::api {

constexpr std::size_t kViolationsMax = 1'000;

class Handlers {
 public:
  // Both outlive it.
  Handlers(coordinator::Service& service, const ApiOptions& options) : service_(service), options_(options) {}

  [[nodiscard]] http::Response create(const http::Request& request) const;
  [[nodiscard]] http::Response list(const http::Request& request) const;
  [[nodiscard]] http::Response show(const http::Request& request) const;
  [[nodiscard]] http::Response details(const http::Request& request) const;
  [[nodiscard]] http::Response report(const http::Request& request) const;
  [[nodiscard]] http::Response result(const http::Request& request) const;
  [[nodiscard]] http::Response stop(const http::Request& request) const;
  [[nodiscard]] http::Response remove(const http::Request& request) const;
  [[nodiscard]] http::Response put_configs(const http::Request& request) const;
  [[nodiscard]] http::Response configs(const http::Request& request) const;
  [[nodiscard]] http::Response delete_configs(const http::Request& request) const;
  [[nodiscard]] http::Response to_ui(const http::Request& request) const;
  [[nodiscard]] http::Response ui(const http::Request& request) const;
  [[nodiscard]] http::Response violations(const http::Request& request) const;
  [[nodiscard]] http::Response key(const http::Request& request) const;
  [[nodiscard]] http::Response coverage(const http::Request& request) const;
  [[nodiscard]] http::Response faults(const http::Request& request) const;
  [[nodiscard]] http::Response mark_fault(const http::Request& request) const;
  [[nodiscard]] http::Response events(const http::Request& request) const;
  [[nodiscard]] http::Response diagnostics(const http::Request& request) const;
  [[nodiscard]] http::Response healthz(const http::Request& request) const;
  [[nodiscard]] http::Response readyz(const http::Request& request) const;
  [[nodiscard]] http::Response version(const http::Request& request) const;
  [[nodiscard]] http::Response metrics(const http::Request& request) const;
  [[nodiscard]] http::Response openapi(const http::Request& request) const;

 private:
  coordinator::Service& service_;
  const ApiOptions& options_;
};

}  // namespace sp::api

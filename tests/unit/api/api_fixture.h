// The api in front of the fake service, over real HTTP.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/api.h"
#include "base/clock.h"
#include "http/client.h"
#include "http/server.h"
#include "unit/api/fake_service.h"

namespace sp::api {

class ApiTest : public testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(ApiOptions options) {
    server_.reset();
    api_ = std::make_unique<Api>(service_, std::move(options));
    auto server = http::Server::start({.stream_period = std::chrono::milliseconds(5), .error_page = error_page}, api_->routes(), clock_);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = *std::move(server);
  }
  [[nodiscard]] std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(server_->port()) + path; }
  http::Answer answer(const std::string& method, const std::string& path, std::string body = "", http::Headers headers = {}) {
    auto got = client_.call({.method = method, .url = url(path), .headers = std::move(headers), .body = std::move(body)});
    EXPECT_TRUE(got.has_value()) << (got ? "" : got.error().message);
    return got ? *std::move(got) : http::Answer{};
  }
  // "200 body".
  std::string ask(const std::string& method, const std::string& path, std::string body = "", http::Headers headers = {}) {
    const http::Answer got = answer(method, path, std::move(body), std::move(headers));
    return std::to_string(got.status) + " " + got.body;
  }
  std::string get(const std::string& path) { return ask("GET", path); }

  FakeService service_;
  SystemMonotonicClock clock_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<http::Server> server_;
  http::Client client_{{}, clock_};
};

}  // namespace sp::api

// A server on a free port of this machine, and a client that speaks bytes: for tests of what comes over the net.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "http/client.h"
#include "http/server.h"
#include "sys/sockets.h"

namespace sp::http {

inline SystemMonotonicClock& real_clock() {
  static SystemMonotonicClock clock;
  return clock;
}

inline Response text(std::string body) {
  Response response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

// A connection that sends what it is told, byte for byte.
class RawConnection {
 public:
  explicit RawConnection(std::uint16_t port) {
    auto socket = sys::connect_tcp("127.0.0.1", port, real_clock(), real_clock().now() + std::chrono::seconds(10));
    EXPECT_TRUE(socket.has_value());
    if (socket) socket_ = *std::move(socket);
  }
  // False: the server has gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const sys::Transfer put = sys::transmit(socket_, bytes);
      if (put.state == sys::Transfer::State::kEnd) return false;
      bytes.remove_prefix(put.bytes);
      if (put.state == sys::Transfer::State::kWait) wait(false, real_clock().now() + std::chrono::seconds(10));
    }
    return true;
  }
  void end_sending() { sys::end_sending(socket_); }
  // What comes until the server ends, or until `enough` is part of it.
  std::string read(std::string_view enough = "", std::chrono::seconds most = std::chrono::seconds(20)) {
    const MonotonicTime deadline = real_clock().now() + most;
    while (real_clock().now() < deadline) {
      if (!enough.empty() && got_.find(enough) != std::string::npos) return std::exchange(got_, {});
      char block[4096];
      const sys::Transfer got = sys::receive(socket_, block);
      if (got.state == sys::Transfer::State::kEnd) return std::exchange(got_, {});
      if (got.state == sys::Transfer::State::kMoved) got_.append(block, got.bytes);
      if (got.state == sys::Transfer::State::kWait) wait(true, deadline);
    }
    ADD_FAILURE() << "the server says no more after: " << got_;
    return std::exchange(got_, {});
  }
  // True if the server has ended this connection by now.
  bool ended() {
    char block[4096];
    return sys::receive(socket_, block).state == sys::Transfer::State::kEnd;
  }

 private:
  void wait(bool to_read, MonotonicTime deadline) {
    std::vector<sys::Watch> watch{{.number = socket_.get(), .read = to_read, .write = !to_read}};
    sys::wait_ready(watch, deadline - real_clock().now());
  }
  sys::Descriptor socket_;
  std::string got_;
};

// The line of the status of an answer: "HTTP/1.1 200 OK".
inline std::string status_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }
inline std::string body_of(const std::string& answer) {
  const std::size_t at = answer.find("\r\n\r\n");
  return at == std::string::npos ? "" : answer.substr(at + 4);
}

class HttpTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    auto server = Server::start(std::move(options), std::move(routes_), real_clock());
    ASSERT_TRUE(server.has_value()) << (server ? "" : server.error().message);
    server_ = *std::move(server);
  }
  void route(std::string method, std::string pattern, Handler handler, Lane lane = Lane::kQuick) {
    routes_.add({std::move(method), std::move(pattern), std::move(handler), lane});
  }
  [[nodiscard]] std::string url(const std::string& path, const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(server_->port()) + path;
  }
  // "200 body", or the error's sentence.
  std::string ask(const std::string& path, const std::string& method = "GET", std::string body = "") {
    const auto answer = client_.call({.method = method, .url = url(path), .body = std::move(body)});
    return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().message;
  }
  std::string raw(std::string_view bytes) {
    RawConnection connection(server_->port());
    connection.send(bytes);
    return connection.read();
  }

  Routes routes_;
  std::unique_ptr<Server> server_;
  Client client_{{}, real_clock()};
};

}  // namespace sp::http

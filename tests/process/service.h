// Coordinator and workers as processes of the real program, and what a person asks them with curl.
//
// Each is killed with the object. Ports are free ones; a worker that is started again takes the port that it had.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/json_writer.h"
#include "http/client.h"
#include "process/program.h"

namespace sp::process_test {

using namespace std::chrono_literals;

class ServiceTest : public testing::Test {
 protected:
  SystemMonotonicClock clock;
  http::Client client{{}, clock};
  sys::TemporaryFolder folder = *sys::TemporaryFolder::make("sp-service-test");
  std::unique_ptr<Program> worker;
  std::unique_ptr<Program> coordinator;
  std::string url;

  // The URL that the program says it is on; "" if it does not.
  [[nodiscard]] std::string url_of(const Program& program) const {
    for (const MonotonicTime end = clock.now() + 20s; clock.now() < end && program.running();) {
      const std::string out = program.out();
      const auto begin = out.find("http");
      if (begin != std::string::npos && out.find('\n') != std::string::npos)
        return out.substr(begin, out.find_first_of(",\n", begin) - begin);
      wait(10ms);
    }
    ADD_FAILURE() << program.out() << program.err();
    return "";
  }
  void wait(Nanoseconds span) const {
    SystemMonotonicClock now;
    std::unique_lock lock(mutex_);
    const MonotonicTime until = now.now() + span;
    while (now.now() < until) now.wait_until(lock, never_, until);
  }
  void start_worker(const std::string& port = "0") {
    worker = std::make_unique<Program>(std::vector<std::string>{"worker", "-p", port, "--rpc-port", "0"});
    worker_url_ = url_of(*worker);
  }
  void start_coordinator() {
    coordinator = std::make_unique<Program>(std::vector<std::string>{"coordinator", "-p", "0", "-c", (folder.path() / "configs").string(),
                                                                     "--state", (folder.path() / "state").string()});
    url = url_of(*coordinator);
  }
  [[nodiscard]] http::Answer call(const std::string& method, const std::string& path, const std::string& body = "") const {
    http::Call what;
    what.method = method;
    what.url = url + path;
    what.body = body;
    what.wait = 60s;
    auto answer = client.call(what);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? *answer : http::Answer{};
  }
  [[nodiscard]] codec::Node get(const std::string& path) const {
    const http::Answer answer = call("GET", path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    auto root = codec::parse_document(answer.body, {.bytes_max = std::size_t{64} << 20U, .nodes_max = 10'000'000});
    EXPECT_TRUE(root);
    return root ? *root : codec::Node{};
  }
  static std::string text(const codec::Node& node, std::initializer_list<std::string_view> names) {
    const codec::Node* at = &node;
    for (const auto name : names) {
      at = at->find(name);
      if (at == nullptr) return "";
    }
    return at->text;
  }
  static std::uint64_t number(const codec::Node& node, std::initializer_list<std::string_view> names) {
    const std::string digits = text(node, names);
    return digits.empty() ? 0 : std::stoull(digits);
  }
  void configure() {
    codec::JsonWriter json;
    json.begin_object().key("workers").begin_object().member("w1", worker_url_).end_object();
    json.key("drivers")
        .begin_object()
        .key("e")
        .begin_object()
        .member("driverType", "embedded")
        .key("driverConfigs")
        .begin_object()
        .end_object();
    json.end_object().end_object().end_object();
    EXPECT_EQ(call("PUT", "/configs", json.take()).status, 200);
  }
  // Its id.
  std::string create(int seconds, const std::string& more = "") {
    const auto answer =
        call("POST", "/proofs",
             fmt::format(R"({{"driver":"e","features":["at_least_once","ordering"],"msgRate":1000,"keys":20,"messageSize":100,
        "checkPointInterval":1,"timeout":5,"duration":{},"finalWaitSeconds":5{}}})",
                         seconds, more));
    EXPECT_EQ(answer.status, 200) << answer.body;
    auto root = codec::parse_document(answer.body);
    return root ? text(*root, {"id"}) : std::string();
  }
  // Its report, once its events are over.
  codec::Node wait_for(const std::string& id) {
    http::Call what;
    what.url = url + "/proofs/" + id + "/events";
    what.wait = 60s;
    auto followed = client.follow(what, [](const http::Event&) { return true; });
    EXPECT_TRUE(followed) << (followed ? "" : followed.error().message);
    return get("/proofs/" + id + "/report");
  }
  void wait_until_verified(const std::string& id, std::uint64_t records) {
    http::Call what;
    what.url = url + "/proofs/" + id + "/events";
    what.wait = 30s;
    auto followed = client.follow(what, [&](const http::Event& event) {
      if (event.type != "tick") return true;
      auto root = codec::parse_document(event.data);
      return !root || number(*root, {"verified"}) < records;
    });
    EXPECT_TRUE(followed) << (followed ? "" : followed.error().message);
  }

  std::string worker_url_;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable never_;
};

}  // namespace sp::process_test

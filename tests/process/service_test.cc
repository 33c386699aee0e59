// Coordinator and worker as processes, spoken to over REST, killed by signal.
#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/json_writer.h"
#include "http/client.h"
#include "process/program.h"

namespace sp::process_test {
namespace {

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
      std::unique_lock lock(mutex_);
      static_cast<void>(clock_wait(lock));
    }
    ADD_FAILURE() << program.out() << program.err();
    return "";
  }
  bool clock_wait(std::unique_lock<std::mutex>& lock) const {
    SystemMonotonicClock now;
    return now.wait_until(lock, never_, now.now() + 10ms);
  }
  void start_worker(const std::string& port = "0") {
    worker = std::make_unique<Program>(std::vector<std::string>{"worker", "-p", port});
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

// The examples of the reference's appendix D, as a person would post them.
TEST_F(ServiceTest, AProofIsPostedWatchedAndReported) {
  start_worker();
  start_coordinator();
  configure();
  const std::string id = create(3, R"(,"name":"demo","maxStallSeconds":120,"kafka":{"topicConfig":{"retention.ms":"3600000"}})");
  EXPECT_EQ(text(get("/proofs/" + id + "/report"), {"status"}), "running");
  const codec::Node report = wait_for(id);
  EXPECT_EQ(text(report, {"status"}), "passed") << text(report, {"resultReason"});
  const std::uint64_t published = number(report, {"performanceSummary", "publishedMessages"});
  EXPECT_GT(published, 2'500U);
  EXPECT_EQ(number(report, {"summary", "verified"}), published);
  EXPECT_EQ(number(report, {"performanceSummary", "consumedMessages"}), published);
  EXPECT_EQ(text(report, {"summary", "missed"}), "0");
  EXPECT_EQ(call("DELETE", "/proofs/" + id).status, 200);
  EXPECT_EQ(call("GET", "/proofs/" + id).status, 404);
  EXPECT_EQ(call("GET", "/proofs/" + id).body, "Proof test not found: " + id);
  coordinator->signal(SIGTERM);
  EXPECT_EQ(coordinator->end(20s).code, 0);
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->end(20s).code, 0);
}

TEST_F(ServiceTest, ACoordinatorKilledInTheMiddleGoesOnAndItsDuplicatesCountOnce) {
  start_worker();
  start_coordinator();
  configure();
  const std::string id = create(5, R"(,"defect":["duplicate-delivery:count=9"])");
  wait_until_verified(id, 1'000);
  const std::uint64_t before = number(get("/proofs/" + id + "/report"), {"summary", "verified"});
  coordinator->signal(SIGKILL);
  EXPECT_LT(coordinator->end(20s).code, 0);
  start_coordinator();
  const codec::Node report = wait_for(id);
  EXPECT_EQ(text(report, {"status"}), "passed") << text(report, {"resultReason"});
  EXPECT_GE(number(report, {"summary", "verified"}), before);
  EXPECT_EQ(number(report, {"summary", "verified"}), number(report, {"performanceSummary", "publishedMessages"}));
  EXPECT_GT(number(report, {"performanceSummary", "publishedMessages"}), 3'000U);
  const std::uint64_t duplicates = number(report, {"summary", "duplicates"});
  EXPECT_GT(duplicates, 0U);
  EXPECT_LE(duplicates, 9U);
}

TEST_F(ServiceTest, AWorkerKilledForGoodLosesTheBrokerWithItAndNothingIsCalledPassed) {
  start_worker();
  start_coordinator();
  configure();
  const std::string id = create(4);
  wait_until_verified(id, 500);
  worker->signal(SIGKILL);
  EXPECT_LT(worker->end(20s).code, 0);
  const codec::Node report = wait_for(id);
  EXPECT_EQ(text(report, {"status"}), "inconclusive") << text(report, {"resultReason"});
}

TEST_F(ServiceTest, AFileOfTheConfigurationFolderIsReadAndWatched) {
  ASSERT_TRUE(sys::make_folders(folder.path() / "configs"));
  ASSERT_TRUE(sys::write_atomically(folder.path() / "configs" / "a.yaml", "workers: {a: \"http://127.0.0.1:1\"}\n"));
  start_coordinator();
  EXPECT_EQ(text(get("/configs"), {"workers", "a"}), "http://127.0.0.1:1");
  EXPECT_EQ(call("PUT", "/configs", R"({"workers":{"b":"http://127.0.0.1:2"},"drivers":{}})").status, 200);
  ASSERT_TRUE(sys::write_atomically(folder.path() / "configs" / "a.yaml", "workers: {c: \"http://127.0.0.1:3\"}\n"));
  codec::Node seen;
  for (const MonotonicTime end = clock.now() + 20s; clock.now() < end && text(seen, {"workers", "c"}).empty();) seen = get("/configs");
  EXPECT_EQ(text(seen, {"workers", "c"}), "http://127.0.0.1:3");
  EXPECT_EQ(text(seen, {"workers", "a"}), "");
  EXPECT_EQ(text(seen, {"workers", "b"}), "http://127.0.0.1:2");
}

TEST_F(ServiceTest, OneStateHasOneCoordinator) {
  start_coordinator();
  Program second({"coordinator", "-p", "0", "--state", (folder.path() / "state").string()});
  const Outcome end = second.end(20s);
  EXPECT_EQ(end.code, 3);
  EXPECT_NE(end.err.find("another process has it open"), std::string::npos) << end.err;
}

TEST(ServiceFlags, NobodyElseMayComeUnlessItIsSaid) {
  for (const char* command : {"coordinator", "worker"}) {
    Program open({command, "-p", "0", "--listen", "0.0.0.0"});
    const Outcome end = open.end(20s);
    EXPECT_EQ(end.code, 3) << command;
    EXPECT_NE(end.err.find("--insecure"), std::string::npos) << end.err;
    Program half({command, "-p", "0", "--tls-key", "k.pem"});
    EXPECT_EQ(half.end(20s).code, 3) << command;
  }
}

TEST_F(ServiceTest, WithoutATokenNothingIsShownAndAReaderMayNotWrite) {
  ASSERT_TRUE(sys::write_atomically(folder.path() / "tokens", "read aaaaaaaaaaaaaaaaaaaa grafana\nwrite bbbbbbbbbbbbbbbbbbbb ci\n"));
  coordinator = std::make_unique<Program>(std::vector<std::string>{"coordinator", "-p", "0", "--state", (folder.path() / "state").string(),
                                                                   "--token-file", (folder.path() / "tokens").string()});
  url = url_of(*coordinator);
  EXPECT_EQ(call("GET", "/proofs").status, 401);
  EXPECT_EQ(call("GET", "/healthz").status, 200);
  http::Call what;
  what.url = url + "/configs";
  what.method = "PUT";
  what.body = R"({"workers":{},"drivers":{}})";
  what.headers["authorization"] = "Bearer aaaaaaaaaaaaaaaaaaaa";
  EXPECT_EQ(client.call(what)->status, 403);
  what.headers["authorization"] = "Bearer bbbbbbbbbbbbbbbbbbbb";
  EXPECT_EQ(client.call(what)->status, 200);
}

}  // namespace
}  // namespace sp::process_test

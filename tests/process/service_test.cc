// Coordinator and worker as processes, spoken to over REST, killed by signal.
#include <gtest/gtest.h>

#include "process/service.h"

namespace sp::process_test {
namespace {

using namespace std::chrono_literals;

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

// All that a person does with curl above, with the program's own commands.
TEST_F(ServiceTest, TheProgramsOwnCommandsSpeakToIt) {
  start_worker();
  start_coordinator();
  const auto path = [this](const char* name) { return (folder.path() / name).string(); };
  ASSERT_TRUE(sys::write_atomically(
      path("configs.yaml"),
      fmt::format("workers: {{w1: \"{}\"}}\ndrivers: {{e: {{driverType: embedded, driverConfigs: {{}}}}}}\n", worker_url_)));
  ASSERT_TRUE(sys::write_atomically(path("proof.yaml"),
                                    "name: by hand\ndriver: e\nfeatures: [at_least_once, ordering]\nmsgRate: 500\nkeys: 10\n"
                                    "messageSize: 100\ncheckPointInterval: 1\ntimeout: 5\nduration: 2\nfinalWaitSeconds: 3\n"
                                    "defect: [\"lose:count=2\"]\n"));
  const auto run = [this](std::vector<std::string> words) {
    words.insert(words.end(), {"--coordinator", url});
    return run_program(words, 60s);
  };
  EXPECT_EQ(run({"configs", "put", path("configs.yaml")}).code, 0);
  EXPECT_EQ(run({"workers"}).out, fmt::format("{:<16} {}\n", "w1", worker_url_));
  const Outcome made = run({"proofs", "create", path("proof.yaml")});
  EXPECT_EQ(made.code, 0) << made.err;
  const std::string id = made.out.substr(0, made.out.find('\n'));
  EXPECT_EQ(id.size(), 5U);
  const Outcome watched = run({"proofs", "watch", id});
  EXPECT_EQ(watched.code, 1) << watched.out << watched.err;
  EXPECT_THAT(watched.out, testing::StartsWith("failed  Some messages were not verified by consumers."));
  EXPECT_THAT(watched.out, testing::HasSubstr("acknowledged, not in the log (partition "));
  EXPECT_THAT(watched.out, testing::HasSubstr("GET /proofs/" + id + "/violations"));
  EXPECT_THAT(watched.err, testing::HasSubstr("verified"));
  EXPECT_THAT(run({"proofs", "list"}).out, testing::HasSubstr(id + "   failed"));
  EXPECT_EQ(run({"proofs", "report", id, "--json"}).code, 1);
  EXPECT_EQ(run({"proofs", "stop", id}).code, 0);
  EXPECT_EQ(run({"proofs", "delete", id}).code, 0);
  const Outcome gone = run({"proofs", "show", id});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, testing::HasSubstr("Proof test not found: " + id));
  ASSERT_TRUE(sys::write_atomically(path("bad.yaml"), "driver: nobody\nfeatures: [ordering]\nmgsRate: 7\n"));
  const Outcome bad = run({"proofs", "create", path("bad.yaml")});
  EXPECT_EQ(bad.code, 3);
  EXPECT_THAT(bad.err, testing::AllOf(testing::HasSubstr("there is no driver 'nobody'"), testing::HasSubstr("unknown field 'mgsRate'")));
  EXPECT_EQ(run_program({"proofs", "list", "--coordinator", "http://127.0.0.1:1"}, 60s).code, 3);
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

#include "cli/notifier.h"

#include <mutex>

#include <gtest/gtest.h>

#include "http/server.h"
#include "http/sign.h"

namespace sp::cli {
namespace {

using namespace std::chrono_literals;

// Somebody who is posted to: a real server of this machine, which refuses the first few.
class NotifierTest : public testing::Test {
 protected:
  SystemMonotonicClock clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<http::Request> requests;
  std::vector<std::string> said;
  int refuse = 0;
  std::unique_ptr<http::Server> server;

  void start() {
    http::Routes routes;
    routes.add({"POST", "/hook", [this](const http::Request& request) {
                  const std::lock_guard lock(mutex);
                  requests.push_back(request);
                  changed.notify_all();
                  http::Response response;
                  response.status = refuse-- > 0 ? 500 : 204;
                  return response;
                }});
    auto started = http::Server::start({}, std::move(routes), clock);
    ASSERT_TRUE(started);
    server = std::move(*started);
  }
  NotifierOptions options(bool private_addresses = true) {
    NotifierOptions all;
    all.private_addresses = private_addresses;
    all.first_pause = 1ms;
    all.tries = 3;
    all.say = [this](std::string_view text) {
      const std::lock_guard lock(mutex);
      said.emplace_back(text);
      changed.notify_all();
    };
    return all;
  }
  [[nodiscard]] coordinator::Webhook hook(std::string secret = "") const {
    coordinator::Webhook webhook;
    webhook.url = fmt::format("http://127.0.0.1:{}/hook", server->port());
    webhook.secret = std::move(secret);
    return webhook;
  }
  template <typename Holds>
  bool wait(Holds holds) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 20s, holds);
  }
};

TEST_F(NotifierTest, WhatIsHandedOverArrivesSigned) {
  start();
  Notifier notifier(clock, options());
  notifier.post(hook("s3cret"), "{\"a\":1}");
  ASSERT_TRUE(wait([&] { return requests.size() == 1; }));
  EXPECT_EQ(requests[0].body, "{\"a\":1}");
  EXPECT_EQ(requests[0].header("content-type"), "application/json");
  EXPECT_EQ(requests[0].header("x-streaming-proof-signature"), "sha256=" + http::hmac_sha256("s3cret", "{\"a\":1}"));
}

TEST_F(NotifierTest, WithoutASecretThereIsNoSignature) {
  start();
  Notifier notifier(clock, options());
  notifier.post(hook(), "x");
  ASSERT_TRUE(wait([&] { return requests.size() == 1; }));
  EXPECT_EQ(requests[0].header("x-streaming-proof-signature"), "");
}

TEST_F(NotifierTest, ItIsTriedAgainAndThenGivenUpAndTold) {
  start();
  refuse = 2;
  Notifier notifier(clock, options());
  notifier.post(hook(), "first");
  ASSERT_TRUE(wait([&] { return requests.size() == 3; }));
  EXPECT_TRUE(said.empty());
  {
    const std::lock_guard lock(mutex);
    refuse = 100;
  }
  notifier.post(hook(), "second");
  ASSERT_TRUE(wait([&] { return !said.empty(); }));
  EXPECT_EQ(requests.size(), 6U);
  EXPECT_NE(said[0].find("status 500"), std::string::npos) << said[0];
}

TEST_F(NotifierTest, ThisMachineIsNotPostedToUnlessThatIsAllowed) {
  start();
  Notifier notifier(clock, options(false));
  notifier.post(hook(), "x");
  ASSERT_TRUE(wait([&] { return !said.empty(); }));
  EXPECT_NE(said[0].find("--private-webhooks"), std::string::npos) << said[0];
  EXPECT_TRUE(requests.empty());
}

TEST_F(NotifierTest, ItsEndGivesUpWhatWaits) {
  start();
  refuse = 100;
  NotifierOptions patient = options();
  patient.first_pause = 1h;
  const MonotonicTime begin = clock.now();
  {
    Notifier notifier(clock, patient);
    notifier.post(hook(), "x");
    ASSERT_TRUE(wait([&] { return requests.size() == 1; }));
  }
  EXPECT_LT(clock.now() - begin, 60s);
}

}  // namespace
}  // namespace sp::cli

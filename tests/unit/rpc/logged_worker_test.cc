// label: threads
// The port whose answers stand in a log: what is durable when, what is answered again, and what shows that it is another run.
#include "rpc/logged_worker.h"

#include <deque>

#include <gtest/gtest.h>

#include "rpc/worker_server.h"
#include "unit/rpc/fake_host.h"
#include "unit/rpc/sample_report.h"

namespace sp::rpc {
namespace {

using control::Input;
using control::InputKind;
using control::PortCall;

// A log in memory; what was not committed is lost with restart().
class MemoryLog final : public control::InputLog {
 public:
  Result<std::optional<Input>> replay() override {
    if (next_ >= durable.size()) return std::optional<Input>();
    return std::optional(durable[next_++]);
  }
  void append(Input input) override { pending.push_back(std::move(input)); }
  [[nodiscard]] std::uint64_t count() const override { return (next_ < durable.size() ? next_ : durable.size()) + pending.size(); }
  Result<void> commit() override {
    if (full) return fail(ErrorCode::kFull, "the disk is full");
    durable.insert(durable.end(), pending.begin(), pending.end());
    next_ = durable.size();
    pending.clear();
    return {};
  }
  void restart() {
    pending.clear();
    next_ = 0;
  }

  std::vector<Input> durable;
  std::vector<Input> pending;
  bool full = false;

 private:
  std::size_t next_ = 0;
};

struct LoggedWorkerTest : testing::Test {
  SystemMonotonicClock clock;
  FakeHost host;
  std::unique_ptr<WorkerServer> server = *WorkerServer::start(host, {});
  MemoryLog log;
  control::LoggedRun run;
  std::unique_ptr<LoggedWorker> worker;

  LoggedWorkerTest() { make(); }
  void make() {
    run = {};
    run.log = &log;
    auto dialed = std::make_unique<DialedWorker>([this] { return server->address(); }, clock, RemoteOptions{});
    worker = std::make_unique<LoggedWorker>(3, std::move(dialed), run);
  }
  // As a coordinator that was killed and is started again.
  void restart() {
    log.restart();
    make();
  }
  [[nodiscard]] control::WorkerPlan plan() const {
    control::WorkerPlan plan;
    plan.run = host.run;
    plan.source = host.source;
    plan.proof.at_least_once = true;
    return plan;
  }
};

TEST_F(LoggedWorkerTest, WhatWasAnsweredIsAnsweredAgainWithoutAsking) {
  host.port.change([](auto& says) { says.hello = sample_hello(); });
  ASSERT_TRUE(worker->prepare(plan()));
  ASSERT_TRUE(worker->create_topic());
  const auto first = worker->poll({});
  ASSERT_TRUE(first);
  ASSERT_TRUE(log.commit());
  const auto calls = host.port.seen().calls.size();
  restart();
  const auto hello = worker->prepare(plan());
  ASSERT_TRUE(hello);
  expect_same(*hello, sample_hello());
  EXPECT_EQ(*worker->create_topic(), 12U);
  const auto again = worker->poll({});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->messages, first->messages);
  EXPECT_EQ(host.port.seen().calls.size(), calls);
  EXPECT_EQ(host.port.begun(), 1U);
  EXPECT_FALSE(run.live);
  const auto live = worker->poll({});  // the log is over: the worker is asked, of the run that was prepared then
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_TRUE(run.live);
  EXPECT_EQ(host.port.begun(), 2U);
}

TEST_F(LoggedWorkerTest, ItsLastAnswerIsDurableBeforeThePollThatAcknowledgesIt) {
  ASSERT_TRUE(worker->prepare(plan()));
  ASSERT_TRUE(worker->poll({}));
  EXPECT_EQ(log.pending.size(), 1U);
  ASSERT_TRUE(worker->poll({}));
  EXPECT_EQ(log.durable.size(), 2U) << "prepare and the first poll";
  EXPECT_EQ(log.pending.size(), 1U);
  log.full = true;
  const auto refused = worker->poll({});
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  worker->ask({});
  EXPECT_EQ(host.port.begun(), 2U) << "what cannot be kept is not acknowledged";
  EXPECT_FALSE(run.broken.empty());
  log.full = false;
  ASSERT_TRUE(worker->poll({}));
  EXPECT_EQ(host.port.begun(), 3U);
}

TEST_F(LoggedWorkerTest, ErrorsAreAnswersToo) {
  ASSERT_TRUE(worker->prepare(plan()));
  host.port.change([](auto& says) { says.error = Error{ErrorCode::kDenied, "no right"}; });
  EXPECT_EQ(worker->start_consumers().error().message, "no right");
  ASSERT_TRUE(log.commit());
  host.port.change([](auto& says) { says.error.reset(); });
  restart();
  ASSERT_TRUE(worker->prepare(plan()));
  EXPECT_EQ(worker->start_consumers().error().code, ErrorCode::kDenied);
}

TEST_F(LoggedWorkerTest, OnlyAPollTellsThatTheWorkerWasStartedAnew) {
  ASSERT_TRUE(worker->prepare(plan()));
  host.port.change([](auto& says) { says.error = Error{ErrorCode::kNotFound, "topic x is not there"}; });
  EXPECT_EQ(worker->log_bounds().error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(worker->take_gone()) << "it is the topic that is not there";
  EXPECT_FALSE(worker->poll({}));
  EXPECT_TRUE(worker->take_gone());
  EXPECT_FALSE(worker->take_gone()) << "told once";
}

TEST_F(LoggedWorkerTest, ALogOfAnotherRunIsNoticedAndNobodyIsAsked) {
  ASSERT_TRUE(worker->prepare(plan()));
  ASSERT_TRUE(log.commit());
  restart();
  EXPECT_EQ(worker->create_topic().error().code, ErrorCode::kInternal) << "the log has an answer to prepare";
  EXPECT_FALSE(run.diverged.empty());
  EXPECT_EQ(worker->prepare(plan()).error().code, ErrorCode::kInternal);
  EXPECT_EQ(host.port.seen().calls, std::vector<std::string>{"prepare"});
  log.durable[0].bytes = "\xff\xff";
  restart();
  EXPECT_FALSE(worker->prepare(plan()));
  EXPECT_FALSE(run.diverged.empty());
}

}  // namespace
}  // namespace sp::rpc

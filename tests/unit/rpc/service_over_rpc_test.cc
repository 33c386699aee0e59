// label: threads
// A service whole: registry, state file, the line, worker processes whose drivers share an embedded broker. Destroying the registry
// leaves what a killed coordinator leaves: its state file, and workers that wait. tests/process kills real processes.
#include <gtest/gtest.h>

#include "codec/json_tree.h"
#include "coordinator/registry.h"
#include "driver/embedded/embedded.h"
#include "rpc/logged_worker.h"
#include "rpc/worker_server.h"
#include "store/state.h"
#include "sys/files.h"
#include "worker/host.h"

namespace sp::rpc {
namespace {

using namespace std::chrono_literals;
using coordinator::ProofStatus;

struct ServiceOverRpcTest : testing::Test {
  struct Process {
    std::unique_ptr<worker::Host> host;
    std::unique_ptr<WorkerServer> server;  // last: it calls the host
  };

  SystemMonotonicClock clock;
  SystemWallClock wall;
  sys::TemporaryFolder folder = *sys::TemporaryFolder::make("sp-service-test");
  driver::embedded::BrokerOptions broker_options;
  std::unique_ptr<driver::embedded::Broker> broker;
  std::array<Process, 2> processes;
  std::unique_ptr<store::State> state;
  std::mutex posted_mutex;
  std::vector<std::string> posted;
  std::unique_ptr<coordinator::Registry> registry;
  std::uint64_t lives = 0;

  ServiceOverRpcTest() {
    broker_options.seed = 7;
    broker_options.session_timeout = 1s;
    broker_options.expected = {.records = 4'000, .keys = 40, .groups = 1};
  }

  void start_process(std::size_t number, std::uint16_t port) {
    const auto factory = [this](const proof::Proof& of) -> Result<std::unique_ptr<driver::Driver>> {
      return driver::embedded::EmbeddedDriver::make(*broker, of.settings);
    };
    Process& process = processes[number];
    process.host = std::make_unique<worker::Host>(clock, wall, factory, worker::HostOptions{});
    ServerOptions options;
    options.port = port;
    auto server = WorkerServer::start(*process.host, options);
    ASSERT_TRUE(server) << server.error().message;
    process.server = std::move(*server);
  }
  std::uint16_t kill_process(std::size_t number) {
    const std::uint16_t port = processes[number].server->port();
    processes[number].server.reset();  // first: it calls the host
    processes[number].host.reset();
    return port;
  }

  std::unique_ptr<DialedWorker> remote(const coordinator::NamedWorker& named) {
    const std::string address = named.url.substr(std::string_view("http://").size());
    return std::make_unique<DialedWorker>([address] { return address; }, clock, RemoteOptions{});
  }
  void start_coordinator() {
    auto opened = store::State::open(folder.path());
    ASSERT_TRUE(opened) << opened.error().message;
    state = std::move(*opened);
    coordinator::RegistryOptions options;
    options.program = "test";
    options.entropy = ++lives;
    options.limits.fleet.away = 3s;
    options.ports = [this](std::uint32_t worker, const coordinator::NamedWorker& named, control::LoggedRun& log) {
      return std::make_unique<LoggedWorker>(worker, remote(named), log);
    };
    options.bare_port = [this](const coordinator::NamedWorker& named) { return remote(named); };
    options.notify = [this](const coordinator::Webhook&, std::string body) {
      const std::lock_guard lock(posted_mutex);
      posted.push_back(std::move(body));
    };
    auto made = coordinator::Registry::open(std::move(options), *state, clock, wall);
    ASSERT_TRUE(made) << made.error().message;
    registry = std::move(*made);
  }
  void kill_coordinator() {
    registry.reset();
    state.reset();
  }

  void begin(const std::vector<std::string>& defects = {}) {
    broker_options.defects = *driver::embedded::parse_defects(defects);
    broker = std::make_unique<driver::embedded::Broker>(clock, wall, broker_options);
    for (std::size_t i = 0; i < 2; ++i) start_process(i, 0);
    start_coordinator();
    const auto put = registry->put_configs(tree(fmt::format(
        R"({{"workers":{{"w1":"http://{}","w2":"http://{}"}},"drivers":{{"e":{{"driverType":"embedded","driverConfigs":{{}}}}}}}})",
        processes[0].server->address(), processes[1].server->address())));
    ASSERT_TRUE(put) << put.error().error.message;
  }
  static codec::Node tree(std::string_view text) {
    auto root = codec::parse_document(text);
    EXPECT_TRUE(root) << root.error().message;
    return *root;
  }
  std::string create(int seconds, std::string_view more = "") {
    auto made = registry->create(
        tree(fmt::format(R"({{"driver":"e","features":["at_least_once","ordering"],"partitions":4,"producers":4,"consumers":4,
      "keys":40,"msgRate":1000,"messageSize":100,"duration":{},"checkPointInterval":1,"timeout":5,"finalWaitSeconds":3{}}})",
                         seconds, more)),
        true);
    EXPECT_TRUE(made) << made.error().error.message;
    return made ? made->id : std::string();
  }
  coordinator::ProofReport report(const std::string& id) {
    auto got = registry->report(id);
    EXPECT_TRUE(got);
    return *got;
  }
  // Waits for the events up to the end; the number of each is one more than the one before.
  coordinator::ProofReport wait_for(const std::string& id) {
    std::uint64_t after = 0;
    for (const MonotonicTime end = clock.now() + 60s; clock.now() < end;) {
      auto got = registry->events(id, after, 100, 1s);
      EXPECT_TRUE(got);
      for (const auto& event : got->events) EXPECT_EQ(event.number, ++after);
      if (got->over) break;
    }
    return report(id);
  }
  // Waits until the proof has verified that many.
  void wait_until_verified(const std::string& id, std::uint64_t records) {
    std::uint64_t after = 0;
    for (const MonotonicTime end = clock.now() + 30s; clock.now() < end && report(id).summary.verified < records;) {
      auto got = registry->events(id, after, 100, 200ms);
      ASSERT_TRUE(got);
      if (!got->events.empty()) after = got->events.back().number;
    }
  }
};

TEST_F(ServiceOverRpcTest, AProofPassesAndItsNumbersAgree) {
  begin();
  const std::string id = create(2, R"(,"name":"demo","webhookConfig":{"url":"http://x","type":"generic"})");
  EXPECT_EQ(registry->find(id)->status, ProofStatus::kRunning);
  const auto got = wait_for(id);
  EXPECT_EQ(got.head.status, ProofStatus::kPassed) << got.head.reason;
  EXPECT_EQ(got.head.reason, "The run completed without missed or out-of-order messages.");
  EXPECT_GT(got.summary.verified, 1'500U);
  EXPECT_EQ(got.summary.verified, got.performance.traffic.acked);
  EXPECT_EQ(got.performance.traffic.received, got.performance.traffic.acked);
  EXPECT_EQ(got.checkpoints.latest_producer_keys, 40U);
  EXPECT_EQ(got.checkpoints.verified_consumer_keys, 40U);
  EXPECT_GE(got.series.size(), 2U);
  EXPECT_GT(got.performance.publish_latency.count, 1'500U);
  const auto keys = registry->details(id, true)->keys;
  ASSERT_EQ(keys.size(), 40U);
  std::uint64_t issued = 0;
  for (const auto& key : keys) {
    issued += key.issued;
    EXPECT_EQ(key.groups[0].watermark, key.issued);
    EXPECT_EQ(registry->key(id, key.key)->issued, key.issued);
  }
  EXPECT_EQ(issued, got.summary.verified);
  EXPECT_EQ(registry->key(id, "nobody").error().code, ErrorCode::kNotFound);
  ASSERT_EQ(posted.size(), 1U);
  EXPECT_NE(posted[0].find("SUCCESS"), std::string::npos) << posted[0];
  const auto result = registry->result(id);
  ASSERT_TRUE(result);
  codec::JsonTree json;
  EXPECT_FALSE(json.parse(*result));
}

TEST_F(ServiceOverRpcTest, ALossIsNamedWhileItRunsAndInTheEnd) {
  begin({"lose:count=3"});
  const std::string id = create(2, R"(,"webhookConfig":{"url":"http://x","type":"slack","onFirstViolation":true})");
  const auto got = wait_for(id);
  EXPECT_EQ(got.head.status, ProofStatus::kFailed);
  EXPECT_EQ(got.head.reason, "Some messages were not verified by consumers.");
  ASSERT_GT(broker->truth().size(), 0U);
  EXPECT_EQ(got.summary.missed, broker->truth().size());
  coordinator::ViolationQuery query;
  query.code = core::Code::kLost;
  const auto page = registry->violations(id, query);
  ASSERT_TRUE(page);
  std::uint64_t records = 0;
  for (const auto& violation : page->violations) {
    EXPECT_TRUE(violation.established);
    records += violation.records;
  }
  EXPECT_EQ(records, broker->truth().size());
  EXPECT_NE(posted.back().find("FAILED"), std::string::npos);
}

TEST_F(ServiceOverRpcTest, ACoordinatorThatIsKilledGoesOnWithItsProofs) {
  begin({"duplicate-delivery:count=7"});
  const std::string id = create(4);
  wait_until_verified(id, 600);
  const auto before = report(id);
  kill_coordinator();
  start_coordinator();
  wait_until_verified(id, before.summary.verified);
  const auto after = report(id);
  EXPECT_GE(after.summary.verified, before.summary.verified);
  EXPECT_GE(after.series.size(), before.series.size());
  const auto got = wait_for(id);
  EXPECT_EQ(got.summary.verified, got.performance.traffic.acked);
  EXPECT_GT(got.performance.traffic.acked, 2'000U);
  EXPECT_EQ(got.summary.duplicates, broker->truth().size()) << "each is counted once, before and after";
  EXPECT_EQ(got.summary.missed, 0U);
  EXPECT_EQ(got.head.status, ProofStatus::kPassed) << got.head.reason;
}

TEST_F(ServiceOverRpcTest, WhatIsOverSurvivesAsItWas) {
  begin({"lose:count=2"});
  const std::string id = create(2);
  const auto got = wait_for(id);
  const auto violations = registry->violations(id, {});
  const auto result = registry->result(id);
  kill_coordinator();
  start_coordinator();
  const auto again = report(id);
  EXPECT_EQ(again.head.status, ProofStatus::kFailed);
  EXPECT_EQ(again.head.reason, got.head.reason);
  EXPECT_EQ(again.head.submission.proof, got.head.submission.proof);
  EXPECT_EQ(again.summary.missed, broker->truth().size());
  EXPECT_EQ(again.series.size(), got.series.size());
  EXPECT_EQ(registry->violations(id, {})->violations.size(), violations->violations.size());
  EXPECT_EQ(*registry->result(id), *result);
  EXPECT_TRUE(registry->stop(id, true));
  EXPECT_EQ(report(id).head.status, ProofStatus::kFailed) << "a stop after the end changes nothing";
  EXPECT_TRUE(registry->events(id, 0, 10, 0s)->over);
}

TEST_F(ServiceOverRpcTest, AWorkerThatIsKilledTakesPartAgain) {
  begin();
  const std::string id = create(4);
  wait_until_verified(id, 600);
  const std::uint16_t port = kill_process(1);
  start_process(1, port);
  const auto got = wait_for(id);
  EXPECT_EQ(got.summary.missed, 0U);
  EXPECT_EQ(got.summary.out_of_orders, 0U);
  EXPECT_TRUE(got.head.status == ProofStatus::kPassed || got.head.status == ProofStatus::kInconclusive) << got.head.reason;
  EXPECT_EQ(registry->diagnostics(id)->workers[1].incarnation, 2U);
}

TEST_F(ServiceOverRpcTest, AWorkerThatStaysAwayMakesItInconclusive) {
  begin();
  const std::string id = create(4);
  wait_until_verified(id, 600);
  kill_process(1);
  const auto got = wait_for(id);
  EXPECT_EQ(got.head.status, ProofStatus::kInconclusive) << got.head.reason;
  EXPECT_NE(got.head.reason.find("worker 1"), std::string::npos) << got.head.reason;
}

TEST_F(ServiceOverRpcTest, StoppedByHandItSaysSoAndRemovedItIsGone) {
  begin();
  const std::string id = create(60);
  wait_until_verified(id, 100);
  ASSERT_TRUE(registry->stop(id, true));
  EXPECT_EQ(report(id).head.status, ProofStatus::kStopped);
  EXPECT_EQ(report(id).head.reason, "The run was stopped manually.");
  ASSERT_TRUE(registry->remove(id));
  EXPECT_EQ(registry->find(id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(registry->find(id).error().message, "Proof test not found: " + id);
  kill_coordinator();
  start_coordinator();
  EXPECT_TRUE(registry->list().empty());
  EXPECT_EQ(registry->configs()->workers.size(), 2U);
}

TEST_F(ServiceOverRpcTest, WhoWaitsForAVerdictIsReleasedAndTheStopIsCarriedOutLater) {
  begin();
  const std::string id = create(60);
  wait_until_verified(id, 100);
  {
    std::jthread stopping([&] { EXPECT_EQ(registry->stop(id, true).error().code, ErrorCode::kUnavailable); });
    std::uint64_t after = 0;
    bool stops = false;
    for (const MonotonicTime end = clock.now() + 30s; clock.now() < end && !stops;) {  // its thread has heard of it
      const auto got = registry->events(id, after, 100, 100ms);
      if (got && !got->events.empty()) after = got->events.back().number;
      stops = registry->find(id)->status == ProofStatus::kStopping;
    }
    registry->release();
  }
  kill_coordinator();
  start_coordinator();
  EXPECT_EQ(wait_for(id).head.status, ProofStatus::kStopped);
}

TEST_F(ServiceOverRpcTest, AFaultFromOutsideIsPartOfTheReportAndOfTheLog) {
  begin();
  const std::string id = create(4);
  core::FaultRecord fault;
  fault.name = "pod-kill";
  fault.target = "broker-1";
  const auto begun = registry->mark_fault(id, fault, false, false);
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(begun->number, 1U);
  fault.number = 1;
  fault.effect = "the leader moved";
  ASSERT_TRUE(registry->mark_fault(id, fault, true, false));
  kill_coordinator();
  start_coordinator();
  wait_until_verified(id, 100);
  ASSERT_TRUE(registry->mark_fault(id, fault, false, true));
  fault.number = 2;
  EXPECT_EQ(registry->mark_fault(id, fault, false, true).error().code, ErrorCode::kNotFound);
  wait_for(id);
  const auto faults = *registry->faults(id);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].effect, "the leader moved");
  EXPECT_TRUE(faults[0].effect_seen && faults[0].end);
  EXPECT_EQ(registry->mark_fault(id, fault, false, true).error().code, ErrorCode::kInvalid);
}

TEST_F(ServiceOverRpcTest, WhatCannotStartSaysWhy) {
  begin();
  kill_process(1);
  auto made = registry->create(tree(R"({"driver":"e","features":["ordering"],"duration":1})"), true);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().error.message.find("The run failed to start: worker 1 cannot start"), std::string::npos)
      << made.error().error.message;
  ASSERT_EQ(registry->list().size(), 1U);
  EXPECT_EQ(registry->list()[0].status, ProofStatus::kFailed);
}

}  // namespace
}  // namespace sp::rpc

// label: threads
// Whole proofs: a coordinator, the line, and worker processes whose drivers share an embedded broker.
#include <gtest/gtest.h>

#include "coordinator/coordinator.h"
#include "driver/embedded/embedded.h"
#include "rpc/remote_worker.h"
#include "rpc/worker_server.h"
#include "worker/host.h"

namespace sp::rpc {
namespace {

using namespace std::chrono_literals;
using judge::Status;

constexpr core::RunId kProofRun{0x1234567890ABCDEF};

struct ProofOverRpcTest : testing::Test {
  struct Process {
    std::unique_ptr<worker::Host> host;
    std::unique_ptr<WorkerServer> server;  // last: it calls the host
  };

  SystemMonotonicClock clock;
  SystemWallClock wall;
  driver::embedded::BrokerOptions broker_options;
  std::unique_ptr<driver::embedded::Broker> broker;
  std::array<Process, 2> processes;
  std::array<std::unique_ptr<RemoteWorker>, 2> workers;
  std::unique_ptr<coordinator::ProofRun> run;
  proof::Proof proof;
  std::vector<std::string> said;

  ProofOverRpcTest() {
    broker_options.seed = 7;
    broker_options.session_timeout = 1s;
    proof.at_least_once = proof.ordering = true;
    proof.workers = 2;
    proof.partitions = 4;
    proof.producers = 4;
    proof.consumers = 4;
    proof.keys = 40;
    proof.rate = 1'000;
    proof.payload_bytes = 100;
    proof.duration = 2s;
    proof.check_point_interval = 1s;
    proof.timeout = 5s;
    proof.final_wait = 2s;
  }

  void start_process(std::size_t number, std::uint16_t port) {
    worker::HostOptions options;
    options.info.name = "worker " + std::to_string(number);
    const auto factory = [this](const proof::Proof& of) -> Result<std::unique_ptr<driver::Driver>> {
      return driver::embedded::EmbeddedDriver::make(*broker, of.settings);
    };
    Process& process = processes[number];
    process.host = std::make_unique<worker::Host>(clock, wall, factory, options);
    ServerOptions server_options;
    server_options.port = port;
    auto server = WorkerServer::start(*process.host, server_options);
    ASSERT_TRUE(server) << server.error().message;
    process.server = std::move(*server);
  }
  // What a kill does: nothing is closed, nothing is removed.
  std::uint16_t kill_process(std::size_t number) {
    const std::uint16_t port = processes[number].server->port();
    processes[number].server.reset();  // first: it calls the host
    processes[number].host.reset();
    return port;
  }

  void begin() {
    proof.seed = 7;
    auto defects = driver::embedded::parse_defects(proof.defects);
    ASSERT_TRUE(defects);
    broker_options.defects = std::move(*defects);
    broker_options.expected = {.records = 2'000, .keys = 40, .groups = 1};
    broker = std::make_unique<driver::embedded::Broker>(clock, wall, broker_options);
    std::vector<control::WorkerPort*> ports;
    for (std::size_t i = 0; i < 2; ++i) {
      start_process(i, 0);
      RemoteOptions options;
      options.address = processes[i].server->address();
      auto remote = RemoteWorker::open(clock, options);
      ASSERT_TRUE(remote);
      workers[i] = std::move(*remote);
      ports.push_back(workers[i].get());
    }
    coordinator::RunOptions options;
    options.run = kProofRun;
    options.proof = proof;
    options.limits.fleet.away = 2s;
    coordinator::RunHooks hooks;
    hooks.message = [this](std::string_view text) { said.emplace_back(text); };
    run = std::make_unique<coordinator::ProofRun>(std::move(options), std::move(ports), std::move(hooks));
  }
  // Steps the run until it is done, or until it holds.
  template <typename Holds>
  void go_until(Holds holds) {
    std::mutex mutex;
    std::condition_variable never;
    const MonotonicTime end = clock.now() + 120s;
    while (!run->done() && !holds()) {
      const MonotonicTime now = clock.now();
      ASSERT_LT(now, end) << coordinator::stage_name(run->stage());
      const MonotonicTime next = std::min(run->step(now), now + 50ms);
      std::unique_lock lock(mutex);
      if (!run->done()) clock.wait_until(lock, never, next);
    }
  }
  void go() {
    go_until([] { return false; });
  }
  [[nodiscard]] std::string reasons() const {
    std::string text = run->report().failure;
    for (const auto& reason : run->report().judgement.reasons) text += reason + "; ";
    for (const auto& sentence : said) text += "\n" + sentence;
    return text;
  }
};

TEST_F(ProofOverRpcTest, AnHonestBrokerPasses) {
  begin();
  go();
  const auto& judgement = run->report().judgement;
  EXPECT_EQ(judgement.status, Status::kPassed) << reasons();
  EXPECT_GT(judgement.coverage.acked, 1'500U);
  EXPECT_EQ(judgement.coverage.acked, judgement.coverage.attempts);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(processes[i].host->find(kProofRun, {i, 1})) << "removed at the end";
  }
}

TEST_F(ProofOverRpcTest, APlantedLossIsFound) {
  proof.defects = {"lose:count=3"};
  begin();
  go();
  const auto& judgement = run->report().judgement;
  EXPECT_EQ(judgement.status, Status::kFailed) << reasons();
  EXPECT_EQ(judgement.counts[core::Code::kLost], 3U);
}

TEST_F(ProofOverRpcTest, AWorkerProcessThatWasKilledDoesNotKnowTheRunAndTakesPartAgain) {
  proof.duration = 4s;
  begin();
  go_until([this] { return run->stage() == coordinator::Stage::kLoad && run->live(clock.now()).progress.acked > 500; });
  const std::uint16_t port = kill_process(1);
  EXPECT_EQ(workers[1]->stop_producers().error().code, ErrorCode::kUnavailable);
  start_process(1, port);
  ErrorCode code = ErrorCode::kUnavailable;
  go_until([&] {
    if (auto asked = workers[1]->stop_consumers(); !asked) code = asked.error().code;
    return code != ErrorCode::kUnavailable;
  });
  EXPECT_EQ(code, ErrorCode::kNotFound);
  EXPECT_EQ(workers[1]->poll({}).error().code, ErrorCode::kNotFound);
  run->restarted(1, *workers[1], clock.now());
  go();
  EXPECT_EQ(run->report().judgement.status, Status::kPassed) << reasons();
  EXPECT_GT(run->report().judgement.coverage.acked, 2'500U);
}

TEST_F(ProofOverRpcTest, AWorkerProcessThatStaysAwayMakesTheRunInconclusive) {
  begin();
  go_until([this] { return run->stage() == coordinator::Stage::kLoad && run->live(clock.now()).progress.acked > 500; });
  kill_process(1);
  go();
  EXPECT_EQ(run->report().judgement.status, Status::kInconclusive) << reasons();
}

}  // namespace
}  // namespace sp::rpc

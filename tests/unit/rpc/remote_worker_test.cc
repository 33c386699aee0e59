// label: threads
#include "rpc/remote_worker.h"

#include <gtest/gtest.h>

#include "proof/fields.h"
#include "rpc/worker_server.h"
#include "unit/rpc/certificates.h"
#include "unit/rpc/fake_host.h"
#include "unit/rpc/sample_report.h"

namespace sp::rpc {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

// A worker process and a coordinator's end of the line, on this machine.
struct RemoteWorkerTest : testing::Test {
  SystemMonotonicClock clock;
  FakeHost host;
  ServerOptions server_options;
  RemoteOptions options;
  std::unique_ptr<WorkerServer> server;

  RemoteWorkerTest() {
    options.poll_wait = 30s;  // no test but those of waiting gives up
    options.poll_deadline = 60s;
  }
  ~RemoteWorkerTest() override { host.port.release(); }
  void serve() {
    auto started = WorkerServer::start(host, server_options);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    options.address = server->address();
  }
  std::unique_ptr<RemoteWorker> remote() {
    auto opened = RemoteWorker::open(clock, options);
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  std::unique_ptr<RemoteWorker> attached() {
    if (!server) serve();
    auto worker = remote();
    worker->attach(host.run, host.source);
    return worker;
  }
  control::WorkerPlan plan() const {
    control::WorkerPlan plan;
    plan.run = host.run;
    plan.source = host.source;
    plan.proof.at_least_once = true;
    plan.topic = "a topic";
    plan.group_prefix = "prefix";
    plan.producers = {{3, 0, 4, 12.5}, {3, 1, 5, 1.0 / 3}};
    plan.consumers = {{3, 0, core::GroupIndex{0}}, {3, 9, core::GroupIndex{7}}};
    return plan;
  }
};

TEST_F(RemoteWorkerTest, InfoTellsWhoIsThereAndThePort) {
  serve();
  const auto info = remote()->info();
  ASSERT_TRUE(info);
  control::WorkerInfo wanted = host.who;
  wanted.rpc_port = server->port();
  EXPECT_EQ(*info, wanted);
}

TEST_F(RemoteWorkerTest, APlanArrivesAsItIs) {
  serve();
  host.port.change([](auto& says) { says.hello = sample_hello(); });
  const auto hello = remote()->prepare(plan());
  ASSERT_TRUE(hello) << hello.error().message;
  expect_same(*hello, sample_hello());
  const control::WorkerPlan got = *host.port.seen().plan;
  EXPECT_EQ(got.run, host.run);
  EXPECT_EQ(got.source, host.source);
  EXPECT_EQ(got.topic, "a topic");
  EXPECT_EQ(got.group_prefix, "prefix");
  ASSERT_EQ(got.producers.size(), 2U);
  EXPECT_EQ(got.producers[1].producer, 1U);
  EXPECT_EQ(got.producers[1].keys, 5U);
  EXPECT_EQ(got.producers[1].rate, 1.0 / 3);
  ASSERT_EQ(got.consumers.size(), 2U);
  EXPECT_EQ(got.consumers[1].consumer, 9U);
  EXPECT_EQ(got.consumers[1].group, core::GroupIndex{7});
}

// Two proofs that together have a value of their own in every field.
std::vector<proof::Proof> proofs_of_all_fields() {
  proof::Proof a;
  a.name = "näme \"quoted\"\n";
  a.description = "\\ {x: [1]} # no comment";
  a.settings = {{"sasl.password", "se:cret"}, {"empty", ""}};
  a.at_least_once = a.ordering = true;
  a.topic = "top.ic";
  a.partitions = 7;
  a.replication = 3;
  a.producers = 5;
  a.consumers = 6;
  a.groups = 2;
  a.workers = 3;
  a.keys = 1'000'000'000;
  a.rate = 77'777;
  a.payload_bytes = 1'234;
  a.check_point_interval = 61s;
  a.timeout = 62s;
  a.consume_delay = 4s;
  a.duration = 0s;
  a.final_wait = 0s;
  a.time_series_interval = 120s;
  a.commit = proof::CommitMode::kEach;
  a.raw_read = core::RawReadScope::kFull;
  a.topic_exists = proof::TopicExists::kRecreate;
  a.keep_topic = true;
  a.topic_config = {{"retention.ms", "1000"}};
  a.order = core::Order::kPartition;
  a.compaction = a.retention = true;
  a.thresholds = {.stall_seconds_max = 1, .duplicates_max = 0, .errors_max = 1'000'000'000'000'000, .timeouts_max = 9,
                  .rate_min = 0.1};
  a.defects = {"lose:count=5", "corrupt:rate=0.001"};
  a.seed = ~std::uint64_t{0};
  proof::Proof b;
  b.driver = "kafka";
  b.settings = {{"bootstrap.servers", "k:9092"}};
  b.at_least_once = true;
  b.chaos = {"kill-leader:every=20s,down=8s", "pause:at=3s"};
  return {a, b};
}

TEST_F(RemoteWorkerTest, EveryFieldOfAProofSurvives) {
  serve();
  for (const proof::Proof& proof : proofs_of_all_fields()) {
    auto wanted = plan();
    wanted.proof = proof;
    const auto hello = remote()->prepare(wanted);
    ASSERT_TRUE(hello) << hello.error().message;
    const auto seen = host.port.seen();
    EXPECT_TRUE(seen.plan->proof == proof) << proof::to_json(seen.plan->proof);
  }
}

TEST_F(RemoteWorkerTest, EveryFieldIsOneOfThoseThatWereTried) {
  for (const proof::Field& field : proof::fields()) {
    const std::string member = fmt::format("\"{}\":", field.name.substr(field.name.rfind('.') + 1));
    bool tried = false;
    for (const auto& proof : proofs_of_all_fields()) {
      const bool other = value_text(field, proof) != value_text(field, proof::Proof{});
      const bool only_here = proof::to_json(proof).find(member) != std::string::npos &&
                             proof::to_json(proof::Proof{}).find(member) == std::string::npos;  // of a map or list
      tried = tried || other || only_here;
    }
    EXPECT_TRUE(tried) << field.name << ": give it a value in proofs_of_all_fields()";
  }
}

TEST_F(RemoteWorkerTest, AProofThatCannotBeToldExactlyIsNotSent) {
  serve();
  auto wanted = plan();
  wanted.proof.name = "no UTF-8: \xFF";
  EXPECT_EQ(remote()->prepare(wanted).error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(host.port.seen().plan);
}

TEST_F(RemoteWorkerTest, EveryCallArrivesAndIsAnswered) {
  const auto worker = attached();
  host.port.change([](auto& says) { says.bounds = {{core::PartitionId{2}, core::Offset{3}, core::Offset{99}}}; });
  EXPECT_EQ(*worker->create_topic(), 12U);
  EXPECT_TRUE(worker->delete_topic());
  EXPECT_TRUE(worker->start_consumers());
  EXPECT_TRUE(worker->start_producers());
  EXPECT_TRUE(worker->stop_producers());
  EXPECT_TRUE(worker->stop_consumers());
  const auto bounds = worker->log_bounds();
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->front().end, core::Offset{99});
  const control::RawReadRequest targets{{{core::PartitionId{2}, {core::Offset{3}, core::Offset{99}}}}};
  EXPECT_TRUE(worker->start_raw_read(targets));
  EXPECT_TRUE(worker->remove());
  EXPECT_EQ(host.port.seen().raw_reads.at(0).targets, targets.targets);
  EXPECT_EQ(host.port.seen().calls, (Names{"create_topic", "delete_topic", "start_consumers", "start_producers", "stop_producers",
                                    "stop_consumers", "log_bounds", "start_raw_read", "remove"}));
}

TEST_F(RemoteWorkerTest, ErrorsArriveWithCodeAndSentence) {
  const auto worker = attached();
  const auto [rows, count] = error_rows();
  for (std::size_t i = 0; i < count; ++i) {
    const Error wanted{rows[i].code, std::string("why: ").append(rows[i].name)};
    host.port.change([&](auto& says) { says.error = wanted; });
    const auto same = [&](const Error& error) { return error.code == wanted.code && error.message == wanted.message; };
    EXPECT_TRUE(same(worker->prepare(plan()).error()));
    EXPECT_TRUE(same(worker->create_topic().error()));
    EXPECT_TRUE(same(worker->start_producers().error()));
    EXPECT_TRUE(same(worker->log_bounds().error()));
    EXPECT_TRUE(same(worker->poll({}).error()));
  }
}

TEST_F(RemoteWorkerTest, APollArrivesAndItsReportComesBack) {
  const auto worker = attached();
  host.port.change([](auto& says) { says.report = sample_report(); });
  const control::WorkerPoll request{.acknowledge = 3, .tick = 0, .rows_max = 1'000, .counters = true};
  const auto report = worker->poll(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(host.port.seen().polls.at(0), request);
  auto wanted = sample_report();
  wanted.messages.emplace_back("poll 1");
  expect_same(*report, wanted);
}

TEST_F(RemoteWorkerTest, AServerHandsOutNoMoreRowsThanFitAMessage) {
  const auto worker = attached();
  ASSERT_TRUE(worker->poll({.acknowledge = 0, .tick = {}, .rows_max = ~std::size_t{0}, .counters = false}));
  EXPECT_EQ(host.port.seen().polls.at(0).rows_max, 500'000U);
}

TEST_F(RemoteWorkerTest, DeltasThatDoNotFitComeWithTheNextPoll) {
  const auto worker = attached();
  for (std::uint64_t number = 1; number <= 4; ++number) {
    track::Delta delta;
    delta.number = number;
    delta.literals = {std::string(std::size_t{12} << 20U, 'x')};
    host.port.change([&](auto& says) { says.report.deltas.push_back(delta); });
  }
  const auto report = worker->poll({});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->deltas.size(), 2U);
  EXPECT_TRUE(report->more);
}

TEST_F(RemoteWorkerTest, ADeltaTooLargeForAMessageIsAnErrorThatSaysSo) {
  const auto worker = attached();
  host.port.change([](auto& says) { says.report.deltas.emplace_back().literals = {std::string(std::size_t{65} << 20U, 'x')}; });
  EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kFull);
}

TEST_F(RemoteWorkerTest, WorkersThatWereAskedWorkAtTheSameTime) {
  serve();
  FakeHost other;
  auto other_server = WorkerServer::start(other, server_options);
  ASSERT_TRUE(other_server);
  const auto left = attached();
  options.address = (*other_server)->address();
  const auto right = remote();
  right->attach(other.run, other.source);
  host.port.block();
  other.port.block();
  left->ask({});
  right->ask({});
  host.port.wait_for_polls(1);
  other.port.wait_for_polls(1);
  host.port.release();
  other.port.release();
  EXPECT_EQ(left->poll({})->messages, Names{"poll 1"});
  EXPECT_EQ(right->poll({})->messages, Names{"poll 1"});
}

TEST_F(RemoteWorkerTest, PollGivesTheAnswerToItsOwnRequestOnly) {
  const auto worker = attached();
  const control::WorkerPoll tick{.acknowledge = 0, .tick = 5, .rows_max = 10, .counters = false};
  worker->ask({});
  const auto report = worker->poll(tick);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->messages.back(), "poll " + std::to_string(host.port.seen().polls.size()));
  EXPECT_EQ(host.port.seen().polls.back(), tick);
}

TEST_F(RemoteWorkerTest, AnAnswerThatNobodyTookIsNotGivenToTheNextWhoAsks) {
  const auto worker = attached();
  worker->ask({});
  host.port.wait_for_polls(1);
  const MonotonicTime deadline = clock.now() + 10s;
  while (host.port.begun() < 2 && clock.now() < deadline) worker->ask({});  // as long as the first is on its way, nothing
  const auto report = worker->poll({});
  ASSERT_TRUE(report);
  Names all;  // the last ask() may have found the second one answered too
  for (std::size_t i = 1; i <= host.port.begun(); ++i) all.push_back("poll " + std::to_string(i));
  EXPECT_GE(all.size(), 2U);
  EXPECT_EQ(report->messages, all) << "what the first held for a person is told";
}

TEST_F(RemoteWorkerTest, ASlowWorkerIsAwayUntilItsAnswerIsThereAndThatAnswerIsDropped) {
  options.poll_wait = 50ms;
  const auto worker = attached();
  host.port.change([](auto& says) {
    says.report = sample_report();
    says.report.messages.clear();
  });
  host.port.block();
  EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kUnavailable);
  host.port.wait_for_polls(1);
  const MonotonicTime before = clock.now();
  worker->ask({});
  EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kUnavailable) << "at once: it is still in flight";
  EXPECT_LT(clock.now() - before, 40ms);
  EXPECT_EQ(host.port.seen().polls.size(), 1U);
  host.port.change([](auto& says) { says.report.deltas.clear(); });  // what the second poll says
  host.port.release();
  const MonotonicTime deadline = clock.now() + 60s;
  Result<control::WorkerReport> report = fail(ErrorCode::kUnavailable, "");
  while (!report && clock.now() < deadline) report = worker->poll({});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->deltas.empty());
  EXPECT_EQ(report->messages, (Names{"poll 1", "poll 2"}));
}

TEST_F(RemoteWorkerTest, ACallThatNeverEndsIsGivenUpAtItsDeadlineAndMadeAgain) {
  options.poll_wait = 20ms;
  options.poll_deadline = 100ms;
  const auto worker = attached();
  host.port.block();
  const MonotonicTime deadline = clock.now() + 60s;
  while (host.port.begun() < 3 && clock.now() < deadline) {
    EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kUnavailable);
  }
  EXPECT_EQ(host.port.begun(), 3U);
  host.port.release();
  Result<control::WorkerReport> report = fail(ErrorCode::kUnavailable, "");
  while (!report && clock.now() < deadline) report = worker->poll({});
  EXPECT_TRUE(report);
}

TEST_F(RemoteWorkerTest, DestroyingItWhileAPollIsInFlightWaitsForNobody) {
  auto worker = attached();
  host.port.block();
  worker->ask({});
  host.port.wait_for_polls(1);
  const MonotonicTime before = clock.now();
  worker.reset();
  EXPECT_LT(clock.now() - before, 5s);
}

TEST_F(RemoteWorkerTest, WithoutARunACallIsRefused) {
  serve();
  EXPECT_EQ(remote()->create_topic().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(remote()->poll({}).error().code, ErrorCode::kInvalid);
}

TEST_F(RemoteWorkerTest, OfAnUnknownRunTheWorkerSaysSo) {
  serve();
  const auto worker = remote();
  worker->attach(core::RunId{1}, host.source);
  EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(worker->start_producers().error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(worker->remove()) << "removing what is not there is no error";
}

TEST_F(RemoteWorkerTest, AWorkerThatIsNotThereIsUnavailableAndFoundWhenItIsBack) {
  const auto worker = attached();
  ASSERT_TRUE(worker->stop_producers());
  server_options.port = server->port();
  server.reset();
  EXPECT_EQ(worker->stop_producers().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(worker->poll({}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(worker->create_topic().error().code, ErrorCode::kUnavailable);
  serve();
  const MonotonicTime deadline = clock.now() + 60s;
  bool back = false;
  while (!back && clock.now() < deadline) back = worker->poll({}).has_value();
  EXPECT_TRUE(back);
}

TEST_F(RemoteWorkerTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  serve();
  server_options.port = server->port();
  const auto second = WorkerServer::start(host, server_options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_NE(second.error().message.find(server->address()), std::string::npos);
}

TEST_F(RemoteWorkerTest, WithATokenOnlyItsBearerIsServed) {
  server_options.credentials.token = "correct-horse";
  serve();
  const auto code = [&](const std::string& token) {
    options.credentials.token = token;
    const auto worker = attached();
    const auto polled = worker->poll({});
    const auto told = worker->info();
    EXPECT_EQ(polled.has_value(), told.has_value());
    return polled ? "served" : std::string(error_row(polled.error().code).name);
  };
  const std::string denied(error_row(ErrorCode::kDenied).name);
  EXPECT_EQ(code("correct-horse"), "served");
  EXPECT_EQ(code(""), denied);
  EXPECT_EQ(code("correct-hors"), denied);
  EXPECT_EQ(code("correct-horsecorrect-horse"), denied);
  EXPECT_EQ(code("Correct-horse"), denied);
}

TEST_F(RemoteWorkerTest, CredentialsThatContradictThemselvesAreRefusedBeforeUse) {
  options.address = "127.0.0.1:1";
  for (const ClientCredentials& bad :
       {ClientCredentials{.token = "line end\n"}, ClientCredentials{.ca = "x", .certificate = "y"},
        ClientCredentials{.certificate = "x", .key = "y"}, ClientCredentials{.server_name = "x"}}) {
    options.credentials = bad;
    EXPECT_EQ(RemoteWorker::open(clock, options).error().code, ErrorCode::kInvalid);
  }
  for (const ServerCredentials& bad : {ServerCredentials{.key = "x"}, ServerCredentials{.ca = "x"}, ServerCredentials{.token = " "}}) {
    server_options.credentials = bad;
    EXPECT_EQ(WorkerServer::start(host, server_options).error().code, ErrorCode::kInvalid);
  }
  server_options.credentials = {.certificate = "no certificate", .key = "no key"};
  EXPECT_EQ(WorkerServer::start(host, server_options).error().code, ErrorCode::kIo);
}

TEST_F(RemoteWorkerTest, OverTlsOnlyAServerOfTheCaIsBelieved) {
  server_options.credentials.certificate = certificates::kWorker;
  server_options.credentials.key = certificates::kWorkerKey;
  serve();
  EXPECT_EQ(attached()->info().error().code, ErrorCode::kUnavailable) << "plain text";
  options.credentials.ca = certificates::kStranger;
  EXPECT_EQ(attached()->info().error().code, ErrorCode::kUnavailable) << "another CA";
  options.credentials.ca = certificates::kCa;
  EXPECT_TRUE(attached()->info());
  options.credentials.server_name = "elsewhere";
  EXPECT_EQ(attached()->info().error().code, ErrorCode::kUnavailable) << "another name";
}

TEST_F(RemoteWorkerTest, OverMutualTlsOnlyAClientOfTheCaIsServed) {
  server_options.credentials = {.certificate = certificates::kWorker, .key = certificates::kWorkerKey, .ca = certificates::kCa,
                                .token = "and-a-token"};
  serve();
  options.credentials = {.ca = certificates::kCa, .token = "and-a-token"};
  EXPECT_EQ(attached()->info().error().code, ErrorCode::kUnavailable) << "no certificate";
  options.credentials.certificate = certificates::kStranger;
  options.credentials.key = certificates::kStrangerKey;
  EXPECT_EQ(attached()->info().error().code, ErrorCode::kUnavailable) << "a stranger's";
  options.credentials.certificate = certificates::kCoordinator;
  options.credentials.key = certificates::kCoordinatorKey;
  EXPECT_TRUE(attached()->poll({}));
}

}  // namespace
}  // namespace sp::rpc

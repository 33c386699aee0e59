#include "api/worker_view.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/server.h"

namespace sp::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

SequenceAt at(std::uint64_t sequence, std::uint32_t partition, std::uint64_t offset) {
  SequenceAt of;
  of.sequence = core::Sequence{sequence};
  of.position = core::Position{core::PartitionId{partition}, core::Offset{offset}};
  return of;
}

// A fake: remembers what it was told, and knows one proof.
class FakeWorker final : public WorkerView {
 public:
  Result<void> start_producers(const NewProducers& producers) override {
    producers_ = producers;
    if (producers.topic == "taken") return fail(ErrorCode::kUnavailable, "nobody answers");
    return {};
  }
  Result<void> stop_producers(std::string_view id) override {
    stopped_ += "p:" + std::string(id) + " ";
    return {};
  }
  Result<void> start_consumers(const NewConsumers& consumers) override {
    consumers_ = consumers;
    return {};
  }
  Result<void> stop_consumers(std::string_view id) override {
    stopped_ += "c:" + std::string(id) + " ";
    return {};
  }
  ProducerCheckpoint producer_checkpoint(std::string_view id) const override {
    if (id != "aB3dE") return {};
    const WallTime seen{std::chrono::milliseconds(1'767'225'600'123)};
    return {{{"Hk2Lp", at(41, 3, 977)}, {"Zz9Yy", {}}}, {{"Seq writes gap", 1, seen, seen}}};
  }
  ConsumerCheckpoint consumer_checkpoint(std::string_view id, const Watermarks& watermarks) override {
    watermarks_ = watermarks;
    if (id != "aB3dE") return {};
    ConsumerCheckpoint of;
    ConsumerCheckpoint::Range range{WallTime{std::chrono::microseconds(1'767'225'605'000'123)}, at(21, 3, 900), at(40, 3, 975), 0};
    range.start.published = WallTime{std::chrono::milliseconds(1'767'225'601'000)};
    of.consumed["Hk2Lp"].push_back(range);
    return of;
  }
  std::map<std::string, ConsumerCheckpoint> consumer_details(std::string_view id) const override {
    if (id != "aB3dE") return {};
    return {{"consumer-0", {}}};
  }
  GroupMetrics metrics(std::string_view id, bool windowed) override {
    windowed_ = windowed;
    if (id != "aB3dE") return {};
    GroupMetrics of;
    of.traffic.attempts = 5000;
    of.traffic.acked = 4998;
    of.traffic.failed = 2;
    of.publish_latency.emplace();
    for (const int millis : {2, 3, 3}) of.publish_latency->record(std::chrono::milliseconds(millis));
    return of;
  }

  NewProducers producers_;
  NewConsumers consumers_;
  Watermarks watermarks_;
  std::string stopped_;
  bool windowed_ = false;
};

class WorkerViewTest : public testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(const Tokens& tokens) {
    server_.reset();
    http::Routes routes;
    add_worker_routes(routes, worker_, tokens);
    auto server = http::Server::start({}, std::move(routes), clock_);
    ASSERT_TRUE(server.has_value());
    server_ = *std::move(server);
  }
  std::string ask(const std::string& method, const std::string& path, std::string body = "") {
    const auto answer = http::Client({}, clock_).call(
        {.method = method, .url = "http://127.0.0.1:" + std::to_string(server_->port()) + path, .body = std::move(body)});
    return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().message;
  }
  FakeWorker worker_;
  SystemMonotonicClock clock_;
  std::unique_ptr<http::Server> server_;
};

// The two requests are the reference's examples.
TEST_F(WorkerViewTest, StartsWhatTheReferencesCoordinatorAsksFor) {
  EXPECT_EQ(ask("POST", "/consumers/start",
                R"({"id":"aB3dE","topic":"Qw7xZ","partitions":6,"consumers":2,"consumeDelayMs":7,"messageSize":256,"driverName":"k1",)"
                R"("driver":{"driverType":"kafka","driverConfigs":{"bootstrap.servers":"k:9092"}},"pulsarConsumerConfig":null})"),
            "200 ");
  EXPECT_EQ(worker_.consumers_.consumers, 2U);
  EXPECT_EQ(worker_.consumers_.consume_delay.count(), 7);
  EXPECT_EQ(worker_.consumers_.driver.type, "kafka");
  EXPECT_EQ(ask("POST", "/producers/start",
                R"({"id":"aB3dE","topic":"Qw7xZ","producers":2,"keys":3,"msgRate":500,"messageSize":256,"driverName":"k1",)"
                R"("driver":{"driverType":"kafka","driverConfigs":{"bootstrap.servers":"k:9092"}},"transactional":false})"),
            "200 ");
  EXPECT_EQ(worker_.producers_.id + worker_.producers_.topic, "aB3dEQw7xZ");
  EXPECT_EQ(worker_.producers_.keys, 3U);
  EXPECT_EQ(worker_.producers_.driver.name, "k1");
  ASSERT_EQ(worker_.producers_.driver.settings.size(), 1U);
  EXPECT_EQ(worker_.producers_.driver.settings[0].json, "\"k:9092\"");
}

TEST_F(WorkerViewTest, RefusesAStartWithAllThatIsWrong) {
  const std::string wrong =
      ask("POST", "/producers/start", R"({"id":"","producers":0,"keys":-1,"msgRate":1,"transactional":"x","more":1})");
  EXPECT_THAT(wrong, StartsWith("400 "));
  for (const char* said : {"'id' is no text", "'topic' is no text", "'producers' is no number", "'keys' is no number", "no 'driver'",
                           "'transactional' is neither", "unknown field 'more'"})
    EXPECT_THAT(wrong, HasSubstr(said));
  EXPECT_EQ(worker_.producers_.id, "");
  EXPECT_THAT(ask("POST", "/consumers/start", "[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(ask("POST", "/producers/start",
                  R"({"id":"a","topic":"taken","producers":1,"keys":1,"msgRate":1,"driverName":"e","driver":{"driverType":"embedded"}})"),
              StartsWith("503 {\"error\":{\"code\":\"unavailable\""));
}

TEST_F(WorkerViewTest, CheckpointsHaveTheShapeOfTheReferencesExamples) {
  EXPECT_EQ(ask("GET", "/producers/checkpoints/aB3dE"),
            R"(200 {"published":{"Hk2Lp":{"seq":41,"metadata":{"offset":977,"partition":3,"originalOffset":-1,)"
            R"("publishTimestampMillis":-1}},)"
            R"("Zz9Yy":{"seq":-1,"metadata":{"offset":-1,"ledgerId":-1,"entryId":-1,"originalOffset":-1,"publishTimestampMillis":-1}}},)"
            R"("errorDetails":{"Seq writes gap":{"count":1,"firstSeenAtMillis":1767225600123,"lastSeenAtMillis":1767225600123}}})");
  EXPECT_EQ(ask("POST", "/consumers/checkpoints/aB3dE", R"({"Hk2Lp":20,"Zz9Yy":-1})"),
            R"(200 {"consumed":{"Hk2Lp":{"2026-01-01T00:00:05.000123":{)"
            R"("start":{"seq":21,"metadata":{"offset":900,"partition":3,"originalOffset":-1,"publishTimestampMillis":1767225601000}},)"
            R"("end":{"seq":40,"metadata":{"offset":975,"partition":3,"originalOffset":-1,"publishTimestampMillis":-1}},"duplicated":0}}},)"
            R"("writeDupsOrOutOrder":{},"missedSeqs":{},"duplicatedCount":{},"outOfOrderSeqs":{},"writeDuplicatesSeqs":{}})");
  EXPECT_EQ(worker_.watermarks_, (WorkerView::Watermarks{{"Hk2Lp", 20}, {"Zz9Yy", -1}}));
  EXPECT_THAT(ask("POST", "/consumers/checkpoints/aB3dE", R"({"a":"x","b":-2})"), HasSubstr("watermark of 'b'"));
  EXPECT_THAT(ask("GET", "/consumers/checkpoints/aB3dE/details"), StartsWith(R"(200 {"consumer-0":{"consumed":{})"));
}

TEST_F(WorkerViewTest, MetricsHaveSamplesOfTheDistribution) {
  EXPECT_EQ(ask("GET", "/metrics/aB3dE"),
            R"(200 {"sendAttempts":5000,"acknowledgedMessages":4998,"acknowledgedBytes":0,"publishErrors":2,"receivedMessages":0,)"
            R"("receivedBytes":0,"publishLatency":{"count":3,"sumMillis":8,"maxMillis":3,"samplesMillis":[2,3,3]}})");
  EXPECT_FALSE(worker_.windowed_);
  EXPECT_THAT(ask("GET", "/metrics/aB3dE/windowed"), StartsWith("200 "));
  EXPECT_TRUE(worker_.windowed_);
}

TEST_F(WorkerViewTest, AnIdThatIsNotKnownIsNoError) {
  EXPECT_EQ(ask("GET", "/producers/checkpoints/nope"), R"(200 {"published":{},"errorDetails":{}})");
  EXPECT_THAT(ask("POST", "/consumers/checkpoints/nope"), StartsWith(R"(200 {"consumed":{},)"));
  EXPECT_THAT(ask("POST", "/consumers/checkpoints/nope", "{}"), StartsWith(R"(200 {"consumed":{},)"));
  EXPECT_EQ(ask("GET", "/consumers/checkpoints/nope/details"), "200 {}");
  EXPECT_THAT(ask("GET", "/metrics/nope"), HasSubstr(R"("receivedBytes":0})"));
  EXPECT_EQ(ask("POST", "/producers/stop/nope"), "200 ");
  EXPECT_EQ(ask("POST", "/consumers/stop/nope"), "200 ");
  EXPECT_EQ(worker_.stopped_, "p:nope c:nope ");
}

TEST_F(WorkerViewTest, NeedsATokenWhereThereIsOne) {
  start(*Tokens::parse("read 0123456789abcdef"));
  EXPECT_THAT(ask("GET", "/metrics/x"), StartsWith("401 "));
  EXPECT_THAT(ask("POST", "/producers/stop/x"), StartsWith("401 "));
}

}  // namespace
}  // namespace sp::api

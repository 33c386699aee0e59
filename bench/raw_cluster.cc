#include "raw_cluster.h"

#include <array>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>
#include <fmt/core.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "cli/wiring.h"
#include "scenario/cluster/cluster.h"
#include "sys/files.h"
#include "sys/process.h"

namespace sp::bench {
namespace {

using scenario::cluster::KafkaCluster;

class RealCluster final : public RawCluster {
 public:
  RealCluster(sys::TemporaryFolder folder, KafkaCluster cluster, scenario::cluster::KafkaArtefacts kafka)
      : folder_(std::move(folder)), cluster_(std::move(cluster)), kafka_(std::move(kafka)) {}
  ~RealCluster() override { static_cast<void>(cluster_.down()); }
  [[nodiscard]] std::string bootstrap() const override { return cluster_.bootstrap(); }
  [[nodiscard]] bool is_real() const override { return true; }
  Result<JavaRate> producer_performance(const std::string& topic, std::uint64_t records,
                                        std::size_t record_bytes) override {
    sys::SpawnSpec spec;
    spec.args = {kafka_.java.string(), "-Xmx512m", "-cp", kafka_.class_path(), "org.apache.kafka.tools.ProducerPerformance",
                 "--topic", topic, "--num-records", std::to_string(records), "--record-size", std::to_string(record_bytes),
                 "--throughput", "-1", "--producer-props", "bootstrap.servers=" + bootstrap(), "acks=all"};
    spec.out = folder_.path() / fmt::format("producer-performance-{}.log", ++calls_);
    spec.err = spec.out;
    auto ended = sys::run(spec, std::chrono::minutes(5));
    if (!ended) return fail_up(Result<JavaRate>(tl::unexpected(std::move(ended).error())), "ProducerPerformance");
    const std::string text = sys::last_lines(spec.out, 20);
    JavaRate rate;
    // "500000 records sent, 123456.7 records/sec (11.77 MB/sec), …": the last such line is that of the whole run.
    const std::size_t at = text.rfind(" records sent, ");
    if (ended->code != 0 || at == std::string::npos) {
      return fail(ErrorCode::kUnavailable, "ProducerPerformance ended with " + ended->text() + ": " + text);
    }
    rate.records_a_second = std::strtod(text.c_str() + at + 15, nullptr);
    const std::size_t line = text.rfind('\n', at);
    rate.says = text.substr(line == std::string::npos ? 0 : line + 1);
    return rate;
  }

 private:
  sys::TemporaryFolder folder_;
  KafkaCluster cluster_;
  scenario::cluster::KafkaArtefacts kafka_;
  int calls_ = 0;
};

class MockCluster final : public RawCluster {
 public:
  MockCluster(const std::vector<std::string>& topics, std::uint32_t partitions) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    std::array<char, 256> why{};
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
    if (client_ == nullptr) return;
    cluster_ = rd_kafka_mock_cluster_new(client_, 1);
    // Newer than the headers: a first member need not wait three seconds for others.
    using SetDelay = void (*)(rd_kafka_mock_cluster_t*, std::int32_t);
    const auto set_delay =
        reinterpret_cast<SetDelay>(dlsym(RTLD_DEFAULT, "rd_kafka_mock_group_initial_rebalance_delay_ms"));
    if (set_delay != nullptr) set_delay(cluster_, 50);
    for (const auto& topic : topics) {
      rd_kafka_mock_topic_create(cluster_, topic.c_str(), static_cast<int>(partitions), 1);
    }
  }
  ~MockCluster() override {
    if (cluster_ != nullptr) rd_kafka_mock_cluster_destroy(cluster_);
    if (client_ != nullptr) rd_kafka_destroy(client_);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;
  [[nodiscard]] bool made() const { return cluster_ != nullptr; }
  [[nodiscard]] std::string bootstrap() const override { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  [[nodiscard]] bool is_real() const override { return false; }
  Result<JavaRate> producer_performance(const std::string&, std::uint64_t, std::size_t) override {
    return fail(ErrorCode::kUnsupported, "the mock is not measured against Java");
  }

 private:
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<RawCluster>> start_kafka(MonotonicClock& clock, const WallClock& wall) {
  const auto say = [](std::string_view text) { fmt::print("{}\n", text); };
  auto fetch = scenario::cluster::usual_fetch();
  if (!fetch) return tl::unexpected(std::move(fetch).error());
  auto kafka = scenario::cluster::fetch_kafka(*fetch, say);
  if (!kafka) return tl::unexpected(std::move(kafka).error());
  auto folder = sys::TemporaryFolder::make("streaming-proof-bench");
  if (!folder) return tl::unexpected(std::move(folder).error());
  scenario::cluster::KafkaSpec spec;
  spec.properties["log.segment.delete.delay.ms"] = "1000";  // many topics come and go: their space is needed again
  scenario::cluster::UpHooks hooks;
  hooks.ready = cli::ready_probe(1, clock, wall);
  auto cluster = KafkaCluster::up(spec, folder->path() / "cluster", *kafka, clock, hooks);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  return std::make_unique<RealCluster>(std::move(*folder), std::move(*cluster), std::move(*kafka));
}

Result<std::unique_ptr<RawCluster>> start_mock(const std::vector<std::string>& topics, std::uint32_t partitions) {
  auto mock = std::make_unique<MockCluster>(topics, partitions);
  if (!mock->made()) return fail(ErrorCode::kUnavailable, "librdkafka's mock cluster did not start");
  return mock;
}

}  // namespace sp::bench

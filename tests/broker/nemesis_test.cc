// The nemesis on three real Kafka nodes under load, watched by a Kafka client of its own.
#include "scenario/fault/nemesis.h"

#include <condition_variable>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/kafka/kafka.h"
#include "scenario/cluster/artefacts.h"
#include "scenario/cluster/cluster.h"
#include "sys/files.h"

namespace sp::scenario::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::MatchesRegex;

constexpr std::uint32_t kPartitions = 3;

class IgnoringSink final : public core::ObservationSink {
 public:
  void observe(const core::Observation& /*observation*/) override {}
};

// Does nothing to anybody.
class DeafTarget final : public Target {
 public:
  [[nodiscard]] std::vector<std::int32_t> nodes() const override { return {1, 2, 3}; }
  Result<void> kill(std::int32_t) override { return {}; }
  Result<void> stop(std::int32_t) override { return {}; }
  Result<void> freeze(std::int32_t) override { return {}; }
  Result<void> thaw(std::int32_t) override { return {}; }
  Result<void> restart(std::int32_t) override { return {}; }
  [[nodiscard]] bool running(std::int32_t) override { return true; }
};

// One cluster for all tests of the suite, because starting one takes longer than breaking it.
class RealNemesisTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_.emplace(sys::TemporaryFolder::make("sp-nemesis-test").value());
    const auto options = cluster::usual_fetch();
    ASSERT_TRUE(options.has_value()) << options.error().message;
    const auto kafka = cluster::fetch_kafka(*options, {});
    ASSERT_TRUE(kafka.has_value()) << kafka.error().message;
    cluster::KafkaSpec spec;
    spec.nodes = 3;
    cluster::UpHooks hooks;
    hooks.ready = [](const std::string& bootstrap) { return ready(bootstrap); };
    auto made = cluster::KafkaCluster::up(spec, folder_->path() / "c", *kafka, clock_, hooks);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    cluster_.emplace(std::move(*made));
    driver::ProducerSpec trickle;
    trickle.name = "trickle";
    trickle.topic = "nemesis";
    auto producer = driver_->open_producer(trickle);
    ASSERT_TRUE(producer.has_value()) << producer.error().message;
    producer_ = std::move(*producer);
  }
  static void TearDownTestSuite() {
    producer_.reset();
    driver_.reset();
    if (cluster_) {
      EXPECT_TRUE(cluster_->down().has_value());
    }
    cluster_.reset();
    folder_.reset();
  }
  // As a caller of up() does it: the topic is there and takes records.
  static Result<bool> ready(const std::string& bootstrap) {
    if (!driver_) {
      auto opened = driver::kafka::open({{"bootstrap.servers", bootstrap},
                                         {"socket.timeout.ms", "2000"},
                                         {"topic.metadata.refresh.interval.ms", "1000"}},
                                        clock_);
      if (!opened) return tl::unexpected<Error>(std::move(opened).error());
      driver_ = std::move(*opened);
    }
    driver::TopicSpec topic;
    topic.name = "nemesis";
    topic.partitions = kPartitions;
    topic.replication = 3;
    const auto created = driver_->create_topic(topic);
    if (!created && created.error().code != ErrorCode::kExists) return tl::unexpected<Error>(created.error());
    const auto state = driver_->cluster_state("nemesis");
    if (!state) return tl::unexpected<Error>(state.error());
    for (const auto& partition : state->partitions) {
      if (!partition.leader || partition.in_sync.size() != 3) return false;
    }
    return state->partitions.size() == kPartitions;
  }

  // Runs the chaos to its end over a steady trickle of records: an idle partition never shrinks its in-sync set.
  // The end of a fault is that every replica is back in sync, so the next call finds a whole cluster.
  std::vector<core::FaultRecord> run(const std::vector<std::string>& chaos, Target& target) {
    const Nanoseconds duration = seconds(60);  // of a load; what is over sooner is not waited for
    PollingOptions options;
    options.nodes = target.nodes();
    options.look = [] { return driver_->cluster_state("nemesis"); };
    options.answers = [](std::int32_t node) {
      return cluster_->answers(static_cast<std::uint32_t>(node), seconds(1));
    };
    PollingObserver observer(clock_, std::move(options));
    std::vector<ChaosSpec> specs;
    for (const auto& text : chaos) specs.push_back(parse_chaos(text).value());
    Nemesis nemesis(specs, {1, clock_.now(), duration}, target, observer);
    IgnoringSink sink;
    std::vector<std::byte> payload(core::kPayloadBytesMin);
    std::uint32_t sent = 0;
    for (const MonotonicTime end = clock_.now() + duration + seconds(90);
         !nemesis.done() && clock_.now() < end;) {
      (void)nemesis.step(clock_.now());
      core::Envelope envelope{"k", core::Sequence{sent}, payload, core::PartitionId{sent % kPartitions}};
      ++sent;
      (void)producer_->send(envelope, core::KeyRef{});
      (void)producer_->poll(milliseconds(5), sink);
    }
    EXPECT_TRUE(nemesis.done());
    nemesis.release_all(clock_.now());
    for (const auto& note : nemesis.notes()) ADD_FAILURE() << note;
    for (const auto& record : nemesis.records()) {
      std::printf("  %s of %s: '%s' after %lld ms, over after %lld ms\n", record.name.c_str(),
                  record.target.c_str(), record.effect.c_str(),
                  record.effect_seen ? millis(*record.effect_seen - record.begin) : -1,
                  record.end ? millis(*record.end - record.begin) : -1);
    }
    return nemesis.records();
  }
  static long long millis(Nanoseconds span) { return std::chrono::duration_cast<milliseconds>(span).count(); }

  static inline SystemMonotonicClock clock_;
  static inline std::optional<sys::TemporaryFolder> folder_;
  static inline std::optional<cluster::KafkaCluster> cluster_;
  static inline std::unique_ptr<driver::Driver> driver_;
  static inline std::unique_ptr<driver::Producer> producer_;
};

TEST_F(RealNemesisTest, EachKindIsFelt) {
  ClusterTarget target(*cluster_);
  std::vector<core::FaultRecord> records;
  for (const auto* chaos : {"kill-leader:at=1s,down=5s", "freeze-followers:at=1s,for=3s",
                            "freeze-follower:at=1s,for=5s", "kill-follower:at=1s,down=3s"}) {
    for (auto& record : run({chaos}, target)) records.push_back(std::move(record));
  }
  ASSERT_EQ(records.size(), 4U);
  EXPECT_THAT(records[0].effect, MatchesRegex("(.*then )?leader of partition 0 moved from [123] to [123]"));
  // Of two that are frozen one may be out of sync before anybody looks for the other.
  EXPECT_THAT(records[1].effect,
              MatchesRegex("nodes? [123]( and [123])? (stopped answering|left the in-sync set of partition [012])"));
  EXPECT_THAT(records[2].effect, MatchesRegex("node [123] left the in-sync set of partition [012]"));
  EXPECT_THAT(records[3].effect, MatchesRegex("node [123] left the in-sync set of partition [012]"));
  for (const auto& record : records) EXPECT_TRUE(record.took_effect() && record.end) << record.name;
}

TEST_F(RealNemesisTest, TheWholeClusterCanBeKilledAndRolled) {
  ClusterTarget target(*cluster_);
  auto records = run({"kill-all:at=1s,down=2s"}, target);
  for (auto& record : run({"restart-rolling:at=1s,down=1s"}, target)) records.push_back(std::move(record));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records[0].took_effect()) << records[0].name;
  EXPECT_EQ(records[1].effect, "nodes 1, 2 and 3 left the in-sync sets and came back");
}

TEST_F(RealNemesisTest, WithoutTheSignalThereIsNoEffect) {
  DeafTarget target;
  const auto records =
      run({"kill-leader:at=1s,down=1s", "kill-follower:at=1s,down=1s", "freeze-followers:at=1s,for=1s"}, target);
  ASSERT_EQ(records.size(), 3U);
  for (const auto& record : records) {
    EXPECT_FALSE(record.took_effect()) << record.name << ": " << record.effect;
    EXPECT_EQ(record.effect, "");
  }
}

}  // namespace
}  // namespace sp::scenario::fault

#include "cli/wiring.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/prng.h"
#include "base/text.h"
#include "cli/ready_probe.h"
#include "driver/embedded/defects.h"
#include "driver/embedded/embedded.h"
#include "driver/kafka/kafka.h"
#include "rpc/broker/remote_driver.h"
#include "scenario/cluster/cluster.h"
#include "scenario/fault/nemesis.h"
#include "sys/files.h"

namespace sp::cli {

namespace {

// The address of a broker in another process, that the proof names; "": it names none.
std::string broker_address(const proof::Proof& proof) {
  const auto found = proof.settings.find(std::string(driver::embedded::kBrokerAddress));
  return found == proof.settings.end() ? std::string() : found->second;
}

// What is planted is decided where the broker is, or each worker would think that it decides.
Result<void> check_remote(const proof::Proof& proof) {
  if (proof.defects.empty()) return {};
  return fail(ErrorCode::kInvalid, fmt::format("defects are planted by the broker at {}: give them to streaming-proof broker --defect, and "
                                               "none to the proof", broker_address(proof)));
}

Result<std::unique_ptr<driver::Driver>> open_remote(const proof::Proof& proof, MonotonicClock& clock) {
  if (auto good = check_remote(proof); !good) return tl::unexpected(std::move(good).error());
  rpc::broker::RemoteBroker broker;
  broker.address = broker_address(proof);
  return rpc::broker::open(clock, broker, proof.settings);
}

}  // namespace

void System::load_begins(const std::string&, MonotonicTime, std::optional<MonotonicTime>) {}
void System::load_ends(MonotonicTime) {}
MonotonicTime System::step(MonotonicTime) { return MonotonicTime::max(); }
const std::vector<core::FaultRecord>& System::faults() {
  static const std::vector<core::FaultRecord> none;
  return none;
}
Result<void> System::close(bool) { return {}; }

driver::embedded::Expected expected_of(const proof::Proof& proof) {
  driver::embedded::Expected expected;
  expected.records =
      proof.rate * static_cast<std::uint64_t>(std::max<std::int64_t>(0, proof.duration.count()));
  expected.keys = proof.keys;
  expected.groups = proof.groups;
  return expected;
}

worker::DriverFactory embedded_factory(driver::embedded::Broker& broker) {
  return [&broker](const proof::Proof& proof) -> Result<std::unique_ptr<driver::Driver>> {
    auto made = driver::embedded::EmbeddedDriver::make(broker, proof.settings);
    if (!made) return tl::unexpected(std::move(made).error());
    return std::unique_ptr<driver::Driver>(std::move(*made));
  };
}

worker::DriverFactory WorkerSystems::factory() {
  return [this](const proof::Proof& proof) { return open(proof); };
}

Result<std::unique_ptr<driver::Driver>> WorkerSystems::open(const proof::Proof& proof) {
  if (proof.driver == "embedded") return open_embedded(proof);
  if (proof.driver != "kafka") {
    return fail(ErrorCode::kUnsupported, fmt::format("this worker has no driver of type '{}'; it has embedded and kafka", proof.driver));
  }
  constexpr std::string_view kZone = "{zone.id}";
  auto settings = proof.settings;
  const auto client = settings.find("client.id");
  if (client != settings.end() && client->second.find(kZone) != std::string::npos) {
    if (zone_.empty()) {
      return fail(ErrorCode::kInvalid, "client.id has {zone.id}, and this worker has no zone; start it with --zone or ZONE_ID");
    }
    client->second.replace(client->second.find(kZone), kZone.size(), zone_);
  }
  return driver::kafka::open(settings, clock_);
}

Result<std::unique_ptr<driver::Driver>> WorkerSystems::open_embedded(const proof::Proof& proof) {
  if (!broker_address(proof).empty()) return open_remote(proof, clock_);
  if (proof.workers > 1) {
    return fail(ErrorCode::kUnsupported, "the embedded broker lives within one worker process: configure one worker, or start "
                                         "streaming-proof broker and set broker.address");
  }
  auto defects = driver::embedded::parse_defects(proof.defects);
  if (!defects) return tl::unexpected(std::move(defects).error());
  const std::lock_guard lock(mutex_);
  auto& broker = brokers_[proof.topic];
  if (!broker) {
    driver::embedded::BrokerOptions options;
    options.seed = proof.seed;
    options.defects = std::move(*defects);
    options.expected = expected_of(proof);
    broker = std::make_unique<driver::embedded::Broker>(clock_, wall_, std::move(options));
  }
  return embedded_factory(*broker)(proof);
}

namespace {

// ── the embedded broker ──

class EmbeddedSystem final : public System {
 public:
  EmbeddedSystem(const Surroundings& around, driver::embedded::BrokerOptions options)
      : broker_(around.clock, around.wall, std::move(options)), folder_(around.folder) {}
  worker::DriverFactory factory() override { return embedded_factory(broker_); }
  // What was planted stays beside the report, so that a person can compare.
  Result<void> close(bool) override {
    const auto truth = broker_.truth();
    if (truth.empty()) return {};
    return driver::embedded::write_truth(truth, (folder_ / "truth.jsonl").string());
  }

 private:
  driver::embedded::Broker broker_;
  std::filesystem::path folder_;
};

// A broker in another process: it was there before the run, and stays.
class RemoteEmbedded final : public System {
 public:
  explicit RemoteEmbedded(MonotonicClock& clock) : clock_(clock) {}
  worker::DriverFactory factory() override {
    return [this](const proof::Proof& proof) { return open_remote(proof, clock_); };
  }

 private:
  MonotonicClock& clock_;
};

Result<std::unique_ptr<System>> open_embedded(const RunRequest& request,
                                              const Surroundings& around) {
  if (!broker_address(request.proof).empty()) return std::make_unique<RemoteEmbedded>(around.clock);
  driver::embedded::BrokerOptions options;
  options.seed = around.seed;
  auto defects = driver::embedded::parse_defects(request.proof.defects);
  if (!defects) return tl::unexpected(std::move(defects).error());
  options.defects = std::move(*defects);
  options.expected = expected_of(request.proof);
  return std::make_unique<EmbeddedSystem>(around, std::move(options));
}

// ── Kafka that is there, or started for this run ──

worker::DriverFactory kafka_factory(MonotonicClock& clock, std::string bootstrap) {
  return [&clock, bootstrap = std::move(bootstrap)](const proof::Proof& proof) {
    auto settings = proof.settings;
    if (!bootstrap.empty()) settings["bootstrap.servers"] = bootstrap;
    return driver::kafka::open(settings, clock);
  };
}

class KafkaSystem final : public System {
 public:
  explicit KafkaSystem(MonotonicClock& clock) : clock_(clock) {}
  worker::DriverFactory factory() override { return kafka_factory(clock_, ""); }

 private:
  MonotonicClock& clock_;
};

using scenario::cluster::KafkaCluster;

class LocalKafka final : public System {
 public:
  LocalKafka(const RunRequest& request, const Surroundings& around, KafkaCluster cluster,
             std::vector<scenario::fault::ChaosSpec> chaos)
      : proof_(request.proof),
        around_(around),
        cluster_(std::move(cluster)),
        target_(cluster_),
        chaos_(std::move(chaos)) {}
  ~LocalKafka() override { static_cast<void>(cluster_.down()); }

  worker::DriverFactory factory() override {
    return kafka_factory(around_.clock, cluster_.bootstrap());
  }
  void load_begins(const std::string& topic, MonotonicTime begin,
                   std::optional<MonotonicTime> end) override;
  void load_ends(MonotonicTime now) override {
    if (nemesis_) nemesis_->release_all(now);
  }
  MonotonicTime step(MonotonicTime now) override;
  const std::vector<core::FaultRecord>& faults() override {
    return nemesis_ ? nemesis_->records() : System::faults();
  }
  Result<void> close(bool passed) override;

 private:
  proof::Proof proof_;
  Surroundings around_;
  KafkaCluster cluster_;
  scenario::fault::ClusterTarget target_;
  std::vector<scenario::fault::ChaosSpec> chaos_;
  std::unique_ptr<driver::Driver> looker_;  // a client that no fault of the proof's clients touches
  std::unique_ptr<scenario::fault::PollingObserver> observer_;
  std::unique_ptr<scenario::fault::Nemesis> nemesis_;
  std::size_t notes_told_ = 0;
  std::size_t begins_told_ = 0;
};

void LocalKafka::load_begins(const std::string& topic, MonotonicTime begin,
                             std::optional<MonotonicTime> end) {
  if (chaos_.empty()) return;
  auto looker = driver::kafka::open({{"bootstrap.servers", cluster_.bootstrap()}}, around_.clock);
  if (!looker) {
    around_.say("no faults are made: " + looker.error().message);
    return;
  }
  looker_ = std::move(*looker);
  scenario::fault::PollingOptions polling;
  polling.nodes = target_.nodes();
  polling.look = [this, topic] { return looker_->cluster_state(topic); };
  polling.answers = [this](std::int32_t node) {
    return cluster_.answers(static_cast<std::uint32_t>(node), std::chrono::seconds{1});
  };
  observer_ = std::make_unique<scenario::fault::PollingObserver>(around_.clock, std::move(polling));
  scenario::fault::NemesisOptions options;
  options.seed = around_.seed;
  options.begin = begin;
  constexpr Nanoseconds kUnlimited = std::chrono::hours{24 * 365};
  options.duration = end ? *end - begin : kUnlimited;
  nemesis_ = std::make_unique<scenario::fault::Nemesis>(chaos_, options, target_, *observer_);
}

MonotonicTime LocalKafka::step(MonotonicTime now) {
  if (!nemesis_) return MonotonicTime::max();
  const MonotonicTime next = nemesis_->step(now);
  for (; begins_told_ < nemesis_->records().size(); ++begins_told_) {
    const auto& fault = nemesis_->records()[begins_told_];
    around_.say(fmt::format("fault {}: {} {}", fault.number, fault.name, fault.target));
  }
  for (; notes_told_ < nemesis_->notes().size(); ++notes_told_)
    around_.say(nemesis_->notes()[notes_told_]);
  return next;
}

Result<void> LocalKafka::close(bool passed) {
  nemesis_.reset();
  observer_.reset();
  looker_.reset();
  auto down = cluster_.down();
  if (!down || !passed || proof_.keep_topic) return down;
  for (std::uint32_t node = 1; node <= cluster_.nodes();
       ++node) {  // the records themselves help nobody after a pass
    auto removed = sys::remove_tree(cluster_.folder() / fmt::format("node-{}", node) / "data");
    if (!removed) return removed;
  }
  return {};
}

Result<scenario::fault::ChaosSpec> read_chaos(const std::string& text, const RunRequest& request) {
  auto spec = scenario::fault::parse_chaos(text);
  if (!spec) return spec;
  scenario::fault::ChaosGround ground;
  ground.duration = request.proof.duration;
  ground.nodes = request.nodes;
  ground.replication = request.proof.replication;
  if (ground.duration.count() == 0) ground.duration = std::chrono::hours{24 * 365};
  auto possible = scenario::fault::check_chaos(*spec, ground);
  if (!possible) return tl::unexpected(std::move(possible).error());
  return spec;
}

Result<std::unique_ptr<System>> open_local_kafka(const RunRequest& request,
                                                 const Surroundings& around) {
  std::vector<scenario::fault::ChaosSpec> chaos;
  for (const auto& text : request.proof.chaos) {
    auto spec = read_chaos(text, request);
    if (!spec) return tl::unexpected(std::move(spec).error());
    chaos.push_back(*spec);
  }
  auto fetch = scenario::cluster::usual_fetch();
  if (!fetch) return tl::unexpected(std::move(fetch).error());
  auto kafka = scenario::cluster::fetch_kafka(*fetch, around.say);
  if (!kafka) return tl::unexpected(std::move(kafka).error());
  scenario::cluster::KafkaSpec spec;
  spec.nodes = request.nodes;
  scenario::cluster::UpHooks hooks;
  hooks.ready = ready_probe(request.nodes, around.clock, around.wall);
  hooks.cancelled = around.cancelled;
  hooks.say = around.say;
  const auto folder = std::filesystem::absolute(around.folder / "cluster");
  auto cluster = KafkaCluster::up(spec, folder, *kafka, around.clock, hooks);
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  return std::make_unique<LocalKafka>(request, around, std::move(*cluster), std::move(chaos));
}

}  // namespace

Result<std::unique_ptr<System>> open_system(const RunRequest& request, const Surroundings& around) {
  if (request.local_cluster) return open_local_kafka(request, around);
  if (request.proof.driver == "kafka") return std::make_unique<KafkaSystem>(around.clock);
  if (request.proof.driver == "embedded") return open_embedded(request, around);
  return fail(ErrorCode::kUnsupported,
              fmt::format("there is no driver '{}': embedded or kafka", request.proof.driver));
}

std::vector<proof::Fault> faults_of_plans(const RunRequest& request) {
  const auto& proof = request.proof;
  std::vector<proof::Fault> faults;
  const auto refuse = [&](std::string_view place, const Error& error) {
    faults.push_back({error.code, std::string(place), error.message, ""});
  };
  for (const auto& text : proof.chaos) {
    if (auto spec = read_chaos(text, request); request.local_cluster && !spec)
      refuse("--chaos", spec.error());
  }
  driver::embedded::RunShape shape;
  shape.partitions = proof.partitions;
  shape.consumers = proof.consumers / std::max(1U, proof.groups);
  shape.payload_bytes = proof.payload_bytes;
  for (const auto& text : proof.defects) {
    const auto spec = driver::embedded::parse_defect(text);
    const auto possible =
        spec ? driver::embedded::check_plantable(*spec, shape) : tl::unexpected(spec.error());
    if (!possible) refuse("--defect", possible.error());
  }
  if (proof.driver == "embedded") {
    if (const auto settings = driver::embedded::check_settings(proof.settings); !settings) refuse("settings", settings.error());
    const auto remote = broker_address(proof).empty() ? Result<void>{} : check_remote(proof);
    if (!remote) refuse("--defect", remote.error());
  }
  if (proof.driver != "kafka") return faults;
  const auto settings = driver::kafka::check_settings(proof.settings);
  if (!settings && settings.error().code == ErrorCode::kInvalid)  // else: check_clients()
    refuse("settings", settings.error());
  return faults;
}

Result<void> check_clients(const proof::Proof& proof) {
  return proof.driver == "kafka" ? driver::kafka::check_library() : Result<void>{};
}

std::string client_versions() { return "librdkafka " + driver::kafka::library_version(); }

Result<std::int32_t> leader_of(const std::string& bootstrap, const std::string& topic,
                               core::PartitionId partition, MonotonicClock& clock) {
  auto driver = driver::kafka::open({{"bootstrap.servers", bootstrap}}, clock);
  if (!driver) return tl::unexpected(std::move(driver).error());
  auto state = (*driver)->cluster_state(topic);
  if (!state) return tl::unexpected(std::move(state).error());
  for (const auto& one : state->partitions) {
    if (one.partition != partition) continue;
    if (one.leader) return *one.leader;
    return fail(ErrorCode::kUnavailable,
                fmt::format("partition {} of {} has no leader now", partition.value(), topic));
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("topic {} has no partition {}", topic, partition.value()));
}

std::function<Result<bool>(const std::string&)> ready_probe(std::uint32_t nodes,
                                                            MonotonicClock& clock,
                                                            const WallClock& wall) {
  return [nodes, &clock, &wall](const std::string& bootstrap) -> Result<bool> {
    auto driver = driver::kafka::open(
        {{"bootstrap.servers", bootstrap}, {"message.timeout.ms", "5000"}}, clock);
    if (!driver) return tl::unexpected(std::move(driver).error());
    ReadyOptions options;
    options.partitions = nodes;
    options.replication = nodes;
    return goes_through(**driver, options, clock, wall);
  };
}

}  // namespace sp::cli

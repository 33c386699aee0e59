#include "driver/kafka/kafka.h"

#include <utility>

#include <fmt/core.h>

#include "driver/kafka/admin.h"
#include "driver/kafka/consumer.h"
#include "driver/kafka/library.h"
#include "driver/kafka/producer.h"
#include "driver/kafka/raw_reader.h"
#include "driver/kafka/settings.h"
#include "driver/kafka/stragglers.h"

namespace sp::driver::kafka {
namespace {

class KafkaDriver final : public Driver {
 public:
  KafkaDriver(const Library& library, Settings user, Plan plan, Settings effective,
              std::unique_ptr<Admin> admin, MonotonicClock& clock)
      : library_(library),
        user_(std::move(user)),
        plan_(std::move(plan)),
        effective_(std::move(effective)),
        admin_(std::move(admin)),
        clock_(clock) {}

  [[nodiscard]] std::string_view name() const override { return "kafka"; }
  [[nodiscard]] std::string client() const override { return "librdkafka " + library_.version(); }
  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities can;
    can.keys = can.partitions = can.positions = can.groups = true;
    can.raw_read = can.replay = can.commit = can.cluster_state = true;
    return can;
  }
  [[nodiscard]] Settings effective_settings() const override { return effective_; }
  [[nodiscard]] std::vector<std::string> notes() const override { return plan_.notes; }

  Result<void> create_topic(const TopicSpec& spec) override { return admin_->create_topic(spec); }
  Result<void> delete_topic(const std::string& topic) override {
    return admin_->delete_topic(topic);
  }
  Result<TopicInfo> describe_topic(const std::string& topic) override {
    return admin_->describe_topic(topic);
  }
  Result<std::vector<PartitionBounds>> bounds(const std::string& topic) override {
    return admin_->bounds(topic);
  }
  Result<ClusterState> cluster_state(const std::string& topic) override {
    return admin_->cluster_state(topic);
  }

  Result<std::unique_ptr<Producer>> open_producer(const ProducerSpec& spec) override {
    auto plan = plan_with(spec.settings);
    if (!plan) return fail_up(std::move(plan), fmt::format("producer '{}'", spec.name));
    return kafka::open_producer(spec, std::move(plan->producer), clock_);
  }

  Result<std::unique_ptr<Consumer>> open_consumer(const ConsumerSpec& spec) override {
    auto plan = plan_with(spec.settings);
    if (!plan) return fail_up(std::move(plan), fmt::format("consumer '{}'", spec.name));
    const bool reset_is_users =
        user_.contains("auto.offset.reset") || spec.settings.contains("auto.offset.reset");
    if (spec.start == StartAt::kLatest && !reset_is_users)
      plan->consumer.insert_or_assign("auto.offset.reset", "latest");
    return kafka::open_consumer(spec, std::move(plan->consumer), library_, stragglers_, clock_);
  }

  Result<std::unique_ptr<RawReader>> open_raw_reader(const RawSpec& spec) override {
    auto plan = plan_with(spec.settings);
    if (!plan) return fail_up(std::move(plan), "raw read");
    return kafka::open_raw_reader(spec, std::move(plan->consumer), clock_);
  }

 private:
  // The plan of the driver's settings with those of one client laid over them.
  [[nodiscard]] Result<Plan> plan_with(const Settings& own) const {
    bool changed = false;
    Settings merged = user_;
    for (const auto& [name, value] : own) {
      auto& there = merged[name];
      changed = changed || there != value;
      there = value;
    }
    if (!changed) return plan_;
    return plan_settings(library_, merged);
  }

  const Library& library_;  // of the process
  Settings user_;
  Plan plan_;
  Settings effective_;
  std::unique_ptr<Admin> admin_;
  std::shared_ptr<Stragglers> stragglers_ = std::make_shared<Stragglers>();  // shared with consumers, which may outlive this
  MonotonicClock& clock_;  // outlives this
};

}  // namespace

std::string library_version() { return rd_kafka_version_str(); }

Result<void> check_library() {
  const auto& library = Library::get();
  if (!library) return tl::unexpected(library.error());
  return {};
}

Result<void> check_settings(const Settings& settings) {
  const auto& library = Library::get();
  if (!library) return tl::unexpected(library.error());
  Settings complete = settings;
  if (!complete.contains("metadata.broker.list"))
    complete.emplace("bootstrap.servers", "localhost:9092");
  auto plan = plan_settings(*library, complete);
  if (!plan) return tl::unexpected(std::move(plan).error());
  auto effective = probe(*library, *plan);
  if (!effective) return tl::unexpected(std::move(effective).error());
  return {};
}

Result<std::unique_ptr<Driver>> open(const Settings& settings, MonotonicClock& clock) {
  const auto& library = Library::get();
  if (!library) return tl::unexpected(library.error());
  auto plan = plan_settings(*library, settings);
  if (!plan) return tl::unexpected(std::move(plan).error());
  auto effective = probe(*library, *plan);
  if (!effective) return tl::unexpected(std::move(effective).error());
  auto admin = Admin::open(plan->admin, clock);
  if (!admin) return tl::unexpected(std::move(admin).error());
  return std::make_unique<KafkaDriver>(*library, settings, std::move(*plan), std::move(*effective),
                                       std::move(*admin), clock);
}

}  // namespace sp::driver::kafka
